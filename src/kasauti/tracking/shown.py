"""What is shown of a run, from its folder and those of earlier runs: numbers, tables, a trend, pictures.

Knows no tracker. Rates are fractions, as in the tables of the run folder; every number has its score signature beside
it. Texts are shareable (`kasauti.tracking.shareable`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kasauti.records import VERDICT_COLUMNS, AggregateRow, VerdictRow
from kasauti.report import RunInfo, RunTables, load
from kasauti.report.figures import draw_beside
from kasauti.report.figures.beside import FOLDER
from kasauti.report.floor_history import PastFloor, Place, history_of, place_of
from kasauti.stats.scores import METRICS
from kasauti.tracking.base import End, Start
from kasauti.tracking.shareable import shareable

HEADLINE_FIELDS = "ci95_low ci95_high floor95 floor_kind n_ok n_total status signature".split()
LANGUAGE_COLUMNS = """system judge key metric mean ci95_low ci95_high mean_common n_common mean_worst pooled n_ok
    n_total floor95 floor_kind wrong_script_share status signature""".split()
FLOOR_COLUMNS = """system judge scope key metric floor95 floor_kind largest_pair var_synthesis var_judge n_prompts
    floor_source signature""".split()
TREND_COLUMNS = """system judge scope key metric run at floor95 mean var_synthesis var_judge n_prompts repeats rejudges
    fingerprint signature""".split()
VERDICT_FIELDS = "difference ci95_low ci95_high floor95 floor_kind n_prompts reason signature".split()
COST_COLUMNS = ["part", "planned_s", "took_s", "planned_usd"]


@dataclass(frozen=True)
class Table:
    """A table to show: names of columns, rows of plain values, None where there is none."""

    columns: Sequence[str]
    rows: list[list[Any]]


@dataclass(frozen=True)
class Shown:
    """What is shown of a finished run.

    Attributes:
        summary: `a/b` -> one number or word.
        tables: Name -> table.
        trend: Noise floors of the headline numbers by run, oldest first, this run last: `floor_trend/…` -> fraction.
        pictures: Name -> PNG file.
    """

    summary: Mapping[str, Any]
    tables: Mapping[str, Table]
    trend: Sequence[Mapping[str, float]]
    pictures: Mapping[str, Path]


def shown_of(start: Start, end: End) -> Shown:
    """Collects what is shown of a run that has products.

    Raises:
        StoreError: a table of the run folder is missing or torn.
    """
    tables = load(start.folder)
    [info] = tables.runs
    past = history_of(start.folder.parent, tables.aggregates, [start.run_id])
    recorded = json.loads((start.folder / "summary.json").read_text(encoding="utf-8"))
    summary = {
        "complete": recorded["complete"],
        "exit_code": end.exit_code,
        **{f"rows/{status}": count for status, count in recorded["rows"].items()},
        **dict(_headline(tables)),
        **dict(_against(end, tables)),
        **_spent(start, info),
    }
    found = {
        "languages": _table(LANGUAGE_COLUMNS, (row for row in tables.aggregates if row.scope == "lang")),
        "noise_floors": _table(FLOOR_COLUMNS, (row for row in tables.aggregates if row.floor_kind != "none")),
        "floor_trend": Table(TREND_COLUMNS, list(_past_rows(tables, past))),
        "verdicts": _table(VERDICT_COLUMNS, tables.verdicts),
        "baseline": _table(VERDICT_COLUMNS, end.verdicts),
        "costs": Table(COST_COLUMNS, list(_cost_rows(start, info))),
    }
    return Shown(
        summary=shareable(summary),
        tables={name: Table(table.columns, shareable(table.rows)) for name, table in found.items() if table.rows},
        trend=list(_trend(tables, past)),
        pictures=_pictures(tables, start.folder),
    )


def _pictures(tables: RunTables, folder: Path) -> dict[str, Path]:
    """Figures of the run by name, drawn anew; none without the extra `figures`."""
    if draw_beside([tables], folder):
        return {}
    return {path.stem: path for path in sorted((folder / FOLDER).glob("*.png"))}


def headline_rows(tables: RunTables) -> list[AggregateRow]:
    """Means over languages of the headline error rate and of judges' marks."""
    shown = (METRICS[0], *dict.fromkeys(row.metric for row in tables.aggregates if row.metric not in METRICS))
    return [row for row in tables.aggregates if row.scope == "macro" and row.metric in shown]


def name_of(tables: RunTables, system: str, judge: str, metric: str) -> str:
    """`judge/metric`, so that a sweep over systems has one chart; with the system before it where a run has several."""
    return "/".join([*([system] if len(tables.systems) > 1 else []), judge, metric])


def _headline(tables: RunTables) -> Iterator[tuple[str, Any]]:
    for row in headline_rows(tables):
        name = name_of(tables, row.system, row.judge, row.metric)
        yield name, row.mean
        yield from ((f"{name}/{field}", getattr(row, field)) for field in HEADLINE_FIELDS)


def _against(end: End, tables: RunTables) -> Iterator[tuple[str, Any]]:
    if end.baseline is not None:
        yield "baseline/run", end.baseline
    for row in end.verdicts:
        if row.scope == "macro":
            name = f"baseline/{name_of(tables, row.a.removesuffix(' (A)'), row.judge, row.metric)}"
            yield name, row.verdict
            yield from ((f"{name}/{field}", getattr(row, field)) for field in VERDICT_FIELDS)


def _spent(start: Start, info: RunInfo) -> dict[str, float | None]:
    planned_usd = start.planned_usd.values()
    known = bool(planned_usd) and None not in planned_usd
    return {
        "seconds/planned": sum(start.planned_s.values()) if start.planned_s else None,
        "seconds/took": sum(info.timings_s.values()),
        "usd/planned": start.spent_usd + sum(usd or 0.0 for usd in planned_usd) if known else None,
        "usd/spent": info.cost_usd,
    }


def _cost_rows(start: Start, info: RunInfo) -> Iterator[list[Any]]:
    systems = {name: seconds for name, seconds in start.planned_s.items() if name.startswith("system ")}
    for name, seconds in systems.items():
        yield [name, seconds, None, start.planned_usd.get(name)]
    # Systems speak side by side: there is one time for all of them.
    yield ["synthesis", sum(systems.values()) if systems else None, info.timings_s.get("synthesis"), None]
    judges = [name for name in start.planned_s if name not in systems]
    for name in dict.fromkeys([*judges, *(name for name in info.timings_s if name != "synthesis")]):
        yield [name, start.planned_s.get(name), info.timings_s.get(name), start.planned_usd.get(name)]


def _past_rows(tables: RunTables, past: Mapping[Place, Sequence[PastFloor]]) -> Iterator[list[Any]]:
    """Every floor that earlier runs measured with the signature of a row of this one, newest first."""
    for (system, judge, scope, key, metric), floors in past.items():
        for floor in floors:
            row = floor.row
            measured = [row.floor95, row.mean, row.var_synthesis, row.var_judge, row.n_prompts]
            made = [floor.repeats, floor.rejudges, floor.voice.fingerprint, row.signature]
            yield [system, judge, scope, key, metric, floor.run, floor.at, *measured, *made]


def _trend(tables: RunTables, past: Mapping[Place, Sequence[PastFloor]]) -> Iterator[dict[str, float]]:
    """A point for each run, aligned at the newest."""
    series = {}
    for row in headline_rows(tables):
        rows = [
            *(floor.row for floor in reversed(past[place_of(row)])),
            *([row] if row.floor_kind == "measured" else []),
        ]
        series[f"floor_trend/{name_of(tables, row.system, row.judge, row.metric)}"] = [one.floor95 for one in rows]
    for back in range(max(map(len, series.values()), default=0), 0, -1):
        points = {name: values[-back] for name, values in series.items() if len(values) >= back}
        yield {name: value for name, value in points.items() if value is not None}


def _table(columns: Sequence[str], rows: Iterable[AggregateRow | VerdictRow]) -> Table:
    return Table(columns, [[getattr(row, column) for column in columns] for row in rows])
