"""A table of results: one definition for the terminal, the page and the files.

In files a number has all its digits and an interval three columns (`score`, `score_low`, `score_high`); on the terminal
and in the page it is rounded and stands in one cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from kasauti.report.tables import write_table
from kasauti.report.wording import NOTHING
from kasauti.stats.bootstrap import Interval


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
        key: Name in files. `heading`: name for people.
        digits: Decimals that are shown; None for text and counts.
        help: What it means, where the heading does not say it.
        minor: Left out where a terminal is too narrow.
    """

    key: str
    heading: str
    digits: int | None = None
    help: str = ""
    minor: bool = False


@dataclass(frozen=True)
class Sheet:
    """One table. `note` says what it shows; `signature` is that of its scores, where a row has none of its own."""

    name: str
    title: str
    note: str
    columns: tuple[Column, ...]
    rows: tuple[Mapping[str, Any], ...]
    signature: str

    def only(self, key: str, value: Any) -> Self:
        """The rows with this value, and without this column."""
        rows = tuple(row for row in self.rows if row[key] == value)
        return replace(self, rows=rows, columns=tuple(column for column in self.columns if column.key != key))

    def shown(self, row: Mapping[str, Any]) -> list[str]:
        """A row as people read it."""
        return [shown(row[column.key], column.digits) for column in self.columns]


def shown(value: Any, digits: int | None) -> str:
    """One value as people read it: rounded, an interval in brackets, a dash for None."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Interval):
        if value.low is None or value.high is None:
            return shown(value.estimate, digits)
        return f"{_rounded(value.estimate, digits)} [{_rounded(value.low, digits)}, {_rounded(value.high, digits)}]"
    return _rounded(value, digits) if isinstance(value, float) else str(value)


def write_sheets(sheets: Iterable[Sheet], folder: Path) -> None:
    """Writes each table as NAME.tsv, its last column the score signature.

    Raises:
        StoreError: the folder can't be written.
    """
    for sheet in sheets:
        rows = [_flat({"signature": sheet.signature, **row}) for row in sheet.rows]
        keys = [key for column in sheet.columns for key in _keys(column, sheet.rows)]
        write_table(folder / f"{sheet.name}.tsv", [*keys, "signature"], rows)


def _rounded(value: float | None, digits: int | None) -> str:
    assert value is not None
    text = f"{value:.{digits}f}" if digits is not None else f"{value:g}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


def _keys(column: Column, rows: Iterable[Mapping[str, Any]]) -> list[str]:
    holds_intervals = any(isinstance(row[column.key], Interval) for row in rows)
    return [column.key, f"{column.key}_low", f"{column.key}_high"] if holds_intervals else [column.key]


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, Interval):
            flat |= {key: value.estimate, f"{key}_low": value.low, f"{key}_high": value.high}
        else:
            flat[key] = value
    return flat
