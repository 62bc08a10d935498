"""What noise floors come to at other numbers of prompts, takes and hearings: `noise_floor.tsv`, and for the terminal.

Made of the variances that a run with repeats measured; `kasauti.stats.noise` has the formula. For planning: how many
prompts and takes a floor costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kasauti.records import SampleRow
from kasauti.report.summarising import scored_metrics
from kasauti.report.wording import NOTHING, metric_name
from kasauti.stats.floors import noise_floors
from kasauti.stats.noise import Floor, Split
from kasauti.stats.scores import METRICS

FLOOR_COLUMNS = "system judge metric scope key n_prompts repeats rejudges here floor95 synthesis95 judge95".split()

PROMPTS, REPEATS, REJUDGES = (10, 30, 100, 300, 1000), (1, 2, 3, 5, 10), (1, 2, 5)
"""Of each language."""

_PLANS = ((100, 1), (100, 5), (1000, 1), (1000, 5))
"""Prompts a language and takes, for the terminal."""


def floor_rows(samples: Sequence[SampleRow]) -> Iterator[dict[str, Any]]:
    """Rows of `noise_floor.tsv`: measured floors by language and over languages, here and at other numbers.

    The first row of a place is the floor of these rows (`here`); others are what the same noise comes to. `n_prompts`
    is of all languages together where `scope` is `macro`.
    """
    for metric in scored_metrics(samples):
        floors = noise_floors(samples, metric)
        for (system, judge, scope, key), floor in floors.items():
            if floor.kind != "measured" or scope not in ("lang", "macro"):
                continue
            place = {"system": system, "judge": judge, "metric": metric, "scope": scope, "key": key}
            langs = 1 if scope == "lang" else sum(k[:3] == (system, judge, "lang") for k in floors)
            own = (floor.n_prompts, floor.repeats, floor.rejudges)
            yield {**place, **_row(floor, *own), "here": True}
            others = ((n * langs, r, k) for n in PROMPTS for r in REPEATS for k in _hearings(floor))
            yield from ({**place, **_row(floor, *numbers), "here": False} for numbers in others)


def print_floors_at(samples: Sequence[SampleRow], console: Console) -> None:
    """Prints the measured floors by language for each judge's headline metric; nothing where no judge was asked twice.

    Args:
        samples: Rows of a run.
        console: Where to.
    """
    for metric in scored_metrics(samples):
        if metric in METRICS[1:]:
            continue
        floors = {
            place: floor
            for place, floor in noise_floors(samples, metric).items()
            if floor.kind == "measured" and floor.rejudges > 1 and place[2] in ("lang", "macro")
        }
        languages = {place[3] for place in floors if place[2] == "lang"}
        if len(languages) == 1:  # of one language the mean over languages says nothing new
            floors = {place: floor for place, floor in floors.items() if place[2] == "lang"}
        if floors:
            _print(metric, floors, console)


def _print(metric: str, floors: dict[tuple[str, str, str, str], Floor], console: Console) -> None:
    is_rate = metric in METRICS
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for heading in ("system, judge", "language", "here", "floor", "synthesis", "judge"):
        table.add_column(heading, justify="left" if heading in ("system, judge", "language") else "right")
    for prompts, repeats in _PLANS:
        table.add_column(f"{prompts:,} × {repeats}", justify="right")
    for (system, judge, scope, key), floor in floors.items():
        here = floor.split()
        assert here is not None
        langs = 1 if scope == "lang" else sum(k[:3] == (system, judge, "lang") for k in floors)
        plans = [floor.split(n_prompts=n * langs, repeats=r, rejudges=1) for n, r in _PLANS]
        cells = [_of(value, is_rate) for value in (here.floor95, here.synthesis95, here.judge95)]
        table.add_row(
            Text(f"{system}, {judge}"),
            Text("all, mean" if scope == "macro" else key),
            f"{floor.n_prompts} × {floor.repeats:g} × {floor.rejudges:g}",
            *cells,
            *(_of(plan.floor95 if plan else None, is_rate) for plan in plans),
        )
    unit = ", % points" if is_rate else ""
    console.print()
    console.print(Text(f"Noise floors, {metric_name(metric)}{unit}", style="bold"))
    console.print(table)
    note = (
        "Two runs of one system differ by less, 95 times in 100. here: prompts × takes × hearings; on the right what "
        "the same noise comes to with prompts a language × takes, each heard once."
    )
    console.print(Text(note, style="dim"))


def _hearings(floor: Floor) -> tuple[int, ...]:
    """One hearing a take where more were not measured: what they would change is not known."""
    return REJUDGES if floor.var_mean_judge is not None else (1,)


def _row(floor: Floor, n_prompts: int, repeats: float, rejudges: float) -> dict[str, Any]:
    found: Split | None = floor.split(n_prompts=n_prompts, repeats=repeats, rejudges=rejudges)
    assert found is not None  # a measured floor
    return {"n_prompts": n_prompts, "repeats": repeats, "rejudges": rejudges, **vars(found)}


def _of(value: float | None, is_rate: bool) -> str:
    return NOTHING if value is None else f"{100 * value:.2f}" if is_rate else f"{value:.3f}"
