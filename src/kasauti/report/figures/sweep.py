"""A swept option: the metric against its values, and which steps between neighbours exceed the noise floor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from kasauti.records import AggregateRow, VerdictRow
from kasauti.report.comparing import compare_runs
from kasauti.report.figures.plate import Plate, finished
from kasauti.report.figures.style import (
    BAND,
    BLACK,
    MARKERS,
    SERIES,
    SINGLE_MM,
    SMALL_PT,
    FigureError,
    bare,
    new_figure,
    paper,
)
from kasauti.report.loading import RunTables
from kasauti.report.names import Names
from kasauti.report.studies import Study
from kasauti.report.wording import METRIC_NAMES, metric_name, value_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Options = tuple[tuple[str, Any], ...]
"""The other options that differ between the runs of a study: what tells one curve of a system from another."""


_MOST_LABELS = 9
"""So many labels of values fit the axis side by side."""


@dataclass(frozen=True)
class Point:
    """One run: the value of the swept option, and what came out.

    Attributes:
        row: The line over all languages.
        step: The verdict on this run against the one at the value before; None for the first.
    """

    value: Any
    row: AggregateRow
    run: RunTables
    step: VerdictRow | None = None

    @property
    def beyond_noise(self) -> bool:
        """Whether the step to this value is more than noise."""
        return self.step is not None and self.step.verdict in ("better", "worse")


@dataclass(frozen=True)
class Curve:
    """One system by one judge along the option."""

    system: str
    judge: str
    others: Options
    points: tuple[Point, ...]


def swept_options(study: Study) -> dict[str, list[Any]]:
    """Option of a system -> its values over the runs; those that differ, the one with the most values first.

    The seed is no option: it moves every draw and no mean.
    """
    found: dict[str, dict[str, Any]] = {}
    for run in study.runs:
        for system in run.systems:
            for name, value in _options(run, system).items():
                found.setdefault(name, {}).setdefault(repr(value), value)
    changing = {name: list(values.values()) for name, values in found.items() if len(values) > 1}
    return dict(sorted(changing.items(), key=lambda item: -len(item[1])))


def curves(study: Study, metric: str = "cer", option: str | None = None) -> tuple[str, list[Curve]]:
    """The curves of a sweep.

    Args:
        study: Its runs differ in an option of a system.
        metric: One of the metrics, or a judge's mark.
        option: Along which; None = the one with the most values.

    Returns:
        The option and the curves, each along ascending values.

    Raises:
        FigureError: nothing is swept, or not this option.
    """
    options = swept_options(study)
    if not options or (option is not None and option not in options):
        raise FigureError(
            f"study {study.name}: {option or 'no option of a system'} has several values over its {len(study.runs)} "
            f"runs ({', '.join(options) or 'none differs'}); a sweep is made with -m, decoding.temperature=0.6,0.8"
        )
    along = option or next(iter(options))
    by_curve: dict[tuple[str, str, Options], dict[Any, Point]] = {}
    for run in study.runs:
        for row in run.aggregates:
            own = _options(run, row.system)
            if (row.scope, row.metric) == ("macro", metric) and row.mean is not None and along in own:
                others = tuple((name, own[name]) for name in options if name != along and name in own)
                by_curve.setdefault((row.system, row.judge, others), {})[own[along]] = Point(own[along], row, run)
    made = [Curve(*key, tuple(_stepped(_ascending(points), metric))) for key, points in by_curve.items()]
    return along, [curve for curve in made if len(curve.points) > 1]


def _options(run: RunTables, system: str) -> Mapping[str, Any]:
    facts = run.systems[system]
    own = {**facts.settings, **facts.decoding}
    return {name: value for name, value in own.items() if name != "seed" and not isinstance(value, (dict, list))}


def _ascending(points: Mapping[Any, Point]) -> list[Point]:
    numbers = all(isinstance(value, int | float) for value in points)
    return [points[value] for value in sorted(points, key=(lambda value: value) if numbers else str)]


def _stepped(points: Sequence[Point], metric: str) -> Iterator[Point]:
    """The points, each with the verdict against the one before."""
    yield from points[:1]
    for before, here in pairwise(points):
        system = here.row.system
        found = compare_runs(here.run, before.run, [(system, system)], metric)
        steps = (step for step in found if (step.judge, step.scope) == (here.row.judge, "macro"))
        yield replace(here, step=next(steps, None))


def sweep_figure(study: Study, metric: str, names: Names, option: str | None = None) -> Plate:
    """Draws every curve with its intervals and floors; a step that exceeds the floor is a full line, another is dotted.

    Args:
        study: Its runs differ in an option of a system.
        metric: One of the metrics, or a judge's mark.
        names: How systems and judges are called.
        option: Along which; None = the one with the most values.

    Raises:
        FigureError: nothing is swept.
    """
    along, found = curves(study, metric, option)
    if not found:
        raise FigureError(
            f"study {study.name}: no system has a number of {metric_name(metric)} at two values of {along}"
        )
    values = sorted({point.value for curve in found for point in curve.points}, key=_order)
    places = _places(values)
    scale = 100 if metric in METRIC_NAMES else 1
    judges = list(dict.fromkeys(curve.judge for curve in found))
    with paper():
        figure = new_figure(min(174.0, SINGLE_MM * len(judges)), 66)
        grid = figure.subplots(1, len(judges), sharey=True, squeeze=False)
        for axes, judge in zip(grid.flat, judges, strict=True):
            mine = [curve for curve in found if curve.judge == judge]
            for number, curve in enumerate(mine):
                _draw(axes, curve, number, len(mine), places, scale, names)
            _frame(axes, places, along)
            if len(judges) > 1:
                axes.set_title(f"heard by {names.judge(judge)}", loc="left")
            if len(mine) > 1:
                axes.legend(fontsize=SMALL_PT)
        percent = ", %" if metric in METRIC_NAMES else ""
        if metric in METRIC_NAMES:
            grid[0, 0].set_ylim(bottom=0)
        grid[0, 0].set_ylabel(f"{metric_name(metric)}{percent}")
        _legend(figure, any(point.row.floor95 for curve in found for point in curve.points))
        signatures = [point.row.signature for curve in found for point in curve.points]
        caption = _caption(along, found, metric, names)
        if all(isinstance(value, int | float) for value in values) and values != list(places.values()):
            caption += " The values stand in equal steps."
        return finished(f"sweep_{along}_{metric}", figure, caption, signatures)


def _order(value: Any) -> Any:
    return (0, value) if isinstance(value, int | float) else (1, str(value))


def _places(values: Sequence[Any]) -> dict[Any, float]:
    """Value -> where it stands: numbers by their size, unless two are too close for their labels; all else in steps."""
    if all(isinstance(value, int | float) for value in values):
        closest = min(after - before for before, after in pairwise(values))
        if closest >= (values[-1] - values[0]) / _MOST_LABELS:
            return {value: float(value) for value in values}
    return {value: float(place) for place, value in enumerate(values)}


def _frame(axes: Axes, places: Mapping[Any, float], along: str) -> None:
    axes.set_xticks(list(places.values()), [f"{value}" for value in places])
    axes.set_xlabel(along.replace("_", " "))
    bare(axes, keep_left=True, grid="y")
    axes.margins(x=0.08)


def _draw(axes: Axes, curve: Curve, number: int, count: int, at: Mapping[Any, float], scale: int, names: Names) -> None:
    width = (max(at.values()) - min(at.values())) / 60
    shift = (number - (count - 1) / 2) * width * 1.5
    color, marker = SERIES[number % len(SERIES)], MARKERS[number % len(MARKERS)]
    places = [shift + at[point.value] for point in curve.points]
    means = [scale * (point.row.mean or 0.0) for point in curve.points]
    for place, mean, point in zip(places, means, curve.points, strict=True):
        row = point.row
        if row.floor95:
            reach = scale * row.floor95
            hatch = None if row.floor_kind == "measured" else "////"
            axes.bar(place, 2 * reach, 2.4 * width, mean - reach, color=BAND, hatch=hatch, ec="white", lw=0, zorder=1)
        if row.ci95_low is not None and row.ci95_high is not None:
            axes.vlines(place, scale * row.ci95_low, scale * row.ci95_high, color=color, lw=1, zorder=2)
    for (left, right), (low, high), point in zip(pairwise(places), pairwise(means), curve.points[1:], strict=True):
        style = "-" if point.beyond_noise else ":"
        axes.plot([left, right], [low, high], color=color, lw=1.6 if style == "-" else 1, ls=style, zorder=3)
    told = [names.system(curve.system), *(f"{name} {value}" for name, value in curve.others)]
    axes.plot(places, means, ls="", marker=marker, ms=5, color=color, zorder=4, label=", ".join(told))


def _legend(figure: Any, floors: bool) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Line2D([], [], color=BLACK, lw=1.6, label="step beyond noise"),
        Line2D([], [], color=BLACK, lw=1, ls=":", label="step within noise"),
        Line2D([], [], color=BLACK, marker="|", ms=8, ls="", label="95 % interval"),
    ]
    if floors:
        handles.append(Patch(color=BAND, label="± noise floor"))
    figure.legend(handles=handles, loc="outside upper left", ncols=2, handletextpad=0.5, columnspacing=1.2)


def _caption(along: str, found: Sequence[Curve], metric: str, names: Names) -> str:
    is_rate = metric in METRIC_NAMES
    better = "lower" if is_rate else "higher"
    rows = [point.row for curve in found for point in curve.points]
    counts = sorted({row.n_prompts for row in rows})
    n = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    parts = [
        f"{metric_name(metric)} ({better} is better) against {along.replace('_', ' ')}, n = {n} prompts at each value. "
        "Line at a mark: 95 % bootstrap interval by prompt; grey: one noise floor to either side. A step between "
        "neighbours is beyond noise where the difference exceeds the floor of the pair and its paired interval leaves "
        "0 out."
    ]
    for curve in found:
        who = f"{names.system(curve.system)} by {names.judge(curve.judge)}"
        who += "".join(f", {name} {value}" for name, value in curve.others)
        steps = "; ".join(_told(a, b, is_rate=is_rate) for a, b in pairwise(curve.points))
        parts.append(f"{who}: {steps}.")
    return " ".join(parts)


def _told(before: Point, here: Point, *, is_rate: bool) -> str:
    """One step in words: `0.6 to 0.8: +1.2, beyond the floor of 0.9`."""
    step = here.step
    if step is None or step.difference is None:
        return f"{before.value} to {here.value}: not compared"
    told = f"{before.value} to {here.value}: {100 * step.difference if is_rate else step.difference:+.1f}"
    if step.floor95 is None:
        return f"{told}, {step.verdict.replace('_', ' ')}, floor not known"
    floor = value_of(step.floor95, is_rate=is_rate)
    if abs(step.difference) <= step.floor95:
        return f"{told}, within the floor of {floor}"
    return f"{told}, beyond the floor of {floor}" + ("" if here.beyond_noise else ", but its interval covers 0")
