"""Append-only JSON lines shared by several processes.

One record a line, UTF-8, ending at LF and nowhere else (U+2028 or a lone CR inside a text is text). The first key of a
record is its id, so a file of any length is indexed by looking at line starts; records are decoded when asked for. The
last record of an id counts. A writer holds the file's lock while it appends; a reader needs none, since it stops at the
last LF. What a killed writer left behind its last LF is repaired by the next one.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from io import FileIO
from pathlib import Path
from typing import Any, Generic, TypeVar

from filelock import FileLock

from kasauti.errors import StoreError
from kasauti.store.files import folder_errors

_ID_AT_START = re.compile(rb'\{"[a-z_]+":"([0-9a-f]+)"[,}]')


Record = TypeVar("Record")

_BLOCK_BYTES = 1 << 24


class JsonlLog(Generic[Record]):
    """An indexed append-only log of one kind of record.

    Args:
        path: The file; it need not exist.
        encode: Record to JSON object; the first key must be the id.
        decode: JSON object to record.

    Safe for threads of one process and for several processes.
    """

    def __init__(
        self,
        path: Path,
        encode: Callable[[Record], Mapping[str, Any]],
        decode: Callable[[Mapping[str, Any]], Record],
    ) -> None:
        self.path = path
        self._encode = encode
        self._decode = decode
        self._places: dict[str, tuple[int, int]] = {}
        self._read_to = 0
        self._mutex = threading.RLock()
        self.refresh()

    def __contains__(self, identity: str) -> bool:
        return identity in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._places))

    def __len__(self) -> int:
        return len(self._places)

    def refresh(self) -> None:
        """Indexes what other processes have appended since the last look.

        Raises:
            StoreError: a line is not a record; the message names file and line.
        """
        with self._mutex, folder_errors(self.path.parent, f"read {self.path.name}"):
            try:
                size = self.path.stat().st_size
            except FileNotFoundError:
                return
            with self.path.open("rb") as file:
                block = _BLOCK_BYTES
                while self._read_to < size:
                    file.seek(self._read_to)
                    new = file.read(min(block, size - self._read_to))
                    whole = new[: new.rfind(b"\n") + 1]
                    self._index(whole)
                    if not whole and len(new) < block:
                        return  # the rest is a line that is still being written, or was torn
                    block = _BLOCK_BYTES if whole else 2 * block

    def get(self, identity: str) -> Record | None:
        """The last record of an id, or None."""
        with self._mutex:
            place = self._places.get(identity)
            if place is None:
                return None
            with folder_errors(self.path.parent, f"read {self.path.name}"), self.path.open("rb") as file:
                file.seek(place[0])
                line = file.read(place[1])
        try:
            return self._decode(json.loads(line))
        except (ValueError, TypeError, KeyError) as error:
            raise self._broken(place[0], str(error)) from error

    def put(self, record: Record) -> None:
        """Appends a record, durably.

        Raises:
            StoreError: the folder can't be written to or the disk is full; the file is left as it was.
        """
        line = json.dumps(self._encode(record), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        data = line.encode("utf-8", "surrogatepass") + b"\n"
        if not _ID_AT_START.match(data):
            raise ValueError(f"a record must begin with its id: {line[:80]}")
        with self._mutex, folder_errors(self.path.parent, f"append to {self.path.name}"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Unbuffered: what a full disk refused must not be written after all when the file is closed.
            with FileLock(f"{self.path}.lock"), self.path.open("a+b", buffering=0) as file:
                self.refresh()
                _repair(file, self._read_to, self.path)
                _append(file, data)
            self.refresh()

    def _index(self, lines: bytes) -> None:
        start = 0
        while start < len(lines):
            end = lines.index(b"\n", start) + 1
            match = _ID_AT_START.match(lines, start, end)
            if match is None:
                raise self._broken(self._read_to + start, "it does not begin with an id")
            self._places[match[1].decode()] = (self._read_to + start, end - start)
            start = end
        self._read_to += len(lines)

    def _broken(self, offset: int, why: str) -> StoreError:
        with self.path.open("rb") as file:
            line_number = file.read(offset).count(b"\n") + 1
        return StoreError(
            f"{self.path}:{line_number}: not a record ({why}). Something other than kasauti has changed this file. "
            "Move that line to another file and run again: only the work on that line is made anew."
        )


def _append(file: FileIO, data: bytes) -> None:
    size = file.seek(0, os.SEEK_END)
    try:
        written = 0
        while written < len(data):
            written += file.write(data[written:]) or 0
        os.fsync(file.fileno())
    except OSError:
        # A full disk may have taken part of the line.
        os.ftruncate(file.fileno(), size)
        raise


def _repair(file: FileIO, last_line_end: int, path: Path) -> None:
    """Mends what a killed writer left after the last LF: completes a whole record, sets a torn one aside."""
    file.seek(last_line_end)
    fragment = file.read()
    if not fragment:
        return
    try:
        whole = _ID_AT_START.match(fragment) is not None and isinstance(json.loads(fragment), dict)
    except ValueError:
        whole = False
    if whole:
        _append(file, b"\n")
        return
    with path.with_suffix(".torn").open("ab") as aside:
        aside.write(fragment + b"\n")
    os.ftruncate(file.fileno(), last_line_end)
