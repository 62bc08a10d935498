"""One scale from wins in pairs: the Bradley-Terry model.

A system with strength p is put before one with strength q with probability p / (p + q). Strengths are given as natural
logarithms that sum to 0. All pairs of a case count, a shared place as half a win to each; pairs of one case are not
independent, so intervals come from drawing tasks again.

Source: Bradley and Terry (1952); Hunter (2004), The Annals of Statistics 32(1), the MM iteration and Ford's condition.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kasauti.panel import PanelError
from kasauti.panel.cases import Panel
from kasauti.panel.consensus import compared, wins_by_task
from kasauti.panel.intervals import Draws, interval
from kasauti.stats.bootstrap import Interval
from kasauti.stats.columns import BoolArray, FloatArray
from kasauti.stats.resample import replicate_means, strata_of

TOLERANCE = 1e-10
"""Largest difference between a system's wins and those that the strengths predict, as a share of its pairs."""

MAX_ITERATIONS = 20_000


@dataclass(frozen=True)
class Strength:
    """One system's log strength; ends are None where some draw has no finite maximum."""

    system: str
    strength: Interval


@dataclass(frozen=True)
class BradleyTerry:
    """The fitted model.

    Attributes:
        strengths: Best first.
        predicted: Probability that the row is put before the column; shape (systems, systems), panel order.
        largest_miss: Largest distance of a predicted share from the one seen: how badly one scale fits.
        iterations: Until it converged.
    """

    strengths: list[Strength]
    predicted: FloatArray
    largest_miss: float
    iterations: int


def bradley_terry(panel: Panel, draws: Draws) -> BradleyTerry:
    """Fits strengths to all cases of the common tasks.

    Raises:
        PanelError: some systems never lose to the others, so that no finite strengths exist; or no convergence.
    """
    common = compared(panel)
    by_task = wins_by_task(common) * (1 - np.eye(len(common.systems)))
    wins = by_task.sum(axis=0)
    fitted, iterations = fit(wins[None])
    strata = strata_of(common.delivery_of, common.deliveries, macro=False)
    n = len(common.systems)
    drawn = replicate_means(by_task.reshape(-1, n * n), strata, draws=draws.count, seed=draws.seed).reshape(-1, n, n)
    intervals = _intervals(fitted[0], drawn, common)
    predicted = 1 / (1 + np.exp(fitted[0][None, :] - fitted[0][:, None]))
    seen = wins / (wins + wins.T + np.eye(n))
    misses = np.abs(predicted - seen)[~np.eye(n, dtype=np.bool_)]
    order = sorted(range(n), key=lambda system: -fitted[0][system])
    return BradleyTerry(
        strengths=[Strength(common.systems[system], intervals[system]) for system in order],
        predicted=predicted,
        largest_miss=float(misses.max()),
        iterations=iterations,
    )


def fit(wins: FloatArray) -> tuple[FloatArray, int]:
    """Maximum-likelihood log strengths of several tables of wins at once.

    Args:
        wins: Row before column, diagonal 0; shape (k, n, n).

    Returns:
        Shape (k, n), each row summing to 0; and the number of iterations.

    Raises:
        PanelError: some table has no finite maximum, or the iteration does not converge.
    """
    if not connected(wins).all():
        raise PanelError("some systems were never put behind the others: no finite strengths exist for such wins")
    n = wins.shape[-1]
    pairs = wins + wins.transpose(0, 2, 1)
    own, met = wins.sum(axis=2), pairs.sum(axis=2)
    strength = np.ones(own.shape)
    for iteration in range(1, MAX_ITERATIONS + 1):
        sums = strength[:, :, None] + strength[:, None, :]
        shares = (pairs / sums).sum(axis=2)
        miss = np.abs(own - strength * shares) / met
        if miss.max() < TOLERANCE:
            logs = np.log(strength)
            return logs - logs.mean(axis=1, keepdims=True), iteration
        strength = own / shares
        strength = strength * (n / strength.sum(axis=1, keepdims=True))
    raise PanelError(f"Bradley-Terry did not converge in {MAX_ITERATIONS} iterations; some system wins almost always")


def connected(wins: FloatArray) -> BoolArray:
    """Whether a finite maximum exists: a chain of wins leads from every system to every other; (k, n, n) to (k,)."""
    reached = (wins > 0) | np.eye(wins.shape[-1], dtype=np.bool_)
    for _ in range(wins.shape[-1]):
        reached = (reached.astype(np.int64) @ reached.astype(np.int64)) > 0
    return np.asarray(reached.all(axis=(1, 2)), dtype=np.bool_)


def _intervals(fitted: FloatArray, drawn: FloatArray, panel: Panel) -> list[Interval]:
    if not connected(drawn).all():
        return [Interval(float(value), None, None, None, len(panel.tasks)) for value in fitted]
    strengths, _ = fit(drawn)
    return [interval(value, strengths[:, place], panel) for place, value in enumerate(fitted)]
