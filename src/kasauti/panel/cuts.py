"""Clips that end where the model ran out of tokens, and what judges made of them.

A model that speaks a fixed number of tokens a second and may speak at most so many has a longest clip. A clip of
exactly that length was cut, very likely in the middle of a sentence. Judges of expression hear that too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from kasauti.panel.cases import Panel
from kasauti.panel.consensus import consensus, mean

_ROUNDING_S = 1e-6


@dataclass(frozen=True)
class CutEffect:
    """Cut clips of one system in one delivery, against its whole ones.

    Attributes:
        n_cut: Cut clips among the common tasks. `n_whole`: the others.
        cut, whole: Mean consensus score of each; None where there is none.
        others_cut, others_whole: The same for the mean of all other systems on the same tasks: were these tasks hard?
    """

    system: str
    delivery: str
    n_cut: int
    n_whole: int
    cut: float | None
    whole: float | None
    others_cut: float | None
    others_whole: float | None


def at_cap(durations_s: Mapping[str, float], max_tokens: int, tokens_per_s: float) -> list[str]:
    """Tasks whose clip is as long as the cap allows.

    Args:
        durations_s: Task -> length of the clip in seconds.
        max_tokens: What the model may speak at most.
        tokens_per_s: Tokens that make up a second of sound, over all codebooks.
    """
    cap_s = max_tokens / tokens_per_s
    return [task for task, duration_s in durations_s.items() if duration_s >= cap_s - _ROUNDING_S]


def without_cuts(panel: Panel, cut_tasks: Collection[str]) -> Panel:
    """The tasks of which no clip was cut: fewer, and not the same mixture of long and short."""
    return panel.at_tasks(np.array([t for t, task in enumerate(panel.tasks) if task not in cut_tasks], dtype=np.int64))


def cut_effects(panel: Panel, system: str, cut_tasks: Collection[str]) -> list[CutEffect]:
    """Scores of cut and whole clips of one system, delivery by delivery, where any was cut.

    Raises:
        PanelError: no task is common.
    """
    found = consensus(panel)
    own = panel.systems.index(system)
    others = [other for other in range(len(panel.systems)) if other != own]
    is_cut = np.array([task in cut_tasks for task in found.panel.tasks], dtype=np.bool_)
    effects = []
    for delivery, name in enumerate(found.panel.deliveries):
        here = found.panel.delivery_of == delivery
        sides = [np.flatnonzero(here & is_cut), np.flatnonzero(here & ~is_cut)]
        if not sides[0].size:
            continue
        cut, whole = (mean(found.by_task[side, own]) if side.size else None for side in sides)
        others_cut, others_whole = (
            mean(found.by_task[side][:, others].reshape(-1)) if side.size else None for side in sides
        )
        effects.append(CutEffect(system, name, sides[0].size, sides[1].size, cut, whole, others_cut, others_whole))
    return effects
