"""Relative paths: products start at the repository, the user's own files at the current folder first."""

from __future__ import annotations

from pathlib import Path

import pytest

from kasauti.paths import ROOT, product_path, source_path


def test_the_root_is_the_repository() -> None:
    assert (ROOT / "run.py").is_file()
    assert (ROOT / "conf" / "config.yaml").is_file()


def test_products_do_not_depend_on_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    assert product_path("runs") == ROOT / "runs"
    assert product_path(str(tmp_path / "runs")) == tmp_path / "runs"


def test_sources_are_looked_for_here_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert source_path("prompts/smoke.jsonl") == ROOT / "prompts" / "smoke.jsonl"
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "smoke.jsonl").touch()
    assert source_path("prompts/smoke.jsonl") == Path("prompts/smoke.jsonl")
    assert source_path(str(tmp_path / "gone")) == tmp_path / "gone"


def test_home_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "mine.csv").touch()
    assert source_path("~/mine.csv") == tmp_path / "mine.csv"
    assert product_path("~/runs") == tmp_path / "runs"


@pytest.mark.parametrize(
    "path", ["x" * 300, "a/" * 3000, "~nobody-of-that-name/x", "~$book.csv", "a\0b", "/" + "é" * 200]
)
def test_a_path_that_no_file_can_have_is_a_file_that_is_not_there(path: str) -> None:
    assert source_path(path) == ROOT / path
    assert product_path(path) == ROOT / path


def test_an_odd_name_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "~$book.csv").touch()
    assert source_path("~$book.csv") == Path("~$book.csv")
