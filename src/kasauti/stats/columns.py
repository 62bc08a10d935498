"""Rows of `per_sample.tsv` as sorted columns, so that a million of them are summed by a few array operations.

Three nested levels: a *row* is one judgment, a *take* all judgments of one clip, a *unit* all takes of one prompt by
one system and one judge. Rows are sorted by system, judge, language, prompt, repeat, rejudge, names in order of first
appearance, so takes and units are runs of neighbours. Rows of a language that a system does not support are not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from kasauti.errors import StatsError
from kasauti.records import ROUTED, SAMPLE_COLUMNS, TAG_SEPARATOR, SampleRow, Status

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class Group:
    """All units of one system by one judge.

    Attributes:
        system: Index into `Columns.systems`.
        judge: Index into `Columns.judges`.
        units: First unit and one past the last.
    """

    system: int
    judge: int
    units: slice


@dataclass(frozen=True)
class Columns:
    """The sorted rows, less their scores.

    Attributes:
        rows: The rows as given; `order` holds the position in them of each sorted row.
        systems, judges, langs, tags: Names in order of first appearance.
        prompts: Prompt ids, those of one language together.
        lang_of_prompt: Index of each prompt's language, ascending.
        prompts_of_tag: For each tag the indices of its prompts, ascending.
        groups: One per (system, judge) that has a row, in order of systems, then judges.
        unsupported: (system, judge, language) indices that have rows of that status.
        ok, wrong_script: One flag per sorted row.
        take_starts: First row of each take. `take_repeat`: its repeat.
        unit_starts: First row of each unit. `unit_takes`: its first take. `unit_prompt`: its prompt.
    """

    rows: Sequence[SampleRow]
    order: IntArray
    systems: list[str]
    judges: list[str]
    langs: list[str]
    tags: list[str]
    prompts: list[str]
    lang_of_prompt: IntArray
    prompts_of_tag: list[IntArray]
    groups: list[Group]
    unsupported: frozenset[tuple[int, int, int]]
    ok: BoolArray
    wrong_script: BoolArray
    take_starts: IntArray
    take_repeat: IntArray
    unit_starts: IntArray
    unit_takes: IntArray
    unit_prompt: IntArray

    @classmethod
    def of(cls, rows: Sequence[SampleRow]) -> Self:
        """Sorts the rows.

        Raises:
            StatsError: two rows hold different answers for the same (system, judge, prompt, repeat, rejudge).
        """
        systems, system = codes(_column(rows, "system"))
        judges, judge = codes(_column(rows, "judge"))
        langs, lang = codes(_column(rows, "lang"))
        pairs, prompt = codes(zip(lang.tolist(), _column(rows, "prompt_id"), strict=True))
        by_lang = np.argsort(np.array([code for code, _ in pairs], dtype=np.int64), kind="stable")
        prompt = np.argsort(by_lang)[prompt]
        tags, prompts_of_tag = _tags(rows, prompt)
        statuses, status = codes(_column(rows, "status"))
        has = _flags(statuses, status)
        unsupported = has(Status.UNSUPPORTED_LANGUAGE)
        keys = (_ints(rows, "rejudge"), _ints(rows, "repeat"), prompt, judge, system)
        order = np.lexsort(keys)
        order = order[~unsupported[order]]
        order = order[_originals(rows, order, keys)]
        unit_starts = _starts(order, keys[2:])
        take_starts = _starts(order, keys[1:])
        first = order[unit_starts]
        return cls(
            rows=rows,
            order=order,
            systems=systems,
            judges=judges,
            langs=langs,
            tags=tags,
            prompts=[pairs[index][1] for index in by_lang.tolist()],
            lang_of_prompt=np.array([pairs[index][0] for index in by_lang.tolist()], dtype=np.int64),
            prompts_of_tag=prompts_of_tag,
            groups=_groups(system[first], judge[first]),
            unsupported=frozenset(
                zip(*(column[unsupported].tolist() for column in (system, judge, lang)), strict=True)
            ),
            ok=has(Status.OK)[order],
            wrong_script=has(Status.WRONG_SCRIPT)[order],
            take_starts=take_starts,
            take_repeat=keys[1][order[take_starts]],
            unit_starts=unit_starts,
            unit_takes=np.searchsorted(take_starts, unit_starts),
            unit_prompt=prompt[first],
        )

    def numbers(self, name: str) -> FloatArray:
        """One numeric column, or one mark, of the sorted rows; NaN where it is None."""
        if name in SAMPLE_COLUMNS:
            values = _column(self.rows, name)
        else:
            values = [row.marks.get(name) if row.marks else None for row in self.rows]
        return np.array(values, dtype=np.float64)[self.order]

    def revision(self, group: Group) -> str:
        """Revision of the judge in the rows of one group; all of them where there are several."""
        starts = np.append(self.unit_starts, self.order.size)
        mine = self.order[starts[group.units.start] : starts[group.units.stop]]
        return common_revision(self.rows[index].judge_revision for index in mine.tolist())


def common_revision(revisions: Iterable[str]) -> str:
    """Revision of the judge over several rows: of a router its own, which names its table and all that it sends to."""
    return " and ".join(sorted({revision.partition(ROUTED)[0] for revision in revisions}))


def codes(values: Iterable[Name]) -> tuple[list[Name], IntArray]:
    """Distinct values in order of first appearance, and for each value its place among them."""
    known: dict[Name, int] = {}
    places = [known.setdefault(value, len(known)) for value in values]
    return list(known), np.array(places, dtype=np.int64)


def _column(rows: Sequence[SampleRow], name: str) -> list[Any]:
    return list(map(attrgetter(name), rows))


def _ints(rows: Sequence[SampleRow], name: str) -> IntArray:
    return np.array(_column(rows, name), dtype=np.int64)


def _flags(statuses: Sequence[Status], status: IntArray) -> Callable[[Status], BoolArray]:
    def has(wanted: Status) -> BoolArray:
        return np.asarray(status == (statuses.index(wanted) if wanted in statuses else -1))

    return has


def _tags(rows: Sequence[SampleRow], prompt: IntArray) -> tuple[list[str], list[IntArray]]:
    """Tag names, and for each the prompts that carry it in at least one row."""
    written, code = codes(_column(rows, "tags"))
    n_prompts = int(prompt.max(initial=0)) + 1
    pairs = np.unique(code * n_prompts + prompt)
    members = np.split(pairs % n_prompts, np.searchsorted(pairs, np.arange(1, len(written)) * n_prompts))
    known: dict[str, list[IntArray]] = {}
    for text, prompts in zip(written, members, strict=False):
        for tag in filter(None, text.split(TAG_SEPARATOR)):
            known.setdefault(tag, []).append(prompts)
    return list(known), [np.unique(np.concatenate(parts)) for parts in known.values()]


def _starts(order: IntArray, keys: Sequence[IntArray]) -> IntArray:
    """Where, in sorted order, any of the keys changes."""
    changes = np.ones(order.size, dtype=np.bool_)
    if order.size:
        changes[1:] = np.any([np.diff(key[order]) != 0 for key in keys], axis=0)
    return np.flatnonzero(changes)


def _originals(rows: Sequence[SampleRow], order: IntArray, keys: Sequence[IntArray]) -> BoolArray:
    """Marks one row per judgment: runs that share prompts hold copies of the same judgments."""
    keep = np.ones(order.size, dtype=np.bool_)
    starts = _starts(order, keys)
    sizes = np.diff(starts, append=order.size)
    repeated = sizes > 1
    for start, size in zip(starts[repeated].tolist(), sizes[repeated].tolist(), strict=True):
        copies = [rows[index] for index in order[start : start + size].tolist()]
        answered = [place for place, row in enumerate(copies) if row.status in (Status.OK, Status.WRONG_SCRIPT)]
        answers = {copies[place].judgment_id for place in answered}
        if len(answers) > 1 or (None in answers and len(answered) > 1):
            row = copies[0]
            raise StatsError(
                f"{len(answered)} different judgments by {row.judge} of prompt {row.prompt_id!r} ({row.lang}), system "
                f"{row.system}, repeat {row.repeat}, rejudge {row.rejudge}, in runs "
                f"{', '.join(sorted({copies[place].run_id for place in answered}))}; expected one. These runs measure "
                "different things under one name: aggregate them one by one, or give the systems other ids"
            )
        keep[start : start + size] = False
        keep[start + (answered[0] if answered else 0)] = True
    return keep


def _groups(system: IntArray, judge: IntArray) -> list[Group]:
    starts = _starts(np.arange(system.size), (system, judge)).tolist()
    runs = pairwise([*starts, system.size])
    return [Group(int(system[first]), int(judge[first]), slice(first, stop)) for first, stop in runs]
