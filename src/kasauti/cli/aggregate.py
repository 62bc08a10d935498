"""One leaderboard over several runs: at the end of a sweep, and for `python -m kasauti aggregate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from kasauti.identity import RUN_ID_LENGTH, digest
from kasauti.pipeline.products import PRODUCTS
from kasauti.report import load, merge, print_leaderboard, write_page, write_xlsx


def aggregate_runs(folders: Sequence[Path], console: Console) -> Path:
    """Prints one leaderboard over several runs and writes their common page and spreadsheet.

    Returns:
        The folder of both, beside the runs: `compare-<id>`.
    """
    unique = list(dict.fromkeys(folders))
    tables = merge([load(folder) for folder in unique])
    print_leaderboard(tables, console)
    target = unique[0].parent / f"compare-{digest(sorted(folder.name for folder in unique), RUN_ID_LENGTH)}"
    target.mkdir(parents=True, exist_ok=True)
    write_page(tables, target / "report.html")
    write_xlsx(tables, target / "leaderboard.xlsx")
    return target


def show_sweep(records: Sequence[Mapping[str, Any]], console: Console) -> None:
    """The end of a sweep: the leaderboard over the jobs that have tables, and the names of those that have none."""
    done = [record for record in records if "folder" in record and _has_tables(Path(record["folder"]))]
    console.rule(f"sweep: {len(done)} of {len(records)} jobs have results", align="left")
    if done:
        target = aggregate_runs([Path(record["folder"]) for record in done], console)
        console.print(f"Listen and read: {target / 'report.html'}", highlight=False, markup=False, soft_wrap=True)
    for record in records:
        if record not in done:
            name = " ".join(record["overrides"])
            console.print(f"failed: {name}: {record.get('error', 'no result')}", style="red", markup=False)
    if len(done) < len(records):
        missing = len(records) - len(done)
        console.print(
            f"{missing} of {len(records)} jobs are missing from this table. Run the same command again: only what is "
            "left is done."
        )


def _has_tables(folder: Path) -> bool:
    return all((folder / name).is_file() for name in PRODUCTS)
