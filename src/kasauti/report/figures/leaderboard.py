"""The leaderboard: one line for each system with its mean, interval and noise band."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kasauti.report.figures.plate import Plate, finished
from kasauti.report.figures.style import (
    BAND,
    BLUE,
    DOUBLE_MM,
    SMALL_PT,
    FigureError,
    bare,
    new_figure,
    paper,
)
from kasauti.report.leaderboard import Board, Line
from kasauti.report.loading import RunTables
from kasauti.report.names import Names
from kasauti.report.wording import count_of, floor_notes, floor_of, interval_of, level_of, metric_name, value_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW_MM, _FRAME_MM = 6.0, 24.0

_COLUMNS_PT = (6, 84, 116)
"""Where the columns of numbers begin, to the right of the axes."""


def leaderboard_figure(tables: RunTables, board: Board, names: Names) -> Plate:
    """Draws one board: dot = mean, line = 95 % interval, band = one noise floor to either side of the mean.

    Args:
        tables: What the board is from.
        board: One judge's view by one metric.
        names: How systems and judges are called.

    Raises:
        FigureError: no system of the board has a number.
    """
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    lines = [line for line in board.lines if line.overall.mean is not None]
    if not lines:
        raise FigureError(f"no leaderboard of {metric_name(board.metric)} by {board.judge}: no row has a score")
    scale = 100 if board.is_rate else 1
    with paper():
        figure = new_figure(DOUBLE_MM, _FRAME_MM + _ROW_MM * len(lines))
        axes = figure.subplots()
        for place, line in enumerate(lines):
            _draw(axes, place, line, scale, is_rate=board.is_rate)
        axes.set_yticks(range(len(lines)), [_label(line, names) for line in lines])
        axes.set_ylim(len(lines) - 0.5, -0.5)
        _beside(axes, -0.75, ("mean [95 %]", "floor", "n"))
        if board.is_rate:
            axes.set_xlim(left=0)
        axes.set_xlabel(f"{metric_name(board.metric)}{', %' if board.is_rate else ''} ({_better(board)})")
        bare(axes)
        handles = [
            Line2D([], [], color=BLUE, marker="o", ls="", ms=4, label="mean"),
            Line2D([], [], color=BLUE, lw=1.4, label="95 % interval"),
        ]
        if any(line.overall.floor95 for line in lines):
            handles.append(Patch(color=BAND, label="± noise floor"))
        if any(line.rank is None for line in lines):
            handles.append(Line2D([], [], color=BLUE, marker="o", mfc="white", ls="", ms=4, label="not ranked"))
        figure.legend(handles=handles, loc="outside lower left", ncols=len(handles), handletextpad=0.4)
        signatures = [line.overall.signature for line in lines]
        name = f"leaderboard_{board.judge}_{board.metric}"
        return finished(name, figure, _caption(tables, board, lines, names), signatures)


def _draw(axes: Axes, place: int, line: Line, scale: int, *, is_rate: bool) -> None:
    row = line.overall
    assert row.mean is not None
    mean = row.mean * scale
    if row.floor95:
        reach = row.floor95 * scale
        hatch = None if row.floor_kind == "measured" else "////"
        axes.barh(place, 2 * reach, left=mean - reach, height=0.6, color=BAND, hatch=hatch, ec="white", lw=0)
    if row.ci95_low is not None and row.ci95_high is not None:
        axes.plot([row.ci95_low * scale, row.ci95_high * scale], [place, place], color=BLUE, lw=1.4)
    filled = BLUE if line.rank is not None else "white"
    axes.plot([mean], [place], marker="o", ms=5, color=BLUE, mfc=filled, mew=1, clip_on=False)
    told = f"{value_of(row.mean, is_rate=is_rate)} [{interval_of(row, is_rate=is_rate)}]"
    _beside(axes, place, (told, floor_of(row, is_rate=is_rate), str(row.n_prompts)))


def _beside(axes: Axes, place: float, cells: tuple[str, ...]) -> None:
    """Columns of text to the right of the axes."""
    for offset_pt, text in zip(_COLUMNS_PT, cells, strict=True):
        where: Any = ("axes fraction", "data")
        axes.annotate(
            text,
            (1.0, place),
            xycoords=where,
            xytext=(offset_pt, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL_PT,
            annotation_clip=False,
        )


def _label(line: Line, names: Names) -> str:
    rank = f"{line.rank:g}" if line.rank is not None else "·"
    return f"{rank}  {names.system(line.system)}"


def _better(board: Board) -> str:
    return "lower is better" if board.is_rate else "higher is better"


def _caption(tables: RunTables, board: Board, lines: list[Line], names: Names) -> str:
    metric, level = metric_name(board.metric), level_of(board.metric, lines[0].overall.level)
    parts = [
        f"{metric}{level}, heard by {names.judge(board.judge)}; {_better(board)}. Mean over "
        f"{count_of(len(board.languages), 'language')} ({', '.join(board.languages)}) and, within each, over prompts; "
        f"n: scored prompts of {len(tables.prompts)}."
    ]
    parts.append(
        "Dot: mean; line: 95 % bootstrap interval by prompt; band: one noise floor to either side, so that a system "
        "whose dot stands in another's band can't be told from it by this difference alone."
    )
    if any(line.overall.floor_kind in ("assumed", "stored") for line in lines if line.overall.floor95):
        parts.append("Hatched band: not measured in this study.")
    parts += floor_notes([line.overall for line in lines])
    unknown = [names.system(line.system) for line in lines if line.overall.floor95 is None]
    if unknown:
        parts.append(f"No floor is known for {', '.join(unknown)} (single takes of too few prompts).")
    exact = [names.system(line.system) for line in lines if line.overall.floor95 == 0]
    if exact:
        parts.append(f"{', '.join(exact)}: every take was the same, so the floor is 0.")
    parts += [f"{names.system(line.system)} is not ranked: {line.unranked}." for line in lines if line.rank is None]
    ranked = "Ranked by the mean over the prompts that all compared systems have scored."
    return " ".join([*parts, ranked] if sum(line.rank is not None for line in lines) > 1 else parts)
