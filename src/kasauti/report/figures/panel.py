"""The expression panel: its two published figures (overall, by delivery), and what they do not show.

Drawn from the tables that `+experiment=indicemo_beyond` writes. Scores are 1 to 5, higher is better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kasauti.report.figures.plate import Plate, finished
from kasauti.report.figures.style import (
    BLACK,
    BLUE,
    DOUBLE_MM,
    INK,
    MARKERS,
    SERIES,
    SMALL_PT,
    FigureError,
    bare,
    new_figure,
    paper,
)
from kasauti.report.names import Names
from kasauti.report.studies import PanelRow, Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ALL = "all_deliveries"
_GROUPS = {ALL, "emotion_only"}
_SCALE = (1, 5)


def overall_figure(study: Study, names: Names) -> Plate:
    """Scores over all deliveries with the places that each system could have: the first published figure."""
    rows = [row for row in _table(study, "standings") if row["scope"] == ALL]
    with paper():
        figure = new_figure(DOUBLE_MM * 0.75, 20 + 6 * len(rows))
        axes = figure.subplots()
        for place, row in enumerate(rows):
            _dot(axes, place, row, "score", BLUE)
            _right(axes, place, f"{_interval(row, 'score')}   {_places(row)}")
        axes.set_yticks(range(len(rows)), [names.system(_text(row, "system")) for row in rows])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlim(*_SCALE)
        axes.set_xlabel("expression score, 1 to 5 (higher is better)")
        bare(axes)
        n = _number(rows[0], "n_tasks")
        caption = (
            f"Score over all deliveries, n = {n:g} common tasks, judged by {_judges(study, names)}: median over "
            "judges, mean over the tasks of a delivery, mean over deliveries. Line: 95 % bootstrap interval by task; "
            "right: score, interval, and the places that it leaves open."
        )
        return finished("panel_overall", figure, caption, _signatures(rows))


def delivery_figure(study: Study, names: Names) -> Plate:
    """Scores in each delivery: the second published figure."""
    rows = [row for row in _table(study, "standings") if row["scope"] not in _GROUPS]
    deliveries = list(dict.fromkeys(_text(row, "scope") for row in rows))
    systems = list(dict.fromkeys(_text(row, "system") for row in _table(study, "standings") if row["scope"] == ALL))
    counts = {_text(row, "scope"): _number(row, "n_tasks") for row in rows}
    by_place = {(_text(row, "scope"), _text(row, "system")): row for row in rows}
    step = 0.8 / len(systems)
    with paper():
        figure = new_figure(DOUBLE_MM, 72)
        axes = figure.subplots()
        for number, system in enumerate(systems):
            shift = (number - (len(systems) - 1) / 2) * step
            color, marker = SERIES[number % len(SERIES)], MARKERS[number % len(MARKERS)]
            found = [(place, by_place[delivery, system]) for place, delivery in enumerate(deliveries)]
            for place, row in found:
                low, high = _number(row, "score_low"), _number(row, "score_high")
                axes.vlines(place + shift, low, high, color=color, lw=1.2)
            places = [place + shift for place, _ in found]
            scores = [_number(row, "score") for _, row in found]
            axes.plot(places, scores, ls="", marker=marker, ms=4.5, color=color, label=names.system(system))
        axes.set_xticks(range(len(deliveries)), [f"{name.capitalize()}\nn = {counts[name]:g}" for name in deliveries])
        axes.set_ylim(_SCALE[0] - 0.05, _SCALE[1] + 0.05)
        axes.set_ylabel("expression score, 1 to 5")
        bare(axes, keep_left=True, grid="y")
        axes.tick_params(axis="x", length=0)
        figure.legend(*axes.get_legend_handles_labels(), loc="outside upper left", ncols=3, handletextpad=0.2)
        caption = (
            f"Score in each delivery (n tasks), judged by {_judges(study, names)}: median over judges, mean over "
            "tasks; systems from left to right in the order over all deliveries. Line: 95 % bootstrap interval by task."
        )
        return finished("panel_by_delivery", figure, caption, _signatures(rows))


def neighbours_figure(study: Study, names: Names) -> Plate:
    """Differences between neighbours; hollow where the interval covers 0."""
    rows = [row for row in _table(study, "gaps") if row["scope"] == ALL and row["neighbours"] == "true"]
    standing = next(row for row in _table(study, "standings") if row["scope"] == ALL)
    with paper():
        figure = new_figure(DOUBLE_MM, 18 + 8 * len(rows))
        axes = figure.subplots()
        for place, row in enumerate(rows):
            apart = row["separated"] == "true"
            _dot(axes, place, row, "difference", BLUE, filled=apart)
            _right(axes, place, f"{_interval(row, 'difference')}   {'told apart' if apart else 'not told apart'}")
        labels = [f"{names.system(_text(row, 'upper'))}\nabove {names.system(_text(row, 'lower'))}" for row in rows]
        axes.set_yticks(range(len(rows)), labels)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.axvline(0, color=BLACK, lw=0.8)
        axes.set_xlabel("difference in score")
        bare(axes)
        caption = (
            f"Neighbours over all deliveries: difference in score, paired by task, "
            f"n = {_number(standing, 'n_tasks'):g} tasks, with its 95 % bootstrap interval. Hollow: "
            "the interval covers 0, so the two are not told apart."
        )
        return finished("panel_neighbours", figure, caption, _signatures(rows))


def labels_figure(study: Study, names: Names) -> Plate:
    """What each blind label adds to a score, judge by judge."""
    rows = [row for row in _table(study, "positions") if row["on"] == "score"]
    letters = [key.removeprefix("effect_") for key in rows[0] if key.startswith("effect_")]
    with paper():
        figure = new_figure(DOUBLE_MM, 54)
        grid = figure.subplots(1, len(rows), sharey=True, squeeze=False)
        for axes, row in zip(grid.flat, rows, strict=True):
            values = [_number(row, f"effect_{letter}") for letter in letters]
            axes.bar(range(len(letters)), values, width=0.7, color=BLUE)
            axes.axhline(0, color=BLACK, lw=0.8)
            for place, value in enumerate(values):
                up = value >= 0
                axes.annotate(
                    f"{value:+.2f}".replace("-", "−"),
                    (place, value),
                    (0, 2 if up else -2),
                    textcoords="offset points",
                    ha="center",
                    va="bottom" if up else "top",
                    fontsize=SMALL_PT,
                )
            axes.set_xticks(range(len(letters)), letters)
            axes.set_title(f"{names.judge(_text(row, 'judge'))}\np {_p_of(row)}, n = {row['n_cases']}", loc="left")
            bare(axes, keep_left=True, grid="y")
            axes.margins(y=0.16)
        grid[0, 0].set_ylabel("added to the score")
        grid[0, len(rows) // 2].set_xlabel("blind label of the clip")
        caption = (
            "What a blind label adds to a score, beside system and delivery, judge by judge (n cases). p: share of "
            "random deals of the labels that spread the scores as much; a judge that heard only the clips would show "
            "no effect."
        )
        return finished("panel_labels", figure, caption, _signatures(rows))


def agreement_figure(study: Study, names: Names) -> Plate:
    """Krippendorff's alpha of all judges, by delivery, and of pairs of judges."""
    rows = _table(study, "agreement")
    panel = max((_text(row, "judges") for row in rows), key=len)
    labels = [_agreement_label(row, panel, names) for row in rows]
    with paper():
        figure = new_figure(DOUBLE_MM * 0.85, 16 + 5 * len(rows))
        axes = figure.subplots()
        for place, row in enumerate(rows):
            _dot(axes, place, row, "alpha", BLUE)
            _right(axes, place, f"{_interval(row, 'alpha')}   n = {row['n_units']}")
        axes.set_yticks(range(len(rows)), labels)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlim(min(0.0, *(_number(row, "alpha_low") for row in rows)), 1)
        axes.set_xlabel("Krippendorff's alpha, ordinal")
        bare(axes)
        caption = (
            f"Agreement of the judges {_judges(study, names)} in scores: Krippendorff's alpha for ordinal data (1 is "
            "agreement, 0 is chance), n clips, with its 95 % bootstrap interval; below, pairs of judges over all "
            "deliveries."
        )
        return finished("panel_agreement", figure, caption, _signatures(rows))


PANEL_FIGURES: tuple[Callable[[Study, Names], Plate], ...] = (
    overall_figure,
    delivery_figure,
    neighbours_figure,
    labels_figure,
    agreement_figure,
)


def _table(study: Study, name: str) -> Sequence[PanelRow]:
    rows = study.panel.get(name)
    if not rows:
        raise FigureError(
            f"study {study.name} has no table {name}.tsv with rows; python run.py +experiment=indicemo_beyond writes it"
        )
    return rows


def _dot(axes: Axes, place: float, row: PanelRow, key: str, color: str, *, filled: bool = True) -> None:
    axes.plot([_number(row, f"{key}_low"), _number(row, f"{key}_high")], [place, place], color=color, lw=1.4)
    axes.plot([_number(row, key)], [place], marker="o", ms=5, color=color, mfc=color if filled else "white")


def _right(axes: Axes, place: float, text: str) -> None:
    where: Any = ("axes fraction", "data")
    axes.annotate(text, (1.01, place), xycoords=where, va="center", fontsize=SMALL_PT, color=INK, annotation_clip=False)


def _agreement_label(row: PanelRow, panel: str, names: Names) -> str:
    judges, scope = _text(row, "judges"), _text(row, "scope")
    if judges != panel:
        return names.judge(judges)
    return "all judges" if scope == ALL else f"all judges, {scope.lower()}"


def _judges(study: Study, names: Names) -> str:
    found = dict.fromkeys(_text(row, "judge") for row in study.panel.get("positions", ()))
    return ", ".join(map(names.judge, found)) or "the panel"


def _interval(row: PanelRow, key: str) -> str:
    value, low, high = (_number(row, name) for name in (key, f"{key}_low", f"{key}_high"))
    return f"{value:.2f} [{low:.2f}, {high:.2f}]".replace("-", "−")


def _places(row: PanelRow) -> str:
    low, high = _number(row, "place_low"), _number(row, "place_high")
    return f"place {low:g}" if low == high else f"place {low:g}–{high:g}"


def _p_of(row: PanelRow) -> str:
    value = _number(row, "p_value")
    return f"= {value:.2f}" if value >= 0.01 else f"= {value:.1g}"


def _text(row: PanelRow, key: str) -> str:
    value = row.get(key)
    if value is None:
        raise FigureError(f"a row of the panel's tables has no {key}")
    return value


def _number(row: PanelRow, key: str) -> float:
    try:
        return float(_text(row, key))
    except ValueError as error:
        raise FigureError(f"a row of the panel's tables has {key}={row[key]!r}, which is no number") from error


def _signatures(rows: Iterable[Mapping[str, str | None]]) -> list[str]:
    return [row["signature"] or "" for row in rows]
