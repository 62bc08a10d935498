"""The folder of a sweep: a record of how each job ended, which run belongs to which job, and what each would make.

Jobs may run in one process, in several, or on several machines that share the folder. They know nothing of each other
but what lies here. Products of runs lie elsewhere, in `runs/<run_id>`.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from kasauti.errors import ConfigError, ExitCode, StoreError
from kasauti.identity import ID_LENGTH, digest
from kasauti.pipeline.estimate import Call
from kasauti.pipeline.folder import now
from kasauti.store.files import folder_errors, write_text

JobState = Literal["running", "complete", "incomplete", "same", "failed", "interrupted"]

_SWEEP = "sweep.json"


@dataclass(frozen=True)
class Job:
    """How one job of a sweep stands.

    Attributes:
        number: From 0.
        overrides: What it was composed of.
        state: `running` until it has ended: still so afterwards, it was killed. `same`: another job has this run.
            `failed`: there is an error and no run. `complete`, `incomplete`, `interrupted`: there is a run.
        exit_code: As of a single run.
        run_id, folder: The run, where there is one. A study that recomputes something has none.
        same_as: The job that has this run. note: Why it is the same, where that is known.
        error: What went wrong.
        record_s: As in `RunResult`.
    """

    number: int
    overrides: tuple[str, ...]
    state: JobState = "running"
    exit_code: int = ExitCode.INCOMPLETE
    run_id: str | None = None
    folder: str | None = None
    same_as: int | None = None
    note: str = ""
    error: str | None = None
    record_s: float | None = None


@dataclass(frozen=True)
class SweepFolder:
    """Where the jobs of one sweep meet.

    Attributes:
        path: The folder of the sweep; jobs have folders of their own below it.
    """

    path: Path

    def begin(self) -> None:
        """Marks a new sweep: what an earlier one left in the same folder is none of its own from now on."""
        self.path.mkdir(parents=True, exist_ok=True)
        token = {"token": uuid.uuid4().hex[:ID_LENGTH], "at": now()}
        write_text(self.path / _SWEEP, json.dumps(token) + "\n")

    def claim(self, run: str, job: int) -> int:
        """Gives a run to the first job that asks for it.

        Returns:
            The number of the job that has it: `job` itself, or another.
        """
        path = self.path / f"{run}_{self._token}.job"
        mine = path.with_suffix(f".{job}")
        with folder_errors(self.path, "note which job makes which run"):
            write_text(mine, str(job))
            try:
                os.link(mine, path)  # whole or not at all
            except FileExistsError:
                return int(path.read_text(encoding="ascii"))
            finally:
                mine.unlink()
        return job

    def write(self, job: Job, folder: Path) -> None:
        """Records a job in its own folder, with the mark of the sweep."""
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"sweep": self._token, **vars(job)}, ensure_ascii=False, indent=2)
        write_text(folder / f"job_{job.number}.json", text + "\n")

    def jobs(self) -> list[Job]:
        """All jobs that were begun, by number.

        Raises:
            StoreError: a record is torn or not one of ours.
        """
        token = self._token
        found = (_read(path, token) for path in self.path.rglob("job_*.json"))
        return sorted((job for job in found if job is not None), key=lambda job: job.number)

    def write_calls(self, job: int, calls: Iterable[Call]) -> None:
        """Keeps what a job of a dry run would make."""
        lines = (f"{call.part}\t{call.key}\t{call.seconds!r}\t{call.usd!r}\n" for call in calls)
        write_text(self.path / f"calls_{job}.tsv", "".join(lines))

    def calls(self) -> Iterator[Call]:
        """What the jobs of a dry run would make, job by job; what several would make comes several times."""
        for job in self.jobs():
            path = self.path / f"calls_{job.number}.tsv"
            if job.state == "complete" and path.is_file():
                for line in path.read_text(encoding="utf-8").splitlines():
                    part, key, seconds, usd = line.split("\t")
                    yield Call(part, key, float(seconds), None if usd == "None" else float(usd))

    @property
    def _token(self) -> str:
        try:
            return str(json.loads((self.path / _SWEEP).read_text(encoding="utf-8"))["token"])
        except (OSError, ValueError, KeyError) as error:
            raise StoreError(f"{self.path}: not the folder of a sweep: {type(error).__name__} {error}") from error


@dataclass(frozen=True)
class Place:
    """The place of a job in its sweep, as a run is told of it."""

    sweep: SweepFolder
    number: int

    def held_by(self, run: Path) -> int | None:
        """The other job that has the run of this folder; None where this job is the first."""
        holder = self.sweep.claim(f"{run.name}_{digest(str(run.resolve()), 8)}", self.number)
        return None if holder == self.number else holder


def latest_sweep(sweeps: Path) -> SweepFolder:
    """The sweep that was begun last.

    Raises:
        ConfigError: there is none.
    """
    begun = list(sweeps.glob(f"*/{_SWEEP}"))
    if not begun:
        raise ConfigError(f"{sweeps}: no sweep in this folder; make one with python run.py -m")
    return SweepFolder(max(begun, key=lambda path: path.stat().st_mtime_ns).parent)


def _read(path: Path, token: str) -> Job | None:
    """A job of the sweep with a token; None for one of an earlier sweep."""
    try:
        values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        ours = values.pop("sweep") == token
        return Job(**{**values, "overrides": tuple(values["overrides"])}) if ours else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise StoreError(f"{path}: not the record of a job: {type(error).__name__} {error}") from error
