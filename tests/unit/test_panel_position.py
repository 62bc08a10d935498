"""Label effects: found again where they were put in, absent where they were not, refused where they can't be known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kasauti.panel import PanelError
from kasauti.panel.cases import Panel
from kasauti.panel.consensus import consensus
from kasauti.panel.intervals import Draws
from kasauti.panel.position import position_adjusted, position_effects
from panel_ratings import random_panel

DRAWS = Draws(400, 1)
EFFECTS = np.array([0.5, -0.25, 0.0, 0.0, -0.25])


def flat(level: Panel, effects: np.ndarray = EFFECTS) -> Panel:
    """The same labels, with scores made of system, delivery and label and of nothing else."""
    systems = np.arange(len(level.systems)) / 2
    scores = 2 + systems + 0.25 * level.delivery_of[:, None, None] + effects[level.labels]
    return replace(level, scores=np.where(level.labels >= 0, scores, np.nan))


def test_effects_are_found_exactly_beside_systems_and_deliveries() -> None:
    found = position_effects(flat(random_panel(0)), flat(random_panel(0)).scores, DRAWS)
    for effect in found:
        assert effect.effects == pytest.approx(EFFECTS, abs=1e-12)
        assert effect.spread == pytest.approx(0.75)
        assert effect.share == pytest.approx(1.0)
        assert effect.p_value == pytest.approx(1 / 401)


def test_also_where_labels_are_not_balanced_and_cases_are_missing() -> None:
    ragged = flat(random_panel(2, n_tasks=23, missing=0.2))
    found = position_effects(ragged, ragged.scores, DRAWS)
    assert [effect.n_cases for effect in found] == ragged.judged.sum(axis=0).tolist()
    assert min(effect.n_cases for effect in found) < 20
    for effect in found:
        assert effect.effects == pytest.approx(EFFECTS, abs=1e-12)
        assert effect.p_value < 0.01


def test_adjusted_scores_have_no_effect_left_and_keep_the_judges_means() -> None:
    found = random_panel(5)
    adjusted = position_adjusted(found)
    for effect in position_effects(adjusted, adjusted.scores, DRAWS):
        assert effect.effects == pytest.approx([0] * 5, abs=1e-12)
        assert effect.share == pytest.approx(0, abs=1e-12)
    # Every system has every label equally often here, so no judge's mean of a system moves.
    assert adjusted.scores.mean(axis=0) == pytest.approx(found.scores.mean(axis=0))
    assert (adjusted.labels == found.labels).all()


def test_adjustment_gives_back_the_table_that_labels_spoilt() -> None:
    plain, spoilt = flat(random_panel(0), 0 * EFFECTS), flat(random_panel(0))
    assert consensus(position_adjusted(spoilt)).overall == pytest.approx(consensus(plain).overall)


def test_no_effect_no_small_p() -> None:
    """Under the null p is uniform: of 400 judges about 20 lie below 0.05."""
    values = []
    for seed in range(100):
        found = random_panel(seed, n_judges=4)
        values += [effect.p_value for effect in position_effects(found, found.scores, Draws(99, seed))]
    # Four standard errors of a share of 0.05 in 400.
    assert np.mean(np.array(values) <= 0.05) == pytest.approx(0.05, abs=0.044)
    assert np.mean(np.array(values) <= 0.5) == pytest.approx(0.5, abs=0.1)


def test_constant_scores_have_no_effect_and_no_evidence() -> None:
    found = replace(random_panel(0), scores=np.full((20, 3, 5), 3.0))
    for effect in position_effects(found, found.scores, DRAWS):
        assert (effect.spread, effect.share, effect.p_value) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize("n_tasks", [1, 2])
def test_one_task_a_delivery_tells_label_and_system_apart_no_more(n_tasks: int) -> None:
    found = random_panel(0, n_tasks=n_tasks, n_deliveries=n_tasks)
    with pytest.raises(PanelError, match=r"judge j0: .* can't be told apart"):
        position_effects(found, found.scores, DRAWS)
    with pytest.raises(PanelError, match="can't be told apart"):
        position_adjusted(found)


def test_a_judge_has_the_same_p_whoever_else_is_on_the_panel() -> None:
    found = random_panel(6)
    alone = found.of_judges(["j1"])
    assert position_effects(found, found.scores, DRAWS)[1] == position_effects(alone, alone.scores, DRAWS)[0]
