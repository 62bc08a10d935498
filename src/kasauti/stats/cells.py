"""Cells of `aggregate.csv`: which units belong to one number, and the summaries that need no drawing of lots.

A cell is one metric of one system by one judge over a language, a tag, or all languages (`macro`, `pooled`). Its units
fall into strata, one per language; `macro` weighs languages alike, every other scope weighs prompts alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from kasauti.stats.columns import BoolArray, Columns, FloatArray, Group, IntArray
from kasauti.stats.scores import Scores, mean_of

Scope = Literal["lang", "tag", "macro", "pooled"]

SCOPES: tuple[Scope, ...] = ("lang", "tag", "macro", "pooled")

ALL = "all"
"""Key of the scopes over languages."""

Statistic = Callable[[FloatArray], float]


@dataclass(frozen=True)
class Cell:
    """One number's place in the table, and its units.

    Attributes:
        metric: Name of the metric; `scores` holds it for all units of the table.
        group: System and judge.
        scope, key: As in `AggregateRow`; `place` is the position of `key` among its like.
        units: All units, ascending.
        scored: Those with at least one scored row.
        prompts, langs: Prompt and language of each scored unit, both ascending.
    """

    metric: str
    scores: Scores
    group: Group
    scope: Scope
    key: str
    place: int
    units: IntArray
    scored: IntArray
    prompts: IntArray
    langs: IntArray

    @property
    def macro(self) -> bool:
        return self.scope == "macro"

    @property
    def n_total(self) -> int:
        return int(self.scores.n_total[self.units].sum())

    @property
    def n_ok(self) -> int:
        return int(self.scores.n_ok[self.units].sum())

    def fit(self, min_ok_share: float) -> bool:
        """Whether enough rows are scored for the cell to be ranked."""
        return self.n_ok > 0 and self.n_ok >= min_ok_share * self.n_total


def metric_cells(columns: Columns, scores: Scores, metric: str) -> Iterator[Cell]:
    """All cells of one metric: for each system and judge its languages, its tags, then all languages."""
    for group in columns.groups:
        units = np.arange(group.units.start, group.units.stop)
        prompts = columns.unit_prompt[group.units]
        langs = columns.lang_of_prompt[prompts]
        for scope, key, place, chosen in _choices(columns, prompts, langs):
            scored = chosen[scores.n_ok[units[chosen]] > 0]
            yield Cell(
                metric=metric,
                scores=scores,
                group=group,
                scope=scope,
                key=key,
                place=place,
                units=units[chosen],
                scored=units[scored],
                prompts=prompts[scored],
                langs=langs[scored],
            )


def _choices(columns: Columns, prompts: IntArray, langs: IntArray) -> Iterator[tuple[Scope, str, int, IntArray]]:
    for place, lang in enumerate(columns.langs):
        first, last = np.searchsorted(langs, [place, place + 1])
        if first < last:
            yield "lang", lang, place, np.arange(first, last)
    for place, tag in enumerate(columns.tags):
        chosen = np.flatnonzero(_members(columns.prompts_of_tag[place], prompts))
        if chosen.size:
            yield "tag", tag, place, chosen
    yield "macro", ALL, 0, np.arange(prompts.size)
    yield "pooled", ALL, 0, np.arange(prompts.size)


def _members(chosen: IntArray, among: IntArray) -> BoolArray:
    """Which entries of `among` are in the ascending `chosen`."""
    places = np.minimum(np.searchsorted(chosen, among), chosen.size - 1)
    return np.asarray(chosen[places] == among)


def by_lang(langs: IntArray) -> list[slice]:
    """Runs of equal languages in an ascending array."""
    bounds = [*np.unique(langs, return_index=True)[1].tolist(), langs.size]
    return [slice(first, last) for first, last in pairwise(bounds)]


def summarise(values: FloatArray, langs: IntArray, *, macro: bool, statistic: Statistic = mean_of) -> float | None:
    """A statistic over prompts, or the mean over languages of that statistic.

    Args:
        values: One value a prompt, shape (n,).
        langs: Language of each prompt, ascending, shape (n,).
        macro: Weigh languages alike.
        statistic: Of the values of one language, or of all.

    Returns:
        None without a prompt.
    """
    if not values.size:
        return None
    if not macro:
        return float(statistic(values))
    return mean_of([statistic(values[run]) for run in by_lang(langs)])


def corpus_rate(cell: Cell) -> float | None:
    """Edits over reference units; for `macro` the mean of the languages' rates. None where a row lacks its counts."""
    edits, refs = cell.scores.edits, cell.scores.refs
    if edits is None or refs is None or not cell.scored.size:
        return None
    parts = [cell.scored[run] for run in by_lang(cell.langs)] if cell.macro else [cell.scored]
    rate = mean_of([edits[units].sum() / refs[units].sum() for units in parts])
    return rate if np.isfinite(rate) else None
