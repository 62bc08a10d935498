"""`python -m kasauti status` and RUN=latest after runs that ended in different ways."""

from __future__ import annotations

from pathlib import Path

import pytest

from kasauti.__main__ import main
from kasauti.errors import ConfigError
from kasauti.pipeline.folder import RunFolder
from kasauti.runs import find_run
from runs import run_here


def test_a_run_that_was_killed_is_called_broken_off_and_is_not_the_latest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = run_here(tmp_path, "promptset.limit=1")
    killed = RunFolder(tmp_path / "runs", "0123456789ab")
    with killed.locked():
        killed.write_json("status.json", {"run_id": killed.run_id, "state": "running"})
        main(["--runs", str(tmp_path / "runs"), "status"])
        assert "running" in capsys.readouterr().out
    main(["--runs", str(tmp_path / "runs"), "status"])
    said = capsys.readouterr().out
    assert "broken off" in said
    assert "running" not in said
    assert find_run("latest", tmp_path / "runs") == whole.result.folder


def test_says_of_what_each_run_was_newest_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    whole = run_here(tmp_path, "promptset.limit=1", "system.id='[b]'")
    later = RunFolder(tmp_path / "runs", "fedcba987654")
    with later.locked():
        state = {"run_id": later.run_id, "state": "incomplete", "at": "9999-01-01T00:00:00+00:00", "exit_code": 130}
        later.write_json("status.json", state)
    capsys.readouterr()
    main(["--runs", str(tmp_path / "runs"), "status"])
    _, first, second = capsys.readouterr().out.splitlines()
    assert first.split()[0] == later.run_id
    assert "interrupted" in first
    assert second.split()[0] == whole.result.run_id
    assert second.split()[4:] == ["[b]", "fake", "file:", "4"]


def test_no_runs_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--runs", str(tmp_path / "runs"), "status"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert "no run in this folder" in line


def test_latest_of_no_ended_run_says_what_to_do(tmp_path: Path) -> None:
    killed = RunFolder(tmp_path / "runs", "0123456789ab")
    with killed.locked():
        killed.write_json("status.json", {"run_id": killed.run_id, "state": "running"})
    with pytest.raises(ConfigError, match="has ended"):
        find_run("latest", tmp_path / "runs")


def test_latest_is_the_newest_whose_record_can_be_read(tmp_path: Path) -> None:
    first, second = (run_here(tmp_path, "scoring.draws=100", f"promptset.langs=[{lang}]") for lang in ("hi", "ta"))
    runs = tmp_path / "runs"
    assert find_run("latest", runs) == second.result.folder
    (second.result.folder / "run.json").write_text('{"run_id": ', encoding="utf-8")
    assert find_run("latest", runs) == first.result.folder


def test_the_folder_of_runs_is_looked_for_where_the_command_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = run_here(tmp_path, "scoring.draws=100", "promptset.langs=[hi]")
    monkeypatch.chdir(tmp_path)
    assert main(["--runs", "runs", "status"]) == 0
    assert ran.result.run_id in capsys.readouterr().out
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert main(["status"]) == 0
    assert ran.result.run_id not in capsys.readouterr().out
