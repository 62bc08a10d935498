"""The page as a file: what is in it, what is inert, and that nothing can be asked for from outside."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

import report_example
from kasauti.metrics.rubric import rubric_terms
from kasauti.records import Status
from kasauti.report import MarkRow, RunTables, load, write_page
from kasauti.report.samples import audio_url, payload


class Page(HTMLParser):
    """Elements with their attributes, and the content of script and style elements."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[str, dict[str, str | None], str]] = []
        self.text = ""
        self.source = path.read_text(encoding="utf-8")
        self.feed(self.source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.raw.append((tag, dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem:
            tag, attributes, content = self.raw[-1]
            self.raw[-1] = (tag, attributes, content + data)
        else:
            self.text += data

    def content(self, **wanted: str) -> str:
        (found,) = [
            content for _, attributes, content in self.raw if all(attributes.get(k) == v for k, v in wanted.items())
        ]
        return found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report_example.build(tmp_path_factory.mktemp("a run"), marks=True, tone_s=0.05)


@pytest.fixture(scope="module")
def tables(run: Path) -> RunTables:
    return load(run)


def written(tables: RunTables, path: Path, **given: Any) -> Page:
    write_page(tables, path, **given)
    return Page(path)


def test_the_only_elements_are_those_of_the_template(run: Path, tables: RunTables) -> None:
    """Names, texts, errors and reasons with markup in them make no element."""
    spiked = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&"
    samples = [replace(row, system=spiked if row.system == "espeak" else row.system) for row in tables.samples]
    samples[1] = replace(samples[1], status=Status.JUDGE_FAILED, reason=spiked, hypothesis=None, cer=None)
    judges = dict.fromkeys(tables.judges, spiked)
    signatures = dict.fromkeys(tables.judges, spiked)
    systems = {spiked if name == "espeak" else name: facts for name, facts in tables.systems.items()}
    aggregates = [replace(row, system=spiked if row.system == "espeak" else row.system) for row in tables.aggregates]
    clips = [
        replace(row, system=spiked if row.system == "espeak" else row.system, error=spiked) for row in tables.clips
    ]
    hostile = replace(
        tables,
        systems=systems,
        judges=judges,
        signatures=signatures,
        samples=samples,
        clips=clips,
        aggregates=aggregates,
    )
    page = written(hostile, run / "spiked.html")
    names = [name for name, _ in page.elements]
    assert "img" not in names
    assert names.count("script") == 2
    assert not [key for _, attributes in page.elements for key in attributes if key.startswith("on") or key == "style"]
    assert spiked in page.text
    assert json.loads(page.content(id="data"))["systems"][0] == spiked


def test_policy_allows_only_what_is_in_the_page(run: Path, tables: RunTables) -> None:
    page = written(tables, run / "report.html")
    (policy,) = [a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in policy
    assert "http" not in policy
    (style,) = [content for tag, _, content in page.raw if tag == "style"]
    (script,) = [content for tag, attributes, content in page.raw if tag == "script" and "type" not in attributes]
    for rule, content in (("style-src", style), ("script-src", script)):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"


def test_nothing_points_outside(run: Path, tables: RunTables) -> None:
    page = written(tables, run / "report.html")
    links = [a[key] or "" for _, a in page.elements for key in ("href", "src", "action", "srcset") if key in a]
    assert links
    assert all(link.startswith("#") or link == "data:," for link in links)
    (style,) = [content for tag, _, content in page.raw if tag == "style"]
    assert "url(" not in style
    assert "@import" not in style


def test_links_to_audio_are_relative_and_lead_to_the_file(run: Path, tables: RunTables) -> None:
    data = json.loads(written(tables, run / "report.html").content(id="data"))
    urls = [take["u"] for item in data["items"] for take in item["t"] if "u" in take]
    assert len(urls) == len([clip for clip in tables.clips if clip.path])
    for url in urls:
        parts = urlsplit(url)
        assert not parts.scheme
        assert not parts.netloc
        assert (run / unquote(url)).resolve().is_file()


@given(st.text(alphabet=st.characters(exclude_characters="/\x00", exclude_categories=["Cs"]), min_size=1, max_size=20))
def test_any_file_name_survives_as_a_link(name: str) -> None:
    url = audio_url(Path("/store") / name, Path("/runs/abc"))
    if name in (".", ".."):
        return
    assert url.startswith("../../store/")
    assert re.fullmatch(r"[A-Za-z0-9_.~%/-]+", url)
    assert unquote(url.removeprefix("../../store/")) == name


def test_embedded_audio_is_the_audio(run: Path, tables: RunTables) -> None:
    page = written(tables, run / "one file.html", embed_audio=True)
    sounds = json.loads(page.content(id="sounds"))
    items = json.loads(page.content(id="data"))["items"]
    assert {take["u"] for item in items for take in item["t"] if "u" in take} == set(sounds) == set(tables.audio)
    for clip_id, url in sounds.items():
        kind, _, content = url.partition(";base64,")
        assert kind == "data:audio/wav"
        assert base64.b64decode(content) == tables.audio[clip_id].read_bytes()
    assert "store" not in json.dumps(items)


def test_a_sound_that_is_gone_is_said_to_be_gone(run: Path, tables: RunTables) -> None:
    audio = {clip_id: path.with_suffix(".gone") for clip_id, path in tables.audio.items()}
    for embed in (False, True):
        data = payload(replace(tables, audio=audio), run, embed_audio=embed).data
        takes = [take for item in data["items"] for take in item["t"]]
        assert not [take for take in takes if "u" in take]
        assert sum("gone" in take for take in takes) == len([clip for clip in tables.clips if clip.path])


def test_same_tables_same_bytes(run: Path, tables: RunTables) -> None:
    assert written(tables, run / "report.html").source == written(tables, run / "report.html").source


def test_every_row_is_in_the_list_once(run: Path, tables: RunTables) -> None:
    data = payload(tables, run, embed_audio=False).data
    found = {
        (
            data["prompts"][item["p"]]["id"],
            data["systems"][item["s"]],
            take["r"],
            data["judges"][row["j"]],
            row.get("k", 0),
        )
        for item in data["items"]
        for take in item["t"]
        for row in take["q"]
    }
    assert found == {(r.prompt_id, r.system, r.repeat, r.judge, r.rejudge) for r in tables.samples}
    assert sum(len(take["q"]) for item in data["items"] for take in item["t"]) == len(tables.samples)


def test_marked_differences_are_those_of_the_scored_texts(run: Path, tables: RunTables) -> None:
    """Where nothing counts as an error nothing is marked, whatever punctuation and case the judge wrote."""
    data = payload(tables, run, embed_audio=False).data
    rows = [row for item in data["items"] for take in item["t"] for row in take["q"] if "f" in row]
    assert rows
    for row in rows:
        marked = [piece for piece in row["f"] if not isinstance(piece, str)]
        assert bool(marked) == (row["c"][0] > 0)
    assert any(row["c"][0] == 0 for row in rows)


def badness(tables: RunTables, run: Path, **changes: Any) -> float:
    row = replace(tables.samples[0], **changes)
    data = payload(replace(tables, samples=[row]), run, embed_audio=False).data
    return float(data["items"][0]["t"][0]["q"][0]["w"])


def test_worst_first_puts_failures_among_the_worst_and_the_unspoken_last(run: Path, tables: RunTables) -> None:
    assert badness(tables, run, cer=0.3) == 0.3
    assert badness(tables, run, cer=1.7) == 1.7
    for status in (Status.SYNTHESIS_FAILED, Status.JUDGE_FAILED, Status.WRONG_SCRIPT, Status.AUDIO_INVALID):
        assert badness(tables, run, status=status, cer=0.3) == 1.0
    for status in (Status.UNSUPPORTED_LANGUAGE, Status.NOT_RUN):
        assert badness(tables, run, status=status) < 0


def test_marks_are_as_bad_as_they_are_far_from_the_best(run: Path, tables: RunTables) -> None:
    rows = [replace(tables.samples[0], cer=None, hypothesis=None, repeat=n) for n in range(3)]
    marks = [
        MarkRow("r", rows[0].prompt_id, rows[0].system, n, rows[0].judge, 0, "x", "A", "clarity", value, "<i>why</i>")
        for n, value in enumerate((1.0, 2.0, 5.0))
    ]
    data = payload(replace(tables, samples=rows, marks=marks), run, embed_audio=False).data
    (item,) = data["items"]
    assert [take["q"][0]["w"] for take in item["t"]] == [1.0, 0.75, 0.0]
    assert item["t"][0]["q"][0]["m"] == [["clarity", 1.0, "A", "<i>why</i>"]]


def test_header_says_what_was_measured(run: Path, tables: RunTables) -> None:
    text = " ".join(written(tables, run / "report.html").text.split())
    assert "4 systems speaking 17 prompts in 7 languages, heard by whisper, listener: 204 samples" in text
    assert "whisper-base@1.0.0" in text
    assert "metric:cer|unit:code_point|level:strict" in text
    assert "With less than 95 % of its rows scored" in text


def test_a_run_without_a_score_or_a_sound_still_has_a_page(run: Path, tables: RunTables) -> None:
    failed = [replace(row, status=Status.NOT_RUN, reason="budget", cer=None, hypothesis=None) for row in tables.samples]
    empty = replace(tables, samples=failed, clips=[], marks=[], audio={}, aggregates=[])
    assert "budget" in written(empty, run / "empty.html").text


def test_right_to_left_text_is_marked(run: Path, tables: RunTables) -> None:
    prompts = payload(tables, run, embed_audio=False).data["prompts"]
    assert {prompt["lang"] for prompt in prompts if prompt.get("rtl")} == {"ur"}


def test_the_rubric_of_a_row_can_be_worked_out_from_the_page(run: Path, tables: RunTables) -> None:
    """The page holds parts, shares and factors; put together they give the rubric of the row."""
    samples = [replace(row, gates="clipping", length_penalty=0.1) for row in tables.samples]
    wanted = [terms.score for row in samples if (terms := rubric_terms(row, tables.scoring.rubric)) is not None]
    data = payload(replace(tables, samples=samples), run, embed_audio=False).data
    shares = [share for _, _, share in data["rubric"]["parts"]]
    scores = []
    for row in (row for item in data["items"] for take in item["t"] for row in take["q"] if "q" in row):
        score = sum(share * value for share, value in zip(shares, row["q"], strict=True))
        scores.append(score * data["rubric"]["factors"][row["g"][0]])
    assert scores
    assert sorted(scores) == pytest.approx(sorted(wanted), abs=1e-4)


def test_every_figure_says_how_its_numbers_were_made(run: Path, tables: RunTables, tmp_path: Path) -> None:
    write_page(tables, tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    told = re.findall(r"<metadata>([^<]*)</metadata>", html)
    assert told
    assert all(one.startswith("metric:") for one in told)
