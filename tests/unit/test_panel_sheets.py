"""Tables and page of any panel: what people see, what files hold, and that no name gets to say anything in HTML."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from kasauti.panel.cases import Panel
from kasauti.panel.findings import findings_of
from kasauti.panel.intervals import Draws
from kasauti.panel.page import write_page
from kasauti.panel.sheet import shown, write_sheets
from kasauti.panel.sheets import sheets_of
from kasauti.panel.study import ALL, Study, Subject, study_of
from kasauti.report.tables import read_table
from kasauti.stats.bootstrap import Interval
from panel_ratings import random_panel

DRAWS = Draws(200, 0)
HOSTILE = "<script>alert(1)</script>\"'&"


def subject(panel: Panel, **changes: object) -> Subject:
    plain = Subject(
        panel=panel,
        scopes={ALL: panel.deliveries, **{name: (name,) for name in panel.deliveries}},
        system_names={system: system.upper() for system in panel.systems},
        revisions={judge: f"model-{judge}" for judge in panel.judges},
        families={panel.judges[0]: panel.systems[0]},
        source={"protocol": "test"},
        cut_system=panel.systems[0],
        cut_tasks={panel.tasks[0]: 20.48},
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def study() -> Study:
    return study_of(subject(random_panel(5)), DRAWS)


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (None, 2, "–"),
        (True, None, "yes"),
        (False, None, "no"),
        (3, None, "3"),
        (2.5, None, "2.5"),
        (2.0, None, "2"),
        (-1.234, 2, "−1.23"),
        (-0.001, 2, "0.00"),
        ("text", 2, "text"),
        (Interval(1.0, 0.5, 1.5, None, 3), 1, "1.0 [0.5, 1.5]"),
        (Interval(1.0, None, None, None, 3), 1, "1.0"),
        (Interval(None, None, None, None, 0), 1, "–"),
    ],
)
def test_how_values_are_shown(value: object, digits: int | None, text: str) -> None:
    assert shown(value, digits) == text


def test_files_hold_all_digits_and_the_signature(study: Study, tmp_path: Path) -> None:
    sheets = sheets_of(study)
    write_sheets(sheets, tmp_path)
    assert {path.stem for path in tmp_path.glob("*.tsv")} == {sheet.name for sheet in sheets}
    rows = read_table(tmp_path / "standings.tsv")
    first = study.scopes[ALL].standings[0]
    assert rows[0]["system"] == first.system
    assert float(rows[0]["score"] or "nan") == first.score.estimate
    assert float(rows[0]["score_low"] or "nan") == first.score.low
    for sheet in sheets:
        assert all(row["signature"] for row in read_table(tmp_path / f"{sheet.name}.tsv"))


def test_signatures_differ_where_numbers_can_not_be_compared(study: Study, tmp_path: Path) -> None:
    write_sheets(sheets_of(study), tmp_path)
    plain = study.subject.signature()
    parts = {row["judges"]: row["signature"] for row in read_table(tmp_path / "subpanels.tsv")}
    assert parts["j0 + j1 + j2"] == plain
    assert len(set(parts.values())) == len(parts)
    assert {row["signature"] for row in read_table(tmp_path / "position_adjusted.tsv")}.isdisjoint({plain})
    other = subject(random_panel(5, n_systems=4))
    assert other.signature() != plain, "the line-up is part of a panel score"


@pytest.mark.parametrize("n_systems", [2, 3, 8])
@pytest.mark.parametrize("n_judges", [1, 2, 4])
def test_any_panel_has_tables_and_a_page(n_systems: int, n_judges: int, tmp_path: Path) -> None:
    panel = random_panel(3, n_tasks=16, n_systems=n_systems, n_judges=n_judges)
    found = study_of(subject(panel), DRAWS)
    sheets = sheets_of(found)
    names = {sheet.name for sheet in sheets}
    assert {"standings", "gaps", "positions", "distributions", "subpanels", "bradley_terry", "cuts"} <= names
    assert ("agreement" in names) == ("leanings" in names) == (n_judges > 1)
    write_page(found, sheets, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert all(name in text for name in found.subject.system_names.values())
    assert findings_of(found)


def test_what_can_not_be_computed_is_said(tmp_path: Path) -> None:
    found = study_of(subject(random_panel(0, n_tasks=2, n_deliveries=2)), DRAWS)
    assert "can't be told apart" in found.lacking["position"]
    assert (found.positions, found.scopes[ALL].adjusted) == ({}, None)
    write_page(found, sheets_of(found), tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Not computed: position" in text
    tags = Tags()
    tags.feed(text)
    assert set(tags.anchors) <= set(tags.ids)


class Tags(HTMLParser):
    """Collects tags, ids, targets of links, and everything that could fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.anchors: list[str] = []
        self.fetched: list[str] = []
        self.policies: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name == "href" and (value or "").startswith("#"):
                self.anchors.append((value or "")[1:])
            elif name == "content" and "default-src" in (value or ""):
                self.policies.append(value or "")
            elif name in ("src", "href", "action", "style", "onclick"):
                self.fetched.append(f"{tag} {name}={value}")


def test_the_page_is_one_file_without_script(study: Study, tmp_path: Path) -> None:
    write_page(study, sheets_of(study), tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(text)
    assert "script" not in tags.tags
    assert tags.fetched == ["link href=data:,"]
    assert set(tags.anchors) <= set(tags.ids)
    assert len(tags.ids) == len(set(tags.ids))
    assert len(tags.policies) == 1
    assert tags.policies[0].startswith("default-src 'none'; style-src 'sha256-")
    assert not re.search(r"nan%|None|Undefined|inf%", text)


def test_names_are_text_and_nothing_else(tmp_path: Path) -> None:
    plain = subject(random_panel(5))
    hostile = subject(
        random_panel(5),
        system_names=dict.fromkeys(plain.system_names, HOSTILE),
        revisions=dict.fromkeys(plain.revisions, HOSTILE),
        source={"protocol": HOSTILE},
    )
    pages = []
    for each in (plain, hostile):
        found = study_of(each, DRAWS)
        write_page(found, sheets_of(found), tmp_path / "page.html")
        tags = Tags()
        tags.feed((tmp_path / "page.html").read_text(encoding="utf-8"))
        pages.append(tags)
    assert pages[0].tags == pages[1].tags
    assert pages[0].fetched == pages[1].fetched


def test_strips_stay_on_the_axis(study: Study, tmp_path: Path) -> None:
    write_page(study, sheets_of(study), tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    places = [float(value) for value in re.findall(r'\b(?:x|x1|x2|cx|width)="(-?[\d.]+)%"', text)]
    assert places
    assert all(-0.001 <= place <= 100.001 for place in places)
