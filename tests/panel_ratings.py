"""Panels for tests: from scores written out, or drawn at random with blind labels that go round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kasauti.panel.cases import Panel, Rating, mean_ranks, panel_of

Cases = Mapping[tuple[str, str], Sequence[int]]
"""(task, judge) -> score of each system, in their order."""


def ratings_of(cases: Cases, systems: Sequence[str], deliveries: Mapping[str, str] | None = None) -> list[Rating]:
    """Ratings whose ranks follow from the scores (equal scores are ties) and whose labels go round."""
    tasks = list(dict.fromkeys(task for task, _ in cases))
    judges = list(dict.fromkeys(judge for _, judge in cases))
    ratings = []
    for (task, judge), scores in cases.items():
        ranks = mean_ranks(-np.array(scores, dtype=np.float64)).tolist()
        shift = tasks.index(task) + judges.index(judge)
        for place, system in enumerate(systems):
            label = (place - shift) % len(systems)
            delivery = (deliveries or {}).get(task, "Happy")
            ratings.append(Rating(task, delivery, judge, system, label, scores[place], ranks[place]))
    return ratings


def panel(cases: Cases, systems: Sequence[str] = ("a", "b"), deliveries: Mapping[str, str] | None = None) -> Panel:
    """A panel of cases that are written out."""
    return panel_of(ratings_of(cases, systems, deliveries))


def random_panel(
    seed: int, *, n_tasks: int = 20, n_judges: int = 3, n_systems: int = 5, n_deliveries: int = 2, missing: float = 0.0
) -> Panel:
    """Scores drawn alike for all systems, labels as the rotation deals them, some cases left out."""
    rng = np.random.default_rng(seed)
    cases = {
        (f"t{task}", f"j{judge}"): rng.integers(1, 6, n_systems).tolist()
        for task in range(n_tasks)
        for judge in range(n_judges)
        if rng.random() >= missing
    }
    deliveries = {f"t{task}": f"d{task * n_deliveries // n_tasks}" for task in range(n_tasks)}
    return panel(cases, [f"s{system}" for system in range(n_systems)], deliveries)
