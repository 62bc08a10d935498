"""Which samples the page and the spreadsheet list: all, or of very many those that something is to be learnt from.

A page of a million samples opens in no browser, and a sheet has room for 1,048,576 rows. Whole prompts are listed, so
that systems can be heard side by side; tables of a run folder always hold everything.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol, TypeVar

from kasauti.records import SampleRow, Status
from kasauti.report.loading import RunTables
from kasauti.report.table_rows import Key, MarkRow, key_of

MOST_SAMPLES = 60_000
"""Rows that are listed at most: a page of some 30 MB. The 2,100 prompts of a benchmark by 8 systems, 3 takes, fit."""

_NO_FAULT = (Status.UNSUPPORTED_LANGUAGE, Status.NOT_RUN)
"""Statuses that come last in "worst first": nothing went wrong, there is just nothing to hear."""


class _OfAPrompt(Protocol):
    @property
    def prompt_id(self) -> str: ...


_Row = TypeVar("_Row", bound=_OfAPrompt)


class Badness:
    """What "worst first" sorts by: the error rate, 1 for a failure; of a row with marks alone how far they are from the
    best that its judge gave, 1 for the worst. What can't be heard and is no fault comes last.
    """

    def __init__(self, marks: Iterable[MarkRow]) -> None:
        given: dict[tuple[str, str], list[float]] = defaultdict(list)
        for mark in marks:
            if mark.value is not None:
                given[mark.judge, mark.mark].append(mark.value)
        self._scales = {key: (min(values), max(values)) for key, values in given.items()}

    def __call__(self, row: SampleRow, marks: Iterable[MarkRow]) -> float:
        """The badness of a row, whose marks are given."""
        if row.status in _NO_FAULT:
            return -1.0
        if row.status is not Status.OK:
            return 1.0
        if row.cer is not None:
            return row.cer
        distances = [self._distance(mark, mark.value) for mark in marks if mark.value is not None]
        return sum(distances) / len(distances) if distances else 0.0

    def _distance(self, mark: MarkRow, value: float) -> float:
        low, high = self._scales[mark.judge, mark.mark]
        return (high - value) / (high - low) if high > low else 0.0


def listed(tables: RunTables) -> RunTables:
    """The tables with no more samples than can be listed: of the prompts with the worst of them, in their order."""
    if len(tables.samples) <= MOST_SAMPLES:
        return tables
    kept = _worst_prompts(tables)

    def of(rows: Iterable[_Row]) -> list[_Row]:
        return [row for row in rows if row.prompt_id in kept]

    return replace(
        tables,
        prompts=[prompt for prompt in tables.prompts if prompt.id in kept],
        samples=of(tables.samples),
        clips=of(tables.clips),
        marks=of(tables.marks),
        words=of(tables.words),
    )


def _worst_prompts(tables: RunTables) -> set[str]:
    """Prompts by the worst that became of them, as many as have `MOST_SAMPLES` rows together, and at least one."""
    badness = Badness(tables.marks)
    marks: dict[Key, list[MarkRow]] = defaultdict(list)
    for mark in tables.marks:
        marks[key_of(mark)].append(mark)
    worst: dict[str, float] = {}
    counts: Counter[str] = Counter()
    for row in tables.samples:
        counts[row.prompt_id] += 1
        here = badness(row, marks.get(key_of(row), ()))
        worst[row.prompt_id] = max(worst.get(row.prompt_id, -1.0), here)
    kept: set[str] = set()
    left = MOST_SAMPLES
    for prompt_id in sorted(worst, key=lambda name: -worst[name]):  # stable: the order of the prompts among equals
        left -= counts[prompt_id]
        if kept and left < 0:
            break
        kept.add(prompt_id)
    return kept
