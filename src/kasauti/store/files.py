"""Writes that survive a kill, and errors that name the folder.

A file is written beside its place and renamed into it, so a reader sees the old content or the new, never a part. A
file has one writer at a time (the store's claims and the run folder's lock see to it): what a killed one left beside
the place is overwritten by the next.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kasauti.errors import StoreError


@contextmanager
def folder_errors(folder: Path, doing: str) -> Iterator[None]:
    """Turns an operating-system error into a `StoreError` that names the folder and what was being done."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"can't {doing} in {folder}: {error.strerror or error}. Nothing that was recorded is lost; free space or "
            "fix the permissions (or point paths.runs and paths.store elsewhere) and run the same command again."
        ) from error


def write_chunks(path: Path, chunks: Iterable[bytes]) -> None:
    """Writes a file atomically, part after part: temporary file in the same folder, flush to disk, rename.

    Raises:
        StoreError: the folder can't be made or written to, or the disk is full.
    """
    with folder_errors(path.parent, f"write {path.name}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = _beside(path)
        try:
            with beside.open("wb") as file:
                file.writelines(chunks)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise


def write_bytes(path: Path, content: bytes) -> None:
    """`write_chunks` in one."""
    write_chunks(path, (content,))


def _beside(path: Path) -> Path:
    """Where a file is written first: always the same name, of a length that every file system takes."""
    digest = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:12]
    return path.with_name(f".{path.name[:40]}.{digest}.tmp")


def write_text(path: Path, content: str) -> None:
    """`write_lines` in one."""
    write_lines(path, (content,))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """`write_chunks` in UTF-8; line ends are written as they are in `lines`.

    Half a surrogate pair (a judge's JSON and odd file names can hold one) is no text and is written as `\\udXXX`: one
    such character must not cost a run its tables.
    """
    write_chunks(path, (line.encode("utf-8", "backslashreplace") for line in lines))
