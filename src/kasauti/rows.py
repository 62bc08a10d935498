"""Rows of the files that users bring: JSONL, CSV or TSV in, fields as text with their line numbers out.

Every cell is text, byte for byte: nothing is guessed to be a number, a truth value or missing.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kasauti.errors import PromptError


def read_rows(path: Path, required: Sequence[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Rows of a `.jsonl` (an object a line), `.csv` or `.tsv` file (a header line; case and spaces in it don't matter).

    Args:
        path: The file.
        required: Columns that a table must have; for JSONL the caller checks each row with `text_field`.

    Yields:
        Line number (of a row's first line) and fields. An empty cell of a table is an empty text.

    Raises:
        PromptError: with file and line: not UTF-8, not JSON, a ragged or ambiguous table, an unknown kind of file.
    """
    readers = {".jsonl": _jsonl_rows, ".csv": _csv_rows, ".tsv": _tsv_rows}
    suffix = path.suffix.lower()
    if suffix not in readers:
        raise PromptError(f"{path}: unknown kind of file {suffix!r}; expected {', '.join(readers)}")
    yield from readers[suffix](path, read_text(path), required)


def text_field(where: str, row: Mapping[str, Any], name: str) -> str:
    """A field that must be there and be text.

    Raises:
        PromptError: it is missing, not text, or half a character.
    """
    if name not in row:
        raise PromptError(f"{where}: no field {name!r}; found {', '.join(map(str, row)) or 'none'}")
    value = row[name]
    if not isinstance(value, str):
        raise PromptError(f"{where}: {name} is {value!r}; expected text (put it in quotes)")
    return whole_text(where, name, value)


def whole_text(where: str, name: str, value: str) -> str:
    """A text as it is.

    Raises:
        PromptError: it holds half a character, which JSON can spell and no file can hold.
    """
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise PromptError(f"{where}: {name} holds half a surrogate pair, which is no text; write the whole character")
    return value


def read_text(path: Path) -> str:
    """Text of a UTF-8 file, a byte-order mark taken off.

    Raises:
        PromptError: the file can't be read, or isn't UTF-8; the message names the line.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise PromptError(f"{path}: can't read this file: {error.strerror}") from error
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        hint = "it looks like UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else f"byte 0x{data[error.start]:02x}"
        raise PromptError(f"{path}:{line}: not UTF-8 ({hint}); save the file as UTF-8 and try again") from error


def _jsonl_rows(path: Path, text: str, _required: Sequence[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, object_pairs_hook=_object)
        except (ValueError, RecursionError) as error:
            raise PromptError(f"{path}:{number}: not JSON ({error}); expected one object a line") from error
        if not isinstance(row, dict):
            raise PromptError(f"{path}:{number}: expected a JSON object, got {type(row).__name__}")
        yield number, row


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"field {next(name for name in names if names.count(name) > 1)!r} comes twice")
    return value


def _csv_rows(path: Path, text: str, required: Sequence[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    yield from _table_rows(path, csv.reader(io.StringIO(text, newline=""), strict=True), required)


def _tsv_rows(path: Path, text: str, required: Sequence[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter="\t", quoting=csv.QUOTE_NONE)
    yield from _table_rows(path, reader, required)


def _table_rows(path: Path, reader: Any, required: Sequence[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        header = [name.strip().casefold() for name in next(reader, [])]
        doubled = sorted({name for name in header if name and header.count(name) > 1})
        if doubled:
            raise PromptError(f"{path}:1: column {doubled[0]!r} comes twice in the header; keep one")
        for name in required:
            if name not in header:
                found = ", ".join(header) or "nothing"
                raise PromptError(f"{path}:1: no column {name!r}; found {found}{_other_separator(header)}")
        start = reader.line_num + 1
        for cells in reader:
            if any(cells):
                if len(cells) != len(header):
                    raise PromptError(f"{path}:{start}: {len(cells)} cells, but the header has {len(header)} columns")
                yield start, dict(zip(header, cells, strict=True))
            start = reader.line_num + 1
    except csv.Error as error:
        raise PromptError(f"{path}:{reader.line_num}: not a valid table ({error})") from error


def _other_separator(header: Sequence[str]) -> str:
    """A hint for a table whose cells are separated by something else than its kind of file says."""
    hints = {";": "semicolons: save it with commas", "\t": "tabs: name it .tsv", ",": "commas: name it .csv"}
    for separator, hint in hints.items():
        if any(separator in name for name in header):
            return f"; its cells seem to be separated by {hint}"
    return ""
