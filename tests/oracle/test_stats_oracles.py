"""Our intervals and variance components against outside tools: `scipy.stats`."""

from __future__ import annotations

import numpy as np
import pytest

from kasauti.stats.bootstrap import bootstrap, paired_differences

pytestmark = pytest.mark.oracle

stats = pytest.importorskip("scipy.stats")

DRAWS = 10_000
TOLERANCE = 0.15
"""In standard errors: 4 times the error of the 2.5th percentile of 10,000 draws of a normal, for two such runs."""


def cers(n: int, seed: int) -> np.ndarray:
    """Skewed, with many zeros, as error rates are."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(n) < 0.3, 0.0, rng.beta(1, 8, n))


def by_prompt(values: np.ndarray) -> dict[str, list[float]]:
    return {f"p{i}": [float(value)] for i, value in enumerate(values)}


@pytest.mark.parametrize("statistic", ["mean", "median"])
@pytest.mark.parametrize("n", [5, 40, 300])
def test_one_sample(n: int, statistic: str) -> None:
    values = cers(n, n)
    ours = bootstrap(by_prompt(values), statistic=statistic, draws=DRAWS)
    theirs = stats.bootstrap(
        (values,),
        getattr(np, statistic),
        n_resamples=DRAWS,
        method="percentile",
        rng=np.random.default_rng(1),
        batch=500,
    )
    se = theirs.standard_error
    assert ours.se == pytest.approx(se, rel=0.06)
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=TOLERANCE * se)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=TOLERANCE * se)


@pytest.mark.parametrize("macro", [False, True])
def test_strata(macro: bool) -> None:
    parts = [cers(n, n) for n in (12, 30, 55)]
    sizes = np.array([part.size for part in parts])
    weights = np.full(3, 1 / 3) if macro else sizes / sizes.sum()

    def weighted(*samples: np.ndarray, axis: int = -1) -> np.ndarray:
        return sum(weight * np.mean(sample, axis=axis) for weight, sample in zip(weights, samples, strict=True))

    theirs = stats.bootstrap(
        parts, weighted, n_resamples=DRAWS, method="percentile", rng=np.random.default_rng(2), batch=500
    )
    values = np.concatenate(parts)
    labels = np.repeat(["hi", "ta", "te"], sizes)
    ours = bootstrap(
        by_prompt(values), strata={f"p{i}": str(label) for i, label in enumerate(labels)}, macro=macro, draws=DRAWS
    )
    se = theirs.standard_error
    assert ours.se == pytest.approx(se, rel=0.06)
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=TOLERANCE * se)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=TOLERANCE * se)


def test_paired_difference() -> None:
    rng = np.random.default_rng(3)
    a = cers(100, 4)
    b = np.clip(a + rng.normal(0.01, 0.02, 100), 0, None)
    ours = paired_differences({"a": by_prompt(a), "b": by_prompt(b)}, draws=DRAWS).differences["a", "b"]
    theirs = stats.bootstrap(
        (a, b),
        lambda x, y, axis=-1: np.mean(x, axis=axis) - np.mean(y, axis=axis),
        paired=True,
        n_resamples=DRAWS,
        method="percentile",
        rng=np.random.default_rng(5),
        batch=500,
    )
    se = theirs.standard_error
    assert ours.se == pytest.approx(se, rel=0.06)
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=TOLERANCE * se)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=TOLERANCE * se)
