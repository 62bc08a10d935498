"""Checkpoints in folders, and names that are none: what they are known by, and what is said when they can't be had."""

from __future__ import annotations

import shutil
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from kasauti.checkpoints import Checkpoint, CheckpointError

FILES = {"config.json": "{}", "assets/model.dat": "one", "assets/weights.0": "two", "notes.txt": "not read"}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KASAUTI_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        (tmp_path / "model" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "model" / name).write_text(content)
    return tmp_path / "model"


def checkpoint(model: object, revision: str | None = None) -> Checkpoint:
    return Checkpoint(str(model), revision, ("config.json", "assets/model.dat"), ("assets/weights*",))


def test_a_folder_is_known_by_its_files_wherever_it_lies(folder: Path, tmp_path: Path) -> None:
    moved = shutil.copytree(folder, tmp_path / "elsewhere" / "copy")
    assert checkpoint(moved).identity() == checkpoint(folder).identity()
    assert checkpoint(folder).identity().startswith("folder@")
    assert checkpoint(folder).folder() == checkpoint(folder).here() == folder


@pytest.mark.parametrize(
    ("name", "same"),
    [("config.json", False), ("assets/model.dat", False), ("assets/weights.0", False), ("notes.txt", True)],
)
def test_whatever_is_read_is_part_of_its_identity(folder: Path, name: str, same: bool) -> None:
    before = checkpoint(folder).identity()
    (folder / name).write_text("changed")
    assert (checkpoint(folder).identity() == before) is same


def test_another_name_of_a_weight_is_another_checkpoint(folder: Path) -> None:
    before = checkpoint(folder).identity()
    (folder / "assets" / "weights.0").rename(folder / "assets" / "weights.1")
    assert checkpoint(folder).identity() != before


@pytest.mark.parametrize("method", ["identity", "folder", "here"])
def test_a_folder_that_lacks_a_file_says_which(folder: Path, method: str) -> None:
    (folder / "assets" / "model.dat").unlink()
    with pytest.raises(CheckpointError, match=r"model: the checkpoint lacks assets/model\.dat"):
        getattr(checkpoint(folder), method)()
    [finding] = checkpoint(folder).lacking("judge x", [])
    assert (finding.level, finding.subject) == ("error", "judge x")
    assert "assets/model.dat" in finding.message


@pytest.mark.parametrize("model", ["no/such/folder", "/no/such", "only-a-name", "", "owner/name/more"])
def test_what_is_neither_a_folder_nor_a_repository(model: str) -> None:
    assert not checkpoint(model).on_hub
    with pytest.raises(CheckpointError, match=r"no such folder|lacks config\.json"):
        checkpoint(model).identity()


def test_a_folder_wins_over_a_repository_of_its_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder.parent / "owner").mkdir()
    folder.rename(folder.parent / "owner" / "name")
    assert checkpoint("owner/name").on_hub
    monkeypatch.chdir(folder.parent)
    assert not checkpoint("owner/name").on_hub


@pytest.mark.parametrize("revision", [None, "", "main", "v1.0", "latest", "E9B71B36", "e9b71b", "e9b71b36 ", "g" * 40])
def test_a_revision_that_could_move_is_refused(revision: str | None) -> None:
    with pytest.raises(CheckpointError, match="wanted the commit on the hub"):
        checkpoint("owner/name", revision).identity()


@pytest.mark.parametrize("revision", ["e9b71b36", "e9b71b36" * 5])
def test_a_repository_is_known_by_name_and_commit(revision: str) -> None:
    assert checkpoint("owner/name", revision).identity() == f"owner/name@{revision[:12]}"
    assert checkpoint("owner/name", revision).page == "https://huggingface.co/owner/name"


def test_whatever_breaks_a_fetch_is_an_error_for_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """The errors of a client's transport are no OSErrors."""

    class ReadTimeout(Exception):  # noqa: N818 - its name in the client
        pass

    def fetch(*_: object, **__: object) -> str:
        raise ReadTimeout("the hub fell silent")

    hub, errors = ModuleType("huggingface_hub"), ModuleType("huggingface_hub.errors")
    hub.snapshot_download = fetch  # type: ignore[attr-defined]
    for name in ("GatedRepoError", "RepositoryNotFoundError"):
        setattr(errors, name, type(name, (Exception,), {}))
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    monkeypatch.setitem(sys.modules, "huggingface_hub.errors", errors)
    monkeypatch.setattr(Checkpoint, "here", lambda self: None)
    with pytest.raises(CheckpointError, match=r"owner/name can't be fetched \(ReadTimeout: the hub fell silent\)"):
        checkpoint("owner/name", "e9b71b36").folder()


def test_a_token_that_can_not_be_read_is_an_error_for_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where `HF_HOME` is no folder."""

    def get_token() -> str:
        raise NotADirectoryError(20, "Not a directory", "/dev/null/x/token")

    hub, errors = ModuleType("huggingface_hub"), ModuleType("huggingface_hub.errors")
    hub.get_token, hub.HfApi, hub.__spec__ = get_token, object, ModuleSpec("huggingface_hub", None)  # type: ignore[attr-defined]
    for name in ("GatedRepoError", "RepositoryNotFoundError"):
        setattr(errors, name, type(name, (Exception,), {}))
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    monkeypatch.setitem(sys.modules, "huggingface_hub.errors", errors)
    monkeypatch.setattr(Checkpoint, "here", lambda self: None)
    [finding] = Checkpoint("owner/name", "e9b71b36", gated=True).lacking("judge x", [])
    assert finding.level == "error"
    assert "/dev/null/x/token" in finding.message
    assert "set HF_HOME" in finding.message


def test_a_folder_that_may_not_be_looked_into_is_an_error_for_the_user(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stat(self: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "stat", stat)
    for ask in (checkpoint(folder).here, checkpoint(folder).identity):
        with pytest.raises(CheckpointError, match=r"model can't be read: Permission denied"):
            ask()


def test_a_package_that_is_not_installed_is_named_with_the_command_that_brings_it(folder: Path) -> None:
    [finding] = checkpoint(folder).lacking("judge x", ["json", "no_such_package"], "pip install it")
    assert finding.message == "not installed: no_such_package."
    assert finding.remedy == "Install it: pip install it"
    assert checkpoint(folder).lacking("judge x", ["json"]) == []
