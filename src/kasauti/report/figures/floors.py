"""Noise floors: how far apart two runs of one voice come out, what of it is the judge's, and what takes of it away."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kasauti.report.figures.plate import Plate, finished
from kasauti.report.figures.style import (
    BLACK,
    BLUE,
    DOUBLE_MM,
    GRID,
    SERIES,
    SINGLE_MM,
    SMALL_PT,
    VERMILION,
    FigureError,
    bare,
    hide_spare,
    new_figure,
    pages,
    paper,
)
from kasauti.report.loading import RunTables
from kasauti.report.names import Names
from kasauti.report.wording import METRIC_NAMES, count_of, metric_name, value_of
from kasauti.stats.floors import noise_floors
from kasauti.stats.noise import ASSUMED_CER, Floor

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Voice = tuple[str, str]
"""System and judge."""

Floors = Mapping[Voice, Mapping[tuple[str, str], Floor]]
"""Voice -> (scope, key) -> floor."""

OVERALL = ("macro", "all")

REPEATS = (1, 3, 10)
"""Takes a prompt of which the shrinking is drawn."""

PROMPTS = (5, 20, 100, 500)
"""Prompts a language over which it is drawn."""


def measured_floors(tables: RunTables, metric: str) -> dict[Voice, dict[tuple[str, str], Floor]]:
    """(system, judge) -> (scope, key) -> floor, of those that these very rows measure: by language, then overall."""
    found: dict[Voice, dict[tuple[str, str], Floor]] = {}
    for (system, judge, scope, key), floor in noise_floors(tables.samples, metric).items():
        if floor.kind == "measured" and (scope == "lang" or (scope, key) == OVERALL):
            found.setdefault((system, judge), {})[scope, key] = floor
    return {voice: floors for voice, floors in found.items() if OVERALL in floors}


def floor_figures_of(tables: RunTables, metric: str, names: Names) -> list[Plate]:
    """Draws the measured floors language by language, split into synthesis and judge; one figure for every six voices.

    Raises:
        FigureError: no floor is measured.
    """
    found = measured_floors(tables, metric)
    if not found:
        raise FigureError(
            f"no noise floor of {metric_name(metric)} is measured here: that takes two takes of a prompt or more "
            "(repeats=3)"
        )
    signatures = _signatures(tables, metric, found)
    return [
        _floor_page(f"noise_floors_{metric}{suffix}", metric, some, names, signatures) for suffix, some in pages(found)
    ]


def _floor_page(name: str, metric: str, found: Floors, names: Names, signatures: Sequence[str]) -> Plate:
    keys = list(dict.fromkeys(key for floors in found.values() for key in floors if key != OVERALL))
    keys += [OVERALL] if len(keys) > 1 else []
    scale = 100 if metric in METRIC_NAMES else 1
    columns = min(3, len(found))
    rows = math.ceil(len(found) / columns)
    with paper():
        width = DOUBLE_MM if columns > 1 else SINGLE_MM * 1.2
        figure = new_figure(width, (16 + 5.2 * len(keys)) * rows + 8)
        grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for axes, (voice, floors) in zip(grid.flat, found.items(), strict=False):
            _draw_floors(axes, keys, floors, scale)
            axes.set_title(_title(voice, found, names), loc="left")
            bare(axes)
        hide_spare(grid, len(found))
        first = grid[0, 0]
        widest = max(floor.floor95 or 0.0 for floors in found.values() for floor in floors.values())
        first.set_xlim(0, 1.05 * scale * widest if widest else 1)
        first.set_yticks(range(len(keys)), [_place_name(key, names) for key in keys])
        first.set_ylim(len(keys) - 0.5, -0.5)
        figure.supxlabel(f"noise floor, {_unit(metric)}", fontsize="medium")
        handles, labels = first.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=len(handles), handletextpad=0.2)
        return finished(name, figure, _floor_caption(metric, found, names), signatures)


def _draw_floors(
    axes: Axes, keys: Sequence[tuple[str, str]], floors: Mapping[tuple[str, str], Floor], scale: int
) -> None:
    drawn = [(place, floors[key].split()) for place, key in enumerate(keys) if key in floors]
    found = [(place, each) for place, each in drawn if each is not None]
    places = [place for place, _ in found]
    whole = [scale * each.floor95 for _, each in found]
    split = any(each.judge95 is not None for _, each in found)
    axes.hlines(places, 0, whole, color=GRID, lw=3)
    if split:
        synthesis = [scale * each.synthesis95 for _, each in found]
        judge = [scale * (each.judge95 or 0.0) for _, each in found]
        axes.plot(synthesis, places, ls="", marker="s", ms=4, color=BLUE, label="synthesis alone")
        axes.plot(judge, places, ls="", marker="^", ms=4, color=VERMILION, label="judge alone")
    label = "synthesis and judge" if split else "synthesis and judge (each clip heard once)"
    axes.plot(whole, places, ls="", marker="o", ms=5, mfc="none", color=BLACK, label=label)
    if OVERALL in keys:
        axes.axhline(len(keys) - 1.5, color=GRID, lw=0.6)


def shrinking_figures_of(tables: RunTables, metric: str, names: Names) -> list[Plate]:
    """Draws how the overall floor shrinks with prompts and takes, from the measured variances.

    Returns:
        One figure for every six voices whose floor is not 0; none where every take came out the same.
    """
    measured = measured_floors(tables, metric)
    found = {voice: floors for voice, floors in measured.items() if floors[OVERALL].floor95}
    signatures = _signatures(tables, metric, found)
    return [
        _shrinking_page(f"noise_shrinks_{metric}{suffix}", metric, some, names, signatures)
        for suffix, some in pages(found)
    ]


def _shrinking_page(name: str, metric: str, found: Floors, names: Names, signatures: Sequence[str]) -> Plate:
    scale = 100 if metric in METRIC_NAMES else 1
    columns = min(3, len(found))
    rows = math.ceil(len(found) / columns)
    with paper():
        figure = new_figure(DOUBLE_MM if columns > 1 else SINGLE_MM, 50 * rows + 14)
        grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for axes, (voice, floors) in zip(grid.flat, found.items(), strict=False):
            _draw_shrinking(axes, floors, metric, scale)
            axes.set_title(_title(voice, found, names), loc="left")
            bare(axes, keep_left=True, grid="both")
        hide_spare(grid, len(found))
        figure.supxlabel("prompts a language", fontsize="medium")
        figure.supylabel(f"noise floor, {_unit(metric)}", fontsize="medium")
        handles, labels = grid[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=len(handles), handletextpad=0.4)
        return finished(name, figure, _shrinking_caption(metric, found, names), signatures)


def _draw_shrinking(axes: Axes, floors: Mapping[tuple[str, str], Floor], metric: str, scale: int) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    overall, n_langs = floors[OVERALL], len(floors) - 1
    for repeats, color in zip(REPEATS, SERIES, strict=False):
        values = [scale * (overall.at(n_prompts=n * n_langs, repeats=repeats) or 0.0) for n in PROMPTS]
        axes.plot(PROMPTS, values, color=color, lw=1)
        where = (PROMPTS[-1], values[-1])
        told = f"{repeats} takes" if repeats > 1 else "1 take"
        axes.annotate(told, where, (3, 0), textcoords="offset points", va="center", color=color, fontsize=SMALL_PT)
    here = (overall.n_prompts / n_langs, scale * (overall.floor95 or 0.0))
    axes.plot(*here, marker="o", ms=5, mfc="white", color=BLACK, ls="", label="measured here")
    if metric == "cer":
        axes.axhline(scale * ASSUMED_CER, color=BLACK, lw=0.6, ls=":", label="assumed where none is measured")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_locator(FixedLocator(PROMPTS))
    axes.yaxis.set_major_locator(FixedLocator([m * 10.0**e for e in range(-3, 3) for m in (1, 2, 5)]))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _title(voice: Voice, found: Mapping[Voice, object], names: Names) -> str:
    system, judge = voice
    several = len({judge for _, judge in found}) > 1
    return names.system(system) + (f"\nheard by {names.judge(judge)}" if several else "")


def _place_name(key: tuple[str, str], names: Names) -> str:
    return "all languages" if key == OVERALL else names.language(key[1]).replace("\n", " ")


def _unit(metric: str) -> str:
    return f"points of {metric_name(metric)}" if metric in METRIC_NAMES else metric_name(metric)


def _told(voice: Voice, floor: Floor, metric: str, names: Names) -> str:
    takes = f"{floor.repeats:g} takes a prompt, {count_of(round(floor.rejudges), 'hearing')} a take"
    value = value_of(floor.floor95, is_rate=metric in METRIC_NAMES)
    return f"{names.system(voice[0])} by {names.judge(voice[1])}: {value} (n = {floor.n_prompts} prompts, {takes})"


def _floor_caption(metric: str, found: Floors, names: Names) -> str:
    told = "; ".join(_told(voice, floors[OVERALL], metric, names) for voice, floors in found.items())
    parts = [
        f"Noise floor of the mean {metric_name(metric)}: two runs that differ in nothing differ by more than this 5 % "
        f"of the time. Over all languages: {told}."
    ]
    if any(floor.var_judge is not None for floors in found.values() for floor in floors.values()):
        parts.append("The squares of the parts add up to the square of the whole.")
    else:
        parts.append("Each clip was heard once, so the judge's part can't be told from the synthesis.")
    return " ".join(parts)


def _shrinking_caption(metric: str, found: Floors, names: Names) -> str:
    told = "; ".join(_told(voice, floors[OVERALL], metric, names) for voice, floors in found.items())
    assumed = f" Dotted: the floor assumed where none is measured, {100 * ASSUMED_CER:g}." if metric == "cer" else ""
    return (
        f"Noise floor of the mean over languages against prompts a language, for {', '.join(map(str, REPEATS))} takes "
        f"a prompt , by the variances measured at the ring. {told}.{assumed}"
    )


def _signatures(tables: RunTables, metric: str, found: Mapping[Voice, object]) -> list[str]:
    return [
        row.signature
        for row in tables.aggregates
        if row.metric == metric and (row.scope, row.key) == OVERALL and (row.system, row.judge) in found
    ]
