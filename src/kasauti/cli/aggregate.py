"""One leaderboard over several runs, on the terminal, as a page and as tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from kasauti.identity import RUN_ID_LENGTH, digest
from kasauti.paths import shown
from kasauti.records import AGGREGATE_COLUMNS, VERDICT_COLUMNS
from kasauti.report import load, merge, print_leaderboard, write_page, write_xlsx
from kasauti.report.figures import draw_beside
from kasauti.report.figures.beside import FOLDER
from kasauti.report.floor_history import with_noise
from kasauti.report.formats import FORMATTERS, csv_table
from kasauti.report.humans import floors_beside, print_floors
from kasauti.report.leaderboard import Board, boards, headlines
from kasauti.report.verdicts import HEADINGS, verdict_cells
from kasauti.report.wording import floor_of, interval_of, metric_name, value_of
from kasauti.store.files import write_text


def aggregate_runs(folders: Sequence[Path], console: Console) -> Path:
    """Prints one leaderboard over several runs and writes their common page, spreadsheet, tables and figures.

    Returns:
        The folder of these, beside the runs: `compare-<id>`.
    """
    unique = list(dict.fromkeys(folders))
    parts = [with_noise(load(folder)) for folder in unique]
    floors = floors_beside(parts)
    tables = merge(parts, floors)
    print_leaderboard(tables, console)
    print_floors(floors, console)
    target = unique[0].parent / f"compare-{digest(sorted(folder.name for folder in unique), RUN_ID_LENGTH)}"
    target.mkdir(parents=True, exist_ok=True)
    write_page(tables, target / "report.html")
    write_xlsx(tables, target / "leaderboard.xlsx")
    for name, columns, rows in (
        ("aggregate.csv", AGGREGATE_COLUMNS, tables.aggregates),
        ("verdicts.csv", VERDICT_COLUMNS, tables.verdicts),
    ):
        write_text(target / name, csv_table(columns, ([getattr(row, column) for column in columns] for row in rows)))
    lacking = draw_beside(parts, target)
    console.print(
        f"Figures:         {lacking or shown(target / FOLDER)}", highlight=False, markup=False, soft_wrap=True
    )
    return target


def formatted_runs(folders: Sequence[Path], form: str) -> str:
    """One leaderboard over several runs as text for another program; writes nothing.

    Args:
        folders: The runs.
        form: `csv`: every row of `aggregate.csv` over all of them. `md`, `latex`: for each judge the board of its
            headline metric, and the verdicts below it.
    """
    runs = [with_noise(load(folder)) for folder in dict.fromkeys(folders)]
    tables = merge(runs, floors_beside(runs))
    if form == "csv":
        rows = ([getattr(row, name) for name in AGGREGATE_COLUMNS] for row in tables.aggregates)
        return csv_table(AGGREGATE_COLUMNS, rows)
    write = FORMATTERS[form]
    parts = []
    for board in headlines(boards(tables)):
        parts.append(write(*_board_cells(board)))
        if board.verdicts:
            parts.append(write(HEADINGS, [verdict_cells(row, is_rate=board.is_rate) for row in board.verdicts]))
    return "\n".join(parts)


def _board_cells(board: Board) -> tuple[list[str], list[list[str]]]:
    """A board as text: heading, and a line for each system; marks and rates as the terminal shows them."""
    shown = f"{metric_name(board.metric)}{', %' if board.is_rate else ''} ({board.judge})"
    heading = ["system", "rank", shown, "95 % interval", "median", "floor"]
    lines = []
    for line in board.lines:
        row = line.overall
        rank = f"{line.rank:g}" if line.rank is not None else line.unranked
        overall = [value_of(row.mean, is_rate=board.is_rate), interval_of(row, is_rate=board.is_rate)]
        overall += [value_of(row.median, is_rate=board.is_rate), floor_of(row, is_rate=board.is_rate)]
        cells = [line.cells.get(lang) for lang in board.languages]
        by_lang = [value_of(cell.mean if cell else None, is_rate=board.is_rate) for cell in cells]
        lines.append([line.system, rank, *overall, *by_lang])
    return [*heading, *board.languages], lines
