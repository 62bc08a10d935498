"""Judgments of a panel as arrays: tasks by judges by systems.

A *task* is something to be spoken in a requested *delivery* (Happy, Sad, …). A *case* is one judge's answer on one
task: every system's clip under a blind label, with a score and a rank. A case is whole or it is not there; tasks that
every judge has judged are *common*, and only they are compared.

Labels are numbers from 0 (A). Rank 1 is best, equals share the mean of their places. Not for judges that hear one clip
at a time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from kasauti.panel import PanelError
from kasauti.stats.columns import BoolArray, FloatArray, IntArray

MIN_SYSTEMS, MAX_SYSTEMS = 2, 8

SCALE = (1, 2, 3, 4, 5)
"""Scores that a judge may give, worst first."""


@dataclass(frozen=True)
class Rating:
    """One line of a case: what one judge gave one system on one task."""

    task: str
    delivery: str
    judge: str
    system: str
    label: int
    score: int
    rank: float


@dataclass(frozen=True)
class Panel:
    """All cases of a panel.

    Attributes:
        systems, judges, deliveries, tasks: Names, in the order that tables show them in.
        delivery_of: Delivery of each task, an index into `deliveries`; shape (tasks,).
        labels: Label of each system's clip, −1 where there is no case; shape (tasks, judges, systems), as are
        scores, ranks: NaN where there is no case.
    """

    systems: tuple[str, ...]
    judges: tuple[str, ...]
    deliveries: tuple[str, ...]
    tasks: tuple[str, ...]
    delivery_of: IntArray
    labels: IntArray
    scores: FloatArray
    ranks: FloatArray

    @property
    def judged(self) -> BoolArray:
        """Whether there is a case; shape (tasks, judges)."""
        return self.labels[:, :, 0] >= 0

    @property
    def wins(self) -> FloatArray:
        """Share of each case's first place: 1 for a sole best, split among equals; NaN where there is no case."""
        return credits_of(self.ranks)

    def common(self) -> Self:
        """The tasks that every judge has judged."""
        return self.at_tasks(np.flatnonzero(self.judged.all(axis=1)))

    def at_tasks(self, chosen: IntArray) -> Self:
        """Some of the tasks, by index; deliveries without a task are left out."""
        present = np.unique(self.delivery_of[chosen])
        return type(self)(
            systems=self.systems,
            judges=self.judges,
            deliveries=tuple(self.deliveries[d] for d in present.tolist()),
            tasks=tuple(self.tasks[t] for t in chosen.tolist()),
            delivery_of=np.searchsorted(present, self.delivery_of[chosen]).astype(np.int64),
            labels=self.labels[chosen],
            scores=self.scores[chosen],
            ranks=self.ranks[chosen],
        )

    def of_deliveries(self, names: Sequence[str]) -> Self:
        """The tasks of some deliveries; a delivery that has none is left out."""
        wanted = [place for place, name in enumerate(self.deliveries) if name in names]
        return self.at_tasks(np.flatnonzero(np.isin(self.delivery_of, wanted)))

    def of_judges(self, names: Sequence[str]) -> Self:
        """Some of the judges, all tasks."""
        chosen = [self.judges.index(name) for name in names]
        return type(self)(
            systems=self.systems,
            judges=tuple(names),
            deliveries=self.deliveries,
            tasks=self.tasks,
            delivery_of=self.delivery_of,
            labels=self.labels[:, chosen],
            scores=self.scores[:, chosen],
            ranks=self.ranks[:, chosen],
        )


def panel_of(
    ratings: Iterable[Rating],
    *,
    systems: Sequence[str] | None = None,
    judges: Sequence[str] | None = None,
    deliveries: Sequence[str] | None = None,
) -> Panel:
    """Puts ratings into arrays and checks every case.

    Args:
        ratings: In any order; tasks keep the order of their first rating.
        systems, judges, deliveries: Order in tables; default is first appearance.

    Raises:
        PanelError: a case lacks a system or has one twice, is no ranking, or contradicts its own scores; a task has two
            deliveries; a name is unknown; there are too few or too many systems.
    """
    cases, delivery_by_task = _cases_of(ratings)
    every = [rating for case in cases.values() for rating in case.values()]
    names = _order("system", (rating.system for rating in every), systems)
    if not MIN_SYSTEMS <= len(names) <= MAX_SYSTEMS:
        raise PanelError(f"{len(names)} systems in the ratings; a panel compares {MIN_SYSTEMS} to {MAX_SYSTEMS}")
    judge_names = _order("judge", (rating.judge for rating in every), judges)
    delivery_names = _order("delivery", delivery_by_task.values(), deliveries)
    tasks = tuple(delivery_by_task)
    shape = (len(tasks), len(judge_names), len(names))
    labels = np.full(shape, -1, dtype=np.int64)
    scores, ranks = np.full(shape, np.nan), np.full(shape, np.nan)
    task_index = {task: place for place, task in enumerate(tasks)}
    for (task, judge), case in cases.items():
        at = (task_index[task], judge_names.index(judge))
        labels[at], scores[at], ranks[at] = _checked_case(f"{task} × {judge}", case, names)
    delivery_of = np.array([delivery_names.index(name) for name in delivery_by_task.values()], dtype=np.int64)
    return Panel(names, judge_names, delivery_names, tasks, delivery_of, labels, scores, ranks)


def mean_ranks(values: FloatArray) -> FloatArray:
    """Ranks along the last axis, the smallest value first; equals share the mean of their places."""
    smaller = (values[..., None, :] < values[..., :, None]).sum(axis=-1)
    equal = (values[..., None, :] == values[..., :, None]).sum(axis=-1)
    return np.asarray(smaller + (equal + 1) / 2, dtype=np.float64)


def credits_of(ranks: FloatArray) -> FloatArray:
    """Win credit from ranks along the last axis: one unit a case, split among those that share the best rank."""
    best = ranks == ranks.min(axis=-1, keepdims=True)
    shares = best / np.maximum(best.sum(axis=-1, keepdims=True), 1)
    return np.asarray(np.where(np.isnan(ranks), np.nan, shares), dtype=np.float64)


def _cases_of(ratings: Iterable[Rating]) -> tuple[dict[tuple[str, str], dict[str, Rating]], dict[str, str]]:
    """(task, judge) -> system -> rating, and the delivery of each task."""
    cases: dict[tuple[str, str], dict[str, Rating]] = defaultdict(dict)
    delivery_by_task: dict[str, str] = {}
    for rating in ratings:
        case = cases[rating.task, rating.judge]
        if rating.system in case:
            raise PanelError(f"{_name(rating)}: judged twice; one rating per task, judge and system is wanted")
        if delivery_by_task.setdefault(rating.task, rating.delivery) != rating.delivery:
            other = delivery_by_task[rating.task]
            raise PanelError(f"{_name(rating)}: delivery {rating.delivery}, but other ratings of it have {other}")
        case[rating.system] = rating
    return cases, delivery_by_task


def _checked_case(
    where: str, case: dict[str, Rating], systems: Sequence[str]
) -> tuple[list[int], list[int], list[float]]:
    """Labels, scores and ranks of one case in the order of the systems."""
    missing = [name for name in systems if name not in case]
    if missing:
        raise PanelError(f"{where}: no rating of {', '.join(missing)}; a case holds every system or is left out whole")
    rows = [case[name] for name in systems]
    labels, scores, ranks = [r.label for r in rows], [r.score for r in rows], [r.rank for r in rows]
    if sorted(labels) != list(range(len(systems))):
        raise PanelError(f"{where}: labels {labels}; wanted each of 0 to {len(systems) - 1} once")
    if any(score not in SCALE for score in scores):
        raise PanelError(f"{where}: scores {scores}; wanted whole numbers from {SCALE[0]} to {SCALE[-1]}")
    if mean_ranks(np.array(ranks)).tolist() != ranks:
        raise PanelError(f"{where}: ranks {ranks} are no ranking; equals share the mean of their places")
    for better in rows:
        worse = [row for row in rows if row.rank >= better.rank and row.score > better.score]
        if worse:
            raise PanelError(
                f"{where}: {better.system} has score {better.score} at rank {better.rank:g}, but {worse[0].system} "
                f"has {worse[0].score} at rank {worse[0].rank:g}; scores may not rise down the ranking"
            )
    return labels, scores, ranks


def _order(kind: str, found: Iterable[str], wanted: Sequence[str] | None) -> tuple[str, ...]:
    names = dict.fromkeys(found)
    if wanted is None:
        return tuple(names)
    unknown = [name for name in names if name not in wanted]
    if unknown:
        raise PanelError(f"unknown {kind} {unknown[0]!r} in the ratings; known: {', '.join(wanted)}")
    return tuple(wanted)


def _name(rating: Rating) -> str:
    return f"{rating.task} × {rating.judge} × {rating.system}"
