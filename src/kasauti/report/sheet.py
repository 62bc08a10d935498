"""`leaderboard.xlsx`, for people who live in spreadsheets: leaderboard, verdicts, by language, samples.

Numbers are numbers (rates as fractions, shown in per cent), everything else is text. Text that a spreadsheet would take
for a formula is stored as text and marked as quoted, so that it stays text when a person edits the cell. Same
tables, same bytes.
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kasauti.errors import StoreError
from kasauti.records import VERDICT_COLUMNS, VerdictRow
from kasauti.report.formats import FORMULA_STARTS
from kasauti.report.leaderboard import Board, boards
from kasauti.report.listing import listed
from kasauti.report.loading import RunTables
from kasauti.stats.scores import METRICS
from kasauti.store.files import write_bytes

_SPECIAL = (*FORMULA_STARTS, "#")
"""First characters that make a spreadsheet, or one that reads its export, calculate; `#N/A` would become an error."""

_PERCENT = frozenset({*METRICS, "wrong_script_share"})
"""Columns shown in per cent."""

_CELL_LIMIT = 32_767
"""Characters that a cell of an .xlsx file can hold."""

_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML can't hold."""

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip archive can hold; every member gets it."""


@dataclass(frozen=True)
class _Sheet:
    title: str
    columns: Sequence[str]
    rows: Iterable[Sequence[Any]]


def write_xlsx(tables: RunTables, path: Path) -> None:
    """Writes the spreadsheet.

    Args:
        tables: One run, or several merged.
        path: Where it goes.

    Raises:
        StoreError: the file, or one of the temporary files on the way to it, can't be written.
    """
    write_bytes(Path(path), _timeless(_book(_sheets(tables, boards(tables)))))


def _book(sheets: Iterable[_Sheet]) -> bytes:
    from openpyxl import Workbook

    # Where lxml is installed openpyxl writes by it, and a full disk is an error of lxml's own.
    lxml = sys.modules.get("lxml.etree")
    disk_errors = (OSError, lxml.LxmlError) if lxml else (OSError,)
    try:
        book = Workbook(write_only=True)
        for sheet in sheets:
            _fill(book.create_sheet(sheet.title), sheet)
        buffer = io.BytesIO()
        book.save(buffer)
    except disk_errors as error:
        raise StoreError(
            f"can't write the temporary files of a spreadsheet in {tempfile.gettempdir()}: {error}. Free space there, "
            "or set TMPDIR to another folder, and run the same command again; nothing that was recorded is lost."
        ) from error
    return buffer.getvalue()


def _sheets(tables: RunTables, every: Sequence[Board]) -> Iterator[_Sheet]:
    yield _leaderboard(every)
    yield _verdicts("verdicts", (row for board in every for row in board.verdicts))
    yield _by_language(every)
    yield _verdicts("all verdicts", tables.verdicts)
    yield _samples(tables)


def _leaderboard(every: Sequence[Board]) -> _Sheet:
    columns = (
        "judge metric rank system role mean ci95_low ci95_high median pooled mean_common n_common mean_worst floor95 "
        "floor_kind largest_pair wrong_script_share n_ok n_total n_langs n_prompts status note signature"
    ).split()
    rows = []
    for board in every:
        for line in board.lines:
            known = {"rank": line.rank, "role": line.role, "note": line.unranked or None}
            rows.append([known[name] if name in known else getattr(line.overall, name) for name in columns])
    return _Sheet("leaderboard", columns, rows)


def _verdicts(title: str, verdicts: Iterable[VerdictRow]) -> _Sheet:
    return _Sheet(title, VERDICT_COLUMNS, ([getattr(row, name) for name in VERDICT_COLUMNS] for row in verdicts))


def _by_language(every: Sequence[Board]) -> _Sheet:
    columns = (
        "judge metric system key mean ci95_low ci95_high median pooled mean_common n_common mean_worst floor95 "
        "floor_kind wrong_script_share n_ok n_total n_prompts status"
    ).split()
    rows = [
        [getattr(cell, name) for name in columns]
        for board in every
        for line in board.lines
        for cell in line.cells.values()
    ]
    return _Sheet("by language", ["lang" if name == "key" else name for name in columns], rows)


def _samples(tables: RunTables) -> _Sheet:
    """What a person looks through; hashes and ids for joining are in `per_sample.tsv`."""
    shown = listed(tables)
    texts = {prompt.id: prompt.text for prompt in shown.prompts}
    columns = (
        "prompt_id lang tags text system repeat judge rejudge status reason hypothesis cer wer cer_nospace gcer pcer "
        "char_edits ref_chars word_edits ref_words duration_s clip_id"
    ).split()
    rows = (
        [texts[row.prompt_id] if name == "text" else getattr(row, name) for name in columns] for row in shown.samples
    )
    return _Sheet("samples" if shown is tables else "samples of the worst prompts", columns, rows)


def _fill(page: Any, sheet: _Sheet) -> None:
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    page.freeze_panes = "A2"
    for number, name in enumerate(sheet.columns, start=1):
        wide = {"text": 48, "hypothesis": 48, "note": 32, "system": 18, "prompt_id": 18}
        page.column_dimensions[get_column_letter(number)].width = wide.get(name, max(9, len(name) + 2))
    header = []
    for name in sheet.columns:
        cell = WriteOnlyCell(page, value=name)
        cell.font = Font(bold=True)
        header.append(cell)
    page.append(header)
    n_rows = 1
    for n_rows, row in enumerate(sheet.rows, start=2):  # noqa: B007 - the last row's number is needed below
        page.append([_cell(page, name, value) for name, value in zip(sheet.columns, row, strict=True)])
    page.auto_filter.ref = f"A1:{get_column_letter(len(sheet.columns))}{n_rows}"


def _cell(page: Any, name: str, value: Any) -> Any:
    """A value as openpyxl takes it: numbers as they are, text so that it stays text."""
    from openpyxl.cell import WriteOnlyCell

    if isinstance(value, float) and name in _PERCENT:
        cell = WriteOnlyCell(page, value=value)
        cell.number_format = "0.0%"
        return cell
    if value is None or isinstance(value, bool | int | float):
        return value
    text = _ILLEGAL.sub("\ufffd", str(value))
    if len(text) > _CELL_LIMIT:
        text = text[: _CELL_LIMIT - 1] + "…"
    if not text.startswith(_SPECIAL):
        return text
    cell = WriteOnlyCell(page, value=text)
    cell.data_type = "s"
    cell.quotePrefix = True
    return cell


def _timeless(book: bytes) -> bytes:
    """The same archive without the time of its making."""
    stamp = re.compile(rb"(<dcterms:(created|modified)[^>]*>)[^<]*")
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book)) as source, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            content = source.read(name)
            if name == "docProps/core.xml":
                content = stamp.sub(rb"\g<1>1980-01-01T00:00:00Z", content)
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(info, content)
    return buffer.getvalue()
