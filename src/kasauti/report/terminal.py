"""The leaderboard on a terminal or in a log.

One table per judge by its headline metric: a row per system, a column per language. Columns that do not fit go into
further tables below with the same rows, so that nothing is cut at 80 columns. Without a terminal rich leaves colours
out. Names are printed as they are, never read as markup.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kasauti.records import AggregateRow, Status
from kasauti.report.leaderboard import Board, Line, boards, headlines, status_counts
from kasauti.report.loading import RunTables
from kasauti.report.verdicts import legend, print_verdicts, reasons
from kasauti.report.wording import count_of, floor_notes, floor_of, level_of, metric_name, share_of, value_of

_NAME_WIDTH = 20
_NARROW, _WIDE = 7, 12
"""Least width of a language's column, and the width that needs no more."""

_GAP = 1
"""Between columns."""

_NUMBERS = 3 * (6 + _GAP)
"""What mean, median and floor take."""


def print_leaderboard(tables: RunTables, console: Console) -> None:
    """Prints who stands where, and what became of every row.

    Args:
        tables: One run, or several merged.
        console: Where to print; its width decides the layout.
    """
    for board in headlines(boards(tables)):
        console.print()
        _print_board(tables, board, console)
        _print_board_verdicts(board, console)
    _print_statuses(tables, console)


def _print_board_verdicts(board: Board, console: Console) -> None:
    """What can be said of neighbours on the board, and of the first against the others."""
    if not board.verdicts:
        return
    title = f"Verdicts, {metric_name(board.metric)}: what the first of each pair is to the second"
    console.print()
    print_verdicts(board.verdicts, console, title, is_rate=board.is_rate, keys=False)
    for note in (*reasons(board.verdicts), *legend(board.verdicts)):
        console.print(Text(note, style="dim"))


def _print_board(tables: RunTables, board: Board, console: Console) -> None:
    unit = "% (lower is better)" if board.is_rate else "higher is better"
    title = f"{metric_name(board.metric)}, {unit}, heard by {board.judge}{level_of(board.metric, tables.scoring.level)}"
    named = min(_NAME_WIDTH, max(len(_label(line)) for line in board.lines)) if board.lines else 0
    least = max([_NARROW, *map(len, board.languages)])
    chunks = _chunks(board.languages, console.width - named, least)
    for number, languages in enumerate(chunks):
        if number:
            console.print()
        spare = console.width - named - (0 if number else _NUMBERS)
        width = max(least, min(_WIDE, spare // max(1, len(languages)) - _GAP))
        console.print(_table(board, languages, "" if number else title, named, width, overall=number == 0))
    console.print()
    for note in _notes(board):
        console.print(Text(note, style="dim"))


def _chunks(languages: Sequence[str], room: int, least: int) -> list[Sequence[str]]:
    """The languages of each table: as many as fit beside the overall numbers, then as many as fit without them."""
    first = max(1, (room - _NUMBERS) // (least + _GAP))
    later = max(1, room // (least + _GAP))
    return [languages[:first]] + [languages[at : at + later] for at in range(first, len(languages), later)]


def _table(board: Board, languages: Sequence[str], title: str, named: int, width: int, *, overall: bool) -> Table:
    table = Table(
        title=Text(title, style="bold") if title else None,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=0,
        show_edge=False,
    )
    table.add_column("system", width=named, overflow="fold")
    for heading in ("mean", "median", "floor") if overall else ():
        table.add_column(heading, width=6, justify="right")
    for lang in languages:
        table.add_column(lang, width=width, justify="right", overflow="fold")
    for line in board.lines:
        cells = [_cell(line.cells.get(lang), board, narrow=width < _WIDE - 1) for lang in languages]
        table.add_row(
            Text(_label(line), style="bold" if line.rank == 1 else ""), *_overall(line, board, overall), *cells
        )
    return table


def _label(line: Line) -> str:
    return f"{'·' if line.rank is None else f'{line.rank:g}'} {line.system}"


def _overall(line: Line, board: Board, shown: bool) -> list[Text]:
    if not shown:
        return []
    row = line.overall
    return [
        Text(value_of(row.mean, is_rate=board.is_rate), style="bold" if line.rank else ""),
        Text(value_of(row.median, is_rate=board.is_rate)),
        Text(floor_of(row, is_rate=board.is_rate), style="dim"),
    ]


def _cell(row: AggregateRow | None, board: Board, *, narrow: bool) -> Text:
    """One language of one system: the mean, and below it whatever keeps it from being the whole truth."""
    if row is None or row.status == "unsupported_language":
        return Text("unsup-\nported" if narrow else "unsupported", style="dim")
    lines = [Text(value_of(row.mean, is_rate=board.is_rate))]
    if row.n_ok < row.n_total:
        lines.append(Text(f"{row.n_ok}/{row.n_total}", style="dim"))
    if row.wrong_script_share:
        words = f"wrong script {share_of(row.wrong_script_share)}"
        lines.append(Text(words.replace("script ", "script\n").replace("wrong ", "wrong\n") if narrow else words))
    if row.status == "insufficient":
        lines.append(Text("insuf-\nficient" if narrow else "insufficient", style="yellow"))
    return Text("\n").join(lines)


def _notes(board: Board) -> list[str]:
    """What the marks in the table mean; only those that occur."""
    rows = [row for line in board.lines for row in (line.overall, *line.cells.values())]
    notes = []
    if any(line.rank for line in board.lines):
        notes.append("Ranked by the mean over the prompts that all compared systems have scored.")
    notes += [f"· {line.system} is not ranked: {line.unranked}." for line in board.lines if line.unranked]
    if any(row.n_ok < row.n_total for row in rows):
        notes.append("n/m: only n of m rows have a score; the mean is over those.")
    if any(row.floor_kind == "measured" for row in rows):
        notes.append("floor: two runs of one system differ by more than this 5 % of the time.")
    notes += floor_notes(board.with_floors)
    if rows and all(row.floor_kind == "none" for row in rows):
        notes.append(
            "floor –: not known with one take of so few prompts; "
            "several takes (repeats=3) measure it for a voice that varies."
        )
    return notes


def _print_statuses(tables: RunTables, console: Console) -> None:
    counts = status_counts(tables)
    several = len(tables.judges) > 1
    console.print()
    for (system, judge), count in counts.items():
        name = f"{system} × {judge}" if several else system
        told = " · ".join(f"{count[status]} {status}" for status in Status if count[status])
        line = Text(f"{name}: {count_of(count.total(), 'row')}: {told}")
        if set(count) - {Status.OK}:
            line.stylize("yellow", line.plain.rindex(": ") + 2)
        console.print(line)
