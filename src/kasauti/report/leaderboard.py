"""Who stands where: one board per judge and metric, made of aggregate rows; terminal, page and spreadsheet show it.

Ranked are machines that speak every language of the run, by `mean_common`: the mean over the prompts that all compared
systems have scored. Whoever lacks a language, has too few scored rows, or is human is listed below without a rank.
Error rates are better when low, marks of a judge when high. Nothing is computed here that is not in the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kasauti.records import AggregateRow, Role, Status
from kasauti.report.loading import RunTables

ERROR_RATES = ("cer", "cer_nospace", "gcer", "wer", "pcer")
"""Metrics that are shown in per cent; the first one that a judge has is its headline."""


@dataclass(frozen=True)
class Line:
    """One system on a board.

    Attributes:
        rank: 1 is best, equal numbers share it; None where the system is listed only.
        unranked: Why there is no rank; empty when there is one.
        overall: The row over languages (`macro`); None where nothing could be scored.
        cells: Language -> its row; a language that the table lacks for this system is absent.
    """

    system: str
    role: Role
    rank: int | None
    unranked: str
    overall: AggregateRow | None
    cells: Mapping[str, AggregateRow]


@dataclass(frozen=True)
class Board:
    """One judge's view by one metric. Lines are in the order they are to be shown in."""

    judge: str
    metric: str
    languages: tuple[str, ...]
    lines: tuple[Line, ...]

    @property
    def is_rate(self) -> bool:
        """Whether the metric is an error rate: a fraction, the lower the better."""
        return self.metric in ERROR_RATES


def boards(tables: RunTables) -> list[Board]:
    """All boards, by judge in the order of the panel, headline metric first."""
    found = []
    for judge in tables.judges:
        rows = [row for row in tables.aggregates if row.judge == judge and row.level == tables.scoring.level]
        names = dict.fromkeys(row.metric for row in rows if row.mean is not None or row.metric in ERROR_RATES)
        ordered = [name for name in ERROR_RATES if name in names] + [name for name in names if name not in ERROR_RATES]
        shown = [name for name in ordered if any(row.metric == name and row.mean is not None for row in rows)]
        found += [_board(tables, judge, metric, rows) for metric in shown or ordered[:1]]
    return found


def headlines(all_boards: Iterable[Board]) -> list[Board]:
    """The first board of each judge."""
    first: dict[str, Board] = {}
    for board in all_boards:
        first.setdefault(board.judge, board)
    return list(first.values())


def status_counts(tables: RunTables) -> dict[tuple[str, str], Counter[Status]]:
    """(system, judge) -> how many rows ended how."""
    counts: dict[tuple[str, str], Counter[Status]] = {(s, j): Counter() for j in tables.judges for s in tables.systems}
    for row in tables.samples:
        counts[row.system, row.judge][row.status] += 1
    return {key: count for key, count in counts.items() if count}


def _board(tables: RunTables, judge: str, metric: str, rows: Sequence[AggregateRow]) -> Board:
    own = [row for row in rows if row.metric == metric]
    by_system: dict[str, dict[str, AggregateRow]] = {name: {} for name in tables.systems}
    overall: dict[str, AggregateRow] = {}
    for row in own:
        if row.scope == "lang":
            by_system[row.system][row.key] = row
        elif row.scope == "macro":
            overall[row.system] = row
    present = {lang for cells in by_system.values() for lang in cells}
    languages = tuple(lang for lang in tables.languages if lang in present)
    lines = [
        _line(name, tables.systems[name].role, overall.get(name), cells, languages)
        for name, cells in by_system.items()
        if cells
    ]
    return Board(judge, metric, languages, tuple(_ranked(lines, low_is_good=metric in ERROR_RATES)))


def _line(
    system: str, role: Role, overall: AggregateRow | None, cells: Mapping[str, AggregateRow], languages: Sequence[str]
) -> Line:
    lacking = [lang for lang in languages if lang not in cells or cells[lang].status == "unsupported_language"]
    thin = [lang for lang in languages if lang in cells and cells[lang].status in ("insufficient", "no_rows")]
    if role == "human":
        why = "human reference"
    elif overall is None or overall.mean is None:
        why = "nothing scored"
    elif lacking:
        why = f"{len(languages) - len(lacking)} of {len(languages)} languages"
    elif thin or overall.status != "ok":
        why = "too few scored rows" + (f" in {', '.join(thin)}" if thin else "")
    elif overall.mean_common is None:
        why = "no prompt in common"
    else:
        why = ""
    return Line(system, role, None, why, overall, cells)


def _ranked(lines: Sequence[Line], *, low_is_good: bool) -> list[Line]:
    """Ranked lines best first, then the others by their mean, each kind in a stable order."""

    def goodness(value: float | None) -> float:
        return float("inf") if value is None else value if low_is_good else -value

    def common(line: Line) -> float:
        return goodness(line.overall.mean_common if line.overall else None)

    running = sorted((line for line in lines if not line.unranked), key=common)
    values = [common(line) for line in running]
    ranked = [
        Line(line.system, line.role, values.index(value) + 1, "", line.overall, line.cells)
        for line, value in zip(running, values, strict=True)
    ]
    others = [line for line in lines if line.unranked]
    return ranked + sorted(others, key=lambda line: goodness(line.overall.mean if line.overall else None))
