"""Common prompts: what systems are ranked on, so that none gains by failing on the hard ones.

*Compared* are, cell by cell, the systems that could be ranked there: enough scored rows and, over languages, at least
one scored row in every language in which any system has enough. A system that is down, or that speaks two languages,
therefore does not empty the common set of the others. Where no system could be ranked, all are compared. Human
recordings are a reference, not a competitor, and are never compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

import numpy as np

from kasauti.stats.cells import Cell, Scope
from kasauti.stats.columns import BoolArray, Columns

_Table = dict[tuple[str, int, Scope, int], list[int]]
"""(metric, judge, scope, place of the key) -> positions of the cells of all systems."""


def common_flags(
    columns: Columns, cells: Sequence[Cell], *, min_ok_share: float, humans: Collection[str] = ()
) -> list[BoolArray]:
    """For each cell which of its scored units are common to the compared systems.

    Args:
        columns: The rows that the cells are made of.
        cells: Cells of any metrics and judges; each metric and judge is a comparison of its own.
        min_ok_share: See `Cell.fit`.
        humans: Systems whose clips are human recordings.

    Returns:
        One array per cell, shape of its `scored`. A system that is not itself compared gets the prompts that are
        common to the others and scored by it.
    """
    table: _Table = defaultdict(list)
    for position, cell in enumerate(cells):
        table[cell.metric, cell.at.group.judge, cell.at.scope, cell.at.number].append(position)
    competes = [columns.systems[cell.at.group.system] not in humans for cell in cells]
    fit = [mine and cell.fit(min_ok_share) for mine, cell in zip(competes, cells, strict=True)]
    flags: list[BoolArray] = [np.zeros(0, dtype=np.bool_)] * len(cells)
    for (metric, judge, scope, _), positions in table.items():
        ranked = [position for position in positions if fit[position]]
        if scope in ("macro", "pooled"):
            full = _full_set(cells, fit, table, metric, judge)
            ranked = [position for position in ranked if full <= set(cells[position].langs.tolist())]
        compared = ranked or [position for position in positions if competes[position]]
        common = _common_prompts(columns, [cells[position] for position in compared])
        for position in positions:
            flags[position] = common[cells[position].prompts]
    return flags


def _full_set(cells: Sequence[Cell], fit: Sequence[bool], table: _Table, metric: str, judge: int) -> set[int]:
    """Languages in which at least one system could be ranked."""
    return {
        place
        for (name, by, scope, place), positions in table.items()
        if (name, by, scope) == (metric, judge, "lang") and any(fit[position] for position in positions)
    }


def _common_prompts(columns: Columns, compared: Sequence[Cell]) -> BoolArray:
    """Prompts scored by every one of the compared systems that has rows in the prompt's language."""
    needed = np.zeros(len(columns.langs), dtype=np.int64)
    found = np.zeros(columns.lang_of_prompt.size, dtype=np.int64)
    for cell in compared:
        needed[np.unique(columns.lang_of_prompt[columns.unit_prompt[cell.at.group.units]])] += 1
        found[cell.prompts] += 1
    return np.asarray((found > 0) & (found == needed[columns.lang_of_prompt]))
