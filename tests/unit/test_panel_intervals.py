"""Intervals and places, against the general bootstrap and where they must be exact."""

from __future__ import annotations

import pytest

from kasauti.panel.consensus import consensus
from kasauti.panel.intervals import Draws, gaps, standings
from kasauti.stats.bootstrap import paired_differences
from panel_ratings import panel, random_panel

DRAWS = Draws(2_000, 3)


def test_equal_to_the_paired_bootstrap_by_prompt() -> None:
    found = random_panel(4, n_tasks=30, n_deliveries=3)
    scores = consensus(found)
    values = {
        system: {task: [float(scores.by_task[t, s])] for t, task in enumerate(found.tasks)}
        for s, system in enumerate(found.systems)
    }
    strata = {task: found.deliveries[d] for task, d in zip(found.tasks, found.delivery_of.tolist(), strict=True)}
    expected = paired_differences(values, strata=strata, draws=DRAWS.count, seed=DRAWS.seed, macro=True)
    for standing in standings(found, DRAWS):
        other = expected.systems[standing.system]
        assert (standing.score.low, standing.score.high) == pytest.approx((other.low, other.high))
        assert standing.score.estimate == pytest.approx(other.estimate)
    for gap in gaps(found, DRAWS):
        pair = (gap.upper, gap.lower)
        sign = 1 if pair in expected.differences else -1
        other = expected.differences[pair if sign == 1 else pair[::-1]]
        ends = sorted((sign * (other.low or 0.0), sign * (other.high or 0.0)))
        assert [gap.difference.low, gap.difference.high] == pytest.approx(ends)


def test_a_constant_lead_is_separated_and_has_no_width() -> None:
    cases = {(f"t{t}", j): [t % 3 + 3, t % 3 + 2, t % 3 + 1] for t in range(9) for j in "xyz"}
    found = panel(cases, "abc")
    first, second, third = gaps(found, DRAWS)
    assert (first.upper, first.lower, first.difference.low, first.difference.high) == ("a", "b", 1.0, 1.0)
    assert [g.neighbours for g in (first, second, third)] == [True, False, True]
    assert all(g.separated and g.reversed_share == 0 for g in (first, second, third))
    assert [(s.place, s.place_low, s.place_high) for s in standings(found, DRAWS)] == [(p, p, p) for p in (1, 2, 3)]


def test_equal_systems_share_a_place_and_are_not_separated() -> None:
    found = panel({(f"t{t}", "x"): [t % 5 + 1] * 2 for t in range(10)})
    assert [(s.place, s.place_low, s.place_high) for s in standings(found, DRAWS)] == [(1.5, 1.5, 1.5)] * 2
    (gap,) = gaps(found, DRAWS)
    assert (gap.separated, gap.reversed_share, gap.difference.low) == (False, 1.0, 0.0)


def test_an_interval_that_touches_zero_does_not_separate() -> None:
    # One task in three tells them apart: among the draws of three tasks (2/3)^3 = 0.30 have no difference at all.
    found = panel({("t0", "x"): [4, 3], ("t1", "x"): [3, 3], ("t2", "x"): [3, 3]})
    (gap,) = gaps(found, DRAWS)
    assert (gap.difference.low, gap.separated) == (0.0, False)
    assert gap.reversed_share == pytest.approx(8 / 27, abs=0.04)


def test_mean_rank_and_first_places_by_hand() -> None:
    # Task means of ranks of a: 1.5 and 1.25; of first places: 0.5 and 0.75.
    cases = {("t0", "x"): [5, 1], ("t0", "y"): [1, 5], ("t1", "x"): [5, 1], ("t1", "y"): [3, 3]}
    by_system = {s.system: s for s in standings(panel(cases), DRAWS)}
    assert by_system["a"].mean_rank.estimate == 1.375
    assert by_system["a"].win_rate.estimate == 0.625
    assert (by_system["a"].mean_rank.low, by_system["a"].mean_rank.high) == (1.25, 1.5)


def test_same_seed_same_interval_and_another_seed_another() -> None:
    found = random_panel(8)
    assert standings(found, DRAWS) == standings(found, DRAWS)
    assert standings(found, DRAWS) != standings(found, Draws(2_000, 4))


def test_one_task_has_no_spread() -> None:
    (first, _) = standings(panel({("t", "x"): [5, 2]}), DRAWS)
    assert (first.score.low, first.score.high, first.score.n_prompts) == (5.0, 5.0, 1)


def test_intervals_cover_the_truth() -> None:
    """Tasks from a known population: the interval of the difference holds its true mean (0) as often as it says."""
    held = 0
    for seed in range(300):
        (gap,) = gaps(random_panel(seed, n_tasks=40, n_judges=1, n_systems=2, n_deliveries=2), Draws(400, seed))
        assert gap.difference.low is not None
        assert gap.difference.high is not None
        held += gap.difference.low <= 0 <= gap.difference.high
    # 95 % less what 20 tasks a delivery cost a percentile interval; four standard errors of 300 trials are 0.05.
    assert 0.89 <= held / 300 <= 0.99
