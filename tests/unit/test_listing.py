"""Which samples a page and a sheet list of a run that has too many of them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest

import report_example
from kasauti.records import Status
from kasauti.report import RunTables, listing, load, write_page, write_xlsx
from kasauti.report.listing import Badness, listed


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> RunTables:
    folder = report_example.build(tmp_path_factory.mktemp("run"), marks=True, tone_s=0.05, times=3)
    return load(folder)


def worst_of(tables: RunTables) -> dict[str, float]:
    """Prompt -> the worst that became of it, written out: failure 1, else the error rate, else the marks' distance."""
    high, low = (pick(mark.value or 0.0 for mark in tables.marks) for pick in (max, min))
    worst: dict[str, float] = {}
    for row in tables.samples:
        marks = list((row.marks or {}).values())
        value = 1.0
        if row.status in (Status.UNSUPPORTED_LANGUAGE, Status.NOT_RUN):
            value = -1.0
        elif row.status is Status.OK:
            value = row.cer if row.cer is not None else sum((high - mark) / (high - low) for mark in marks) / len(marks)
        worst[row.prompt_id] = max(value, worst.get(row.prompt_id, -1.0))
    return worst


def test_few_samples_are_all_listed(tables: RunTables) -> None:
    assert listed(tables) is tables


@pytest.mark.parametrize("most", [1, 20, 50])
def test_of_too_many_whole_prompts_are_listed_the_worst_ones(
    tables: RunTables, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "MOST_SAMPLES", most)
    shown = listed(tables)
    kept = [prompt.id for prompt in shown.prompts]
    assert 0 < len(kept) < len(tables.prompts)
    assert len(shown.samples) <= most or len(kept) == 1
    worst = worst_of(tables)
    assert min(worst[name] for name in kept) >= max(worst[name] for name in worst if name not in kept)
    assert kept == [prompt.id for prompt in tables.prompts if prompt.id in kept]
    for name in ("samples", "clips", "marks", "words"):
        rows = [row for row in getattr(tables, name) if row.prompt_id in kept]
        assert getattr(shown, name) == rows
    assert (shown.aggregates, shown.verdicts, shown.systems) == (tables.aggregates, tables.verdicts, tables.systems)


def test_page_and_sheet_say_that_they_list_a_part_and_count_everything(
    tables: RunTables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def written() -> tuple[str, int, openpyxl.Workbook]:
        write_page(tables, tmp_path / "report.html")
        write_xlsx(tables, tmp_path / "all.xlsx")
        source = (tmp_path / "report.html").read_text(encoding="utf-8")
        data = re.search(r'id="data">(.*?)</script>', source, re.DOTALL)
        assert data is not None
        return source, len(json.loads(data[1])["prompts"]), openpyxl.load_workbook(tmp_path / "all.xlsx")

    whole, n_prompts, book = written()
    assert "Listed are" not in whole
    assert n_prompts == len(tables.prompts)
    assert book.sheetnames[-1] == "samples"
    monkeypatch.setattr(listing, "MOST_SAMPLES", 20)
    part, n_listed, book = written()
    assert f"Listed are the {n_listed} prompts with the worst samples, of {n_prompts};" in part
    assert book["samples of the worst prompts"].max_row - 1 == len(listed(tables).samples)
    # What stands above the list is over everything; a number is a link only where the list has something behind it.
    before = [source.partition('<section id="samples"')[0] for source in (whole, part)]
    assert before[0] != before[1]
    plain = [re.sub(r"</?a\b[^>]*>", "", source) for source in before]
    assert plain[0] == plain[1]
    linked = set(re.findall(r'data-language="([^"]+)"', before[1]))
    assert linked == {prompt.lang for prompt in listed(tables).prompts} < set(tables.languages)


def test_of_marks_alone_the_lowest_are_listed(tables: RunTables, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = tables.marks[0].judge
    low = {row.prompt_id for row in tables.samples[-1:]}
    marks = [replace(mark, value=1.0 if mark.prompt_id in low else 4.0) for mark in tables.marks]
    samples = [replace(row, status=Status.OK, cer=None) for row in tables.samples if row.judge == judge]
    monkeypatch.setattr(listing, "MOST_SAMPLES", 1)
    shown = listed(replace(tables, samples=samples, marks=marks))
    assert {prompt.id for prompt in shown.prompts} == low


def test_what_can_not_be_heard_is_no_fault(tables: RunTables) -> None:
    badness = Badness([])
    row = next(row for row in tables.samples if row.status is Status.OK and row.cer)
    assert badness(row, []) == row.cer
    assert badness(replace(row, status=Status.SYNTHESIS_FAILED, cer=None), []) == 1.0
    assert badness(replace(row, status=Status.UNSUPPORTED_LANGUAGE, cer=None), []) == -1.0
    assert badness(replace(row, cer=None), []) == 0.0
