"""Noise floors: the split against its closed form, simulations with known components, what is assumed when."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.errors import StatsError
from kasauti.records import SampleRow
from kasauti.stats.aggregate import aggregate
from kasauti.stats.columns import FloatArray
from kasauti.stats.compare import compare_rows
from kasauti.stats.floors import noise_floors
from kasauti.stats.noise import (
    ASSUMED_CER,
    Z95,
    Floor,
    StoredNoise,
    combined_floor,
    language_floor,
    noise_floor,
    pair_floor95,
)
from kasauti.stats.scores import spread_of
from kasauti.stats.variance import components
from stats_rows import row

SYNTHESIS, JUDGE = 0.03, 0.02
"""Standard deviations in the simulations, of the size that CERs of real systems have."""


def simulate(rng: np.random.Generator, *shape: int, synthesis: float = SYNTHESIS, judge: float = JUDGE) -> FloatArray:
    """Scores of (..., prompts, repeats, rejudges); the prompts differ far more than the takes do."""
    prompts = rng.random((*shape[:-2], 1, 1))
    return np.asarray(prompts + rng.normal(0, synthesis, (*shape[:-1], 1)) + rng.normal(0, judge, shape))


def nested(scores: FloatArray) -> dict[str, Any]:
    return {f"p{i}": prompt.tolist() for i, prompt in enumerate(scores)}


def spread(scores: FloatArray) -> Any:
    """Sums of squares of scores (prompts, repeats, rejudges)."""
    n, repeats, rejudges = scores.shape
    takes = np.arange(n * repeats) * rejudges
    return spread_of(scores.ravel(), np.ones(scores.size), takes, np.arange(n) * repeats)[2]


def test_the_split_is_its_closed_form() -> None:
    scores = simulate(np.random.default_rng(0), 50, 4, 3)
    found = noise_floor(nested(scores))
    judge = scores.var(axis=2, ddof=1).mean()
    takes = scores.mean(axis=2).var(axis=1, ddof=1)
    assert found.kind == "measured"
    assert found.var_judge == pytest.approx(judge)
    assert found.var_synthesis == pytest.approx(takes.mean() - judge / 3)
    assert found.var_mean == pytest.approx(takes.mean() / 4 / 50)
    assert found.floor95 == pytest.approx(1.96 * (2 * takes.mean() / 4 / 50) ** 0.5)
    assert (found.n_prompts, found.repeats, found.rejudges) == (50, 4, 3)
    assert [p.var_takes for p in found.prompts] == pytest.approx(takes.tolist())
    assert [p.var_judge for p in found.prompts] == pytest.approx(scores.var(axis=2, ddof=1).mean(axis=1).tolist())
    runs = scores.mean(axis=(0, 2))
    assert found.largest_pair == pytest.approx(runs.max() - runs.min())


def test_unequal_numbers_by_hand() -> None:
    """Searle's formulas on paper: judge = 0.02/1; between = 2/3 (0.4 - 0.1)^2 = 0.06; n0 = 3 - 5/3 = 4/3."""
    found = noise_floor({"p": [[0.1], [0.3, 0.5]]})
    assert found.var_judge == pytest.approx(0.02)
    assert found.var_synthesis == pytest.approx((0.06 - 0.02) / (4 / 3))
    assert found.var_mean == pytest.approx(0.03 * 5 / 9 + 0.02 / 3)


def test_known_components_come_back() -> None:
    """Over 400 studies of 30 prompts the estimates are unbiased: the mean lies within four of its standard errors."""
    rng = np.random.default_rng(1)
    estimates = np.array(
        [
            (parts.synthesis, parts.judge)
            for parts in (components(spread(scores)) for scores in simulate(rng, 400, 30, 3, 2))
        ]
    )
    standard_error = estimates.std(axis=0) / 20
    assert np.all(np.abs(estimates.mean(axis=0) - (SYNTHESIS**2, JUDGE**2)) < 4 * standard_error)


@pytest.mark.parametrize(("repeats", "rejudges"), [(3, 2), (2, 1), (5, 3)])
def test_two_runs_differ_by_more_than_the_floor_one_time_in_twenty(repeats: int, rejudges: int) -> None:
    """2,000 pairs of runs; the floor is measured on the first of each. Within 3.3 standard errors of 5 %."""
    rng = np.random.default_rng(2)
    n, pairs = 60, 2_000
    prompts = rng.random((pairs, 1, n, 1, 1))
    noise = rng.normal(0, SYNTHESIS, (pairs, 2, n, repeats, 1)) + rng.normal(0, JUDGE, (pairs, 2, n, repeats, rejudges))
    scores = prompts + noise
    means = scores.mean(axis=(2, 3, 4))
    floors = np.array([noise_floor_of(run) for run in scores[:, 0]])
    assert np.mean(np.abs(means[:, 0] - means[:, 1]) > floors) == pytest.approx(0.05, abs=0.016)


def noise_floor_of(scores: FloatArray) -> float:
    """`floor95` of a balanced array, from the components, without naming the prompts."""
    n, repeats, rejudges = scores.shape
    parts = components(spread(scores))
    assert parts.synthesis is not None
    return Z95 * float(np.sqrt(2 * (parts.synthesis + (parts.judge or 0.0) / rejudges) / repeats / n))


def test_a_system_that_does_not_vary_has_a_floor_of_exactly_zero() -> None:
    found = noise_floor({f"p{i}": [[i / 7] * 2] * 3 for i in range(9)})
    assert (found.kind, found.floor95, found.var_synthesis, found.var_judge, found.largest_pair) == (
        "measured",
        0.0,
        0.0,
        0.0,
        0.0,
    )
    rows = [row(f"p{i}", cer=i / 7, repeat=r) for i in range(9) for r in range(3)]
    cells = aggregate(rows, level="strict", metrics=("cer",), draws=10)
    assert {(cell.floor95, cell.floor_kind, cell.var_synthesis) for cell in cells} == {(0.0, "measured", 0.0)}


def test_a_judge_that_does_not_vary_leaves_all_to_the_synthesis() -> None:
    scores = simulate(np.random.default_rng(3), 30, 4, 3, judge=0.0)
    found = noise_floor(nested(scores))
    assert found.var_judge == 0.0
    assert found.var_synthesis == pytest.approx(scores[..., 0].var(axis=1, ddof=1).mean())


def test_the_synthesis_variance_is_never_negative() -> None:
    """Takes that agree better than the judge agrees with itself."""
    found = noise_floor({f"p{i}": [[0.1, 0.3], [0.3, 0.1]] for i in range(5)})
    assert found.var_judge == pytest.approx(0.02)
    assert found.var_synthesis == 0.0


@pytest.mark.parametrize(
    ("n", "assumed", "kind", "floor"),
    [
        (100, ASSUMED_CER, "assumed", 0.006),
        (99, ASSUMED_CER, "none", None),
        (500, ASSUMED_CER, "assumed", 0.006),
        (100, None, "none", None),
    ],
)
def test_one_repeat_is_no_measurement(n: int, assumed: float | None, kind: str, floor: float | None) -> None:
    found = noise_floor({f"p{i}": [0.1] for i in range(n)}, assumed=assumed)
    assert found.kind == kind
    assert found.floor95 == pytest.approx(floor)
    assert (found.var_synthesis, found.var_judge, found.largest_pair, found.at(repeats=3)) == (None,) * 4


def test_a_judge_known_to_be_noisier_than_the_assumption_is_believed() -> None:
    found = noise_floor({f"p{i}": [[0.0, 0.4]] for i in range(100)})
    assert (found.kind, found.var_judge) == ("assumed", pytest.approx(0.08))
    assert found.floor95 == pytest.approx(1.96 * (2 * 0.08 / 2 / 100) ** 0.5)


def test_a_few_repeated_prompts_do_not_speak_for_the_many() -> None:
    values = {f"p{i}": [0.1, 0.2] if i < 4 else [0.1] for i in range(10)}
    assert noise_floor(values).kind == "none"
    values["p4"] = [0.1, 0.3]
    assert noise_floor(values).kind == "measured"


def test_no_prompt_no_floor() -> None:
    found = noise_floor({})
    assert (found.kind, found.floor95, found.n_prompts, found.prompts) == ("none", None, 0, ())


def test_the_floor_at_other_numbers() -> None:
    found = noise_floor(nested(simulate(np.random.default_rng(4), 40, 3, 2)))
    assert found.floor95 is not None
    assert found.var_synthesis is not None
    assert found.var_judge is not None
    assert found.at() == pytest.approx(found.floor95)
    assert found.at(n_prompts=160) == pytest.approx(found.floor95 / 2)
    assert found.at(repeats=1, rejudges=1, n_prompts=1) == pytest.approx(
        1.96 * (2 * (found.var_synthesis + found.var_judge)) ** 0.5
    )


def test_a_floor_splits_into_what_synthesis_and_judge_would_leave_alone() -> None:
    found = noise_floor(nested(simulate(np.random.default_rng(8), 40, 4, 3)))
    assert found.var_synthesis is not None
    assert found.var_judge is not None
    for n, r, k in [(40, 4, 3), (1, 1, 1), (500, 2, 7)]:
        split = found.split(n_prompts=n, repeats=r, rejudges=k)
        assert split is not None
        assert split.synthesis95 == pytest.approx(1.96 * (2 * found.var_synthesis / (n * r)) ** 0.5)
        assert split.judge95 == pytest.approx(1.96 * (2 * found.var_judge / (n * r * k)) ** 0.5)
        assert split.floor95**2 == pytest.approx(split.synthesis95**2 + split.judge95**2)
    assert found.split() == found.split(n_prompts=40, repeats=4, rejudges=3)


def test_one_hearing_a_take_can_not_be_split() -> None:
    found = noise_floor(nested(simulate(np.random.default_rng(9), 40, 4, 1))).split(n_prompts=10)
    assert found is not None
    assert (found.judge95, found.synthesis95) == (None, found.floor95)
    assert noise_floor({"p": [0.1]}).split() is None


def test_floors_over_languages_split_and_scale_by_the_weights_of_the_languages() -> None:
    rng = np.random.default_rng(10)
    floors = [
        noise_floor(nested(simulate(rng, n, 4, 2, synthesis=s, judge=j)))
        for n, s, j in ((60, 0.04, 0.0), (20, 0.01, 0.03))
    ]
    macro = combined_floor(floors, [0.5, 0.5])
    for repeats, rejudges in ((4, 2), (1, 1), (10, 3)):
        here = macro.split(repeats=repeats, rejudges=rejudges)
        assert here is not None
        by_lang = [floor.split(repeats=repeats, rejudges=rejudges) for floor in floors]
        assert here.floor95**2 == pytest.approx(sum(s.floor95**2 for s in by_lang if s) / 4)
        assert here.judge95 is not None
        assert here.judge95**2 == pytest.approx(sum((s.judge95 or 0) ** 2 for s in by_lang if s) / 4)
    single = noise_floor(nested(simulate(rng, 20, 4, 1)))
    mixed = combined_floor([floors[0], single], [0.5, 0.5]).split()
    assert mixed is not None
    assert mixed.judge95 is None


@pytest.mark.parametrize(("n", "repeats", "rejudges"), [(30, 1, 1), (30, 3, 2), (120, 1, 4)])
def test_a_study_foretells_how_far_other_runs_lie_apart(n: int, repeats: int, rejudges: int) -> None:
    """Measured on 100 prompts of 20 takes of 3 hearings; then 4000 pairs of runs of another size, of the same noise."""
    rng = np.random.default_rng(11)
    floor = noise_floor(nested(simulate(rng, 100, 20, 3))).at(n_prompts=n, repeats=repeats, rejudges=rejudges)
    takes = rng.normal(0, SYNTHESIS, (4000, 2, n, repeats)).mean(axis=3)
    takes += rng.normal(0, JUDGE / (repeats * rejudges) ** 0.5, (4000, 2, n))  # a mean of so many hearings
    gaps = np.abs(np.diff(takes.mean(axis=2), axis=1))
    assert 0.04 < np.mean(gaps > floor) < 0.06


def test_floors_combine_by_variance_and_are_no_better_known_than_the_worst() -> None:
    def floor(kind: Any, var_mean: float | None) -> Floor:
        return Floor(kind, 100, 2, 1, 0.1, None, var_mean)

    both = combined_floor([floor("measured", 0.04), floor("measured", 0.01)], [0.5, 0.5])
    assert (both.kind, both.var_mean, both.n_prompts) == ("measured", pytest.approx(0.0125), 200)
    assert pair_floor95(floor("measured", 0.04), floor("measured", 0.05)) == pytest.approx(1.96 * 0.3)
    assert combined_floor([floor("measured", 0.0), floor("assumed", 0.01)], [0.5, 0.5]).kind == "assumed"
    unknown = combined_floor([floor("measured", 0.0), floor("none", None)], [0.5, 0.5])
    assert (unknown.kind, unknown.floor95) == ("none", None)
    assert pair_floor95(floor("none", None), floor("measured", 0.0)) is None


def rows_of(scores: dict[str, FloatArray], system: str = "a") -> list[SampleRow]:
    return [
        row(f"{lang}{p}", system, float(score), lang=lang, repeat=r, rejudge=j, tags="t" if p % 2 else "")
        for lang, array in scores.items()
        for (p, r, j), score in np.ndenumerate(array)
    ]


def test_rows_and_values_agree() -> None:
    rng = np.random.default_rng(5)
    scores = {"hi": simulate(rng, 20, 3, 2), "ta": simulate(rng, 8, 3, 2)}
    floors = noise_floors(rows_of(scores))
    alone = {lang: noise_floor(nested(array)) for lang, array in scores.items()}
    for lang in scores:
        found = floors["a", "j", "lang", lang]
        assert found.floor95 == pytest.approx(alone[lang].floor95)
        assert found.largest_pair == pytest.approx(alone[lang].largest_pair)
        assert [p.prompt for p in found.prompts] == [f"{lang}{i}" for i in range(found.n_prompts)]
        assert [p.var_takes for p in found.prompts] == pytest.approx([p.var_takes for p in alone[lang].prompts])
    macro = combined_floor(list(alone.values()), [0.5, 0.5])
    assert floors["a", "j", "macro", "all"].floor95 == pytest.approx(macro.floor95)
    pooled = combined_floor(list(alone.values()), [20 / 28, 8 / 28])
    assert floors["a", "j", "pooled", "all"].floor95 == pytest.approx(pooled.floor95)
    run_means = np.stack([array.mean(axis=(0, 2)) for array in scores.values()]).mean(axis=0)
    assert floors["a", "j", "macro", "all"].largest_pair == pytest.approx(np.ptp(run_means))
    cells = {(c.scope, c.key): c for c in aggregate(rows_of(scores), level="strict", metrics=("cer",), draws=10)}
    for (_, _, scope, key), found in floors.items():
        cell = cells[scope, key]  # type: ignore[index]
        assert (cell.floor95, cell.floor_kind) == (found.floor95, found.kind)
        assert (cell.var_synthesis, cell.var_judge) == (found.var_synthesis, found.var_judge)


def test_the_assumed_floor_is_of_cer_and_needs_a_hundred_prompts_in_every_language() -> None:
    many = [row(f"hi{i}", cer=0.1, wer=0.1) for i in range(100)]
    found = {(c.scope, c.key, c.metric): c for c in aggregate(many, level="strict", metrics=("cer", "wer"), draws=10)}
    assert (found["lang", "hi", "cer"].floor_kind, found["lang", "hi", "cer"].floor95) == (
        "assumed",
        pytest.approx(0.006),
    )
    assert (found["lang", "hi", "wer"].floor_kind, found["lang", "hi", "wer"].floor95) == ("none", None)
    few = [row(f"ta{i}", lang="ta", cer=0.1) for i in range(99)]
    found = {(c.scope, c.key, c.metric): c for c in aggregate(many + few, level="strict", metrics=("cer",), draws=10)}
    assert found["macro", "all", "cer"].floor_kind == "none"


def known(var_synthesis: float, var_judge: float | None = None, lang: str = "hi", **place: str) -> StoredNoise:
    names = {"system": "a", "judge": "j", "metric": "cer", **place}
    return StoredNoise(**names, lang=lang, var_synthesis=var_synthesis, var_judge=var_judge, source=f"from run {lang}")


def test_a_single_take_has_the_noise_that_an_earlier_run_measured() -> None:
    single = [row(f"hi{i}", cer=0.1 * i) for i in range(8)]
    found = {(c.scope, c.key): c for c in aggregate(single, level="s", metrics=("cer",), stored=[known(0.03, 0.01)])}
    for cell in (found["lang", "hi"], found["macro", "all"]):
        assert (cell.floor_kind, cell.floor_source) == ("stored", "from run hi")
        assert cell.floor95 == pytest.approx(1.96 * (2 * 0.04 / 8) ** 0.5)
        assert cell.var_synthesis is None


@pytest.mark.parametrize("other", [{"system": "b"}, {"judge": "k"}, {"metric": "wer"}, {"lang": "ta"}])
def test_noise_of_something_else_is_not_taken(other: dict[str, str]) -> None:
    single = [row(f"hi{i}") for i in range(8)]
    cells = aggregate(single, level="s", metrics=("cer",), draws=10, stored=[known(0.03, **other)])
    assert {(cell.floor_kind, cell.floor95, cell.floor_source) for cell in cells} == {("none", None, "")}


def test_what_is_measured_here_goes_before_what_was_measured_then_and_that_before_an_assumption() -> None:
    twice = rows_of({"hi": simulate(np.random.default_rng(6), 8, 2, 1)})
    cells = aggregate(twice, level="s", metrics=("cer",), draws=10, stored=[known(9.0)])
    assert {(cell.floor_kind, cell.floor_source) for cell in cells} == {("measured", "")}
    single = [row(f"hi{i}") for i in range(100)]
    cells = aggregate(single, level="s", metrics=("cer",), draws=10, stored=[known(0.0)])
    assert {(cell.floor_kind, cell.floor95) for cell in cells} == {("stored", 0.0)}


def test_over_languages_stored_noise_is_no_better_known_than_the_least_known_language() -> None:
    rows = [row(f"{lang}{i}", lang=lang, cer=0.1) for lang in ("hi", "ta") for i in range(6)]
    both = aggregate(rows, level="s", metrics=("cer",), draws=10, stored=[known(0.06), known(0.03, lang="ta")])
    [macro] = [cell for cell in both if cell.scope == "macro"]
    assert (macro.floor_kind, macro.floor_source) == ("stored", "from run hi, from run ta")
    assert macro.floor95 == pytest.approx(1.96 * (2 * (0.06 + 0.03) / 4 / 6) ** 0.5)
    one = aggregate(rows, level="s", metrics=("cer",), draws=10, stored=[known(0.06)])
    [macro] = [cell for cell in one if cell.scope == "macro"]
    assert (macro.floor_kind, macro.floor95, macro.floor_source) == ("none", None, "")


def test_single_takes_differ_by_more_than_a_stored_floor_one_time_in_twenty() -> None:
    """Measured once with 20 takes of 2 hearings; then 4000 pairs of runs of one take and one hearing."""
    rng, n = np.random.default_rng(7), 100
    measured = noise_floor(nested(simulate(rng, n, 20, 2)))
    assert measured.var_synthesis is not None
    stored = known(measured.var_synthesis, measured.var_judge)
    single = rng.normal(0, SYNTHESIS, (4000, 2, n)) + rng.normal(0, JUDGE, (4000, 2, n))
    gaps = np.abs(np.diff(single.mean(axis=2), axis=1))[:, 0]
    floor = language_floor(spread(single[0, 0].reshape(n, 1, 1)), None, stored)
    assert floor.kind == "stored"
    assert 0.04 < np.mean(gaps > floor.floor95) < 0.06


def test_verdicts_name_the_run_that_a_floor_is_from() -> None:
    rows = [row(f"hi{i}", s, 0.1 + 0.1 * (s == "b"), lang="hi") for s in ("a", "b") for i in range(8)]
    one, both = [known(0.0)], [known(0.0), known(0.0001, system="b")]
    verdicts = [compare_rows(rows, scopes=("lang",), stored=noise)[0].verdict for noise in (one, both)]
    assert [(v.floor_kind, v.floor_source) for v in verdicts] == [("none", ""), ("stored", "from run hi")]
    assert verdicts[1].floor95 == pytest.approx(1.96 * (0.0001 / 8) ** 0.5)
    assert verdicts[1].reason.endswith("(noise floor 0.0069, from run hi)")
    assert verdicts[1].repeats_for(0.1) == 1


def test_failed_takes_are_left_out_of_the_floor() -> None:
    rows = [row(f"p{i}", cer=c, repeat=r) for i in range(4) for r, c in enumerate((0.1, 0.2, None))]
    rows.append(row("p0", cer=0.9, repeat=3))
    floor = noise_floors(rows)["a", "j", "lang", "hi"]
    assert floor.repeats == 9 / 4
    assert floor.largest_pair == pytest.approx(0.1)
    assert [p.repeats for p in floor.prompts] == [3, 2, 2, 2]
    assert [p.var_takes for p in floor.prompts[1:]] == pytest.approx([0.005] * 3)


def test_values_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(StatsError, match="'p2' has no value"):
        noise_floor({"p1": [0.1], "p2": [[]]})


@given(
    st.dictionaries(
        st.integers(0, 9).map("p{}".format),
        st.lists(st.lists(st.floats(0, 3), min_size=1, max_size=3), min_size=1, max_size=4),
        min_size=1,
    )
)
def test_floors_are_finite_and_not_negative(values: dict[str, list[list[float]]]) -> None:
    found = noise_floor(values)
    for number in (found.floor95, found.var_synthesis, found.var_judge, found.largest_pair):
        assert number is None or (np.isfinite(number) and number >= 0)
    assert found.kind == ("measured" if 2 * sum(len(v) > 1 for v in values.values()) >= len(values) else "none")
