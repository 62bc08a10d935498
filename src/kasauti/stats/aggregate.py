"""Rows of one or more runs to the rows of `aggregate.csv`, as `kasauti.records.AggregateRow` defines them.

Where that definition leaves a choice: `ok` rows with a value are scored; for `pcer`, `wrong_script` rows with a value
too, so the same rows may be `insufficient` in `cer` and `ok` in `pcer`. What counts as common is said in
`kasauti.stats.common`. A metric that answers exist for but that no row carries was not computed: `no_rows`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from kasauti.records import AggregateRow, SampleRow
from kasauti.stats.cells import ALL, SCOPES, Cell, Scope, corpus_rate, places_of, summarise
from kasauti.stats.columns import BoolArray, Columns, FloatArray
from kasauti.stats.common import common_flags
from kasauti.stats.floors import cell_floor
from kasauti.stats.intervals import mean_intervals
from kasauti.stats.noise import Floor, StoredNoise
from kasauti.stats.scores import METRICS, score_units

_Placed = tuple[tuple[int, int, int, int], AggregateRow]
"""A row, and where it stands: system, judge, scope, key."""


def aggregate(
    rows: Sequence[SampleRow],
    *,
    level: str,
    metrics: Sequence[str] = METRICS,
    min_ok_share: float = 0.95,
    humans: Collection[str] = (),
    draws: int = 10_000,
    seed: int = 0,
    stored: Sequence[StoredNoise] = (),
) -> list[AggregateRow]:
    """Summarises rows by system and judge.

    Args:
        rows: Rows of `per_sample.tsv`, of one run or of several that hold different systems, judges or prompts.
        level: Level of normalisation that the rows were scored at; copied into the result.
        metrics: Which of `METRICS`, and which marks, in the order wanted.
        min_ok_share: A cell with a smaller share of scored rows is `insufficient`.
        humans: Systems whose clips are human recordings; they don't take part in what is common.
        draws: Bootstrap draws.
        seed: Seed of the bootstrap. An interval depends on it and on the system's own prompts, not on what else is in
            the table.
        stored: Noise that earlier runs measured, for systems with a single take a prompt.

    Returns:
        Sorted by system and judge (first appearance), scope (`lang`, `tag`, `macro`, `pooled`), key (first
        appearance), metric.

    Raises:
        StatsError: two rows hold different answers for the same (system, judge, prompt, repeat, rejudge).
    """
    columns = Columns.of(rows)
    places = places_of(columns)
    scored = {metric: score_units(columns, metric) for metric in metrics}
    cells = [Cell.of(place, metric, scores) for metric, scores in scored.items() for place in places]
    common = common_flags(columns, cells, min_ok_share=min_ok_share, humans=humans)
    intervals = mean_intervals(columns, cells, draws=draws, seed=seed)
    placed: list[_Placed] = []
    for cell, flags, interval in zip(cells, common, intervals, strict=True):
        at = cell.at
        place = (at.group.system, at.group.judge, SCOPES.index(at.scope), at.number)
        row = _row(columns, cell, flags, level, min_ok_share, cell_floor(columns, cell, stored))
        if interval is not None:
            row = replace(row, ci95_low=interval.low, ci95_high=interval.high)
        placed.append((place, row))
    for metric in metrics:
        placed += _unsupported(columns, metric, level)
    return [row for _, row in sorted(placed, key=lambda item: item[0])]


def _row(
    columns: Columns, cell: Cell, common: BoolArray, level: str, min_ok_share: float, floor: Floor
) -> AggregateRow:
    scores, macro = cell.scores, cell.macro
    values, langs = scores.mean[cell.scored], cell.langs
    n_total = cell.n_total
    return AggregateRow(
        system=columns.systems[cell.at.group.system],
        judge=columns.judges[cell.at.group.judge],
        scope=cell.at.scope,
        key=cell.at.key,
        metric=cell.metric,
        level=level,
        n_langs=np.unique(langs).size,
        n_prompts=cell.scored.size,
        n_ok=cell.n_ok,
        n_total=n_total,
        mean=summarise(values, langs, macro=macro),
        median=summarise(values, langs, macro=macro, statistic=_median),
        pooled=corpus_rate(cell),
        mean_common=summarise(values[common], langs[common], macro=macro),
        n_common=int(common.sum()),
        mean_worst=_worst(cell),
        floor95=floor.floor95,
        floor_kind=floor.kind,
        floor_source=floor.source,
        largest_pair=floor.largest_pair,
        var_synthesis=floor.var_synthesis,
        var_judge=floor.var_judge,
        wrong_script_share=int(scores.n_wrong_script[cell.at.units].sum()) / n_total,
        status="no_rows" if not scores.computed else "ok" if cell.fit(min_ok_share) else "insufficient",
    )


def _unsupported(columns: Columns, metric: str, level: str) -> Iterator[_Placed]:
    """Rows for what a system does not speak at all, so that it is seen to be missing."""
    groups = {(group.system, group.judge): group for group in columns.groups}
    for system, judge in sorted({(system, judge) for system, judge, _ in columns.unsupported}):
        group = groups.get((system, judge))
        spoken = set(columns.lang_of_prompt[columns.unit_prompt[group.units]].tolist()) if group else set()
        keys: list[tuple[Scope, int, str]] = [
            ("lang", lang, columns.langs[lang])
            for lang in range(len(columns.langs))
            if (system, judge, lang) in columns.unsupported and lang not in spoken
        ]
        if not group:
            keys += [("macro", 0, ALL), ("pooled", 0, ALL)]
        for scope, place, key in keys:
            row = AggregateRow(
                system=columns.systems[system],
                judge=columns.judges[judge],
                scope=scope,
                key=key,
                metric=metric,
                level=level,
                n_langs=0,
                n_prompts=0,
                n_ok=0,
                n_total=0,
                status="unsupported_language",
            )
            yield (system, judge, SCOPES.index(scope), place), row


def _worst(cell: Cell) -> float | None:
    """Mean with failed rows as 1.0; a mark has no value that a failure must have."""
    if not cell.scores.computed or cell.metric not in METRICS:
        return None
    return summarise(cell.scores.worst[cell.at.units], cell.at.langs, macro=cell.macro)


def _median(values: FloatArray) -> float:
    return float(np.median(values))
