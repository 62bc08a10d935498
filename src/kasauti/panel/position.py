"""Whether a judge scores a label (and so a place in what it hears) rather than a clip.

What a label is worth to a judge is a least-squares effect beside the mean of every system in every delivery; effects of
a judge sum to 0. The test keeps the scores, and deals the whole rows of labels out anew among the tasks of a delivery:
had labels no influence, any such deal would have been as likely. It needs labels that change from task to task.

Adjusted scores are the scores less the effect of their label. They show what position did to a table. They are no
correction: the effect is an average, and the judge's scale has ends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kasauti.panel import PanelError
from kasauti.panel.cases import Panel
from kasauti.panel.intervals import Draws
from kasauti.stats.columns import FloatArray, IntArray

_DEALS_AT_A_TIME = 500


@dataclass(frozen=True)
class PositionEffect:
    """One judge and its labels.

    Attributes:
        effects: What each label adds to a score (or rank), in the order of the labels.
        share: Of the variance that system and delivery leave, how much the labels explain.
        p_value: Share of deals with a variance between labels at least as large; never 0.
        n_cases: Cases of this judge.
    """

    judge: str
    effects: tuple[float, ...]
    share: float
    p_value: float
    n_cases: int

    @property
    def spread(self) -> float:
        """Between the best and the worst label."""
        return max(self.effects) - min(self.effects)


def position_effects(panel: Panel, values: FloatArray, draws: Draws) -> list[PositionEffect]:
    """The label effect of each judge, over all its cases.

    Args:
        panel: Any panel; tasks that not every judge has judged count too.
        values: Scores or ranks; shape (tasks, judges, systems).
        draws: Deals of the labels, and their seed.

    Raises:
        PanelError: systems had too few different labels in each delivery to tell the two apart.
    """
    return [_position_effect(panel, values, judge, draws) for judge in range(len(panel.judges))]


def position_adjusted(panel: Panel) -> Panel:
    """The panel with every score less the effect of its label on that judge.

    Raises:
        PanelError: as for `position_effects`.
    """
    scores = panel.scores.copy()
    for judge in range(len(panel.judges)):
        cases = np.flatnonzero(panel.judged[:, judge])
        effects = _effects(panel, panel.scores, judge)
        scores[cases, judge] -= effects[panel.labels[cases, judge]]
    return replace(panel, scores=scores)


def _position_effect(panel: Panel, values: FloatArray, judge: int, draws: Draws) -> PositionEffect:
    cases = np.flatnonzero(panel.judged[:, judge])
    labels, deliveries = panel.labels[cases, judge], panel.delivery_of[cases]
    residuals = _within(values[cases, judge], deliveries)
    effects = _effects(panel, values, judge)
    observed = _between(residuals, labels[None])[0]
    rng = np.random.default_rng(np.random.SeedSequence(draws.seed, spawn_key=tuple(panel.judges[judge].encode())))
    reached, left = 0, draws.count
    while left:
        step = min(left, _DEALS_AT_A_TIME)
        dealt = labels[_deals(deliveries, step, rng)]
        # A sum of the same squares in another order may fall short by a rounding error.
        reached += int(np.sum(_between(residuals, dealt) >= observed * (1 - 1e-9)))
        left -= step
    total = float((residuals**2).sum())
    explained = total - float(((residuals - _within(effects[labels], deliveries)) ** 2).sum())
    return PositionEffect(
        judge=panel.judges[judge],
        effects=tuple(effects.tolist()),
        share=explained / total if total else 0.0,
        p_value=(1 + reached) / (1 + draws.count),
        n_cases=cases.size,
    )


def _effects(panel: Panel, values: FloatArray, judge: int) -> FloatArray:
    """Least-squares label effects that sum to 0, with a mean for every system in every delivery beside them.

    Source: Frisch and Waugh (1933): the means are taken out of values and of label indicators first.
    """
    cases = np.flatnonzero(panel.judged[:, judge])
    n_labels = len(panel.systems)
    deliveries = panel.delivery_of[cases]
    residuals = _within(values[cases, judge], deliveries)
    indicators = np.eye(n_labels)[panel.labels[cases, judge]]
    indicators = np.stack([_within(indicators[..., label], deliveries) for label in range(n_labels)], axis=-1)
    solution, _, rank, _ = np.linalg.lstsq(indicators.reshape(-1, n_labels), residuals.reshape(-1), rcond=1e-9)
    if rank < n_labels - 1:
        raise PanelError(
            f"judge {panel.judges[judge]}: systems had too few different labels, so position and system can't be told "
            "apart; judge as many tasks a delivery as there are systems, or a multiple"
        )
    return np.asarray(solution - solution.mean(), dtype=np.float64)


def _within(values: FloatArray, deliveries: IntArray) -> FloatArray:
    """Values less the mean of their system in their delivery; shape (cases, systems)."""
    centred = values.copy()
    for delivery in np.unique(deliveries):
        members = deliveries == delivery
        centred[members] -= values[members].mean(axis=0)
    return centred


def _between(residuals: FloatArray, labels: IntArray) -> FloatArray:
    """Sum over labels of the squared sum of their residuals, for each deal; labels (deals, cases, systems)."""
    n_labels = residuals.shape[1]
    deals = labels.shape[0]
    cell = (labels + n_labels * np.arange(deals)[:, None, None]).reshape(-1)
    weights = np.broadcast_to(residuals, labels.shape).reshape(-1)
    sums = np.bincount(cell, weights=weights, minlength=deals * n_labels).reshape(deals, n_labels)
    return np.asarray((sums**2).sum(axis=1), dtype=np.float64)


def _deals(deliveries: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    """Random orders of the cases that leave each within its delivery; shape (count, cases)."""
    orders = np.empty((count, deliveries.size), dtype=np.int64)
    for delivery in np.unique(deliveries):
        members = np.flatnonzero(deliveries == delivery)
        orders[:, members] = rng.permuted(np.broadcast_to(members, (count, members.size)), axis=1)
    return orders
