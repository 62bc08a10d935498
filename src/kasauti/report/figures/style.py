"""How printed figures look: sizes of paper columns, one small type, colours that the colour-blind tell apart.

matplotlib and seaborn are extras, imported where they are used; figures are objects of their own and never touch the
state of `pyplot`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from kasauti.errors import KasautiError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SINGLE_MM, DOUBLE_MM = 84.0, 174.0
"""Width of one column and of two, as journals on A4 have them."""

BASE_PT, SMALL_PT = 8.0, 7.0

PNG_DPI = 300

PANELS = 6
"""So many fit one figure."""

_Key = TypeVar("_Key")
_Panel = TypeVar("_Panel")

BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, VERMILION, PURPLE = (
    "#000000",
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#F0E442",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
)
"""Source: Okabe and Ito, Color Universal Design (2008)."""

SERIES = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
"""Colours of series, in the order of use; `MARKERS` go with them, so that no series is told by its colour alone."""

MARKERS = ("o", "s", "D", "^", "v", "P", "X")

BAND, GRID, INK = "#D9D9D9", "#E5E5E5", "#222222"

_MM_PER_INCH = 25.4


class FigureError(KasautiError):
    """A figure can't be drawn from what there is, or not with the fonts or libraries of this machine."""


@contextmanager
def paper() -> Iterator[None]:
    """matplotlib's settings while a figure is made, measured or written.

    Raises:
        FigureError: the extra `figures` is not installed.
    """
    try:
        import matplotlib
        import seaborn
    except ImportError as error:
        raise FigureError(f"figures need matplotlib and seaborn ({error}); pip install 'kasauti[figures]'") from error
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **seaborn.axes_style("ticks"), **_settings()}):
        yield


def _settings() -> dict[str, Any]:
    return {
        "backend": "agg",
        "font.family": ["DejaVu Sans"],
        "font.size": BASE_PT,
        "axes.labelsize": BASE_PT,
        "axes.titlesize": BASE_PT,
        "xtick.labelsize": BASE_PT,
        "ytick.labelsize": BASE_PT,
        "legend.fontsize": SMALL_PT,
        "legend.title_fontsize": SMALL_PT,
        "legend.frameon": False,
        "axes.linewidth": 0.6,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "xtick.major.size": 2.5,
        "ytick.major.size": 2.5,
        "grid.color": GRID,
        "grid.linewidth": 0.6,
        "axes.axisbelow": True,
        "hatch.linewidth": 0.4,
        # Text stays text, so that a drawing program can change it; and the ids of an SVG are the same each time.
        "svg.fonttype": "none",
        "svg.hashsalt": "kasauti",
        "figure.dpi": 100,
    }


def new_figure(width_mm: float, height_mm: float) -> Figure:
    """An empty figure of a size on paper; inside `paper`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width_mm / _MM_PER_INCH, height_mm / _MM_PER_INCH), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def hide_spare(grid: Any, used: int) -> None:
    """Takes off the panels that a grid has too many, and labels the lowest one of each column."""
    columns = grid.shape[1]
    for number, axes in enumerate(grid.flat):
        axes.set_visible(number < used)
        axes.tick_params(axis="x", labelbottom=number + columns >= used)


def pages(panels: Mapping[_Key, _Panel]) -> Iterator[tuple[str, dict[_Key, _Panel]]]:
    """Six panels at a time, and the end of their figure's name: nothing, or `_2` for the second of several."""
    found = list(panels.items())
    starts = range(0, len(found), PANELS)
    for number, start in enumerate(starts, start=1):
        yield (f"_{number}" if len(starts) > 1 else ""), dict(found[start : start + PANELS])


def bare(axes: Axes, *, keep_left: bool = False, grid: str = "x") -> None:
    """Takes off what holds no information: upper and right frame, the left one where names stand, ticks of names."""
    for side in ("top", "right", *(() if keep_left else ("left",))):
        axes.spines[side].set_visible(False)
    if not keep_left:
        axes.tick_params(axis="y", length=0)
    if grid:
        axes.grid(axis=grid)
