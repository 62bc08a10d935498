"""The spreadsheet: numbers stay numbers, text stays text, and the same tables give the same bytes."""

from __future__ import annotations

import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pytest

import report_example
from kasauti.report import RunTables, load, write_xlsx
from processes import output


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> RunTables:
    return load(report_example.build(tmp_path_factory.mktemp("run"), langs=("en", "hi"), tone_s=0.05))


def opened(tables: RunTables, folder: Path) -> openpyxl.Workbook:
    path = folder / "leaderboard.xlsx"
    write_xlsx(tables, path)
    return openpyxl.load_workbook(path)


def column(book: openpyxl.Workbook, sheet: str, name: str) -> list[Any]:
    rows = list(book[sheet].iter_rows())
    place = [cell.value for cell in rows[0]].index(name)
    return [row[place] for row in rows[1:]]


def test_sheets_with_frozen_header_and_filter(tables: RunTables, tmp_path: Path) -> None:
    book = opened(tables, tmp_path)
    assert book.sheetnames == ["leaderboard", "verdicts", "by language", "all verdicts", "samples"]
    for sheet in book:
        assert sheet.freeze_panes == "A2"
        assert sheet.auto_filter.ref == sheet.dimensions
        assert all(cell.font.bold for cell in sheet[1])


def test_numbers_are_numbers(tables: RunTables, tmp_path: Path) -> None:
    book = opened(tables, tmp_path)
    rates = column(book, "samples", "cer")
    assert [cell.value for cell in rates] == pytest.approx([row.cer for row in tables.samples])
    assert {cell.number_format for cell in rates if cell.value is not None} == {"0.0%"}
    assert [cell.value for cell in column(book, "samples", "ref_chars")] == [row.ref_chars for row in tables.samples]
    means = [row.mean for row in tables.aggregates if (row.scope, row.metric) == ("macro", "cer")]
    metrics = column(book, "leaderboard", "metric")
    shown = [
        cell.value
        for cell, name in zip(column(book, "leaderboard", "mean"), metrics, strict=True)
        if name.value == "cer"
    ]
    assert sorted(shown) == pytest.approx(sorted(mean for mean in means if mean is not None))
    assert len(column(book, "samples", "cer")) == len(tables.samples)


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        '=HYPERLINK("http://x","y")',
        "+1",
        "-1+1",
        "@SUM(A1)",
        "\t=1+1",
        "\r=1+1",
        "\n=1",
        "#N/A",
        "plain",
        "=",
        "-",
    ],
)
def test_what_looks_like_a_formula_is_text(tables: RunTables, tmp_path: Path, text: str) -> None:
    """Source: OWASP, CSV Injection: cells that begin with = + - @, tab, carriage return or line feed."""
    samples = [replace(tables.samples[0], hypothesis=text), *tables.samples[1:]]
    (cell, *_) = column(opened(replace(tables, samples=samples), tmp_path), "samples", "hypothesis")
    # XML turns a carriage return into a line feed unless it is escaped; either is harmless.
    assert str(cell.value).replace("_x000D_", "\n").replace("\r", "\n") == text.replace("\r", "\n")
    assert cell.data_type in ("s", "inlineStr")
    assert cell.quotePrefix is (text != "plain")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x00b\x0bc\x1b[31m", "a\ufffdb\ufffdc\ufffd[31m"),
        ("x" * 40_000, "x" * 32_766 + "…"),
        ("क" * 32_767, "क" * 32_767),
    ],
    ids=["control characters", "too long", "just fits"],
)
def test_what_a_cell_cannot_hold(tables: RunTables, tmp_path: Path, text: str, expected: str) -> None:
    samples = [replace(tables.samples[0], hypothesis=text), *tables.samples[1:]]
    (cell, *_) = column(opened(replace(tables, samples=samples), tmp_path), "samples", "hypothesis")
    assert cell.value == expected


FULL_DISK = """
import resource, sys
from dataclasses import replace
from pathlib import Path
from kasauti.errors import StoreError
from kasauti.report import load, write_xlsx
tables = load(Path(sys.argv[1]))
tables = replace(tables, samples=[*tables.samples] * 50)
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))
try:
    write_xlsx(tables, Path(sys.argv[2]))
except StoreError as error:
    print(error)
"""


def test_a_full_disk_for_temporary_files_is_told(tmp_path: Path) -> None:
    run = report_example.build(tmp_path / "run", langs=("en", "hi"), tone_s=0.05)
    said = output(FULL_DISK, run, tmp_path / "leaderboard.xlsx")
    assert said.startswith(f"can't write the temporary files of a spreadsheet in {tempfile.gettempdir()}: ")
    assert not (tmp_path / "leaderboard.xlsx").exists()


def test_same_tables_same_bytes(tables: RunTables, tmp_path: Path) -> None:
    write_xlsx(tables, tmp_path / "a.xlsx")
    write_xlsx(tables, tmp_path / "b.xlsx")
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.xlsx") as book:
        # No time of making, so a file made tomorrow is the same too.
        assert {member.date_time for member in book.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        times = book.read("docProps/core.xml").decode().split("dcterms:")
        assert [part for part in times if "T" in part and "1980-01-01T00:00:00Z" not in part and "W3CDTF" in part] == []
