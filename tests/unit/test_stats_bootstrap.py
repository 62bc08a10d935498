"""Intervals: the prompt is the unit, draws are shared, small and constant data are defined.

Expected values: `tests/cases/stats.jsonl`, or all n^n draws written out.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kasauti.errors import StatsError
from kasauti.stats.aggregate import aggregate
from kasauti.stats.bootstrap import Interval, bootstrap, paired_differences
from kasauti.stats.resample import replicate_means, strata_of
from stats_rows import CASES, row

SPREAD = {"p1": [0.0], "p2": [0.1], "p3": [0.4], "p4": [0.9], "p5": [0.05]}


def test_the_unit_is_the_prompt_with_all_its_takes() -> None:
    case = CASES["stats-03"]
    found = bootstrap(case["values_by_prompt"], draws=10_000)
    expected = case["expected"]
    assert found.estimate == pytest.approx(expected["mean"])
    assert found.se == pytest.approx(expected["bootstrap_se_by_prompt"], rel=case["tolerance"])
    assert found.se is not None
    assert found.se / expected["bootstrap_se_by_row"] == pytest.approx(expected["ratio"], rel=case["tolerance"])
    assert found.n_prompts == 4


def test_two_prompts() -> None:
    case = CASES["stats-04"]
    found = bootstrap({str(value): [value] for value in case["values"]})
    assert (found.estimate, [found.low, found.high]) == (case["expected"]["mean"], case["expected"]["ci95"])
    values = np.array(case["values"])[:, None]
    drawn = replicate_means(values, strata_of(np.zeros(2, dtype=np.int64), ["hi"], macro=False), draws=10_000, seed=0)
    for value, share in case["expected"]["share_of_draws"].items():
        assert np.mean(drawn == float(value)) == pytest.approx(share, abs=0.02)


def test_no_variance_no_width() -> None:
    case = CASES["stats-05"]
    found = bootstrap({str(i): [value] for i, value in enumerate(case["values"])})
    assert [found.low, found.high] == case["expected"]["ci95"]
    assert (found.estimate, found.se) == (case["expected"]["mean"], 0.0)


@pytest.mark.parametrize("value", [0.1, 0.3, 1 / 3, 1e-9])
@pytest.mark.parametrize("macro", [False, True])
def test_a_constant_is_exact_in_any_grouping(value: float, macro: bool) -> None:
    prompts = [f"{lang}{i}" for lang, n in (("hi", 7), ("ta", 3), ("te", 1), ("bn", 1)) for i in range(n)]
    found = bootstrap({p: [value] * 3 for p in prompts}, strata={p: p[:2] for p in prompts}, macro=macro, draws=50)
    assert found == Interval(value, value, value, 0.0, 12)


def test_one_prompt_and_none() -> None:
    assert bootstrap({"p": [0.25, 0.75]}) == Interval(0.5, 0.5, 0.5, 0.0, 1)
    assert bootstrap({}) == Interval(None, None, None, None, 0)


def test_against_all_draws_written_out() -> None:
    values = [takes[0] for takes in SPREAD.values()]
    means = [np.mean(draw) for draw in product(values, repeat=5)]
    medians = [np.median(draw) for draw in product(values, repeat=5)]
    for statistic, every in (("mean", means), ("median", medians)):
        found = bootstrap(SPREAD, draws=40_000, statistic=statistic)
        assert found.se == pytest.approx(np.std(every), rel=0.02)
        low, high = np.percentile(every, [2.5, 97.5])
        assert found.low == pytest.approx(low, abs=0.03)
        assert found.high == pytest.approx(high, abs=0.03)


def test_strata_take_their_differences_out_of_the_interval() -> None:
    values = {f"{lang}{i}": [base] for lang, base in (("hi", 0.1), ("ta", 0.7)) for i in range(5)}
    strata = {prompt: prompt[:2] for prompt in values}
    assert bootstrap(values, strata=strata).se == 0.0
    assert bootstrap(values).se == pytest.approx(0.3 / 10**0.5, rel=0.05)


def test_macro_weighs_strata_alike() -> None:
    values = {**{f"hi{i}": [0.1] for i in range(9)}, "ta0": [0.2], "ta1": [0.4]}
    strata = {prompt: prompt[:2] for prompt in values}
    assert bootstrap(values, strata=strata, macro=True).estimate == pytest.approx(0.2)
    assert bootstrap(values, strata=strata).estimate == pytest.approx(1.5 / 11)
    assert bootstrap(values, strata=strata, macro=True).se == pytest.approx(0.5 * 0.1 / 2**0.5, rel=0.05)


def test_strata_of_one_prompt_are_drawn_together() -> None:
    values = {"hi": [0.1], "ta": [0.5], "te": [0.9]}
    alone = bootstrap(values, strata={prompt: prompt for prompt in values}, macro=True)
    together = bootstrap(values)
    assert alone == together
    assert alone.se is not None
    assert alone.se > 0.1


def test_same_seed_same_interval_other_seed_other_draws() -> None:
    assert bootstrap(SPREAD, seed=3) == bootstrap(SPREAD, seed=3)
    assert bootstrap(SPREAD, seed=3).se != bootstrap(SPREAD, seed=4).se


def test_differences_are_paired() -> None:
    rng = np.random.default_rng(1)
    hard = rng.random(40)
    values = {
        name: {f"p{i}": [hard[i] + shift + noise] for i, noise in enumerate(rng.normal(0, 0.01, 40))}
        for name, shift in (("a", 0.0), ("b", 0.02), ("c", 0.0))
    }
    found = paired_differences(values, draws=2_000)
    assert list(found.differences) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert found.systems["a"] == bootstrap(values["a"], draws=2_000)
    difference = found.differences["a", "b"]
    assert difference.high is not None
    assert found.systems["a"].se is not None
    assert difference.se is not None
    assert difference.high < 0
    assert difference.se < found.systems["a"].se / 10
    assert difference.estimate == pytest.approx(np.mean([values["a"][p][0] - values["b"][p][0] for p in values["a"]]))


def test_paired_systems_are_compared_on_what_all_have() -> None:
    found = paired_differences({"a": {"p1": [0.1], "p2": [0.3]}, "b": {"p2": [0.3], "p3": [0.9]}}, draws=10)
    assert found.differences["a", "b"] == Interval(0.0, 0.0, 0.0, 0.0, 1)
    apart = paired_differences({"a": {"p1": [0.1]}, "b": {"p2": [0.1]}})
    assert apart.differences["a", "b"].estimate is None


def test_an_interval_does_not_depend_on_what_else_is_in_the_table() -> None:
    rng = np.random.default_rng(2)
    mine = [row(f"{lang}{i}", "mine", rng.random(), lang=lang, tags="t") for lang in ("hi", "ta") for i in range(9)]
    others = [row(f"ta{i}", "other", rng.random(), lang="ta") for i in range(12)]
    alone = {(r.scope, r.key): r for r in aggregate(mine, level="strict", metrics=("cer",))}
    beside = {
        (r.scope, r.key): r
        for r in aggregate([*mine, *others], level="strict", metrics=("cer", "wer"))
        if (r.system, r.metric) == ("mine", "cer")
    }
    assert alone.keys() == beside.keys()
    for place, cell in alone.items():
        assert cell.ci95_low is not None
        assert (cell.ci95_low, cell.ci95_high) == (beside[place].ci95_low, beside[place].ci95_high)


def test_aggregate_and_bootstrap_agree() -> None:
    rng = np.random.default_rng(3)
    rows = [
        row(f"{lang}{i}", cer=rng.random(), lang=lang, repeat=r)
        for lang in ("hi", "ta")
        for i in range(9)
        for r in (0, 1)
    ]
    values: dict[str, list[float]] = {}
    for r in rows:
        assert r.cer is not None
        values.setdefault(r.prompt_id, []).append(r.cer)
    strata = {prompt: prompt[:2] for prompt in values}
    cells = {r.scope: r for r in aggregate(rows, level="strict", metrics=("cer",), seed=5)}
    for scope, macro in (("macro", True), ("pooled", False)):
        found = bootstrap(values, strata=strata, macro=macro, seed=5)
        assert cells[scope].mean == pytest.approx(found.estimate, abs=1e-14)
        assert cells[scope].ci95_low == pytest.approx(found.low, abs=1e-11)
        assert cells[scope].ci95_high == pytest.approx(found.high, abs=1e-11)


@pytest.mark.parametrize(
    ("values", "strata", "message"),
    [
        ({"p1": [0.1], "p2": []}, None, "'p2' has no value"),
        ({"p1": [0.1, 0.2], "p2": [0.1, float("nan")], "p3": [0.1]}, None, "'p2' has a value that is no number"),
        ({"p1": [0.1], "p2": [0.1]}, {"p1": "hi"}, "1 prompts have no stratum, the first is 'p2'"),
    ],
)
def test_what_is_refused(values: dict[str, list[float]], strata: dict[str, str] | None, message: str) -> None:
    with pytest.raises(StatsError, match=message):
        bootstrap(values, strata=strata)


@settings(max_examples=60)
@given(
    st.dictionaries(
        st.integers(0, 30).map("p{}".format), st.lists(st.floats(0, 5), min_size=1, max_size=3), min_size=1
    ),
    st.integers(0, 2**32),
    st.booleans(),
)
def test_ends_lie_within_the_data_and_around_the_estimate(
    values: dict[str, list[float]], seed: int, macro: bool
) -> None:
    strata = {prompt: prompt[-1] for prompt in values}
    found = bootstrap(values, strata=strata, seed=seed, draws=100, macro=macro)
    means = [float(np.mean(takes)) for takes in values.values()]
    assert found.low is not None
    assert found.high is not None
    assert min(means) - 1e-9 <= found.low <= found.high <= max(means) + 1e-9
