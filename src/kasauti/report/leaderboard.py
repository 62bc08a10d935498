"""Boards to be shown: one per judge and metric, with the ranks of `kasauti.stats.leaderboard` and a cell per language.

Terminal, page and spreadsheet show the same boards. People are a reference and do not compete: recordings of humans are
listed below the machines, without a rank. Error rates are better when low, marks of a judge when high.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kasauti.records import AggregateRow, Role, Status, VerdictRow
from kasauti.report.loading import RunTables
from kasauti.report.summarising import references
from kasauti.report.verdicts import chosen_pairs
from kasauti.stats.leaderboard import leaderboard
from kasauti.stats.scores import METRICS


@dataclass(frozen=True)
class Line:
    """One system on a board.

    Attributes:
        rank: 1 is best, equal numbers share the mean of their places; None where the system is listed only.
        unranked: Why there is no rank; empty when there is one.
        overall: The row over languages (`macro`).
        cells: Language -> its row; a language of which the table has no row for this system is absent.
    """

    system: str
    role: Role
    rank: float | None
    unranked: str
    overall: AggregateRow
    cells: Mapping[str, AggregateRow]


@dataclass(frozen=True)
class Board:
    """One judge's view by one metric.

    Attributes:
        lines: In the order they are to be shown in.
        verdicts: Over languages, on neighbours in that order and on the first against each of the others; without
            those that do not compete.
    """

    judge: str
    metric: str
    languages: tuple[str, ...]
    lines: tuple[Line, ...]
    verdicts: tuple[VerdictRow, ...] = ()

    @property
    def is_rate(self) -> bool:
        """Whether the metric is an error rate: a fraction, the lower the better."""
        return self.metric in METRICS

    @property
    def with_floors(self) -> list[AggregateRow | VerdictRow]:
        """Every row of which a noise floor is shown."""
        return [*(line.overall for line in self.lines), *self.verdicts]


def boards(tables: RunTables) -> list[Board]:
    """All boards that hold a number, by judge in the order of the panel, headline metric first."""
    found = []
    for judge in tables.judges:
        rows = [row for row in tables.aggregates if row.judge == judge]
        scored = {row.metric for row in rows if row.mean is not None}
        names = [*METRICS, *dict.fromkeys(row.metric for row in rows if row.metric not in METRICS)]
        shown = [name for name in names if name in scored]
        if not shown:
            # A judge of which no answer could be scored still gets a board, so that this is seen.
            shown = [row.metric for row in rows[:1]]
        found += [_board(tables, judge, metric, [row for row in rows if row.metric == metric]) for metric in shown]
    return found


def headlines(all_boards: Iterable[Board]) -> list[Board]:
    """The first board of each judge; beside it the one by sound, where transcripts came in other scripts."""
    shown: list[Board] = []
    elsewhere: dict[str, bool] = {}
    for board in all_boards:
        if board.judge not in elsewhere:
            shown.append(board)
            cells = (cell for line in board.lines for cell in line.cells.values())
            elsewhere[board.judge] = any(cell.wrong_script_share for cell in cells)
        elif board.metric == "pcer" and elsewhere[board.judge]:
            shown.append(board)
    return shown


def status_counts(tables: RunTables) -> dict[tuple[str, str], Counter[Status]]:
    """(system, judge) -> how many rows ended how."""
    counts: dict[tuple[str, str], Counter[Status]] = {(s, j): Counter() for j in tables.judges for s in tables.systems}
    for row in tables.samples:
        counts[row.system, row.judge][row.status] += 1
    return {key: count for key, count in counts.items() if count}


def _board(tables: RunTables, judge: str, metric: str, rows: Sequence[AggregateRow]) -> Board:
    listed = references(tables.systems)
    cells: dict[str, dict[str, AggregateRow]] = {name: {} for name in tables.systems}
    for row in rows:
        if row.scope == "lang":
            cells[row.system][row.key] = row
    competing = [row for row in rows if row.system not in listed]
    lines = [
        Line(entry.system, "machine", entry.rank, entry.reason, entry.row, cells[entry.system])
        for entry in leaderboard(competing, metric, higher_is_better=metric not in METRICS)
    ]
    lines += [
        Line(row.system, tables.systems[row.system].role, None, listed[row.system], row, cells[row.system])
        for row in rows
        if row.system in listed and row.scope == "macro"
    ]
    present = {row.key for row in rows if row.scope == "lang"}
    verdicts = [v for v in tables.verdicts if (v.judge, v.metric, v.scope) == (judge, metric, "macro")]
    return Board(
        judge,
        metric,
        tuple(lang for lang in tables.languages if lang in present),
        tuple(lines),
        chosen_pairs(verdicts, [line.system for line in lines if line.role == "machine"]),
    )
