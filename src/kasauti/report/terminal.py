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
from kasauti.report.wording import count_of, floor_of, metric_name, share_of, value_of

_NAME_WIDTH = 20
_NARROW, _WIDE = 7, 12
"""Least width of a language's column, and the width at which words need no hyphen."""


def print_leaderboard(tables: RunTables, console: Console) -> None:
    """Prints who stands where, and what became of every row.

    Args:
        tables: One run, or several merged.
        console: Where to print; its width decides the layout.
    """
    for board in headlines(boards(tables)):
        console.print()
        _print_board(tables, board, console)
    _print_statuses(tables, console)


def _print_board(tables: RunTables, board: Board, console: Console) -> None:
    unit = "% (lower is better)" if board.is_rate else "(higher is better)"
    title = f"{metric_name(board.metric)}, {unit}, heard by {board.judge}, level {tables.scoring.level}"
    named = min(_NAME_WIDTH, max(len(_label(line)) for line in board.lines)) if board.lines else 0
    # Three numbers of width 6 stand between the name and the languages; every column takes one more for its gap.
    first = (console.width - named - 3 * 7 - 3) // (_NARROW + 1)
    later = (console.width - named - 3) // (_NARROW + 1)
    chunks = _chunks(board.languages, max(1, first), max(1, later))
    for number, languages in enumerate(chunks):
        spare = console.width - named - 3 - (0 if number else 3 * 7)
        width = max(_NARROW, min(_WIDE, spare // max(1, len(languages)) - 1))
        console.print(_table(board, languages, title if number == 0 else "", named, width, overall=number == 0))
    for note in _notes(board):
        console.print(Text(note, style="dim"), soft_wrap=False)


def _chunks(languages: Sequence[str], first: int, later: int) -> list[tuple[str, ...]]:
    rest = list(languages)
    chunks = [tuple(rest[:first])]
    for start in range(first, len(rest), later):
        chunks.append(tuple(rest[start : start + later]))
    return chunks


def _table(
    board: Board, languages: Sequence[str], title: str, named: int, width: int, *, overall: bool
) -> Table:
    table = Table(
        title=Text(title, style="bold") if title else None,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_edge=False,
    )
    table.add_column("system", width=named, overflow="fold")
    for heading in ("mean", "median", "floor") if overall else ():
        table.add_column(heading, width=6, justify="right")
    for lang in languages:
        table.add_column(lang, width=width, justify="right", overflow="fold")
    for line in board.lines:
        cells = [_cell(line.cells.get(lang), board, narrow=width < _WIDE - 1) for lang in languages]
        table.add_row(Text(_label(line), style="bold" if line.rank == 1 else ""), *_overall(line, board, overall), *cells)
    return table


def _label(line: Line) -> str:
    return f"{line.rank or '·'} {line.system}"


def _overall(line: Line, board: Board, shown: bool) -> list[Text]:
    if not shown:
        return []
    row = line.overall
    return [
        Text(value_of(row.mean if row else None, is_rate=board.is_rate), style="bold" if line.rank else ""),
        Text(value_of(row.median if row else None, is_rate=board.is_rate)),
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
    rows = [row for line in board.lines for row in (line.overall, *line.cells.values()) if row]
    notes = []
    if any(line.rank for line in board.lines):
        notes.append("Ranked by the mean over the prompts that all compared systems have scored.")
    notes += [f"· {line.system} is not ranked: {line.unranked}." for line in board.lines if line.unranked]
    if any(row.n_ok < row.n_total for row in rows):
        notes.append("n/m: only n of m rows have a score; the mean is over those.")
    if any(row.floor_kind == "measured" for row in rows):
        notes.append("floor: two runs of one system differ by more than this 5 % of the time.")
    if any(row.floor_kind == "assumed" for row in rows):
        notes.append("*: floor assumed, not measured here (one take of each prompt).")
    if rows and all(row.floor_kind == "none" for row in rows):
        notes.append("floor –: not known with one take of so few prompts; repeats=3 measures it.")
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
