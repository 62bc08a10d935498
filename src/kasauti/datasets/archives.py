"""Some files out of a large tar: read as a stream, once, and believed only when its checksum was right.

An archive is somebody else's: its names are compared with the wanted ones and never used as paths.
"""

from __future__ import annotations

import os
import shutil
import tarfile
import zlib
from collections.abc import Collection, Iterator
from gzip import BadGzipFile, GzipFile
from pathlib import Path, PurePosixPath

from kasauti.cache import cache_errors
from kasauti.datasets.hub import DatasetError

_CHUNK = 1 << 20


def unpack(archive: Path, names: Collection[str], folder: Path) -> None:
    """Writes the members of a `.tar.gz` with these file names, in whatever folder of the archive, into one folder.

    What is there already is not read again. A name that the archive lacks is left out; of several members with one name
    the first counts. Files appear once the whole archive was read without a fault. Processes that unpack at once wait
    for each other.

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
                for name in _read(archive, wanted, folder):
                    os.replace(_beside(folder, name), folder / name)


def _read(archive: Path, wanted: Collection[str], folder: Path) -> list[str]:
    """Writes the wanted members beside their places; the names of those that are there."""
    try:
        with GzipFile(archive) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
            found = list(_members(archive, tar, wanted, folder))
            while stream.read(_CHUNK):  # to the end, where the checksum is: a tar ends well at a header that is torn
                pass
            return found
    # EOFError: it ends early. zlib.error: it is damaged in the middle.
    except (tarfile.TarError, zlib.error, EOFError, BadGzipFile) as error:
        raise DatasetError(
            f"{archive}: a torn archive ({error}); remove the file and run the same command again to fetch it anew, "
            "or copy it again"
        ) from error


def _members(archive: Path, tar: tarfile.TarFile, wanted: Collection[str], folder: Path) -> Iterator[str]:
    left = set(wanted)
    for member in tar:
        path = PurePosixPath(member.name)
        if path.is_absolute() or ".." in path.parts or "\\" in member.name or "\0" in member.name:
            raise DatasetError(
                f"{archive}: member {member.name!r} leaves the folder; this is not the published archive"
            )
        if path.name in left and not member.isdir():
            content = tar.extractfile(member) if member.isreg() else None
            if content is None:
                raise DatasetError(
                    f"{archive}: member {member.name!r} is no plain file; this is not the published archive"
                )
            with content, _beside(folder, path.name).open("wb") as file:
                shutil.copyfileobj(content, file)
                file.flush()
                os.fsync(file.fileno())
            left.discard(path.name)
            yield path.name


def _beside(folder: Path, name: str) -> Path:
    # One fixed name: what a killed process left is overwritten, and the lock keeps others away.
    return folder / f".{name}.partial"
