"""Leanings of judges, sub-panels and score counts, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from kasauti.panel.intervals import Draws
from kasauti.panel.leanings import leanings, score_counts, subpanels
from panel_ratings import panel, random_panel

DRAWS = Draws(500, 0)
# x likes a: above its case's mean by 1.5 and 1; y and z see it the other way round or level.
CASES = {
    ("t1", "x"): [5, 2],
    ("t1", "y"): [3, 3],
    ("t1", "z"): [2, 4],
    ("t2", "x"): [4, 2],
    ("t2", "y"): [3, 3],
    ("t2", "z"): [2, 4],
}


def test_a_judge_favours_by_what_it_gives_more_than_the_others() -> None:
    found = {(each.judge, each.system): each for each in leanings(panel(CASES), {"x": "a"}, DRAWS)}
    # The others' mean distance is -0.5 on both tasks: 1.5 + 0.5 and 1 + 0.5.
    assert found["x", "a"].score.estimate == 1.75
    assert (found["x", "a"].score.low, found["x", "a"].score.high) == (1.5, 2.0)
    assert found["x", "b"].score.estimate == -1.75
    # Rank 1 against the mean of 1.5 and 2.
    assert found["x", "a"].rank.estimate == 0.75
    assert [key for key, each in found.items() if each.own_family] == [("x", "a")]


def test_leanings_of_a_judge_and_of_a_system_cancel() -> None:
    found = leanings(random_panel(3), {}, DRAWS)
    for name in ("judge", "system"):
        for key in {getattr(each, name) for each in found}:
            scores = [each.score.estimate or 0.0 for each in found if getattr(each, name) == key]
            ranks = [each.rank.estimate or 0.0 for each in found if getattr(each, name) == key]
            assert sum(scores) == pytest.approx(0, abs=1e-12)
            assert sum(ranks) == pytest.approx(0, abs=1e-12)


def test_a_judge_that_is_only_stricter_favours_nobody() -> None:
    cases = {(f"t{t}", j): [4 - k, 3 - k, 2 - k] for t in range(4) for k, j in enumerate("xy")}
    for each in leanings(panel(cases, "abc"), {}, DRAWS):
        assert (each.score.estimate, each.rank.estimate) == (0.0, 0.0)


def test_without_each_judge_and_by_each_alone() -> None:
    found = {part.judges: part for part in subpanels(panel(CASES))}
    assert list(found) == [("x", "y", "z"), ("y", "z"), ("x", "z"), ("x", "y"), ("x",), ("y",), ("z",)]
    assert found["x", "y", "z"].scores == (3.0, 3.0)
    assert found["x", "y", "z"].places == (1.5, 1.5)
    assert found["y", "z"].scores == (2.5, 3.5)
    assert found["x",].places == (1.0, 2.0)
    assert found["z",].places == (2.0, 1.0)


def test_the_same_tasks_whoever_is_left_out() -> None:
    cases = {**CASES, ("t3", "x"): [1, 5], ("t3", "y"): [1, 5]}
    assert {part.judges: part for part in subpanels(panel(cases))}["x",].scores == (4.5, 2.0)


def test_one_and_two_judges() -> None:
    assert [part.judges for part in subpanels(random_panel(0, n_judges=2))] == [("j0", "j1"), ("j0",), ("j1",)]
    assert [part.judges for part in subpanels(random_panel(0, n_judges=1))] == [("j0",)]


def test_counts() -> None:
    counts = score_counts(panel(CASES))
    assert counts[0].tolist() == [[0, 0, 0, 1, 1], [0, 2, 0, 0, 0]]
    assert np.all(counts.sum(axis=2) == 2)
