"""Intervals on a panel's scores and places, and which systems it tells apart.

Tasks are drawn with replacement within their delivery, each with all its systems and judges, so differences between
systems are paired. The interval says how a number would move with other tasks of the same kind. It does not say how it
would move with other recordings, other judges, or the same judges asked again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kasauti.panel.cases import Panel, mean_ranks
from kasauti.panel.consensus import Consensus, column_means, consensus, delivery_means, judge_means
from kasauti.stats.bootstrap import DECIMALS, PERCENTILES, Interval, interval_of
from kasauti.stats.columns import FloatArray
from kasauti.stats.resample import replicate_means, strata_of


@dataclass(frozen=True)
class Draws:
    """How tasks are drawn again: `count` times, from `seed`."""

    count: int = 10_000
    seed: int = 0


@dataclass(frozen=True)
class Standing:
    """One system's place.

    Attributes:
        score: Consensus score with its interval.
        place: By score, 1 is best, equals share the mean; `place_low` and `place_high` are its interval.
        mean_rank: Rank that judges gave, mean over judges, then tasks, then deliveries.
        win_rate: The same for shares of first places.
    """

    system: str
    score: Interval
    place: float
    place_low: float
    place_high: float
    mean_rank: Interval
    win_rate: Interval


@dataclass(frozen=True)
class Gap:
    """How far one system stands above another.

    Attributes:
        difference: Of the consensus scores, upper less lower, paired by task.
        reversed_share: Share of draws in which the lower one is level or ahead.
        neighbours: Whether no third system stands between them.
    """

    upper: str
    lower: str
    difference: Interval
    reversed_share: float
    neighbours: bool

    @property
    def separated(self) -> bool:
        """Whether the 95 % interval of the difference leaves 0 out; the upper system is never behind."""
        return self.difference.low is not None and self.difference.low > 0


def standings(panel: Panel, draws: Draws) -> list[Standing]:
    """Scores and places with intervals, best first.

    Raises:
        PanelError: no task is common.
    """
    found = consensus(panel)
    drawn = drawn_means(found.panel, found.by_task, draws)
    places = mean_ranks(-found.overall)
    low, high = np.percentile(mean_ranks(-drawn), PERCENTILES, axis=0)
    scores = _intervals(found.overall, drawn, found)
    ranks = _secondary(found, found.panel.ranks, draws)
    wins = _secondary(found, found.panel.wins, draws)
    return [
        Standing(found.panel.systems[s], scores[s], float(places[s]), float(low[s]), float(high[s]), ranks[s], wins[s])
        for s in found.order
    ]


def gaps(panel: Panel, draws: Draws) -> list[Gap]:
    """Every pair of systems, the one with the higher score first.

    Raises:
        PanelError: no task is common.
    """
    found = consensus(panel)
    drawn = drawn_means(found.panel, found.by_task, draws)
    pairs = []
    for place, upper in enumerate(found.order):
        for below, lower in enumerate(found.order[place + 1 :]):
            difference = np.round(drawn[:, upper] - drawn[:, lower], DECIMALS)
            pairs.append(
                Gap(
                    upper=found.panel.systems[upper],
                    lower=found.panel.systems[lower],
                    difference=interval(found.overall[upper] - found.overall[lower], difference, found.panel),
                    reversed_share=float(np.mean(difference <= 0)),
                    neighbours=below == 0,
                )
            )
    return pairs


def drawn_means(panel: Panel, by_task: FloatArray, draws: Draws) -> FloatArray:
    """Mean per delivery, then over deliveries, for each draw of the tasks; shape (tasks, k) to (draws, k).

    Rounded, so that scores that are equal are equal here too and share a place.
    """
    strata = strata_of(panel.delivery_of, panel.deliveries, macro=True)
    return np.round(replicate_means(by_task, strata, draws=draws.count, seed=draws.seed), DECIMALS)


def interval(estimate: float, drawn: FloatArray, panel: Panel) -> Interval:
    """The 95 % interval of one number from its draws; ends that differ from 0 by rounding only are 0."""
    found = interval_of(float(estimate), drawn, len(panel.tasks))
    assert found.low is not None
    assert found.high is not None
    # Adding 0.0 turns −0.0 into 0.0.
    return replace(found, low=round(found.low, DECIMALS) + 0.0, high=round(found.high, DECIMALS) + 0.0)


def _secondary(found: Consensus, values: FloatArray, draws: Draws) -> list[Interval]:
    by_task = judge_means(values)
    estimates = column_means(delivery_means(found.panel, by_task))
    return _intervals(estimates, drawn_means(found.panel, by_task, draws), found)


def _intervals(estimates: FloatArray, drawn: FloatArray, found: Consensus) -> list[Interval]:
    return [interval(value, drawn[:, place], found.panel) for place, value in enumerate(estimates)]
