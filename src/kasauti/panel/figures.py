"""Figures of a study as geometry: strips on one axis, in per cent of its width, for a template to draw at any size.

A strip holds a dot with an interval, a bar from zero, or parts of a whole. Colour never says anything alone: numbers
stand beside every strip.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kasauti.panel.cases import SCALE
from kasauti.panel.findings import p_of
from kasauti.panel.judge_sheets import letters
from kasauti.panel.sheet import shown
from kasauti.panel.study import ALL, Study
from kasauti.report.chart import Span
from kasauti.stats.bootstrap import Interval

_LEAST_LABELLED = 6.0
"""A part of a whole narrower than this, in per cent, has no room for its number."""


@dataclass(frozen=True)
class Part:
    """One part of a whole: its stretch, its shade (1 to 5), and its number where there is room."""

    span: Span
    shade: int
    text: str


@dataclass(frozen=True)
class Strip:
    """One line of a figure. `told` says all of it in words; `marked` sets it apart."""

    label: str
    value: str
    told: str
    dot: float | None = None
    interval: Span | None = None
    bar: Span | None = None
    parts: tuple[Part, ...] = ()
    marked: bool = False


@dataclass(frozen=True)
class Figure:
    """Groups of strips on one axis: (title, strips); ticks as (place, label); `zero` is where the line of 0 stands."""

    caption: str
    groups: tuple[tuple[str, tuple[Strip, ...]], ...]
    ticks: tuple[tuple[float, str], ...]
    zero: float | None = None


@dataclass(frozen=True)
class _Axis:
    low: float
    high: float
    step: float

    @classmethod
    def around(cls, values: Iterable[float | None], step: float) -> _Axis:
        """Whole steps that hold all values and 0."""
        known = [0.0, *(value for value in values if value is not None)]
        low, high = (step * round(end / step) for end in (min(known), max(known)))
        low = low if low <= min(known) else low - step
        high = high if high >= max(known) else high + step
        return cls(low, max(high, low + step), step)

    def place(self, value: float) -> float:
        return round(100 * (value - self.low) / (self.high - self.low), 3)

    def span(self, start: float | None, end: float | None) -> Span | None:
        if start is None or end is None:
            return None
        return Span(self.place(start), round(self.place(end) - self.place(start), 3))

    def ticks(self) -> tuple[tuple[float, str], ...]:
        count = round((self.high - self.low) / self.step)
        values = [self.low + number * self.step for number in range(count + 1)]
        return tuple((self.place(value), shown(value, 0 if self.step >= 1 else 1)) for value in values)


_SCORES = _Axis(SCALE[0], SCALE[-1], 1)


def scores(study: Study) -> Figure:
    """Scores over all deliveries."""
    return Figure("Score, 1 to 5, higher is better", (("", _score_strips(study, ALL)),), _SCORES.ticks())


def scores_by_delivery(study: Study) -> Figure:
    """Scores delivery by delivery, systems in the overall order."""
    single = [(names[0], scope) for scope, names in study.subject.scopes.items() if len(names) == 1]
    groups = tuple((delivery, _score_strips(study, scope)) for delivery, scope in single)
    return Figure("Score in each delivery, 1 to 5", groups, _SCORES.ticks())


def neighbour_gaps(study: Study) -> Figure:
    """Differences between neighbours over all deliveries."""
    found = [gap for gap in study.scopes[ALL].gaps if gap.neighbours]
    names = study.subject.system_names
    axis = _Axis.around((end for gap in found for end in (gap.difference.low, gap.difference.high)), 0.5)
    strips = tuple(
        _dotted(axis, f"{names[gap.upper]} above {names[gap.lower]}", gap.difference, marked=not gap.separated)
        for gap in found
    )
    return Figure("Difference of neighbours in score", (("", strips),), axis.ticks(), axis.place(0))


def label_effects(study: Study) -> Figure:
    """What each label adds to a score, judge by judge."""
    axis = _Axis.around((value for effect in study.positions["score"] for value in effect.effects), 0.5)
    groups = []
    for effect in study.positions["score"]:
        strips = []
        for letter, value in zip(letters(study), effect.effects, strict=True):
            told = f"{effect.judge}, label {letter}: {shown(value, 2)}"
            strips.append(Strip(letter, shown(value, 2), told, bar=axis.span(min(value, 0.0), max(value, 0.0))))
        groups.append((f"{effect.judge} (p {p_of(effect)})", tuple(strips)))
    return Figure("What a label adds to a score", tuple(groups), axis.ticks(), axis.place(0))


def alphas(study: Study) -> Figure:
    """Krippendorff's alpha of all judges, by delivery, and of pairs of judges."""
    axis = _Axis.around((end for *_, found in study.agreements for end in (found.alpha.low, 1.0)), 0.2)
    panel = study.common.judges
    titles = {True: "all judges", False: "pairs of judges, all deliveries"}
    groups: dict[str, list[Strip]] = {}
    for scope, judges, found in study.agreements:
        label = ("all deliveries" if scope == ALL else scope) if judges == panel else " + ".join(judges)
        groups.setdefault(titles[judges == panel], []).append(_dotted(axis, label, found.alpha))
    paired = tuple((title, tuple(strips)) for title, strips in groups.items())
    return Figure("Krippendorff's alpha, ordinal", paired, axis.ticks(), axis.place(0))


def distributions(study: Study) -> Figure:
    """Shares of the scores that each judge gave each system."""
    axis = _Axis(0, 100, 25)
    groups = []
    for j, judge in enumerate(study.common.judges):
        strips = []
        for s in study.scopes[ALL].plain.order:
            counts = study.counts[j, s].tolist()
            mean = sum(value * count for value, count in zip(SCALE, counts, strict=True)) / sum(counts)
            name = _name(study, study.common.systems[s])
            given = ", ".join(f"{count} × {value}" for value, count in zip(SCALE, counts, strict=True))
            strips.append(Strip(name, shown(mean, 2), f"{judge}, {name}: {given}", parts=_parts(counts)))
        groups.append((judge, tuple(strips)))
    return Figure("Share of each score in per cent; right: the mean", tuple(groups), axis.ticks())


def leanings(study: Study) -> Figure:
    """How much further above its case's mean a judge puts a system than the other judges do."""
    axis = _Axis.around((end for each in study.leanings for end in (each.score.low, each.score.high)), 1.0)
    groups: dict[str, list[Strip]] = {}
    for each in study.leanings:
        strip = _dotted(axis, _name(study, each.system), each.score, marked=each.own_family)
        groups.setdefault(each.judge, []).append(strip)
    return Figure(
        "Score above the case's mean, less the same by the other judges",
        tuple((judge, tuple(strips)) for judge, strips in groups.items()),
        axis.ticks(),
        axis.place(0),
    )


def strengths(study: Study) -> Figure | None:
    """Bradley-Terry strengths."""
    if study.bradley_terry is None:
        return None
    found = study.bradley_terry.strengths
    axis = _Axis.around((end for each in found for end in (each.strength.low, each.strength.high)), 0.5)
    strips = tuple(_dotted(axis, _name(study, each.system), each.strength) for each in found)
    return Figure("Log strength", (("", strips),), axis.ticks(), axis.place(0))


def _score_strips(study: Study, scope: str) -> tuple[Strip, ...]:
    by_system = {standing.system: standing for standing in study.scopes[scope].standings}
    order = [standing.system for standing in study.scopes[ALL].standings]
    return tuple(_dotted(_SCORES, _name(study, system), by_system[system].score) for system in order)


def _dotted(axis: _Axis, label: str, value: Interval, *, marked: bool = False) -> Strip:
    return Strip(
        label=label,
        value=shown(value.estimate, 2),
        told=f"{label}: {shown(value, 2)}",
        dot=None if value.estimate is None else axis.place(value.estimate),
        interval=axis.span(value.low, value.high),
        marked=marked,
    )


def _parts(counts: Sequence[int]) -> tuple[Part, ...]:
    parts, start, total = [], 0.0, sum(counts)
    for shade, count in enumerate(counts, start=1):
        width = round(100 * count / total, 3)
        if count:
            parts.append(Part(Span(round(start, 3), width), shade, str(count) if width >= _LEAST_LABELLED else ""))
        start += width
    return tuple(parts)


def _name(study: Study, system: str) -> str:
    return study.subject.system_names[system]
