"""`baseline=RUN|latest`: after a run, what can be said of it against an earlier one."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from kasauti.errors import ConfigError, StatsError
from kasauti.pipeline.folder import RunFolder
from kasauti.pipeline.plan import Plan
from kasauti.records import VERDICT_COLUMNS, VerdictRow
from kasauti.report import load
from kasauti.report.comparing import compare_runs, same_systems
from kasauti.report.floor_history import with_noise
from kasauti.report.humans import floors_beside
from kasauti.report.verdicts import show_comparison
from kasauti.runs import ENDED, ended_runs, find_run, run_record, run_state


def find_baseline(name: str | None, plan: Plan, runs: Path) -> Path | None:
    """The run that a plan is to be compared with.

    Args:
        name: Start of its id, a path, or `latest`; None = with no run.
        plan: The run.
        runs: The folder of all runs.

    Returns:
        None where none is asked for, and for `latest` where no earlier run has the same systems.

    Raises:
        ConfigError: there is no such run, it isn't finished, or it is the run itself.
    """
    if name is None:
        return None
    if name == "latest":
        return _latest(plan, runs)
    try:
        folder = find_run(name, runs)
    except ConfigError as error:
        raise ConfigError(f"baseline: {error}") from error
    state = run_state(folder).get("state")
    if folder.resolve().name == plan.run_id:
        raise ConfigError(f"baseline={name} is this run itself ({plan.run_id}); name another, or baseline=null")
    if state not in (*ENDED, "imported"):
        raise ConfigError(f"baseline={name}: run {folder.name} is {state or 'unreadable'}; wanted one that ended")
    return folder


def show_baseline(folder: RunFolder, baseline: Path | None, asked: str | None, console: Console) -> list[VerdictRow]:
    """Prints the verdicts of a run against its baseline and writes them to `baseline.csv`.

    Returns:
        The verdicts; none where there is no baseline or nothing can be compared.
    """
    if baseline is None:
        if asked is not None:
            console.print("No earlier run of the same systems: nothing to compare with yet (baseline=latest).")
        return []
    mine, other = with_noise(load(folder.path)), with_noise(load(baseline))
    try:
        rows = compare_runs(mine, other, same_systems(mine, other), floors=floors_beside([mine, other]))
    except (ConfigError, StatsError) as error:  # the run itself is done and well
        console.print(f"Not compared with the baseline: {error}", style="yellow", markup=False, highlight=False)
        return []
    folder.write_csv("baseline.csv", VERDICT_COLUMNS, map(vars, rows))
    show_comparison(mine, other, rows, console)
    return rows


def _latest(plan: Plan, runs: Path) -> Path | None:
    """The newest finished run of the same systems, other than this one."""
    ended = ended_runs(runs, [plan.run_id])
    return next((one for one in ended if set(run_record(one).get("systems", ())) == set(plan.systems)), None)
