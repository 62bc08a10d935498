"""Where the files of a published bundle are: a local copy, or fetched at a pinned commit.

A bundle is a folder with `checksums.sha256` (64 hex digits, two spaces, relative path) and the files it lists. The hash
of that list is pinned in `conf/experiment`, so every fetched byte is known beforehand. Fetched files are kept in the
store folder and are not fetched twice. A local copy is taken as it is: what it holds is for the study to verify.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from kasauti.errors import KasautiError
from kasauti.identity import file_sha256
from kasauti.paths import product_path, source_path
from kasauti.settings import MISSING, TaskOptions
from kasauti.store.files import folder_errors

if TYPE_CHECKING:
    from rich.console import Console

CHECKSUMS = "checksums.sha256"

_TIMEOUT_S = (10, 60)
_LINE = re.compile(r"([0-9a-f]{64})  (\S.*)")


class BundleError(KasautiError):
    """A bundle is not there and can't be fetched, or its list of files can't be read."""


@dataclass
class BundleOptions(TaskOptions):
    """Options of a study of the published bundle.

    Attributes:
        mirror: A local copy of the bundle (or of the repository that holds it under `benchmark`); null = fetch.
        address: Where its repository's files are served, less commit and path.
        commit: The commit.
        checksums_sha256: SHA-256 of its `checksums.sha256`.
        store: Fetched files go to a folder of this one; relative to the repository unless absolute.
    """

    mirror: str | None = None
    address: str = MISSING
    commit: str = MISSING
    checksums_sha256: str = MISSING
    store: str = MISSING


def locate(options: BundleOptions, console: Console) -> Path:
    """The folder of the bundle; fetches what is not there yet unless a mirror is given.

    Raises:
        BundleError: the mirror holds no bundle; a file can't be fetched, or is another than the pinned one.
        StoreError: the store folder can't be written.
    """
    if options.mirror is None:
        return _fetch_all(options, console)
    return mirrored(options.mirror, "data.mirror", ", or leave data.mirror out to fetch the bundle")


def mirrored(mirror: str, key: str, otherwise: str = "") -> Path:
    """The bundle's folder in a local copy: the folder itself, or `benchmark` in a clone.

    Args:
        mirror: As given by the user.
        key: By which option; for the error.
        otherwise: What else could be done; for the error.

    Raises:
        BundleError: the list of checksums is not there.
    """
    given = source_path(mirror)
    for folder in (given, given / "benchmark"):
        if (folder / CHECKSUMS).is_file():
            return folder
    raise BundleError(
        f"{key}={mirror}: no {CHECKSUMS} there; give the folder that holds it (`benchmark` of a clone){otherwise}"
    )


def read_checksums(path: Path) -> dict[str, str]:
    """Path -> SHA-256, as listed.

    Raises:
        BundleError: a line has another form, a path leaves the folder or is listed twice, or there is no line.
    """
    listed: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        found = _LINE.fullmatch(line)
        if found is None:
            raise BundleError(f"{path.name}:{number}: {line!r}; wanted 64 hex digits, two spaces, a path")
        sha256, name = found[1], found[2]
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts or "\\" in name:
            raise BundleError(f"{path.name}:{number}: {name} leaves the folder")
        if name in listed:
            raise BundleError(f"{path.name}:{number}: {name} is listed twice")
        listed[name] = sha256
    if not listed:
        raise BundleError(f"{path.name}: lists no file")
    return listed


def _fetch_all(options: BundleOptions, console: Console) -> Path:
    folder = product_path(options.store) / "data" / f"indicemo-{options.commit[:12]}"
    _fetch(options, console, folder, CHECKSUMS, options.checksums_sha256)
    for name, sha256 in read_checksums(folder / CHECKSUMS).items():
        _fetch(options, console, folder, name, sha256)
    return folder


def _fetch(options: BundleOptions, console: Console, folder: Path, name: str, sha256: str) -> None:
    import pooch
    import requests
    from rich.text import Text

    target = folder / name
    if target.is_file() and file_sha256(target) == sha256:
        return
    url = f"{options.address}/{options.commit}/benchmark/{name}"
    console.print(Text(f"fetching {url}"), soft_wrap=True)
    pooch.get_logger().setLevel("WARNING")
    downloader = pooch.HTTPDownloader(timeout=_TIMEOUT_S)
    with folder_errors(target.parent, f"write {target.name}"):
        try:
            pooch.retrieve(url, f"sha256:{sha256}", target.name, target.parent, downloader=downloader)
        # What requests raises are operating-system errors too, but not of the folder.
        except requests.RequestException as error:
            raise BundleError(
                f"{url} can't be fetched ({type(error).__name__}). Connect to the network, or give a local copy: "
                f"data.mirror=DIR, a folder with {CHECKSUMS}"
            ) from error
        except ValueError as error:
            raise BundleError(
                f"{url} is another file than the pinned one (SHA-256 {sha256} wanted); try again, or give a local "
                "copy: data.mirror=DIR"
            ) from error
