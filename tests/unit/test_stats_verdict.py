"""Verdicts: the order of the rules, what they say about small n, and how often they are wrong in simulation."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.records import SampleRow, Status
from kasauti.stats.bootstrap import bootstrap
from kasauti.stats.columns import FloatArray
from kasauti.stats.compare import compare, compare_rows
from kasauti.stats.difference import Difference, differences, t_975
from kasauti.stats.noise import Floor
from kasauti.stats.pairs import Rules
from kasauti.stats.resample import strata_of
from kasauti.stats.verdict import Side, Verdict, verdict_of
from stats_rows import CASES, row

RULES = Rules(draws=500)


def floor(kind: Any = "measured", var_mean: float | None = 1e-6, repeats: float = 2) -> Floor:
    return Floor(kind, 100, repeats, 1, None, None, var_mean)


def side(name: str = "a", n_ok: int = 100, mean: float = 0.1, **given: Any) -> Side:
    return Side(name, n_ok, 100, mean, given.pop("floor", floor()), given.pop("signature", {"judge": "w@1"}))


def difference(estimate: float = -0.05, half: float = 0.02, n: int = 100) -> Difference:
    return Difference(estimate, half, half / 1.96, n)


BETTER = difference()


@pytest.mark.parametrize(
    ("a", "b", "found", "human", "expected", "reason"),
    [
        (side(), side("b"), BETTER, None, "better", "-0.0500, interval -0.0700 to -0.0300"),
        (side(), side("b"), difference(0.05), None, "worse", r"\+0.0500"),
        (side(), side("b"), difference(0.01), None, "within_noise", r"interval -0.0100 to \+0.0300 covers 0"),
        (side(), side("b", floor=floor(var_mean=1e-3)), BETTER, None, "within_noise", "not above the noise"),
        (
            side(),
            side("b", floor=floor("none", None)),
            difference(0.01),
            None,
            "within_noise",
            "no noise floor is known",
        ),
        (side(floor=floor("assumed")), side("b"), BETTER, None, "better", "assumed"),
        (side(), side("b"), difference(-0.5, 0.1, n=5), None, "within_noise", "5 prompts in common"),
        (side(mean=0.03), side("b", mean=0.05), BETTER, 0.05, "judge_limited", "0.0500"),
        (side(mean=0.03), side("b", mean=0.06), BETTER, 0.05, "better", ""),
        (side(mean=0.03, n_ok=94), side("b", mean=0.05), BETTER, 0.05, "insufficient", "a: 94/100 scored"),
        (side(), side("b"), None, None, "insufficient", "no scored prompt in common"),
        (
            side(n_ok=0, signature={"judge": "w@1", "level": "strict"}),
            side("b", signature={"judge": "w@2"}),
            None,
            0.5,
            "not_comparable",
            r"judge differs \(a: w@1, b: w@2\); level differs \(a: strict, b: None\)",
        ),
    ],
)
def test_the_first_rule_that_applies(
    a: Side, b: Side, found: Difference | None, human: float | None, expected: str, reason: str
) -> None:
    verdict = verdict_of(a, b, found, human=human)
    assert verdict.verdict == expected
    assert re.search(reason, verdict.reason)


def test_marks_are_better_the_higher_they_are() -> None:
    assert verdict_of(side(), side("b"), BETTER, higher_is_better=True).verdict == "worse"
    limited = verdict_of(side(mean=4.8), side("b", mean=4.9), BETTER, human=4.8, higher_is_better=True)
    assert limited.verdict == "judge_limited"


def test_a_gap_exactly_at_the_floor_is_noise() -> None:
    noisy = floor(var_mean=(0.05 / 1.96) ** 2 / 2)
    assert verdict_of(side(floor=noisy), side("b", floor=noisy), difference(-0.05, 0.01)).verdict == "within_noise"


def test_the_smallest_difference_that_could_have_been_told() -> None:
    assert verdict_of(side(), side("b"), difference(half=0.02)).smallest == pytest.approx(0.02)
    wide = verdict_of(side(), side("b", floor=floor(var_mean=1e-3)), BETTER)
    assert wide.floor95 is not None
    assert wide.smallest == wide.floor95 > 0.02
    assert verdict_of(side(), side("b"), difference(n=5)).smallest is None
    assert verdict_of(side(), side("b"), None).smallest is None


def scores(rng: np.random.Generator, hard: FloatArray, noise: float, repeats: int, shift: float = 0.0) -> FloatArray:
    """Skewed error rates, a fifth of them 0, of takes of prompts as hard as `hard` says; shape (prompts, repeats)."""
    drawn = hard[:, None] * rng.gamma(1 / noise**2, noise**2, (hard.size, repeats)) + shift
    return np.where(rng.random(drawn.shape) < 0.2, 0.0, drawn)


def by_prompt(array: FloatArray) -> dict[str, list[float]]:
    return {f"p{i}": takes for i, takes in enumerate(array.tolist())}


@pytest.mark.parametrize(("n", "repeats", "langs"), [(6, 2, 2), (10, 1, 1), (30, 3, 1), (50, 1, 10), (100, 1, 1)])
def test_a_placebo_is_within_noise_in_95_of_100_runs(n: int, repeats: int, langs: int) -> None:
    """One system against itself on prompts drawn anew, 600 times; less two standard errors of such a simulation."""
    rng = np.random.default_rng(n + repeats)
    strata = {f"p{i}": f"l{i % langs}" for i in range(n)}
    found: Counter[str] = Counter()
    for _ in range(600):
        hard = rng.beta(1, 8, n)
        twice = {name: by_prompt(scores(rng, hard, 0.5, repeats)) for name in "ab"}
        found[compare(twice, strata=strata, rules=RULES)["a", "b"].verdict] += 1
    assert found["within_noise"] / 600 >= 0.95 - 2 * (0.95 * 0.05 / 600) ** 0.5
    assert found.keys() <= {"within_noise", "better", "worse"}


def test_intervals_cover_the_truth_93_to_97_times_in_100() -> None:
    """1,000 studies of 100 prompts: the plain interval of a mean, and that of a difference."""
    rng = np.random.default_rng(3)
    a, b = rng.beta(1, 8, (100, 1_000)), rng.beta(2, 8, (100, 1_000))
    plain = [bootstrap(by_prompt(column[:, None]), draws=1_000, seed=i) for i, column in enumerate(a.T)]
    assert (
        0.93 <= np.mean([i.low <= 1 / 9 <= i.high for i in plain if i.low is not None and i.high is not None]) <= 0.97
    )
    one_stratum = strata_of(np.zeros(100, dtype=np.int64), [""], macro=False)
    pairs = differences(a - b, one_stratum, draws=2_000, seed=1)
    assert 0.93 <= np.mean([d.low <= 1 / 9 - 0.2 <= d.high for d in pairs]) <= 0.97


def test_what_is_planned_for_is_told_four_times_in_five() -> None:
    """A pilot says how many prompts tell a difference of 0.03; 400 runs of that size then tell it 80 % of the time."""
    rng = np.random.default_rng(7)
    hard = rng.beta(2, 8, 200)
    pilot = compare({name: by_prompt(scores(rng, hard, 0.3, 2)) for name in "ab"}, rules=RULES)["a", "b"]
    n = pilot.prompts_for(0.03)
    assert n is not None
    told = 0
    for _ in range(400):
        hard = rng.beta(2, 8, n)
        pair = {"a": by_prompt(scores(rng, hard, 0.3, 2)), "b": by_prompt(scores(rng, hard, 0.3, 2) + 0.03)}
        told += compare(pair, rules=RULES)["a", "b"].verdict == "better"
    assert told / 400 == pytest.approx(0.8, abs=0.08)


def verdict(se: float, noise: float | None, **given: Any) -> Verdict:
    kind = given.pop("kind", "measured" if noise is not None else "none")
    found = Difference(0.0, 1.96 * se, se, given.pop("n", 100))
    return Verdict("a", "b", "within_noise", "", found, given.pop("floor", None), kind, noise, given.pop("repeats", 2))


def test_plans_by_hand() -> None:
    assert verdict(0.01, None).prompts_for(0.028016) == 100
    assert verdict(0.01, None).prompts_for(0.014008) == 400
    assert verdict(0.01, None, kind="assumed", floor=0.006).prompts_for(0.006) is None
    assert verdict(0.001, None, kind="assumed", floor=0.006).prompts_for(0.0061) == pytest.approx(7084, abs=2)
    assert verdict(0.01, None, n=5).prompts_for(0.5) is None
    assert verdict(0.01, None).repeats_for(0.03) is None
    # All of the variance is noise: half the difference takes four times the repeats.
    assert verdict(0.01, 1e-4).repeats_for(0.028016) == 2
    assert verdict(0.01, 1e-4).repeats_for(0.014008) == 8
    # Half of it is the prompts' own: at 0.0198 and below no number of repeats helps.
    assert verdict(0.01, 0.5e-4).repeats_for(0.0198) is None
    assert verdict(0.01, 0.5e-4).repeats_for(0.028016) == 2
    assert verdict(0.0, 0.0).repeats_for(0.01) == 1


def test_failures_are_shown_and_decide() -> None:
    case = CASES["stats-06"]
    rows = [row(prompt, system, cer) for system, cers in case["cer"].items() for prompt, cer in cers.items()]
    found = compare_rows(rows, scopes=("lang",))[0].verdict
    expected = case["expected"]
    assert (found.verdict, found.reason) == ("insufficient", "system_a: 2/4 scored")
    assert found.difference is not None
    means = expected["mean_on_common"]
    assert found.difference.estimate == pytest.approx(means["system_a"] - means["system_b"])
    assert found.difference.n_prompts == len(expected["common_prompts"])


def study() -> list[SampleRow]:
    """Human, two good systems and a poor one in `hi`; all but one of them in `ta`."""
    rng = np.random.default_rng(9)
    level = {"human": 0.05, "good": 0.03, "fine": 0.031, "poor": 0.3}
    return [
        row(f"{lang}{i}", name, base + float(rng.normal(0, 0.005)), lang=lang, repeat=r)
        for lang in ("hi", "ta")
        for i in range(20)
        for name, base in level.items()
        for r in range(2)
        if (lang, name) != ("ta", "fine")
    ]


def test_rows_give_verdicts_by_language_and_over_them() -> None:
    rows = compare_rows(study(), humans=["human"], rules=RULES)
    found = {(v.scope, v.key, v.verdict.a, v.verdict.b): v.verdict for v in rows}
    assert found["lang", "hi", "good", "fine"].verdict == "judge_limited"
    assert found["lang", "hi", "good", "poor"].verdict == "better"
    assert found["macro", "all", "good", "poor"].verdict == "better"
    assert found["macro", "all", "good", "fine"].difference is not None
    assert found["macro", "all", "good", "fine"].difference.n_prompts == 20
    assert ("lang", "ta", "good", "fine") not in found
    assert len(found) == 3 + 1 + 3  # people do not compete
    poor = compare_rows(study(), scopes=("macro",), pairs=[("poor", "good")], rules=RULES)
    assert [v.verdict.verdict for v in poor] == ["worse"]
    assert poor[0].verdict.floor_kind == "measured"


def test_without_a_human_two_good_systems_are_within_noise() -> None:
    rows = [r for r in study() if r.system != "human" and r.lang == "hi"]
    found = compare_rows(rows, scopes=("lang",), pairs=[("good", "fine")], rules=RULES)[0].verdict
    assert found.verdict == "within_noise"


def test_unequal_judges_and_signatures_are_refused_by_name() -> None:
    rows = [row(f"p{i}", "a", 0.1) for i in range(9)] + [row(f"p{i}", "b", 0.2, judge_revision="2") for i in range(9)]
    found = compare_rows(rows, scopes=("lang",), rules=RULES)[0].verdict
    assert (found.verdict, found.reason) == ("not_comparable", "judge revision differs (a: 1, b: 2)")
    same = [row(f"p{i}", s, 0.1) for i in range(9) for s in "ab"]
    signed = compare_rows(same, scopes=("lang",), signatures={"a": {"level": "raw"}, "b": {"level": "strict"}})
    assert signed[0].verdict.reason == "level differs (a: raw, b: strict)"


def test_an_unsupported_language_is_no_failure() -> None:
    rows = [row(f"hi{i}", s, 0.1) for i in range(9) for s in "ab"]
    rows += [row(f"ta{i}", "a", 0.1, lang="ta") for i in range(9)]
    rows += [row(f"ta{i}", "b", None, lang="ta", status=Status.UNSUPPORTED_LANGUAGE) for i in range(9)]
    found = {(v.scope, v.key): v.verdict.verdict for v in compare_rows(rows, rules=RULES)}
    assert found == {("lang", "hi"): "within_noise", ("macro", "all"): "within_noise"}


def test_verdicts_do_not_depend_on_which_pairs_are_asked_for() -> None:
    rows = [r for r in study() if r.lang == "hi"]
    every = {(v.verdict.a, v.verdict.b): v.verdict for v in compare_rows(rows, scopes=("macro",), rules=RULES)}
    for pair, found in every.items():
        assert compare_rows(rows, scopes=("macro",), pairs=[pair], rules=RULES)[0].verdict == found


@given(st.lists(st.tuples(st.floats(0, 2), st.floats(0, 2)), min_size=1, max_size=20))
def test_turning_a_pair_round_turns_the_verdict(values: list[tuple[float, float]]) -> None:
    one = {name: {f"p{i}": [pair[k]] for i, pair in enumerate(values)} for k, name in enumerate("ab")}
    two = {name: one[name] for name in "ba"}
    found, turned = compare(one, rules=RULES)["a", "b"], compare(two, rules=RULES)["b", "a"]
    opposite = {"better": "worse", "worse": "better"}
    assert turned.verdict == opposite.get(found.verdict, found.verdict)
    assert found.difference is not None
    assert turned.difference is not None
    assert turned.difference.low == pytest.approx(-found.difference.high, abs=1e-9)


@pytest.mark.parametrize(
    ("freedom", "expected", "within"), [(2, 4.3027, 0.013), (4, 2.7764, 0.001), (9, 2.2622, 1e-4), (99, 1.9842, 1e-4)]
)
def test_quantile_of_t(freedom: float, expected: float, within: float) -> None:
    """Expected: the printed table of Abramowitz and Stegun, 26.10."""
    assert t_975(freedom) == pytest.approx(expected, rel=within)
