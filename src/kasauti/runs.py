"""Finding runs: RUN on the command line is the start of a run id, a path, or `latest`."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from kasauti.errors import ConfigError, near_matches

ENDED = ("complete", "incomplete")
"""States of a run that has results."""


def find_run(name: str, runs: Path) -> Path:
    """The folder of a run.

    Args:
        name: Start of a run id, path of a run folder, or `latest` (of the runs whose record can be read the one that
            ended last; imports don't count).
        runs: The folder of all runs.

    Raises:
        ConfigError: no run, or several, fit.
    """
    path = Path(name)
    if (path / "status.json").is_file():
        return path
    folders = run_folders(runs)
    if not folders:
        raise ConfigError(f"{runs}: no run in this folder; make one with python run.py")
    if name == "latest":
        readable = next((folder for folder in ended_runs(runs) if run_record(folder)), None)
        if readable is None:
            raise ConfigError(f"{runs}: no run in this folder has ended; run the same command again, it goes on")
        return readable
    fitting = [folder for folder in folders if folder.name.startswith(name)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise ConfigError(f"run {name!r} is not unique: {', '.join(f.name for f in fitting)}; give more of the id")
    raise ConfigError(f"no run {name!r} in {runs}; {near_matches(name, [f.name for f in folders])}")


def run_folders(runs: Path) -> list[Path]:
    """All run folders, by name."""
    return sorted(path.parent for path in runs.glob("*/status.json"))


def ended_runs(runs: Path, without: Collection[str] = ()) -> list[Path]:
    """Folders of the runs that ended with results, whole or with failed rows, newest first; imports don't count.

    Args:
        runs: The folder of all runs.
        without: Ids of runs that are left out.
    """
    ended = []
    for folder in run_folders(runs):
        state = run_state(folder)
        if folder.name not in without and state.get("state") in ENDED:
            # The time to the second, and between runs of one second that of the file.
            ended.append((str(state.get("at")), (folder / "status.json").stat().st_mtime_ns, folder))
    return [folder for *_, folder in sorted(ended, reverse=True)]


def run_state(folder: Path) -> dict[str, Any]:
    """What `status.json` of a run says; empty if it can't be read."""
    return _object(folder / "status.json")


def is_being_written(folder: Path) -> bool:
    """Whether a process holds the run's lock; a run that says `running` and is not was broken off."""
    lock = folder / ".lock"
    if not lock.is_file():
        return False
    try:
        with FileLock(lock, blocking=False):
            return False
    except Timeout:
        return True


def run_record(folder: Path) -> dict[str, Any]:
    """What `run.json` of a run says; empty if it can't be read."""
    return _object(folder / "run.json")


def _object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
