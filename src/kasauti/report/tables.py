"""The text tables of a run folder: one writer, one reader.

Tab-separated, UTF-8, LF, a header line, no quoting. Inside a cell backslash, tab, LF and CR are written as `\\\\`,
`\\t`, `\\n`, `\\r`. None is an empty cell; an empty text is `\\e`, so that an empty transcript and no transcript stay
apart. Numbers are written in Python's shortest form that reads back as the same number.
"""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from kasauti.errors import StoreError
from kasauti.store.files import write_lines

_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_PLAIN = {"\\\\": "\\", "\\t": "\t", "\\n": "\n", "\\r": "\r", "\\e": ""}

Row = TypeVar("Row")


def cell(value: Any) -> str:
    """One value as the text of a cell."""
    if value is None:
        return ""
    if value == "":
        return "\\e"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(float(value))  # numpy's own floats would write their type
    return re.sub(r"[\\\t\n\r]", lambda found: _ESCAPES[found[0]], str(value))


def text_of(written: str) -> str | None:
    """The text that a cell was written from; None for an empty cell."""
    if written == "":
        return None
    if "\\" not in written:
        return written
    return re.sub(r"\\.", lambda found: _PLAIN.get(found[0], found[0]), written)


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Writes a table atomically, `columns` in their order; a key that a row lacks is an empty cell."""
    lines = ("\t".join(cell(row.get(name)) for name in columns) + "\n" for row in rows)
    write_lines(path, chain(["\t".join(columns) + "\n"], lines))


def write_records(path: Path, columns: Sequence[str], rows: Iterable[Any]) -> None:
    """Writes rows of a dataclass, those of its fields that are `columns`."""
    write_table(path, columns, ({name: getattr(row, name) for name in columns} for row in rows))


def read_table(path: Path) -> list[dict[str, str | None]]:
    """Reads a table as text cells.

    Raises:
        StoreError: the file is missing or a line has another number of cells than the header.
    """
    return list(_rows(path))


def _rows(path: Path) -> Iterator[dict[str, str | None]]:
    try:
        # Only LF ends a line; a reader in text mode would also end one at a lone CR.
        with path.open(encoding="utf-8", newline="\n") as file:
            header = file.readline().removesuffix("\n").split("\t")
            for number, line in enumerate(file, start=2):
                cells = line.removesuffix("\n").split("\t")
                if len(cells) != len(header):
                    raise StoreError(f"{path}:{number}: {len(cells)} cells, but the header has {len(header)} columns")
                yield {name: text_of(written) for name, written in zip(header, cells, strict=True)}
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"{path}: can't read this table: {error}") from error


def read_records(path: Path, kind: type[Row]) -> list[Row]:
    """Reads a table whose columns are the fields of a dataclass (`per_sample.tsv` as `SampleRow`).

    Columns that the dataclass doesn't know are left out, so that tables of newer versions can be read.

    Raises:
        StoreError: as `read_table`; a cell or a missing column doesn't fit the dataclass.
    """
    kinds = field_types(kind)
    known = {name: _Values(plain) for name, plain in kinds.items()}
    rows = []
    for number, cells in enumerate(_rows(path), start=2):
        try:
            rows.append(kind(**{name: known[name].of(written) for name, written in cells.items() if name in kinds}))
        except (ValueError, TypeError) as error:
            raise StoreError(f"{path}:{number}: not a row of {kind.__name__}: {error}") from error
    return rows


class _Values:
    """The values of one column. What stands in many rows (a language, a judge, 0.0) is one object in memory."""

    _MOST = 4096

    def __init__(self, kind: type) -> None:
        self._kind = kind
        self._seen: dict[str | None, Any] = {}

    def of(self, written: str | None) -> Any:
        """The value of a cell."""
        if written in self._seen:
            return self._seen[written]
        value = cell_value(self._kind, written)
        if len(self._seen) < self._MOST:
            self._seen[written] = value
        return value


def field_types(kind: type[Any]) -> dict[str, type]:
    """Field name -> its plain type, the `| None` taken off."""
    hints = typing.get_type_hints(kind)
    plain = {}
    for field in fields(kind):
        hint = hints[field.name]
        if isinstance(hint, types.UnionType):
            hint = next(part for part in typing.get_args(hint) if part is not type(None))
        plain[field.name] = hint if isinstance(hint, type) else str
    return plain


def cell_value(kind: type, written: str | None) -> Any:
    if written is None:
        return None
    if kind is bool:
        return written == "true"
    if kind in (int, float) or issubclass(kind, StrEnum):
        return kind(written)
    return written
