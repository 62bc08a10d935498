"""Agreement of judges: Krippendorff's alpha for ordered scores.

1 is perfect agreement, 0 what chance would give, below 0 systematic disagreement. A unit is one clip; a judge that has
no case for a task has no value there, and a unit with a single value says nothing. Alpha depends on how much the clips
differ: where all systems are alike, the same judges reach a lower one.

Source: Krippendorff, Content Analysis (2004), chapter 11 (coincidences, ordinal metric).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kasauti.panel.cases import SCALE, Panel
from kasauti.panel.intervals import Draws, interval
from kasauti.stats.bootstrap import Interval
from kasauti.stats.columns import FloatArray, IntArray
from kasauti.stats.resample import replicate_means, strata_of


@dataclass(frozen=True)
class Agreement:
    """Alpha of some judges over some tasks.

    Attributes:
        alpha: With its interval by task; None where there are no two values to compare or all values are the same.
        n_units: Clips that at least two of the judges scored.
    """

    alpha: Interval
    n_units: int


def ordinal_alpha(panel: Panel) -> float | None:
    """Alpha of all judges over all tasks; None where it is not defined (nothing to compare, or a single value)."""
    found = _alpha(coincidences(panel).sum(axis=0)[None])[0]
    return None if np.isnan(found) else float(found)


def agreement(panel: Panel, draws: Draws) -> Agreement:
    """Alpha of all judges with its interval: tasks drawn within their delivery, each with all its clips."""
    by_task = coincidences(panel)
    n_units = int((np.isfinite(panel.scores).sum(axis=1) >= 2).sum())
    estimate = ordinal_alpha(panel)
    if estimate is None:
        return Agreement(Interval(None, None, None, None, len(panel.tasks)), n_units)
    strata = strata_of(panel.delivery_of, panel.deliveries, macro=False)
    n_tasks, n_values = len(panel.tasks), len(SCALE)
    drawn = replicate_means(by_task.reshape(n_tasks, -1), strata, draws=draws.count, seed=draws.seed)
    alphas = _alpha(n_tasks * drawn.reshape(-1, n_values, n_values))
    return Agreement(interval(estimate, alphas[~np.isnan(alphas)], panel), n_units)


def spreads(panel: Panel) -> IntArray:
    """How many clips have scores that lie 0, 1, … points apart; clips with a case of every judge."""
    scores = panel.common().scores
    apart = (scores.max(axis=1) - scores.min(axis=1)).astype(np.int64)
    return np.bincount(apart.reshape(-1), minlength=SCALE[-1] - SCALE[0] + 1)


def coincidences(panel: Panel) -> FloatArray:
    """How often two judges gave one clip these two scores; shape (tasks, values, values), symmetric.

    Each ordered pair of values of a unit counts 1/(values of the unit − 1), so a unit counts as often as it was scored.
    """
    scores = panel.scores.transpose(0, 2, 1)
    given = (scores[..., None] == np.array(SCALE)).sum(axis=2).astype(np.float64)
    n_values = given.sum(axis=-1)
    pairs = given[..., :, None] * given[..., None, :] - given[..., None] * np.eye(len(SCALE))
    weights = np.where(n_values >= 2, 1 / np.maximum(n_values - 1, 1), 0.0)
    return np.asarray((pairs * weights[..., None, None]).sum(axis=1), dtype=np.float64)


def _alpha(tables: FloatArray) -> FloatArray:
    """Alpha of each coincidence table, shape (k, values, values) to (k,); NaN where it is not defined."""
    totals = tables.sum(axis=-1)
    below = np.cumsum(totals, axis=-1) - totals / 2
    distance = (below[:, :, None] - below[:, None, :]) ** 2
    observed = (tables * distance).sum(axis=(1, 2))
    expected = (totals[:, :, None] * totals[:, None, :] * distance).sum(axis=(1, 2))
    defined = expected > 0
    ratio = (totals.sum(axis=-1) - 1) * observed / np.where(defined, expected, 1.0)
    return np.where(defined, 1 - ratio, np.nan)
