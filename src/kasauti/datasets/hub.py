"""Files of a data set: in a local copy, or in a data repository of a model hub at one commit.

Fetching is left to `huggingface_hub`, whose cache, token and endpoint variables (`HF_HOME`, `HF_TOKEN`, `HF_ENDPOINT`)
apply. A commit pins every byte; a file is fetched when it is first asked for, alone.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from pathlib import Path

from kasauti.errors import KasautiError
from kasauti.paths import source_path

INSTALL = "pip install -e '.[local]'"
"""The command, in the repository, that brings `huggingface_hub` among other things."""

_COMMIT = re.compile(r"[0-9a-f]{40}")
_LOG = logging.getLogger(__name__)


class DatasetError(KasautiError):
    """A data set is not there, can't be fetched, or isn't what it should be."""


@dataclass(frozen=True)
class DataRepository:
    """One data set.

    Attributes:
        name: `OWNER/NAME` on the hub.
        revision: Commit on the hub.
        layout: Where its files are, in words, for messages.
        mirror: A local copy of the same layout; None = the hub.
    """

    name: str
    revision: str | None
    layout: str
    mirror: str | None = None

    def here(self, path: str) -> Path | None:
        """A file of the data set if it need not be fetched.

        Args:
            path: Its path inside the data set.

        Raises:
            DatasetError: the local copy is no folder; the revision is no commit; `huggingface_hub` is not installed.
        """
        if self.mirror is not None:
            found = self._folder() / path
            return found if found.is_file() else None
        commit = self._commit()
        from huggingface_hub import try_to_load_from_cache

        cached = try_to_load_from_cache(self.name, path, revision=commit, repo_type="dataset")
        return Path(cached) if isinstance(cached, str) else None

    def file(self, path: str) -> Path:
        """A file of the data set; fetched if it is not here.

        Raises:
            DatasetError: as for `here`; there is no such file; the hub can't be reached.
        """
        found = self.here(path)
        if found is not None:
            return found
        if self.mirror is not None:
            raise DatasetError(f"data.mirror={self.mirror}: no {path} in this folder; wanted {self.layout}")
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import RemoteEntryNotFoundError, RepositoryNotFoundError, RevisionNotFoundError

        _LOG.warning("fetching %s of %s", path, self.name)
        commit, instead = self._commit(), f"data.mirror=DIR names a local copy ({self.layout})"
        try:
            return Path(hf_hub_download(self.name, path, revision=commit, repo_type="dataset"))
        except (RemoteEntryNotFoundError, RevisionNotFoundError, RepositoryNotFoundError) as error:
            raise DatasetError(f"the hub has no {path} in {self.name} at commit {commit}; {instead}") from error
        except Exception as error:  # whatever the client's transport raises: the file can't be had
            told = type(error).__name__
            if (
                isinstance(error, OSError) and error.filename is not None
            ):  # the client's own are OSErrors without a file
                told = f"{error.filename}: {error.strerror}; HF_HOME says where fetched files are kept"
            raise DatasetError(
                f"{path} of {self.name} can't be fetched ({told}). Connect to the network for the first use; {instead}"
            ) from error

    def _folder(self) -> Path:
        folder = source_path(self.mirror or "")
        if not folder.is_dir():
            raise DatasetError(f"data.mirror={self.mirror}: there is no such folder; wanted {self.layout}")
        return folder

    def _commit(self) -> str:
        from importlib.util import find_spec

        if self.revision is None or not _COMMIT.fullmatch(self.revision):
            raise DatasetError(
                f"{self.name}: revision={self.revision}: wanted a commit on the hub (40 hex digits); a name that moves "
                "would be another data set tomorrow"
            )
        if find_spec("huggingface_hub") is None:
            raise DatasetError(f"{self.name}: huggingface_hub is not installed, and fetches it; run {INSTALL}")
        return self.revision
