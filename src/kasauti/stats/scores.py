"""One metric of every unit (prompt of one system by one judge), from the sorted rows.

Means are taken as the smallest value plus the mean distance from it, so that equal values give exactly that value, and
a system that does not vary has a variance of exactly 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from kasauti.records import SampleRow
from kasauti.stats.columns import BoolArray, Columns, FloatArray, IntArray

METRICS: tuple[str, ...] = ("cer", "cer_nospace", "gcer", "wer", "pcer")
"""Error rates, the lower the better. Any other name is a judge's mark (`SampleRow.marks`), the higher the better."""

COUNTS: dict[str, tuple[str, str]] = {
    "cer": ("char_edits", "ref_chars"),
    "cer_nospace": ("nospace_edits", "ref_nospace"),
    "gcer": ("grapheme_edits", "ref_graphemes"),
    "wer": ("word_edits", "ref_words"),
}
"""Metric -> columns of its edits and of its reference units; a metric that is not here has no corpus rate."""


def marks_of(rows: Iterable[SampleRow]) -> list[str]:
    """Names of the marks that rows carry, in order of first appearance."""
    return list(dict.fromkeys(name for row in rows if row.marks for name in row.marks))


SCORED_IN_ANY_SCRIPT = frozenset({"pcer"})
"""Metrics that compare sounds, so that a transcript in another script than the reference is scored like any other."""


@dataclass(frozen=True)
class Spread:
    """Sums of squares of the scores of prompts, one entry per prompt: all that variance components are made of.

    Attributes:
        judgments: Scored judgments of all takes, M. `takes`: takes that have one, R.
        squares: Sum over takes of the squared number of judgments.
        within: Sum of squared distances of judgments from the mean of their take.
        between: Sum over takes of judgments times the squared distance of the take's mean from the prompt's.
    """

    judgments: FloatArray
    takes: FloatArray
    squares: FloatArray
    within: FloatArray
    between: FloatArray

    def __getitem__(self, chosen: IntArray) -> Self:
        return type(self)(
            self.judgments[chosen],
            self.takes[chosen],
            self.squares[chosen],
            self.within[chosen],
            self.between[chosen],
        )


@dataclass(frozen=True)
class Scores:
    """One metric, one entry per unit.

    Attributes:
        n_total: Rows. `n_ok`: rows that are scored. `n_wrong_script`: rows in another script.
        mean: Mean of the scored rows, NaN where there is none. `take_mean`: the same of each take.
        worst: Mean of all rows with every row that is not scored as 1.0; of no use for marks.
        edits, refs: Edits and reference units of the scored rows; None for a metric without counts.
        spread: Sums of squares.
        computed: False where answers exist but none carries this metric.
    """

    n_total: IntArray
    n_ok: IntArray
    n_wrong_script: IntArray
    mean: FloatArray
    take_mean: FloatArray
    worst: FloatArray
    edits: FloatArray | None
    refs: FloatArray | None
    spread: Spread
    computed: bool


def mean_of(values: ArrayLike) -> float:
    """Mean of one or more values."""
    array = np.asarray(values, dtype=np.float64)
    least = array.min()
    return float(least + (array - least).mean())


def run_means(values: FloatArray, weights: FloatArray, starts: IntArray) -> FloatArray:
    """Weighted mean of each run of neighbours.

    Args:
        values: Shape (n,).
        weights: Shape (n,), not negative; values of weight 0 may be NaN.
        starts: First entry of each run, ascending, shape (k,).

    Returns:
        Shape (k,); NaN for a run whose weights are all 0.
    """
    if not starts.size:
        return np.empty(0)
    used = weights > 0
    least = np.minimum.reduceat(np.where(used, values, np.inf), starts)
    least[np.isinf(least)] = np.nan
    distance = np.where(used, values - least[run_of(starts, values.size)], 0.0)
    total = np.add.reduceat(weights, starts)
    return least + np.add.reduceat(distance * weights, starts) / np.where(total > 0, total, 1.0)


def run_of(starts: IntArray, size: int) -> IntArray:
    """The run that each of `size` entries belongs to."""
    return np.repeat(np.arange(starts.size), np.diff(starts, append=size))


def spread_of(
    values: FloatArray, scored: FloatArray, take_starts: IntArray, unit_takes: IntArray
) -> tuple[FloatArray, FloatArray, Spread]:
    """Means of takes and of units, and the sums of squares of units.

    Args:
        values: Scores of judgments, sorted by unit and take, shape (rows,).
        scored: 1.0 where the row counts, 0.0 where it does not; shape (rows,).
        take_starts: First row of each take.
        unit_takes: First take of each unit.

    Returns:
        Mean of each take and of each unit, NaN where nothing is scored; sums of squares.
    """
    unit_of_take = run_of(unit_takes, take_starts.size)
    judgments = _sums(scored, take_starts)
    take_mean = run_means(values, scored, take_starts)
    unit_mean = run_means(take_mean, judgments, unit_takes)
    of_row = take_mean[run_of(take_starts, values.size)]
    within = np.where(scored > 0, values - of_row, 0.0) ** 2
    off = np.where(judgments > 0, take_mean - unit_mean[unit_of_take], 0.0)
    spread = Spread(
        judgments=_sums(judgments, unit_takes),
        takes=_sums((judgments > 0).astype(np.float64), unit_takes),
        squares=_sums(judgments**2, unit_takes),
        within=_sums(_sums(within, take_starts), unit_takes),
        between=_sums(judgments * off**2, unit_takes),
    )
    return take_mean, unit_mean, spread


def score_units(columns: Columns, metric: str) -> Scores:
    """Gathers one metric of all units."""
    values = columns.numbers(metric)
    eligible = columns.ok | columns.wrong_script if metric in SCORED_IN_ANY_SCRIPT else columns.ok
    scored = eligible & np.isfinite(values)
    flags = scored.astype(np.float64)
    take_mean, mean, spread = spread_of(values, flags, columns.take_starts, columns.unit_takes)
    starts = columns.unit_starts
    edits, refs = (_counted(columns, name, scored) for name in COUNTS.get(metric, (None, None)))
    n_total = np.diff(starts, append=columns.order.size)
    n_ok = spread.judgments.astype(np.int64)
    return Scores(
        n_total=n_total,
        n_ok=n_ok,
        n_wrong_script=_sums(columns.wrong_script.astype(np.float64), starts).astype(np.int64),
        mean=mean,
        take_mean=take_mean,
        worst=(np.where(n_ok > 0, mean, 0.0) * n_ok + (n_total - n_ok)) / n_total,
        edits=edits,
        refs=refs,
        spread=spread,
        computed=bool(scored.any()) or not bool(eligible.any()),
    )


def _counted(columns: Columns, name: str | None, scored: BoolArray) -> FloatArray | None:
    if name is None:
        return None
    return _sums(np.where(scored, columns.numbers(name), 0.0), columns.unit_starts)


def _sums(values: FloatArray, starts: IntArray) -> FloatArray:
    return np.asarray(np.add.reduceat(values, starts) if starts.size else np.empty(0), dtype=np.float64)
