"""Writes that survive a kill, and errors that name the folder.

A file is written beside its place and renamed into it, so a reader sees the old content or the new, never a part.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kasauti.errors import StoreError


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


_UMASK = _umask()
"""Read once: it can only be read by setting it, which other threads would see."""


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


def write_bytes(path: Path, content: bytes) -> None:
    """Writes a file atomically: temporary file in the same folder, flush to disk, rename.

    Raises:
        StoreError: the folder can't be made or written to, or the disk is full.
    """
    with folder_errors(path.parent, f"write {path.name}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".tmp", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            # mkstemp makes files private; products are as readable as any other file the user makes.
            os.chmod(name, 0o666 & ~_UMASK)
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def write_text(path: Path, content: str) -> None:
    """`write_bytes` in UTF-8; line ends are written as they are in `content`.

    Half a surrogate pair (a judge's JSON and odd file names can hold one) is no text and is written as `\\udXXX`: one
    such character must not cost a run its tables.
    """
    write_bytes(path, content.encode("utf-8", "backslashreplace"))
