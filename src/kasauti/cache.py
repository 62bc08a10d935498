"""The cache folder: where files live that can be made again, and the memory of what they hash to.

The folder is `KASAUTI_CACHE`, or the user's cache folder of the platform. It may be deleted at any time and shared by
processes that run at once. Hashes are remembered by path, size and times, so that a file of gigabytes is read once.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kasauti.errors import KasautiError
from kasauti.identity import canonical_json, file_sha256

_LEDGER = "hashes.json"
_SETTLED_NS = 2_000_000_000


class CacheError(KasautiError):
    """The cache folder, or a file that was to be hashed, can't be read or written."""


def cache_folder() -> Path:
    """The cache folder; it need not exist yet."""
    chosen = os.environ.get("KASAUTI_CACHE")
    if chosen:
        return Path(chosen).expanduser().resolve()
    import pooch

    return Path(pooch.os_cache("kasauti"))


def keep_compiled_code() -> None:
    """Tells numba where to keep what it compiles; else that is beside the package, or in the home, or nowhere.

    To be called before numba is imported. Where it finds no such place, some packages can't be imported at all.
    """
    os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_folder() / "numba"))


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, read only if its path, size or times are not those of an earlier call, here or elsewhere.

    Raises:
        CacheError: the file can't be read, or the cache folder can't be written.
    """
    with _reading_errors(path):
        stamp = _stamp(path)
    with cache_errors(path):
        known = _remembered().get(str(path.resolve()))
    if known and known[:-1] == stamp:
        return str(known[-1])
    with _reading_errors(path):
        sha256 = file_sha256(path)
    with cache_errors(path):
        # A file changed a moment ago may be changed again within one tick of its times: look again next time.
        if time.time_ns() - max(stamp[1:]) > _SETTLED_NS:
            _remember(path, stamp, sha256)
    return sha256


def remember_hash(path: Path, sha256: str) -> None:
    """Notes the hash of a file that the caller has just made and nobody else writes.

    Raises:
        CacheError: the cache folder can't be written.
    """
    with cache_errors(path):
        _remember(path, _stamp(path), sha256)


@contextmanager
def cache_errors(path: Path) -> Iterator[None]:
    """Turns an operating-system error into a `CacheError` that names the file and the way out."""
    try:
        yield
    except OSError as error:
        raise CacheError(
            f"{path}: {error.strerror or error}. The cache folder is {cache_folder()}; "
            "set KASAUTI_CACHE to a folder with room that can be written"
        ) from error


@contextmanager
def _reading_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CacheError(f"{path} can't be read: {error.strerror or error}") from error


def _stamp(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def _remembered() -> dict[str, list[int | str]]:
    try:
        found = json.loads((cache_folder() / _LEDGER).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _remember(path: Path, stamp: list[int], sha256: str) -> None:
    from filelock import FileLock

    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(cache / f".{_LEDGER}.lock"):
        ledger = {known: entry for known, entry in _remembered().items() if Path(known).exists()}
        ledger[str(path.resolve())] = [*stamp, sha256]
        partial = cache / f".{_LEDGER}.partial"
        partial.write_text(canonical_json(ledger), encoding="utf-8")
        os.replace(partial, cache / _LEDGER)
