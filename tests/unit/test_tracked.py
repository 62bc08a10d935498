"""A tracker is told of a run's start and end, whichever way it ends, and can cost the run nothing."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from kasauti.errors import ConfigError, ExitCode, PreflightError, StoreError
from kasauti.pipeline import run as pipeline
from kasauti.pipeline.tracked import tracked
from kasauti.records import Finding
from kasauti.tracking import wandb as tracking
from kasauti.tracking.base import End, NoTracker, Start, Tracker
from kasauti.tracking.wandb import WandbOptions, WandbTracker
from plans import settings_for
from runs import run_here


class Recorder:
    """Stands in for the tracker of a run, and keeps what it is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.starts: list[Start] = []
        self.ends: list[End] = []
        monkeypatch.setattr(NoTracker, "begin", lambda _, start: self.starts.append(start))
        monkeypatch.setattr(NoTracker, "finish", self.finish)

    def finish(self, end: End) -> str:
        self.ends.append(end)
        return "seen"


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    return Recorder(monkeypatch)


def test_a_tracker_is_told_of_start_and_end(tmp_path: Path, recorder: Recorder) -> None:
    ran = run_here(tmp_path, "scoring.draws=100", "study=mine")
    [start], [end] = recorder.starts, recorder.ends
    assert (start.run_id, start.folder) == (ran.result.run_id, ran.result.folder.resolve())
    assert start.prompts == {"en": 2, "hi": 2, "ta": 1, "ur": 1}
    assert start.settings.overrides[-2:] == ["scoring.draws=100", "study=mine"]
    assert set(start.planned_s) == set(start.planned_usd) == {"system fake", "judge fake"}
    assert end == End(exit_code=0, verdicts=[])
    assert ran.said.rstrip().endswith("seen")


def test_the_command_line_is_no_part_of_a_runs_identity(tmp_path: Path, recorder: Recorder) -> None:
    ids = {run_here(tmp_path, *words).result.run_id for words in ([], ["repeats=1"], ["study=mine"])}
    assert len(ids) == 1


def test_a_run_that_was_finished_is_no_news(tmp_path: Path, recorder: Recorder) -> None:
    run_here(tmp_path, "scoring.draws=100")
    run_here(tmp_path, "scoring.draws=100")
    assert len(recorder.starts) == len(recorder.ends) == 1


def test_verdicts_against_an_earlier_run_are_told(tmp_path: Path, recorder: Recorder) -> None:
    before = run_here(tmp_path, "scoring.draws=100")
    run_here(tmp_path, "scoring.draws=101", "baseline=latest")
    end = recorder.ends[-1]
    assert end.baseline == before.result.run_id
    assert {row.verdict for row in end.verdicts} == {"within_noise"}


def test_a_tracker_may_ask_for_a_comparison_itself(
    tmp_path: Path, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NoTracker, "baseline", "latest")
    first = run_here(tmp_path, "scoring.draws=100")
    second = run_here(tmp_path, "scoring.draws=101")
    run_here(tmp_path, "scoring.draws=101")
    assert [end.baseline for end in recorder.ends] == [None, first.result.run_id]
    assert "nothing to compare with yet" not in first.said
    assert "against run B" in second.said


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ValueError("broken"), ExitCode.INCOMPLETE),
        (StoreError("full"), ExitCode.INCOMPLETE),
        (ConfigError("no"), ExitCode.USAGE),
        (KeyboardInterrupt("stop"), ExitCode.INTERRUPTED),
    ],
)
def test_a_run_that_raises_has_an_end(
    tmp_path: Path, recorder: Recorder, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    def fails(*_: Any) -> None:
        raise error

    monkeypatch.setattr(pipeline, "write_products", fails)
    with pytest.raises(type(error)):
        run_here(tmp_path)
    [end] = recorder.ends
    assert (end.exit_code, end.error) == (code, f"{type(error).__name__}: {error}")


@pytest.mark.parametrize("failing", ["begin", "finish"])
def test_a_tracker_that_fails_costs_the_run_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def fails(*_: Any) -> None:
        raise OSError("no network")

    monkeypatch.setattr(NoTracker, failing, fails)
    ran = run_here(tmp_path, "scoring.draws=100")
    assert ran.result.exit_code is ExitCode.COMPLETE
    assert (ran.result.folder / "report.html").is_file()
    assert ran.said.count("Not tracked: OSError: no network. The run itself is not affected") == 1


def test_a_tracker_that_could_not_begin_is_not_asked_again(tmp_path: Path) -> None:
    class Broken(Tracker):
        def begin(self, start: Start) -> None:
            raise OSError("no")

        def finish(self, end: End) -> str:
            raise AssertionError("never begun")

    settings = settings_for(tmp_path)
    said = io.StringIO()
    start = Start("1", tmp_path, settings)
    with tracked(Broken(settings.tracking), start, finished=False, console=Console(file=said)) as end:
        end.exit_code = 0
    assert said.getvalue().count("Not tracked") == 1


# --- W&B, as far as the package isn't needed


def wandb_tracker(**options: Any) -> WandbTracker:
    return WandbTracker(WandbOptions("kasauti.tracking.wandb.WandbTracker", **options))


def lacking(found: Iterable[Finding]) -> list[tuple[str, str]]:
    return [(finding.message, finding.remedy.split("   ")[0]) for finding in found]


PACKAGE = ("the package wandb is not installed.", "Install it: pip install -e '.[tracking]'")
KEY = ("WANDB_API_KEY is not set.", "export WANDB_API_KEY=...")


@pytest.mark.parametrize(
    ("mode", "installed", "key", "expected"),
    [
        ("online", True, "k", []),
        ("online", True, "", [KEY]),
        ("online", False, None, [PACKAGE, KEY]),
        ("offline", True, None, []),
        ("offline", False, "k", [PACKAGE]),
    ],
)
def test_preflight_says_what_wandb_lacks(
    monkeypatch: pytest.MonkeyPatch, mode: str, installed: bool, key: str | None, expected: list[tuple[str, str]]
) -> None:
    monkeypatch.setattr(tracking, "find_spec", lambda _: object() if installed else None)
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    if key is not None:
        monkeypatch.setenv("WANDB_API_KEY", key)
    assert lacking(wandb_tracker(mode=mode).check()) == expected


def test_what_is_missing_is_said_before_anything_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracking, "find_spec", lambda _: None)
    with pytest.raises(PreflightError, match=r"tracking wandb: the package wandb is not installed\. Install it: pip"):
        run_here(tmp_path, "tracking=wandb_offline")
    assert [path.name for path in tmp_path.iterdir()] == ["prompts.jsonl"]


def test_a_finished_run_needs_no_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_here(tmp_path, "scoring.draws=100")
    monkeypatch.setattr(tracking, "find_spec", lambda _: None)
    assert "already finished" in run_here(tmp_path, "scoring.draws=100", "tracking=wandb_offline").said


def test_a_mode_that_there_is_not(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"tracking\.mode: no mode 'ofline'; did you mean 'offline'"):
        run_here(tmp_path, "tracking=wandb", "tracking.mode=ofline")


def test_an_unknown_option_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"Could not override 'tracking\.projekt'"):
        run_here(tmp_path, "tracking=wandb", "tracking.projekt=x")
