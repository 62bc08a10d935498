"""The panel's score: median over judges per task, mean per delivery, mean over deliveries.

All of it is over common tasks. Means are correctly rounded (`math.fsum`), so a number does not depend on the order of
its parts. A delivery weighs as much as another, however many tasks it has.

Source: ira-rumik/IndicEmo 1.0.0, aggregation `per_prompt_judge_median_then_delivery_macro_average`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kasauti.panel import PanelError
from kasauti.panel.cases import Panel
from kasauti.stats.columns import FloatArray


@dataclass(frozen=True)
class Consensus:
    """What a panel came to.

    Attributes:
        panel: The common tasks that it rests on.
        by_task: Median over judges; shape (tasks, systems).
        by_delivery: Mean over the tasks of a delivery; shape (deliveries, systems).
        overall: Mean over deliveries; shape (systems,).
    """

    panel: Panel
    by_task: FloatArray
    by_delivery: FloatArray
    overall: FloatArray

    @property
    def order(self) -> list[int]:
        """Systems, best first; equals in the order of the panel."""
        return sorted(range(len(self.panel.systems)), key=lambda system: -self.overall[system])


def mean(values: Sequence[float] | FloatArray) -> float:
    """Correctly rounded mean of one or more values."""
    return math.fsum(values) / len(values)


def consensus(panel: Panel) -> Consensus:
    """Scores of a panel over its common tasks.

    Raises:
        PanelError: no task has been judged by every judge.
    """
    common = compared(panel)
    by_task = np.asarray(np.median(common.scores, axis=1), dtype=np.float64)
    by_delivery = delivery_means(common, by_task)
    return Consensus(common, by_task, by_delivery, column_means(by_delivery))


def compared(panel: Panel) -> Panel:
    """The common tasks of a panel.

    Raises:
        PanelError: there is none.
    """
    common = panel.common()
    if not common.tasks:
        counts = ", ".join(f"{j} {n}" for j, n in zip(panel.judges, panel.judged.sum(axis=0).tolist(), strict=True))
        raise PanelError(
            f"no task was judged by every judge ({counts} of {len(panel.tasks)}); there is nothing to compare"
        )
    return common


def judge_means(values: FloatArray) -> FloatArray:
    """Mean over judges of each task; shape (tasks, judges, systems) to (tasks, systems)."""
    return np.stack([column_means(task) for task in values])


def delivery_means(panel: Panel, by_task: FloatArray) -> FloatArray:
    """Mean over the tasks of each delivery; shape (tasks, systems) to (deliveries, systems)."""
    return np.stack([column_means(by_task[panel.delivery_of == d]) for d in range(len(panel.deliveries))])


def column_means(values: FloatArray) -> FloatArray:
    """Mean over the first axis of a matrix."""
    return np.array([mean(column) for column in values.T])


def pooled_by_judge(panel: Panel, values: FloatArray) -> FloatArray:
    """Mean over all tasks alike, judge by judge; shape (tasks, judges, systems) to (judges, systems)."""
    return np.stack([column_means(values[:, judge]) for judge in range(len(panel.judges))])


def preferred(panel: Panel) -> FloatArray:
    """Share of all cases in which a system stands before another, a shared place counted half to each.

    Returns:
        Shape (systems, systems), row against column; 0.5 on the diagonal.
    """
    return np.asarray(wins_by_task(panel).sum(axis=0) / (len(panel.tasks) * len(panel.judges)), dtype=np.float64)


def wins_by_task(panel: Panel) -> FloatArray:
    """How many judges put a system before another, task by task; shape (tasks, systems, systems)."""
    ranks = panel.ranks
    before = ranks[..., :, None] < ranks[..., None, :]
    level = ranks[..., :, None] == ranks[..., None, :]
    return np.asarray((before + 0.5 * level).sum(axis=1), dtype=np.float64)
