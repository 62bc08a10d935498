"""Figures for paper: PNG and editable SVG at column width, from the tables of a study and from nothing else.

Needs the extra `figures` (matplotlib 3.11 or newer, seaborn), imported when a figure is drawn.
"""

from kasauti.report.figures.all import (
    figures_of,
    floor_figures,
    judge_figures,
    leaderboard_figures,
    panel_figures,
    sweep_figures,
)
from kasauti.report.figures.beside import draw_beside
from kasauti.report.figures.plate import Plate, write_plates
from kasauti.report.figures.style import FigureError

__all__ = [
    "FigureError",
    "Plate",
    "draw_beside",
    "figures_of",
    "floor_figures",
    "judge_figures",
    "leaderboard_figures",
    "panel_figures",
    "sweep_figures",
    "write_plates",
]
