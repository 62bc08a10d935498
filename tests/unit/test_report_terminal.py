"""The leaderboard as text: nothing cut at any width, names never read as markup, plain without a terminal."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Literal

import pytest
from rich.cells import cell_len
from rich.console import Console

import report_example
from kasauti.records import FloorKind
from kasauti.report import RunTables, load, print_leaderboard
from kasauti.report.leaderboard import boards, headlines
from kasauti.text.languages import LANGUAGES


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> RunTables:
    return load(report_example.build(tmp_path_factory.mktemp("run"), tone_s=0.05))


def printed(tables: RunTables, width: int, *, terminal: bool = False) -> str:
    out = io.StringIO()
    colours: Literal["standard"] | None = "standard" if terminal else None
    print_leaderboard(tables, Console(file=out, width=width, force_terminal=terminal, color_system=colours))
    return out.getvalue()


def renamed(tables: RunTables, old: str, new: str) -> RunTables:
    return replace(
        tables,
        systems={new if name == old else name: facts for name, facts in tables.systems.items()},
        samples=[replace(row, system=new) if row.system == old else row for row in tables.samples],
        aggregates=[replace(row, system=new) if row.system == old else row for row in tables.aggregates],
    )


def test_says_what_was_measured_and_how_it_stands(tables: RunTables) -> None:
    text = printed(tables, 140)
    assert "CER, % (lower is better), heard by whisper, level strict" in text
    # Sounds are the same at every level, so their board names none.
    assert "phonetic CER, % (lower is better), heard by whisper" in map(str.rstrip, text.splitlines())
    row = next(line for line in text.splitlines() if line.startswith("1 espeak"))
    macro = next(r for r in tables.aggregates if (r.system, r.scope, r.metric) == ("espeak", "macro", "cer"))
    assert macro.mean is not None
    assert macro.median is not None
    assert row.split()[2:4] == [f"{100 * macro.mean:.1f}", f"{100 * macro.median:.1f}"]
    assert len(row.split()) == 2 + 3 + len(tables.languages)


def test_troubles_are_visible(tables: RunTables) -> None:
    text = printed(tables, 140)
    for told in ("unsupported", "wrong script", "100 %", "insufficient", "0/3", "3/4"):
        assert told in text
    assert "· piper is not ranked: speaks 1 of 7 languages." in text
    assert "cloud voice: 17 rows: 15 ok · 2 synthesis_failed" in text
    assert "kokoro: 17 rows: 8 ok · 5 wrong_script · 4 unsupported_language" in text


@pytest.mark.parametrize("width", [60, 80, 100, 140, 200])
def test_nothing_is_wider_than_the_terminal_or_cut(tables: RunTables, width: int) -> None:
    text = printed(tables, width)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    assert "…" not in text
    headings = [word for line in text.splitlines() if line.startswith("system") for word in line.split()]
    n_boards = len(headlines(boards(tables)))
    assert [word for word in headings if word in LANGUAGES] == n_boards * tables.languages


def test_many_languages_go_into_further_tables(tables: RunTables) -> None:
    langs = list(LANGUAGES)
    prompts = [replace(tables.prompts[0], id=lang, lang=lang) for lang in langs]
    cell = next(
        row for row in tables.aggregates if row.scope == "lang" and row.metric == "cer" and row.mean is not None
    )
    macro = next(row for row in tables.aggregates if row.scope == "macro" and row.metric == "cer")
    rows = [replace(cell, system=name, key=lang) for name in tables.systems for lang in langs]
    rows += [replace(macro, system=name) for name in tables.systems]
    text = printed(replace(tables, prompts=prompts, aggregates=rows), 80)
    heads = [line.split() for line in text.splitlines() if line.startswith("system")]
    assert heads[0][1:4] == ["mean", "median", "floor"]
    assert all("mean" not in head for head in heads[1:])
    assert [word for head in heads for word in head if word in LANGUAGES] == langs
    assert max(cell_len(line) for line in text.splitlines()) <= 80


def test_names_are_not_markup(tables: RunTables) -> None:
    assert "[red]x[/red]" in printed(renamed(tables, "espeak", "[red]x[/red]"), 140)


def test_a_long_name_is_folded_not_cut(tables: RunTables) -> None:
    name = "a-vendor-with-a-name-that-is-far-too-long"
    text = printed(renamed(tables, "espeak", name), 80)
    column = "".join(line[:20] for line in text.splitlines()).replace(" ", "")
    assert f"1{name}" in column
    assert max(cell_len(line) for line in text.splitlines()) <= 80


def test_plain_in_a_log_and_coloured_on_a_terminal(tables: RunTables) -> None:
    assert "\x1b" not in printed(tables, 80)
    assert "\x1b[" in printed(tables, 80, terminal=True)


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("measured", "differ by more than this 5 % of the time"),
        ("stored", "floor measured before, on the same prompts by the same rules (from run abc)"),
        ("assumed", "floor assumed, not measured here"),
        ("none", "several takes (repeats=3) measure it for a voice that varies"),
    ],
)
def test_floor_says_where_it_comes_from(tables: RunTables, kind: FloorKind, told: str) -> None:
    floor = None if kind == "none" else 0.006
    rows = [replace(row, floor95=floor, floor_kind=kind, floor_source="from run abc") for row in tables.aggregates]
    text = printed(replace(tables, aggregates=rows), 140)
    assert told in text
    assert ("0.6*" in text) == (kind == "assumed")
    assert ("0.6†" in text) == (kind == "stored")


def test_several_judges_have_a_table_each(tmp_path_factory: pytest.TempPathFactory) -> None:
    tables = load(report_example.build(tmp_path_factory.mktemp("run"), langs=("en",), marks=True, tone_s=0.05))
    second = [replace(row, judge="listener") for row in tables.aggregates if row.judge == "whisper"]
    text = printed(replace(tables, aggregates=[*tables.aggregates, *second], marks=[]), 140)
    assert text.count("heard by whisper") == text.count("heard by listener") == 1
    assert "espeak × listener: 4 rows: 4 ok" in text


def test_a_run_without_a_single_score_still_prints(tables: RunTables) -> None:
    rows = [replace(row, mean=None, median=None, mean_common=None, status="insufficient") for row in tables.aggregates]
    text = printed(replace(tables, aggregates=rows), 80)
    assert "· espeak is not ranked: insufficient" in text
