"""Cases of a panel: whole or not there, and every contradiction refused by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.panel import PanelError
from kasauti.panel.cases import Rating, credits_of, mean_ranks, panel_of
from panel_ratings import panel, random_panel, ratings_of

CASES = {("t1", "x"): [5, 3], ("t1", "y"): [4, 4], ("t2", "x"): [1, 2]}


def test_arrays_have_tasks_judges_and_systems_in_order_of_appearance() -> None:
    found = panel(CASES)
    assert (found.systems, found.judges, found.tasks) == (("a", "b"), ("x", "y"), ("t1", "t2"))
    assert found.scores[0].tolist() == [[5, 3], [4, 4]]
    assert found.ranks[0].tolist() == [[1, 2], [1.5, 1.5]]
    assert np.isnan(found.scores[1, 1]).all()
    assert found.judged.tolist() == [[True, True], [True, False]]


def test_common_are_tasks_of_all_judges() -> None:
    assert panel(CASES).common().tasks == ("t1",)
    assert panel(CASES).of_judges(["x"]).common().tasks == ("t1", "t2")


def test_a_delivery_without_tasks_is_left_out() -> None:
    found = panel(CASES, deliveries={"t1": "Sad", "t2": "Happy"})
    assert found.deliveries == ("Sad", "Happy")
    only = found.of_deliveries(["Happy", "Angry"])
    assert (only.deliveries, only.tasks, only.delivery_of.tolist()) == (("Happy",), ("t2",), [0])


def test_order_can_be_given() -> None:
    found = panel_of(ratings_of(CASES, "ab"), systems=("b", "a"), judges=("y", "x"), deliveries=("Sad", "Happy"))
    assert found.scores[0].tolist() == [[4, 4], [3, 5]]
    assert found.deliveries[found.delivery_of[0]] == "Happy"


def changed(**changes: object) -> list[Rating]:
    first, *others = ratings_of(CASES, "ab")
    return [replace(first, **changes), *others]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ratings", "message"),
    [
        (ratings_of(CASES, "ab")[1:], "t1 × x: no rating of a"),
        (ratings_of(CASES, "ab") * 2, "t1 × x × a: judged twice"),
        (changed(label=1), r"t1 × x: labels \[1, 1\]"),
        (changed(label=2), r"t1 × x: labels \[2, 1\]"),
        (changed(score=6), r"t1 × x: scores \[6, 3\]"),
        (changed(score=0, rank=2.0), r"t1 × x: scores \[0, 3\]"),
        (changed(score=2), "t1 × x: a has score 2 at rank 1, but b has 3 at rank 2"),
        (changed(rank=2.0), r"t1 × x: ranks \[2.0, 2.0\] are no ranking"),
        (changed(rank=0.0), r"t1 × x: ranks \[0.0, 2.0\] are no ranking"),
        (changed(rank=float("nan")), "t1 × x: ranks .* are no ranking"),
        (changed(delivery="Sad"), "t1 × x × b: delivery Happy, but other ratings of it have Sad"),
        (ratings_of({("t", "x"): [3]}, "a"), "1 systems"),
        (ratings_of({("t", "x"): [3] * 9}, "abcdefghi"), "9 systems"),
        ([], "0 systems"),
    ],
)
def test_what_is_refused(ratings: list[Rating], message: str) -> None:
    with pytest.raises(PanelError, match=message):
        panel_of(ratings)


def test_equal_ranks_need_equal_scores() -> None:
    ratings = [replace(r, rank=1.5) for r in ratings_of({("t", "x"): [5, 3]}, "ab")]
    with pytest.raises(PanelError, match=r"b has score 3 at rank 1\.5, but a has 5"):
        panel_of(ratings)


@pytest.mark.parametrize("kind", ["systems", "judges", "deliveries"])
def test_unknown_names(kind: str) -> None:
    with pytest.raises(PanelError, match="unknown"):
        panel_of(ratings_of(CASES, "ab"), **{kind: ("z",)})  # type: ignore[arg-type]


@pytest.mark.parametrize("n_systems", range(2, 9))
@pytest.mark.parametrize("n_judges", [1, 2, 4])
def test_any_number_of_systems_and_judges(n_systems: int, n_judges: int) -> None:
    found = random_panel(1, n_tasks=8, n_systems=n_systems, n_judges=n_judges)
    assert found.scores.shape == (8, n_judges, n_systems)


@pytest.mark.parametrize(
    ("values", "ranks"),
    [
        # The four patterns of the published protocol: sole, 4.5 twice, 4 three times, 3.5 four times.
        ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5]),
        ([1, 2, 3, 9, 9], [1, 2, 3, 4.5, 4.5]),
        ([1, 2, 9, 9, 9], [1, 2, 4, 4, 4]),
        ([1, 9, 9, 9, 9], [1, 3.5, 3.5, 3.5, 3.5]),
        ([7, 7], [1.5, 1.5]),
    ],
)
def test_equals_share_the_mean_of_their_places(values: list[float], ranks: list[float]) -> None:
    assert mean_ranks(np.array(values, dtype=np.float64)).tolist() == ranks


def test_credit_is_one_unit_split_among_the_first() -> None:
    # tests/cases has the same for scores 5, 5, 3 (judge-26 of the gathered reports): 0.5, 0.5, 0.
    assert credits_of(mean_ranks(-np.array([5.0, 5.0, 3.0]))).tolist() == [0.5, 0.5, 0.0]
    assert np.isnan(credits_of(np.array([np.nan, np.nan]))).all()


@given(st.lists(st.integers(1, 5), min_size=2, max_size=8))
def test_ranks_and_credits_add_up(scores: list[int]) -> None:
    ranks = mean_ranks(-np.array(scores, dtype=np.float64))
    n = len(scores)
    assert ranks.sum() == n * (n + 1) / 2
    assert credits_of(ranks).sum() == pytest.approx(1)
    assert all((ranks[i] < ranks[j]) == (scores[i] > scores[j]) for i in range(n) for j in range(n))
