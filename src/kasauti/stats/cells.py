"""Cells of `aggregate.csv`: which units belong to one number, and the summaries that need no drawing of lots.

A cell is one metric of one system by one judge over a language, a tag, or all languages (`macro`, `pooled`). Its units
fall into strata, one per language; `macro` weighs languages alike, every other scope weighs prompts alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Self

import numpy as np

from kasauti.stats.columns import BoolArray, Columns, FloatArray, Group, IntArray
from kasauti.stats.scores import Scores, mean_of

Scope = Literal["lang", "tag", "macro", "pooled"]

SCOPES: tuple[Scope, ...] = ("lang", "tag", "macro", "pooled")

ALL = "all"
"""Key of the scopes over languages."""

Statistic = Callable[[FloatArray], float]


@dataclass(frozen=True)
class Place:
    """Where a number stands in the table, and the units that it is made of.

    Attributes:
        group: System and judge.
        scope, key: As in `AggregateRow`; `number` is the position of `key` among its like.
        units: All units, ascending.
        prompts, langs: Their prompts and languages, both ascending.
    """

    group: Group
    scope: Scope
    key: str
    number: int
    units: IntArray
    prompts: IntArray
    langs: IntArray

    @property
    def macro(self) -> bool:
        """Whether languages weigh alike, instead of prompts."""
        return self.scope == "macro"


@dataclass(frozen=True)
class Cell:
    """One metric in one place.

    Attributes:
        at: The place.
        metric: Name of the metric; `scores` holds it for all units of the table.
        scored: The units with at least one scored row; `prompts` and `langs` are theirs.
    """

    at: Place
    metric: str
    scores: Scores
    scored: IntArray
    prompts: IntArray
    langs: IntArray

    @classmethod
    def of(cls, at: Place, metric: str, scores: Scores) -> Self:
        """The cell of a metric in a place."""
        scored = scores.n_ok[at.units] > 0
        if scored.all():
            return cls(at, metric, scores, at.units, at.prompts, at.langs)
        return cls(at, metric, scores, at.units[scored], at.prompts[scored], at.langs[scored])

    @property
    def macro(self) -> bool:
        return self.at.macro

    @property
    def n_total(self) -> int:
        return int(self.scores.n_total[self.at.units].sum())

    @property
    def n_ok(self) -> int:
        return int(self.scores.n_ok[self.at.units].sum())

    def fit(self, min_ok_share: float) -> bool:
        """Whether enough rows are scored for the cell to be ranked."""
        return self.n_ok > 0 and self.n_ok >= min_ok_share * self.n_total


def places_of(columns: Columns) -> list[Place]:
    """Where numbers stand: for each system and judge its languages, its tags, then all languages."""
    places = []
    for group in columns.groups:
        units = np.arange(group.units.start, group.units.stop)
        prompts = columns.unit_prompt[group.units]
        langs = columns.lang_of_prompt[prompts]
        for scope, key, number, chosen in _choices(columns, prompts, langs):
            places.append(Place(group, scope, key, number, units[chosen], prompts[chosen], langs[chosen]))
    return places


def _choices(
    columns: Columns, prompts: IntArray, langs: IntArray
) -> Iterator[tuple[Scope, str, int, IntArray | slice]]:
    everything = slice(None)
    for number, lang in enumerate(columns.langs):
        first, last = np.searchsorted(langs, [number, number + 1]).tolist()
        if first < last:
            yield "lang", lang, number, slice(first, last)
    for number, tag in enumerate(columns.tags):
        chosen = np.flatnonzero(_members(columns.prompts_of_tag[number], prompts))
        if chosen.size:
            yield "tag", tag, number, chosen
    yield "macro", ALL, 0, everything
    yield "pooled", ALL, 0, everything


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
    """Edits over reference units; for `macro` the mean of the languages' rates.

    None where a row lacks its counts or there is no unit to divide by.
    """
    edits, refs = cell.scores.edits, cell.scores.refs
    if edits is None or refs is None or not cell.scored.size:
        return None
    parts = [cell.scored[run] for run in by_lang(cell.langs)] if cell.macro else [cell.scored]
    sums = [(edits[units].sum(), refs[units].sum()) for units in parts]
    if any(units == 0 for _, units in sums):  # texts of which nothing is left once normalised
        return None
    rate = mean_of([wrong / units for wrong, units in sums])
    return rate if np.isfinite(rate) else None
