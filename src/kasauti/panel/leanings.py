"""What single judges do to a table: whom they favour, what happens without them, and how they use the scale.

A judge *favours* a system by as much as it puts it above the mean of its own case more than the other judges do. That a
judge favours a system of its own maker is measured here, not explained: a finer ear for that system looks the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kasauti.panel.cases import SCALE, Panel, mean_ranks
from kasauti.panel.consensus import column_means, compared, consensus, delivery_means
from kasauti.panel.intervals import Draws, drawn_means, interval
from kasauti.stats.bootstrap import Interval
from kasauti.stats.columns import FloatArray, IntArray


@dataclass(frozen=True)
class Leaning:
    """One judge and one system, against the other judges on the same clips.

    Attributes:
        score: How much further above its case's mean score the judge puts the system.
        rank: How many ranks better it places the system; positive is better.
        own_family: Whether judge and system come from one maker.
    """

    judge: str
    system: str
    score: Interval
    rank: Interval
    own_family: bool


@dataclass(frozen=True)
class Subpanel:
    """The table by some of the judges on the same tasks. `scores` and `places` go by the panel's systems."""

    judges: tuple[str, ...]
    scores: tuple[float, ...]
    places: tuple[float, ...]


def leanings(panel: Panel, families: Mapping[str, str], draws: Draws) -> list[Leaning]:
    """Every judge's leaning towards every system.

    Args:
        panel: At least two judges.
        families: Judge -> the system of the same maker.
        draws: For the intervals, by task.
    """
    common = compared(panel)
    above = common.scores - common.scores.mean(axis=2, keepdims=True)
    found = []
    for judge, name in enumerate(common.judges):
        scores = _against_the_others(common, above, judge, draws)
        ranks = _against_the_others(common, -common.ranks, judge, draws)
        found += [
            Leaning(name, system, scores[place], ranks[place], families.get(name) == system)
            for place, system in enumerate(common.systems)
        ]
    return found


def subpanels(panel: Panel) -> list[Subpanel]:
    """The whole panel, the panel without each judge (three judges or more), and each judge alone."""
    common = compared(panel)
    names = common.judges
    groups = [names]
    if len(names) > 2:
        groups += [tuple(other for other in names if other != name) for name in names]
    if len(names) > 1:
        groups += [(name,) for name in names]
    found = []
    for group in groups:
        scores = consensus(common.of_judges(group)).overall
        found.append(Subpanel(group, tuple(scores.tolist()), tuple(mean_ranks(-scores).tolist())))
    return found


def score_counts(panel: Panel) -> IntArray:
    """How often each judge gave each system each score of the scale; shape (judges, systems, values)."""
    given = compared(panel).scores[..., None] == np.array(SCALE)
    return np.asarray(given.sum(axis=0), dtype=np.int64)


def _against_the_others(panel: Panel, values: FloatArray, judge: int, draws: Draws) -> list[Interval]:
    others = [other for other in range(len(panel.judges)) if other != judge]
    by_task = values[:, judge] - values[:, others].mean(axis=1)
    estimates = column_means(delivery_means(panel, by_task))
    drawn = drawn_means(panel, by_task, draws)
    return [interval(value, drawn[:, place], panel) for place, value in enumerate(estimates)]
