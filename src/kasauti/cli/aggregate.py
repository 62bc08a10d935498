"""One leaderboard over several runs: at the end of a sweep, and for `python -m kasauti aggregate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from kasauti.errors import ExitCode
from kasauti.identity import RUN_ID_LENGTH, digest
from kasauti.paths import shown
from kasauti.pipeline.products import PRODUCTS
from kasauti.records import AGGREGATE_COLUMNS
from kasauti.report import load, merge, print_leaderboard, write_page, write_xlsx
from kasauti.report.floor_history import with_noise
from kasauti.report.formats import FORMATTERS, csv_table
from kasauti.report.humans import floors_beside, print_floors
from kasauti.report.leaderboard import Board, boards, headlines
from kasauti.report.verdicts import HEADINGS, verdict_cells
from kasauti.report.wording import floor_of, interval_of, metric_name, value_of


def aggregate_runs(folders: Sequence[Path], console: Console) -> Path:
    """Prints one leaderboard over several runs and writes their common page and spreadsheet.

    Returns:
        The folder of both, beside the runs: `compare-<id>`.
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


def show_sweep(records: Sequence[Mapping[str, Any]], console: Console) -> None:
    """The end of a sweep: the leaderboard over the jobs that have tables, and the names of those that have none."""
    done = [record for record in records if "folder" in record and _has_tables(Path(record["folder"]))]
    # A study that recomputes something has said what it found, and has no tables of a run.
    studies = [record for record in records if "folder" not in record and "error" not in record]
    lacking = [record for record in records if record not in done and record not in studies]
    console.rule(f"sweep: {len(done) + len(studies)} of {len(records)} jobs have results", align="left")
    if done:
        target = aggregate_runs([Path(record["folder"]) for record in done], console)
        page = shown(target / "report.html")
        console.print(f"Listen and read: {page}", highlight=False, markup=False, soft_wrap=True)
    for record in lacking:
        name = " ".join(record["overrides"])
        console.print(f"failed: {name}: {record.get('error', 'no result')}", style="red", markup=False)
    if lacking:
        advice = " Run the same command again: only what is left is done."
        usage = all(record["exit_code"] == ExitCode.USAGE for record in lacking)
        console.print(
            f"{len(lacking)} of {len(records)} jobs are missing from this table.{'' if usage else advice}",
            highlight=False,
        )


def _has_tables(folder: Path) -> bool:
    return all((folder / name).is_file() for name in PRODUCTS)
