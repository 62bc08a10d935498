"""The panel's score, by hand and by what must not change it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.panel import PanelError
from kasauti.panel.consensus import consensus, mean, preferred
from panel_ratings import panel, random_panel

# Medians of a: t1 4, t2 2, t3 5; of b: t1 3, t2 3, t3 1. Sad holds t1 and t2, Angry t3.
CASES = {
    ("t1", "x"): [5, 3],
    ("t1", "y"): [4, 2],
    ("t1", "z"): [1, 5],
    ("t2", "x"): [2, 3],
    ("t2", "y"): [2, 5],
    ("t2", "z"): [3, 1],
    ("t3", "x"): [5, 1],
    ("t3", "y"): [5, 1],
    ("t3", "z"): [1, 4],
}
DELIVERIES = {"t1": "Sad", "t2": "Sad", "t3": "Angry"}


def test_median_then_delivery_then_deliveries() -> None:
    found = consensus(panel(CASES, deliveries=DELIVERIES))
    assert found.by_task.tolist() == [[4, 3], [2, 3], [5, 1]]
    assert found.by_delivery.tolist() == [[3, 3], [5, 1]]
    assert found.overall.tolist() == [4, 2]
    assert found.order == [0, 1]


def test_two_judges_meet_in_the_middle() -> None:
    cases = {key: scores for key, scores in CASES.items() if key[1] != "z"}
    assert consensus(panel(cases)).by_task.tolist() == [[4.5, 2.5], [2, 4], [5, 1]]


def test_tasks_that_a_judge_lacks_do_not_count() -> None:
    cases = {key: scores for key, scores in CASES.items() if key != ("t3", "z")}
    found = consensus(panel(cases, deliveries=DELIVERIES))
    assert found.panel.tasks == ("t1", "t2")
    assert found.overall.tolist() == [3, 3]
    assert found.order == [0, 1], "equals keep the order of the panel"


def test_nothing_in_common() -> None:
    cases = {("t1", "x"): [5, 3], ("t2", "y"): [5, 3]}
    with pytest.raises(PanelError, match=r"no task was judged by every judge \(x 1, y 1 of 2\)"):
        consensus(panel(cases))


def test_preferred_splits_ties() -> None:
    # Cases of a against b: before 5, behind 3 (t1z, t2x, t2y, t3z: 4).
    found = preferred(panel(CASES))
    assert found[0, 1] == 5 / 9
    assert found.tolist()[1] == [4 / 9, 0.5]
    level = preferred(panel({("t", "x"): [3, 3], ("u", "x"): [4, 3]}))
    assert level[0, 1] == 0.75


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.randoms())
def test_the_mean_is_rounded_once_and_has_no_order(values: list[float], random: object) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert mean(values) == mean(shuffled)
    exact = sum((Fraction(value) for value in values), Fraction(0)) / len(values)
    assert abs(Fraction(mean(values)) - exact) <= abs(exact) * Fraction(1, 2**51)


@given(st.integers(0, 10_000))
def test_order_of_tasks_judges_and_systems_does_not_matter(seed: int) -> None:
    found = random_panel(seed, n_tasks=12)
    order = np.random.default_rng(seed).permutation(12)
    mixed = found.at_tasks(order).of_judges(["j2", "j0", "j1"])
    assert consensus(mixed).overall.tolist() == consensus(found).overall.tolist()


@given(st.integers(0, 10_000))
def test_a_score_lies_within_its_scale_and_rates_are_complements(seed: int) -> None:
    found = random_panel(seed, n_tasks=6, missing=0.2)
    if not found.common().tasks:
        return
    scores = consensus(found).overall
    assert ((scores >= 1) & (scores <= 5)).all()
    rates = preferred(found.common())
    assert np.allclose(rates + rates.T, 1)
