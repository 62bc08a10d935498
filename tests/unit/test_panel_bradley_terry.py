"""Bradley-Terry: closed forms, strengths found again, the equations of the maximum, no answer where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.panel import PanelError
from kasauti.panel.bradley_terry import bradley_terry, connected, fit
from kasauti.panel.consensus import wins_by_task
from kasauti.panel.intervals import Draws
from panel_ratings import panel, random_panel

DRAWS = Draws(300, 0)


def test_two_systems_have_the_log_odds_between_them() -> None:
    cases = {(f"t{t}", "x"): [5, 1] if t < 6 else [1, 5] for t in range(8)}
    found = bradley_terry(panel(cases), DRAWS)
    assert [each.system for each in found.strengths] == ["a", "b"]
    assert found.strengths[0].strength.estimate == pytest.approx(np.log(3) / 2)
    assert found.strengths[1].strength.estimate == pytest.approx(-np.log(3) / 2)
    assert found.predicted[0, 1] == pytest.approx(0.75)
    assert found.largest_miss == pytest.approx(0, abs=1e-9)


def test_ties_are_half_a_win_to_each() -> None:
    cases = {("t0", "x"): [5, 1], ("t1", "x"): [3, 3], ("t2", "x"): [3, 3], ("t3", "x"): [1, 5], ("t4", "x"): [4, 4]}
    assert bradley_terry(panel(cases), DRAWS).strengths[0].strength.estimate == pytest.approx(0, abs=1e-9)


@given(st.lists(st.floats(-2, 2), min_size=2, max_size=8))
def test_strengths_are_found_again_from_the_shares_they_predict(strengths: list[float]) -> None:
    true = np.array(strengths) - np.mean(strengths)
    shares = 1 / (1 + np.exp(true[None, :] - true[:, None])) * (1 - np.eye(true.size))
    found, _ = fit(100 * shares[None])
    assert found[0] == pytest.approx(true, abs=1e-7)


def test_at_the_maximum_predicted_wins_are_the_wins() -> None:
    found = random_panel(2, n_systems=8)
    wins = wins_by_task(found).sum(axis=0) * (1 - np.eye(8))
    model = bradley_terry(found, DRAWS)
    expected = (model.predicted * (wins + wins.T)).sum(axis=1)
    assert expected == pytest.approx(wins.sum(axis=1), rel=1e-8)
    assert sum(each.strength.estimate or 0.0 for each in model.strengths) == pytest.approx(0, abs=1e-9)


def test_a_system_that_never_loses_has_no_finite_strength() -> None:
    with pytest.raises(PanelError, match="no finite strengths"):
        bradley_terry(panel({(f"t{t}", "x"): [5, 3] for t in range(5)}), DRAWS)


def test_two_groups_that_never_cross() -> None:
    # a and b beat each other, and both always beat c and d, which beat each other.
    cases = {(f"t{t}", "x"): [5, 4, 2, 1] if t % 2 else [4, 5, 1, 2] for t in range(6)}
    with pytest.raises(PanelError, match="no finite strengths"):
        bradley_terry(panel(cases, "abcd"), DRAWS)


def test_a_chain_of_wins_is_enough() -> None:
    ring = np.zeros((1, 4, 4))
    for system in range(4):
        ring[0, system, (system + 1) % 4] = 1
    assert connected(ring).tolist() == [True]
    assert fit(ring)[0][0] == pytest.approx([0] * 4)
    ring[0, 3, 0] = 0
    assert connected(ring).tolist() == [False]


def test_no_interval_where_a_draw_has_no_maximum() -> None:
    # The one task that b wins is missing from (7/8)^8 = 34 % of the draws.
    cases = {(f"t{t}", "x"): [5, 1] if t else [1, 5] for t in range(8)}
    (first, _) = bradley_terry(panel(cases), DRAWS).strengths
    assert first.strength.estimate == pytest.approx(np.log(7) / 2)
    assert (first.strength.low, first.strength.high) == (None, None)
