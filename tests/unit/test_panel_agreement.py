"""Krippendorff's alpha by hand and by its meaning; `tests/oracle` compares it with another program."""

from __future__ import annotations

import numpy as np
import pytest

from kasauti.panel.agreement import agreement, coincidences, ordinal_alpha, spreads
from kasauti.panel.cases import Panel
from kasauti.panel.intervals import Draws
from panel_ratings import panel, random_panel

DRAWS = Draws(500, 2)


def test_two_judges_and_three_scores_by_hand() -> None:
    # Units (1,1) (2,2) (3,2): coincidences 1-1: 2, 2-2: 2, 2-3 and 3-2: 1 each; margins n = 2, 3, 1.
    # Ordinal distances: 1-2 (2+3-5/2)^2 = 6.25, 1-3 (6-3/2)^2 = 20.25, 2-3 (4-4/2)^2 = 4.
    # Observed 2*4 = 8; expected 2*(2*3*6.25 + 2*1*20.25 + 3*1*4) = 180; alpha = 1 - 5*8/180.
    found = panel({("t", "x"): [1, 2, 3], ("t", "y"): [1, 2, 2]}, "abc")
    assert ordinal_alpha(found) == pytest.approx(1 - 40 / 180)
    table = coincidences(found)[0]
    assert table[:3, :3].tolist() == [[2, 0, 0], [0, 2, 1], [0, 1, 0]]
    assert table.sum() == 6


def test_agreement_is_one_and_reversal_below_zero() -> None:
    same = panel({(f"t{t}", j): [t % 5 + 1, 5 - t % 5] for t in range(10) for j in "xyz"})
    assert ordinal_alpha(same) == 1.0
    reversed_ = panel({(f"t{t}", j): [5, 1] if j == "x" else [1, 5] for t in range(10) for j in "xy"})
    found = ordinal_alpha(reversed_)
    assert found is not None
    assert found < -0.9


def test_chance_gives_about_zero() -> None:
    found = agreement(random_panel(3, n_tasks=300), DRAWS).alpha
    assert found.estimate == pytest.approx(0, abs=0.05)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0 < found.high


def test_a_value_without_company_says_nothing() -> None:
    cases = {("t", "x"): [1, 2, 3], ("t", "y"): [1, 2, 2]}
    alone = panel({**cases, ("u", "x"): [5, 5, 5]}, "abc")
    assert ordinal_alpha(alone) == ordinal_alpha(panel(cases, "abc"))
    assert agreement(alone, DRAWS).n_units == 3


def test_how_far_scores_lie_apart() -> None:
    found = panel({("t", "x"): [1, 2, 3], ("t", "y"): [5, 2, 2], ("u", "x"): [1, 1, 1]}, "abc")
    assert spreads(found).tolist() == [1, 1, 0, 0, 1]


def test_where_it_is_not_defined() -> None:
    constant = panel({("t", "x"): [3, 3], ("t", "y"): [3, 3]})
    assert ordinal_alpha(constant) is None
    assert agreement(constant, DRAWS).alpha.estimate is None
    assert ordinal_alpha(panel({("t", "x"): [3, 4]})) is None


def test_the_interval_has_the_width_of_the_spread_over_tasks() -> None:
    """Against the standard deviation of alpha over fresh panels of the same kind."""

    def correlated(seed: int, n_tasks: int) -> float | None:
        rng = np.random.default_rng(seed)
        cases = {}
        for task in range(n_tasks):
            truth = rng.integers(1, 6, 3)
            for judge in "xy":
                cases[f"t{task}", judge] = np.clip(truth + rng.integers(-1, 2, 3), 1, 5).tolist()
        made.append(panel(cases, "abc"))
        return ordinal_alpha(made[-1])

    made: list[Panel] = []
    spread = np.std([correlated(seed, 40) for seed in range(200)])
    widths = [agreement(found, DRAWS).alpha.se for found in made[:20]]
    # Five standard errors of a standard deviation over 200 draws.
    assert np.mean(widths) == pytest.approx(spread, rel=0.25)
