"""Bootstrap intervals of many cells at once: cells that rest on the same prompts of a language share one drawing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kasauti.stats.bootstrap import Interval, interval_of
from kasauti.stats.cells import Cell, summarise
from kasauti.stats.columns import Columns, FloatArray
from kasauti.stats.resample import strata_of, stratum_means

_Column = tuple[str, int, int]
"""Metric, system and judge: cells that differ in scope only hold the same values."""


@dataclass(frozen=True)
class _Part:
    """The prompts of one stratum of one cell: which cell, its weight there, and one value a prompt."""

    cell: int
    weight: float
    column: _Column
    values: FloatArray


_Parts = dict[tuple[str, bytes], list[_Part]]
"""Name of the stratum and its prompts -> the parts that rest on them."""


def mean_intervals(columns: Columns, cells: Sequence[Cell], *, draws: int, seed: int) -> list[Interval | None]:
    """95 % intervals of the cells' means; None for a cell with fewer than two scored prompts."""
    families: dict[int, list[int]] = defaultdict(list)
    for position, cell in enumerate(cells):
        if cell.scored.size > 1:
            families[cell.at.number if cell.at.scope == "tag" else -1].append(position)
    found: list[Interval | None] = [None] * len(cells)
    for positions in families.values():
        for position, drawn in _drawn_means(_parts(columns, cells, positions), draws, seed):
            cell = cells[position]
            estimate = summarise(cell.scores.mean[cell.scored], cell.langs, macro=cell.macro)
            found[position] = None if estimate is None else interval_of(estimate, drawn, cell.scored.size)
    return found


def _parts(columns: Columns, cells: Sequence[Cell], positions: Sequence[int]) -> _Parts:
    parts: _Parts = defaultdict(list)
    for position in positions:
        cell = cells[position]
        for stratum in strata_of(cell.langs, columns.langs, macro=cell.macro):
            values = cell.scores.mean[cell.scored[stratum.members]]
            key = stratum.name, cell.prompts[stratum.members].tobytes()
            column = cell.metric, cell.at.group.system, cell.at.group.judge
            parts[key].append(_Part(position, stratum.weight, column, values))
    return parts


def _drawn_means(parts: _Parts, draws: int, seed: int) -> Iterator[tuple[int, FloatArray]]:
    """Each cell, as soon as its last part is drawn, with its mean over the draws, shape (draws,)."""
    left = Counter(part.cell for group in parts.values() for part in group)
    sums: dict[int, FloatArray] = {}
    for (name, _), group in parts.items():
        columns = {part.column: part.values for part in group}
        values = np.stack(list(columns.values()), axis=1)
        least = values.min(axis=0)
        drawn = stratum_means(values - least, name, draws=draws, seed=seed) + least
        means = dict(zip(columns, drawn.T, strict=True))
        for part in group:
            share = part.weight * means[part.column]
            sums[part.cell] = sums[part.cell] + share if part.cell in sums else share
            left[part.cell] -= 1
            if not left[part.cell]:
                yield part.cell, sums.pop(part.cell)
