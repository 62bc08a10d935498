"""Some files out of a large tar: read as a stream, once, and only as far as needed.

An archive is somebody else's: its names are compared with the wanted ones and never used as paths.
"""

from __future__ import annotations

import os
import shutil
import tarfile
import zlib
from collections.abc import Collection
from gzip import BadGzipFile
from pathlib import Path, PurePosixPath

from kasauti.cache import cache_errors
from kasauti.datasets.hub import DatasetError


def unpack(archive: Path, names: Collection[str], folder: Path) -> None:
    """Writes the members of a `.tar.gz` with these file names, in whatever folder of the archive, into one folder.

    What is there already is not read again. A name that the archive lacks is left out. Every file is written whole or
    not at all, and processes that unpack at once wait for each other.

    Args:
        archive: The file.
        names: Plain file names, without a folder.
        folder: Where to; it need not exist.

    Raises:
        DatasetError: the archive is torn or no archive, holds a name that leaves its folder, or has a link in the
            place of a wanted file.
        CacheError: the folder can't be written.
    """
    from filelock import FileLock

    with cache_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".lock"):
            wanted = {name for name in names if not (folder / name).is_file()}
            if wanted:
                _read(archive, wanted, folder)


def _read(archive: Path, wanted: set[str], folder: Path) -> None:
    try:
        with tarfile.open(archive, mode="r|gz") as tar:
            for member in tar:
                name = _name(archive, member)
                if name in wanted:
                    _write(archive, tar, member, folder / name)
                    wanted.discard(name)
                    if not wanted:
                        return
    # EOFError: it ends early. zlib.error: it is damaged in the middle.
    except (tarfile.TarError, zlib.error, EOFError, BadGzipFile) as error:
        raise DatasetError(
            f"{archive}: a torn archive ({error}); remove the file and run the same command again to fetch it anew, "
            "or copy it again"
        ) from error


def _name(archive: Path, member: tarfile.TarInfo) -> str:
    """The file name of a member; empty for a folder."""
    path = PurePosixPath(member.name)
    if path.is_absolute() or ".." in path.parts or "\\" in member.name or "\0" in member.name:
        raise DatasetError(f"{archive}: member {member.name!r} leaves the folder; this is not the published archive")
    return "" if member.isdir() else path.name


def _write(archive: Path, tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    content = tar.extractfile(member) if member.isreg() else None
    if content is None:
        raise DatasetError(f"{archive}: member {member.name!r} is no plain file; this is not the published archive")
    partial = target.with_name(f".{target.name}.partial")
    with content, partial.open("wb") as file:
        shutil.copyfileobj(content, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, target)
