"""A study: runs of one question with their tables, or the tables of a panel. What notebooks and figures are made from.

Studies that are done lie in `results/NAME`, small and without audio (`python -m kasauti keep`); one that is still going
on is the runs that have its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from kasauti.errors import ConfigError, near_matches
from kasauti.paths import ROOT
from kasauti.report.floor_history import with_noise
from kasauti.report.humans import floors_beside
from kasauti.report.loading import RunTables, load
from kasauti.report.merging import merge
from kasauti.report.tables import read_table
from kasauti.runs import ended_runs, run_record

RESULTS = ROOT / "results"
RUNS = ROOT / "runs"

PANEL_MARK = "standings.tsv"
"""The table that every folder of a panel has."""

PanelRow = Mapping[str, str | None]


@dataclass(frozen=True)
class Study:
    """One study.

    Attributes:
        runs: Its runs, in the order in which they ended.
        panel: Name of a table -> its rows as text; empty for a study of runs.
    """

    name: str
    folder: Path
    runs: tuple[RunTables, ...] = ()
    panel: Mapping[str, Sequence[PanelRow]] = field(default_factory=dict)

    @cached_property
    def merged(self) -> RunTables:
        """All runs as one.

        Raises:
            StoreError: there are none, or they can't stand in one table.
        """
        return merge(self.runs, floors_beside(self.runs))


def load_study(name: str | Path, results: Path = RESULTS, runs: Path = RUNS) -> Study:
    """Finds and reads a study.

    Args:
        name: A folder of `results`, the `study` that runs were given, or a path: of a run, of a folder of runs, or of
            the tables of a panel.
        results: The folder of all finished studies.
        runs: The folder of all runs.

    Raises:
        ConfigError: there is no such study.
        StoreError: a table can't be read.
    """
    for folder in (Path(name), results / name):
        found = _in_folder(folder)
        if found is not None:
            return found
    named = [folder for folder in ended_runs(runs) if run_record(folder).get("study") == str(name)]
    if named:
        return Study(str(name), runs, _loaded(named))
    known = [folder.name for folder in sorted(results.glob("*/")) if is_study(folder)]
    raise ConfigError(
        f"no study {str(name)!r} in {results}, no run with that name (study={name}) in {runs}, and no folder of tables "
        f"of that path; {near_matches(str(name), known)}"
    )


def is_study(folder: Path) -> bool:
    """Whether a folder holds the tables of a panel, or runs."""
    return (folder / PANEL_MARK).is_file() or any(folder.glob("*/run.json"))


def _in_folder(folder: Path) -> Study | None:
    if (folder / "run.json").is_file():
        return Study(folder.name, folder, _loaded([folder]))
    if (folder / PANEL_MARK).is_file():
        return Study(folder.name, folder, panel={path.stem: read_table(path) for path in sorted(folder.glob("*.tsv"))})
    inside = [path.parent for path in folder.glob("*/run.json")]
    return Study(folder.resolve().name, folder, _loaded(inside)) if inside else None


def _loaded(folders: Sequence[Path]) -> tuple[RunTables, ...]:
    tables = [with_noise(load(folder)) for folder in folders]
    return tuple(sorted(tables, key=lambda each: (each.runs[0].finished_at or "", each.runs[0].run_id)))
