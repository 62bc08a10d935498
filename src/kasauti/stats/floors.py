"""Noise floors of the cells of `aggregate.csv`, and of all that a table of rows holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kasauti.records import SampleRow
from kasauti.stats.cells import Cell, places_of
from kasauti.stats.columns import Columns, IntArray
from kasauti.stats.noise import ASSUMED_CER, Floor, StoredNoise, largest_pair, mean_floor
from kasauti.stats.scores import score_units
from kasauti.stats.variance import prompt_noise

ASSUMED = {"cer": ASSUMED_CER}
"""Metric -> floor to assume where there is a single repeat."""


def noise_floors(rows: Sequence[SampleRow], metric: str = "cer") -> dict[tuple[str, str, str, str], Floor]:
    """Floors of every system and judge, with the largest observed pair; by language also every prompt's variances.

    Args:
        rows: As for `aggregate`.
        metric: One of the metrics.

    Returns:
        (system, judge, scope, key) -> floor, in the order of `aggregate`.
    """
    columns = Columns.of(rows)
    floors: dict[tuple[str, str, str, str], Floor] = {}
    scores = score_units(columns, metric)
    for cell in (Cell.of(place, metric, scores) for place in places_of(columns)):
        floor = cell_floor(columns, cell)
        if cell.at.scope == "lang":
            names = [columns.prompts[prompt] for prompt in cell.prompts.tolist()]
            means, spread = cell.scores.mean[cell.scored], cell.scores.spread[cell.scored]
            floor = replace(floor, prompts=prompt_noise(names, means, spread))
        system, judge = columns.systems[cell.at.group.system], columns.judges[cell.at.group.judge]
        floors[system, judge, cell.at.scope, cell.at.key] = floor
    return floors


def cell_floor(columns: Columns, cell: Cell, stored: Sequence[StoredNoise] = ()) -> Floor:
    """Floor of the mean of one cell, with the largest observed pair.

    Args:
        columns: The table.
        cell: The cell.
        stored: What earlier runs measured, of any system, judge and metric.
    """
    takes, place = _takes(columns, cell.scored)
    pair = largest_pair(cell.scores.take_mean[takes], place, columns.take_repeat[takes], cell.langs, macro=cell.macro)
    spread = cell.scores.spread[cell.scored]
    known = stored_by_lang(columns, cell, stored)
    floor = mean_floor(spread, cell.langs, macro=cell.macro, assumed=ASSUMED.get(cell.metric), stored=known)
    return replace(floor, largest_pair=pair)


def stored_by_lang(columns: Columns, cell: Cell, stored: Sequence[StoredNoise]) -> dict[int, StoredNoise]:
    """Language, by its number -> what an earlier run measured for the system, judge and metric of a cell."""
    mine = (columns.systems[cell.at.group.system], columns.judges[cell.at.group.judge], cell.metric)
    found = {one.lang: one for one in stored if (one.system, one.judge, one.metric) == mine}
    return {number: found[lang] for number, lang in enumerate(columns.langs) if lang in found}


def _takes(columns: Columns, units: IntArray) -> tuple[IntArray, IntArray]:
    """The takes of some units, and for each the place of its unit among them."""
    sizes = np.diff(columns.unit_takes, append=columns.take_starts.size)[units]
    place = np.repeat(np.arange(units.size), sizes)
    within = np.arange(place.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return columns.unit_takes[units][place] + within, place
