"""The heat map: systems by languages, in the fixed steps of colour that the report page has."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from kasauti.report.figures.plate import Plate, finished
from kasauti.report.figures.style import BASE_PT, DOUBLE_MM, SINGLE_MM, SMALL_PT, FigureError, new_figure, paper
from kasauti.report.heat import RATE_STEPS, Cell, language_map
from kasauti.report.leaderboard import Board
from kasauti.report.loading import RunTables
from kasauti.report.names import Names
from kasauti.report.wording import level_of, metric_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CELL_MM, _NAMES_MM, _FRAME_MM, _ROW_MM = 17.0, 38.0, 16.0, 8.5
_WIDE_CELL_MM, _LANGUAGES_MM, _LOW_ROW_MM, _LINE_MM = 19.0, 55.0, 5.5, 4.0

_WIDEST = 7
"""More languages than this go down the page instead of across, so that their names are read without turning it."""

_WRAP = 10
"""Characters after which the name of a system that heads a column goes on below."""

_PALETTE = "YlOrBr"
"""From light to dark in one direction, so that it is read in grey too."""


def language_figure(tables: RunTables, board: Board, names: Names) -> Plate:
    """Draws one board language by language; every cell holds its number, so that colour is an aid only.

    Args:
        tables: What the board is from.
        board: One judge's view by one metric.
        names: How systems, judges and languages are called.

    Raises:
        FigureError: no cell has a number.
    """
    heat = language_map(board, tables, tables.prompts)
    cells = [list(row) for _, row in heat.rows]
    if not any(cell.shade is not None for row in cells for cell in row):
        raise FigureError(f"no map of languages for {metric_name(board.metric)} by {board.judge}: no row has a score")
    languages = [names.language(key) for key, *_ in heat.columns]
    systems = ["\n".join(wrap(names.system(line.system), _WRAP)) for line, _ in heat.rows]
    down = len(languages) > _WIDEST
    width_mm, height_mm = _NAMES_MM + _CELL_MM * len(languages), _FRAME_MM + _ROW_MM * len(systems)
    if down:
        cells = [list(column) for column in zip(*cells, strict=True)]
        width_mm = _LANGUAGES_MM + _WIDE_CELL_MM * len(systems)
        height_mm = _LOW_ROW_MM * len(languages) + _LINE_MM * (1 + max(name.count("\n") for name in systems)) + 4
    with paper():
        figure = new_figure(max(SINGLE_MM, min(DOUBLE_MM, width_mm)), height_mm)
        axes = figure.subplots()
        _draw(axes, cells, one_line=down)
        _mark_absent(axes, cells)
        if down:
            axes.set_yticklabels([label.replace("\n", " ") for label in languages], rotation=0)
            axes.set_xticklabels(systems, rotation=0)
        else:
            axes.set_yticklabels([names.system(line.system) for line, _ in heat.rows], rotation=0)
            _head_with_languages(axes, languages)
        axes.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False, labelsize=BASE_PT)
        signatures = [cell.signature for line in board.lines for cell in line.cells.values()]
        return finished(f"languages_{board.judge}_{board.metric}", figure, _caption(board, tables, names), signatures)


def _draw(axes: Axes, cells: list[list[Cell]], *, one_line: bool) -> None:
    import numpy as np
    import seaborn

    shades = np.array([[np.nan if cell.shade is None else cell.shade for cell in row] for row in cells])
    seaborn.heatmap(
        shades,
        ax=axes,
        cmap=seaborn.color_palette(_PALETTE, len(RATE_STEPS) + 1),
        vmin=-0.5,
        vmax=len(RATE_STEPS) + 0.5,
        annot=np.array([[_text(cell, one_line=one_line) for cell in row] for row in cells]),
        fmt="",
        annot_kws={"fontsize": SMALL_PT},
        mask=np.isnan(shades),
        cbar=False,
        linewidths=1,
    )


def _head_with_languages(axes: Axes, labels: list[str]) -> None:
    """English names on one line whatever the font of those above them."""
    axes.set_xticklabels([label.rpartition("\n")[2] for label in labels])
    for place, label in enumerate(labels):
        own = label.rpartition("\n")[0]
        where: Any = ("data", "axes fraction")
        axes.annotate(own, (place + 0.5, 1), xycoords=where, xytext=(0, 18), textcoords="offset points", ha="center")


def _mark_absent(axes: Axes, cells: list[list[Cell]]) -> None:
    """Hatches what has no number, and says why where the table does."""
    from matplotlib.patches import Rectangle

    for place, row in enumerate(cells):
        for column, cell in enumerate(row):
            if cell.shade is None:
                axes.add_patch(Rectangle((column, place), 1, 1, fc="#F2F2F2", ec="#BFBFBF", hatch="////", lw=0))
                told = "" if cell.text == "unsupported" else _caveat(cell)
                axes.text(column + 0.5, place + 0.5, told or "–", ha="center", va="center", fontsize=SMALL_PT)


def _text(cell: Cell, *, one_line: bool) -> str:
    if cell.shade is None or not _caveat(cell):
        return cell.text
    return f"{cell.text} ({_caveat(cell)})" if one_line else f"{cell.text}\n{_caveat(cell)}"


def _caveat(cell: Cell) -> str:
    """`8/10`, where not all rows are scored."""
    return next((caveat for caveat in cell.caveats if "/" in caveat), "")


def _caption(board: Board, tables: RunTables, names: Names) -> str:
    cells = [(line, row) for line in board.lines for row in line.cells.values()]
    counts = sorted({row.n_prompts for _, row in cells if row.n_prompts})
    n = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    level = level_of(board.metric, board.lines[0].overall.level)
    unit = ", %" if board.is_rate else ""
    steps = ", ".join(f"{100 * step:g}" for step in RATE_STEPS)
    parts = [
        f"{metric_name(board.metric)}{unit}{level}, heard by {names.judge(board.judge)}, by language; mean over "
        f"n = {n} scored prompts."
    ]
    if any(_caveat(cell) for _, row in language_map(board, tables, tables.prompts).rows for cell in row):
        parts.append(
            "With a stroke: scored rows of all; the others failed or came in another script, and have no score."
        )
    if any(row.status == "unsupported_language" for _, row in cells):
        parts.append("Hatched: a language that the system does not speak.")
    scale = f"Colour changes at {steps} %." if board.is_rate else "The lower a mark, the darker its cell."
    return " ".join([*parts, scale])
