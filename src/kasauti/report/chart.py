"""The leaderboard as a picture: one strip per system with its mean, interval and noise band, all on one axis.

Only geometry, in per cent of the width, so that a template can draw it at any size without scaling the text. The band
reaches one noise floor to either side of the mean: another system whose dot stands in it can't be told from this one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kasauti.records import AggregateRow
from kasauti.report.leaderboard import Board, Line
from kasauti.report.wording import floor_of, interval_of, value_of

_MOST_TICKS = 6


@dataclass(frozen=True)
class Span:
    """A stretch of the axis, in per cent of its width."""

    start: float
    width: float


@dataclass(frozen=True)
class Strip:
    """One system: where its mean stands, and the stretches of interval and noise band where they are known."""

    line: Line
    dot: float
    interval: Span | None
    band: Span | None
    band_assumed: bool
    told: str


@dataclass(frozen=True)
class Chart:
    """All strips of a board, and the ticks of their axis as (place, label)."""

    strips: tuple[Strip, ...]
    ticks: tuple[tuple[float, str], ...]


def chart(board: Board) -> Chart | None:
    """The picture of a board; None when nothing was scored."""
    scored = [(line, line.overall.mean) for line in board.lines if line.overall.mean is not None]
    if not scored:
        return None
    ticks = _ticks(*_range(board, [line.overall for line, _ in scored]))
    labels = [_tick_label(tick, ticks, board) for tick in ticks]
    axis = _Axis(ticks[0], ticks[-1])
    strips = tuple(_strip(board, line, mean, axis) for line, mean in scored)
    return Chart(strips, tuple(zip(map(axis.place, ticks), labels, strict=True)))


@dataclass(frozen=True)
class _Axis:
    low: float
    high: float

    def place(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(100 * min(1.0, max(0.0, share)), 3)

    def span(self, start: float | None, end: float | None) -> Span | None:
        if start is None or end is None:
            return None
        return Span(self.place(start), round(self.place(end) - self.place(start), 3))


def _strip(board: Board, line: Line, mean: float, axis: _Axis) -> Strip:
    row = line.overall
    band = axis.span(mean - row.floor95, mean + row.floor95) if row.floor95 else None
    unit = " per cent" if board.is_rate else ""
    told = f"{line.system}: mean {value_of(mean, is_rate=board.is_rate)}{unit}"
    if row.ci95_low is not None:
        told += f", 95 per cent interval {interval_of(row, is_rate=board.is_rate)}"
    if row.floor95 is not None:
        told += f", noise floor {floor_of(row, is_rate=board.is_rate)}"
    interval = axis.span(row.ci95_low, row.ci95_high)
    return Strip(line, axis.place(mean), interval, band, row.floor_kind == "assumed", told)


def _range(board: Board, rows: Sequence[AggregateRow]) -> tuple[float, float]:
    """What the axis must hold; error rates start at zero."""
    values = []
    for row in rows:
        mean, reach = row.mean or 0.0, row.floor95 or 0.0
        values += [mean - reach, mean + reach]
        values += [value for value in (row.ci95_low, row.ci95_high) if value is not None]
    low = 0.0 if board.is_rate else min(values)
    return low, max(*values, low + (0.01 if board.is_rate else 0.1))


def _ticks(low: float, high: float) -> list[float]:
    """Round values from at or below `low` to at or above `high`."""
    rough = (high - low) / _MOST_TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step for step in (power, 2 * power, 5 * power, 10 * power) if step >= rough)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, last + 1)]


def _tick_label(value: float, ticks: Sequence[float], board: Board) -> str:
    scale = 100 if board.is_rate else 1
    step = (ticks[1] - ticks[0]) * scale
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return f"{value * scale:.{digits}f}"
