"""Our intervals against `scipy.stats`."""

from __future__ import annotations

import numpy as np
import pytest

from kasauti.stats.bootstrap import bootstrap, paired_differences
from kasauti.stats.difference import differences, t_975
from kasauti.stats.resample import strata_of

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


def test_quantile_of_t() -> None:
    for freedom in (2.0, 3.0, 5.0, 9.5, 30.0, 1e4):
        assert t_975(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=0.013 if freedom < 4 else 1e-3)


@pytest.mark.parametrize("n", [6, 20, 100])
def test_interval_of_a_difference_is_that_of_t_where_t_holds(n: int) -> None:
    """For normal differences; mean ratio of the widths over 50 samples within 3 %."""
    values = np.random.default_rng(n).normal(0.1, 1.0, (n, 50))
    ours = differences(values, strata_of(np.zeros(n, dtype=np.int64), [""], macro=False), draws=4_000, seed=0)
    theirs = stats.ttest_1samp(values, 0.0).confidence_interval()
    widths = (theirs.high - theirs.low) / 2
    assert np.mean([d.half for d in ours] / widths) == pytest.approx(1, abs=0.03)
    assert [d.se for d in ours] == pytest.approx(stats.sem(values).tolist())
