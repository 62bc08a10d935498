"""Panel statistics against outside tools: the `krippendorff` package, `scipy`."""

from __future__ import annotations

import numpy as np
import pytest

from kasauti.panel.agreement import agreement, ordinal_alpha
from kasauti.panel.bradley_terry import fit
from kasauti.panel.cases import mean_ranks
from kasauti.panel.intervals import Draws
from panel_ratings import random_panel

pytestmark = pytest.mark.oracle

krippendorff = pytest.importorskip("krippendorff")
stats = pytest.importorskip("scipy.stats")
optimize = pytest.importorskip("scipy.optimize")


@pytest.mark.parametrize("seed", range(30))
def test_alpha(seed: int) -> None:
    found = random_panel(seed, n_tasks=3 + seed, n_judges=2 + seed % 4, n_systems=2 + seed % 7, missing=0.02 * seed)
    units = found.scores.transpose(1, 0, 2).reshape(len(found.judges), -1)
    expected = krippendorff.alpha(reliability_data=units, level_of_measurement="ordinal", value_domain=[1, 2, 3, 4, 5])
    assert ordinal_alpha(found) == pytest.approx(expected, abs=1e-12)


def test_interval_of_alpha() -> None:
    """The same draws of tasks, each table handed to the other program."""
    found = random_panel(7, n_tasks=15, n_deliveries=1)
    ours = agreement(found, Draws(2_000, 0)).alpha
    rng = np.random.default_rng(5)
    theirs = [
        krippendorff.alpha(
            reliability_data=found.scores[rng.integers(0, 15, 15)].transpose(1, 0, 2).reshape(3, -1),
            level_of_measurement="ordinal",
            value_domain=[1, 2, 3, 4, 5],
        )
        for _ in range(2_000)
    ]
    # Four standard errors of a 2.5th percentile of 2,000 draws of a normal, for two such runs.
    tolerance = 0.34 * float(np.std(theirs))
    assert (ours.low, ours.high) == pytest.approx(tuple(np.percentile(theirs, [2.5, 97.5])), abs=tolerance)
    assert ours.se == pytest.approx(np.std(theirs), rel=0.1)


@pytest.mark.parametrize("seed", range(20))
def test_mean_ranks(seed: int) -> None:
    values = np.random.default_rng(seed).integers(1, 6, (10, 8)).astype(np.float64)
    assert mean_ranks(values).tolist() == stats.rankdata(values, axis=-1).tolist()


@pytest.mark.parametrize("seed", range(10))
def test_bradley_terry(seed: int) -> None:
    """Against a general minimiser of the negative log likelihood."""
    rng = np.random.default_rng(seed)
    n = 2 + seed % 7
    wins = (rng.integers(1, 30, (n, n)) / 2) * (1 - np.eye(n))

    def loss(free: np.ndarray) -> float:
        logs = np.append(free, 0.0)
        return float((wins * np.logaddexp(0, logs[None, :] - logs[:, None])).sum())

    expected = np.append(optimize.minimize(loss, np.zeros(n - 1), method="BFGS", options={"gtol": 1e-9}).x, 0.0)
    assert fit(wins[None])[0][0] == pytest.approx(expected - expected.mean(), abs=1e-5)
