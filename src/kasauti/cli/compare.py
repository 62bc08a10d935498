"""`compare`: what can be said of one run against another; for people, for papers and for a team's CI."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from kasauti.errors import ExitCode
from kasauti.records import VERDICT_COLUMNS
from kasauti.report import load
from kasauti.report.comparing import compare_runs, same_systems
from kasauti.report.floor_history import with_noise
from kasauti.report.formats import FORMATTERS, csv_table
from kasauti.report.humans import floors_beside
from kasauti.report.verdicts import HEADINGS, key_of, show_comparison, verdict_cells
from kasauti.stats.scores import METRICS


@dataclass(frozen=True)
class Wanted:
    """What to compare and how to show it.

    Attributes:
        systems: Names, or `NAME=NAME`; empty = all that both runs have.
        metric, level: As for `compare_runs`.
        form: `table`, `md`, `latex` or `csv`.
        fail_on: Verdicts over all languages that make the command fail.
    """

    systems: Sequence[str] = ()
    metric: str = "cer"
    level: str | None = None
    form: str = "table"
    fail_on: Collection[str] = ()


def compare(first: Path, second: Path, wanted: Wanted, console: Console) -> ExitCode:
    """Prints the verdicts of the first run against the second.

    Returns:
        `INCOMPLETE` if a verdict over all languages is one of `wanted.fail_on`. Single languages don't count: of 22 at
        5 % each, one would fail by chance in two of three comparisons.

    Raises:
        KasautiError: a folder is no run, or nothing in the two can be compared.
    """
    a, b = (with_noise(load(folder), wanted.level) for folder in (first, second))
    floors = floors_beside([a, b], wanted.level)
    rows = compare_runs(a, b, same_systems(a, b, wanted.systems), wanted.metric, wanted.level, floors)
    is_rate = wanted.metric in METRICS
    if wanted.form == "table":
        show_comparison(a, b, rows, console)
    elif wanted.form == "csv":
        print(csv_table(VERDICT_COLUMNS, ([getattr(row, name) for name in VERDICT_COLUMNS] for row in rows)), end="")
    else:
        lines = [[key_of(row), *verdict_cells(row, is_rate=is_rate)] for row in rows]
        print(FORMATTERS[wanted.form](["judge, language", *HEADINGS], lines), end="")
    failed = [row for row in rows if row.scope == "macro" and row.verdict in wanted.fail_on]
    return ExitCode.INCOMPLETE if failed else ExitCode.COMPLETE
