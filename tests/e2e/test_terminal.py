"""A reader that goes away, a terminal that lacks letters, a sweep over studies: the run itself does not mind."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from runs import command, prompt_file, run_apart, words


def test_a_run_goes_on_when_its_reader_has_gone(tmp_path: Path) -> None:
    prompt_file(tmp_path)
    with subprocess.Popen(command(*words(tmp_path)), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        told = process.stderr.read().decode()
    assert (process.returncode, told) == (0, "")
    (status,) = (tmp_path / "runs").glob("*/status.json")
    assert '"complete"' in status.read_text(encoding="utf-8")


@pytest.mark.parametrize("arguments", [["--help"], ["dry_run=true"]])
def test_a_terminal_without_our_letters_shows_question_marks(tmp_path: Path, arguments: list[str]) -> None:
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    ended = subprocess.run(
        command(*words(tmp_path), *arguments), capture_output=True, env=environment, check=False, text=True
    )
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_failed_sweep_says_to_try_again_only_where_that_can_help(tmp_path: Path) -> None:
    ended = run_apart("-m", *words(tmp_path), "promptset.langs=[zz],[en]", f"hydra.sweep.dir={tmp_path}/sweep")
    assert ended.returncode == 2
    assert "1 of 2 jobs are missing" in ended.stdout
    assert "same command again" not in ended.stdout
