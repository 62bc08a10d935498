"""The page in Chromium, opened from disk: keys, sound, filters, and that it asks for nothing and runs nothing foreign.

Keys are sent as a person sends them, since a browser plays no sound without a gesture. Waiting is for a condition with
a deadline. A missing browser fails these tests; leave them out with `-m "not browser"`.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

import report_example
from kasauti.report import load, write_page

pytestmark = pytest.mark.browser

DEADLINE_S = 20
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()


@dataclass
class Browser:
    """A page and what a person does with it."""

    driver: webdriver.Chrome

    def open(self, page: Path) -> None:
        self.driver.get(page.as_uri())
        self.driver.get_log("browser")  # empties it
        self.driver.get_log("performance")
        self.driver.get(page.as_uri())

    def press(self, *keys: str) -> None:
        ActionChains(self.driver).send_keys(*keys).perform()

    def find(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def value(self, script: str) -> Any:
        return self.driver.execute_script(f"return {script}")

    def until(self, holds: Callable[[], bool], what: str) -> None:
        WebDriverWait(self.driver, DEADLINE_S, poll_frequency=0.05).until(lambda _: holds(), message=what)

    def pick(self, field: str, label: str) -> None:
        Select(self.find(f"#f-{field}")).select_by_visible_text(label)

    def found(self) -> int:
        return int(self.find("#found").text.split()[0].replace(",", ""))

    @property
    def current(self) -> str:
        """Accessible name of the sample that has the focus."""
        return str(self.value("document.activeElement.getAttribute('aria-label')"))

    def requested(self) -> list[str]:
        """Addresses of everything that was asked for since the page was opened, less what its policy held back."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        held_back = {m["params"]["requestId"] for m in messages if m["params"].get("blockedReason") == "csp"}
        sent = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
        return [params["request"]["url"] for params in sent if params["requestId"] not in held_back]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = report_example.build(tmp_path_factory.mktemp("a run & more #1"), marks=True, tone_s=6.0)
    write_page(load(folder), folder / "report.html")
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    options = webdriver.ChromeOptions()
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    assert chromium, "Chromium is not installed: apt-get install chromium chromium-driver"
    assert chromedriver, "chromedriver is not installed: apt-get install chromium-driver"
    options.binary_location = chromium
    profile = tmp_path_factory.mktemp("profile")
    for flag in (*FLAGS, f"--user-data-dir={profile}", "--window-size=1280,900"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(chromedriver))
    yield Browser(driver)
    driver.quit()


@pytest.fixture
def page(browser: Browser, run: Path) -> Iterator[Browser]:
    """The page, opened anew; afterwards it must not have complained or asked for anything outside its disk."""
    browser.open(run / "report.html")
    yield browser
    assert [entry["message"] for entry in browser.driver.get_log("browser")] == []
    outside = [url for url in browser.requested() if not url.startswith(("file:", "data:"))]
    assert outside == []


def test_arrows_and_letters_move_between_samples(page: Browser) -> None:
    page.press(Keys.ARROW_DOWN)
    first = page.current
    page.press(Keys.ARROW_DOWN)
    second = page.current
    assert second != first
    page.press("j")
    assert page.current not in (first, second)
    page.press("k", Keys.ARROW_UP)
    assert page.current == first
    page.press(Keys.ARROW_UP)
    assert page.current == first
    assert len(page.all("[aria-current]")) == 1


def test_moving_past_the_page_turns_it(page: Browser) -> None:
    shown = len(page.all(".take"))
    page.press(*["j"] * (shown + 1))
    assert page.find("#place").text.startswith("page 2 of")
    page.press("k")
    assert page.find("#place").text.startswith("page 1 of")
    assert page.find(".take[aria-current]") == page.all(".take")[-1]


def go_to_sound(page: Browser) -> None:
    page.pick("system", "espeak")
    page.press(Keys.ESCAPE)
    page.driver.execute_script("document.activeElement.blur()")
    page.press("j")


@pytest.mark.parametrize("key", [Keys.ENTER, "p"])
def test_a_key_plays_and_pauses(page: Browser, key: str) -> None:
    go_to_sound(page)
    assert page.value("document.getElementById('sound').paused")
    page.press(key)
    page.until(lambda: page.value("document.getElementById('sound').currentTime") > 0.2, "sound plays")
    assert "Pause" in str(page.find(".take[aria-current] .play").get_attribute("aria-label"))
    page.press(key)
    page.until(lambda: page.value("document.getElementById('sound').paused"), "sound pauses")
    page.until(lambda: "Play" in str(page.find(".take[aria-current] .play").get_attribute("aria-label")), "label")


def test_left_and_right_seek_two_seconds(page: Browser) -> None:
    go_to_sound(page)
    page.press(Keys.ARROW_RIGHT)
    page.until(lambda: page.value("document.getElementById('sound').currentTime") == 2, "on by 2 s")
    page.press(Keys.ARROW_RIGHT)
    page.until(lambda: page.value("document.getElementById('sound').currentTime") == 4, "on by 2 s")
    page.press(Keys.ARROW_LEFT)
    page.until(lambda: page.value("document.getElementById('sound').currentTime") == 2, "back by 2 s")
    page.until(lambda: page.find(".take[aria-current] input").get_property("value") == "2", "slider follows")


def test_a_click_plays_that_take_and_another_takes_over(page: Browser) -> None:
    page.pick("system", "piper")
    page.pick("status", "ok")
    plays = page.all(".play")
    assert len(plays) >= 3
    plays[0].click()
    page.until(lambda: page.value("document.getElementById('sound').currentTime") > 0.1, "first take plays")
    first = page.value("document.getElementById('sound').src")
    plays[1].click()
    page.until(lambda: page.value("document.getElementById('sound').src") != first, "second take plays")
    page.until(lambda: len(page.all(".take.playing")) == 1, "one take plays")
    assert "take 2" in str(page.find(".take.playing").get_attribute("aria-label"))


def test_search_finds_text_ids_and_transcripts_in_any_script(page: Browser) -> None:
    everything = page.found()
    for text, at_least in (("kettle", 4), ("ur_02", 2), ("क्षितिज", 3), ("سویاں", 2), ("mausam achha", 5)):
        page.press("/")
        assert page.value("document.activeElement.id") == "f-text"
        page.press(text, Keys.ENTER)
        assert at_least <= page.found() < everything, text
        assert "take" in str(page.value("document.activeElement.className"))
    page.press("/")
    page.press("no such words", Keys.ENTER)
    assert page.found() == 0
    page.find(".empty button").click()
    assert page.found() == everything


def test_typing_does_not_move_or_play(page: Browser) -> None:
    page.press("/", "jkp?")
    assert page.find("#f-text").get_property("value") == "jkp?"
    assert page.value("document.getElementById('sound').paused")
    assert not page.value("document.getElementById('help').open")
    page.press(Keys.ESCAPE)
    assert page.value("document.activeElement.id") != "f-text"


@pytest.mark.parametrize(
    ("field", "label", "selector", "expected"),
    [
        ("system", "kokoro", "article .system", "kokoro"),
        ("language", "Tamil (ta)", "article .lang", "Tamil"),
        ("status", "wrong script", "article .status", "wrong script"),
        ("judge", "listener", "article .facts b", "listener"),
        ("tag", "code switch", "article .tag", "code switch"),
    ],
)
def test_filters(page: Browser, field: str, label: str, selector: str, expected: str) -> None:
    page.pick(field, label)
    cards = page.all("#list > li")
    assert cards
    for card in cards:
        assert expected in [
            node.text for node in card.find_elements(By.CSS_SELECTOR, selector.removeprefix("article "))
        ]


def test_order(page: Browser) -> None:
    page.pick("system", "espeak")
    page.pick("judge", "whisper")

    def rates() -> list[float]:
        return [float(node.text.split()[1]) for node in page.all(".rate:nth-of-type(1)") if node.text.startswith("CER")]

    worst = rates()
    assert worst == sorted(worst, reverse=True)
    assert worst[0] > worst[-1]
    page.pick("order", "best first")
    assert rates() == sorted(worst)


def test_a_number_of_the_heat_map_leads_to_its_samples(page: Browser) -> None:
    link = page.find('.heat a[data-system="espeak"][data-language="ur"]')
    page.driver.execute_script("arguments[0].click()", link)
    assert page.found() == 2
    assert {node.text for node in page.all("article .lang")} == {"Urdu"}
    assert {node.text for node in page.all("article .system")} == {"espeak"}


def test_metric_can_be_chosen(page: Browser) -> None:
    Select(page.find("#metric")).select_by_visible_text("WER")
    shown = [panel.get_attribute("data-metric") for panel in page.all(".panel") if panel.is_displayed()]
    assert shown
    assert set(shown) == {"wer"}


def test_question_mark_shows_and_hides_the_keys(page: Browser) -> None:
    page.press("?")
    assert page.find("#help").is_displayed()
    assert "play or pause" in page.find("#help").text
    page.press("j")
    assert page.find("#help").is_displayed()
    page.press("?")
    assert not page.find("#help").is_displayed()
    page.press("?")
    page.press(Keys.ESCAPE)
    assert not page.find("#help").is_displayed()


def test_markup_and_paths_in_prompts_are_text(page: Browser, run: Path) -> None:
    page.press("/", "document.title", Keys.ENTER)
    assert page.found() == 4
    assert {node.text for node in page.all("article .text")} == {report_example.HOSTILE_TEXT}
    assert {node.text for node in page.all("article .id")} == {report_example.HOSTILE_ID}
    assert page.driver.title == "example: espeak, kokoro, piper, cloud voice"
    assert page.all("img") == []
    assert len(page.all("script")) == 2
    page.press(Keys.ENTER)
    page.until(lambda: page.value("document.getElementById('sound').currentTime") > 0.1, "its sound plays too")
    assert page.value("document.getElementById('sound').src").startswith((run.parents[1] / "store").as_uri())


def test_differences_are_marked_in_both_lines_and_not_by_colour_alone(page: Browser) -> None:
    page.pick("system", "espeak")
    page.pick("language", "Telugu (te)")
    marks = page.all(".pair del, .pair ins, .pair .x")
    assert {mark.tag_name for mark in marks} >= {"del", "ins"}
    for mark in marks:
        assert mark.value_of_css_property("text-decoration-line") in ("line-through", "underline")
        assert str(mark.get_attribute("textContent")).strip().startswith(("[missing:", "[added:", "[differs:"))
    assert "nothing" in [node.text for node in page.all(".nothing")]


def test_failures_give_their_reason(page: Browser) -> None:
    page.pick("status", "synthesis failed")
    card = page.find("article")
    assert "timeout" in card.text
    assert "no answer within 30 s <at all>" in card.text
    assert card.find_elements(By.CSS_SELECTOR, ".play") == []


def test_everything_that_can_be_reached_has_a_name(page: Browser) -> None:
    unnamed = page.driver.execute_script(
        """return [...document.querySelectorAll("button, select, input, a, summary, [role=img], [tabindex]")]
        .filter((node) => !(node.getAttribute("aria-label") || node.textContent.trim() || (node.labels || []).length))
        .map((node) => node.outerHTML)"""
    )
    assert unnamed == []


def test_foreign_script_and_requests_are_refused(page: Browser) -> None:
    """The policy itself: what an injection would try."""
    page.driver.execute_script(
        """window.refused = [];
        document.addEventListener("securitypolicyviolation", (event) => window.refused.push(event.effectiveDirective));
        for (const [name, key, value] of [["script", "textContent", "window.taken = 1"],
            ["img", "src", "https://example.invalid/x.png"], ["audio", "src", "https://example.invalid/x.wav"]]) {
          const node = document.createElement(name);
          node[key] = value;
          document.body.append(node);
        }
        fetch("https://example.invalid/x").catch(() => 0);"""
    )
    page.until(lambda: len(page.value("window.refused")) >= 4, "all four are refused")
    assert sorted(set(page.value("window.refused"))) == ["connect-src", "img-src", "media-src", "script-src-elem"]
    assert page.value("window.taken") is None
    page.driver.get_log("browser")  # the refusals are reported there, as they should be


def test_narrow_page_does_not_scroll_sideways(page: Browser) -> None:
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        assert page.value("document.documentElement.scrollWidth") <= 390
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_embedded_sound_plays_from_a_file_that_stands_alone(browser: Browser, run: Path, tmp_path: Path) -> None:
    write_page(load(run), run / "embedded.html", embed_audio=True)
    alone = tmp_path / "sent round.html"
    shutil.copy(run / "embedded.html", alone)
    browser.open(alone)
    go_to_sound(browser)
    browser.press(Keys.ENTER)
    browser.until(lambda: browser.value("document.getElementById('sound').currentTime") > 0.2, "sound plays")
    assert browser.value("document.getElementById('sound').src").startswith("data:audio/wav;base64,")
    assert [entry["message"] for entry in browser.driver.get_log("browser")] == []
    assert {url.partition(":")[0] for url in browser.requested()} <= {"file", "data"}


def test_a_store_that_moved_away_is_said(browser: Browser, run: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    shutil.copy(run / "report.html", page)
    browser.open(page)
    go_to_sound(browser)
    browser.press(Keys.ENTER)
    browser.until(lambda: bool(browser.all(".lost")), "the loss is told")
    assert "can't be played" in browser.find(".lost").text


def test_long_list_stays_small(browser: Browser, tmp_path: Path) -> None:
    """Thousands of samples, a page of them in the document."""
    folder = report_example.build(tmp_path, systems=("espeak",), langs=("en",), times=700, tone_s=0.05)
    write_page(load(folder), folder / "report.html")
    browser.open(folder / "report.html")
    assert browser.found() == 2101
    assert len(browser.all("#list > li")) == 25
    assert browser.value("document.getElementsByTagName('audio').length") == 1
    browser.find("#next").click()
    assert browser.find("#place").text == "page 2 of 85"


def test_words_stand_under_the_sound_where_they_were_said(page: Browser) -> None:
    strip = page.find(".timed")
    words = page.all(".timed:first-of-type .word")
    shown = [word for word in words if word.find_element("xpath", "ancestor::*[@class='timed'][1]") == strip]
    left = [word.rect["x"] for word in shown]
    assert len(left) > 2
    assert left == sorted(left)
    bars = strip.find_elements("css selector", ".span")
    assert [round(bar.rect["x"]) for bar in bars] == [round(x) for x in left]
    assert strip.find_elements("css selector", ".outline path")
    odd = strip.find_elements("css selector", ".word.odd small")
    assert {str(note.get_attribute("textContent")).strip() for note in odd} == {"unclear", "after a pause"}
    assert page.find(".scroller + p").text.startswith("not placed: ")


def test_a_click_on_a_word_moves_to_its_start(page: Browser) -> None:
    word = page.all(".timed .word")[1]
    start_s = float(str(word.get_attribute("title")).split()[0])
    word.click()
    page.until(lambda: abs(float(page.value("document.getElementById('sound').currentTime")) - start_s) < 0.02, "seek")


def test_long_clips_scroll_inside_their_box_on_a_phone(page: Browser) -> None:
    page.driver.set_window_size(390, 900)
    try:
        page.until(lambda: bool(page.value("document.documentElement.clientWidth < 520")), "narrow")
        assert page.value("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        assert page.value(
            "document.querySelector('.timed').scrollWidth > document.querySelector('.scroller').clientWidth"
        )
    finally:
        page.driver.set_window_size(1280, 900)
