"""What the published IndicEmo table does not say, once the bundle's folder is known.

Tables on the terminal, and a folder with all of them as TSV and one page to read.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from kasauti.errors import ExitCode
from kasauti.identity import file_sha256
from kasauti.panel.bundle import BundleError
from kasauti.panel.checks import check_checksums
from kasauti.panel.cuts import at_cap
from kasauti.panel.findings import findings_of
from kasauti.panel.indicemo import CAPPED_SYSTEM, FAMILIES, SCOPES, TOKENS_PER_S, VERSION
from kasauti.panel.intervals import Draws
from kasauti.panel.page import write_page
from kasauti.panel.published import JUDGMENTS, PROMPTS, published_panel, read_judgments, read_requests
from kasauti.panel.sheet import Sheet, write_sheets
from kasauti.panel.sheets import sheets_of
from kasauti.panel.study import ALL, Study, Subject, study_of
from kasauti.store.files import write_text

PAGE = "report.html"

HOW = "study.json"
"""By which command, from which bundle, with how many draws and which seed."""

_ONLY_OVERALL = {"standings", "gaps", "position_adjusted"}
"""Tables of which the terminal shows the scope over all deliveries."""

_NOT_ON_TERMINAL = {"cut_clips"}


def explore(folder: Path, checksums_sha256: str, draws: Draws, out: Path, console: Console) -> ExitCode:
    """Computes, shows and writes everything.

    Args:
        folder: The bundle.
        checksums_sha256: SHA-256 of its list of checksums.
        draws: Bootstrap draws, and deals of the labels.
        out: Folder of tables and page.
        console: Where to print.

    Raises:
        BundleError: it is not the published bundle.
        StoreError: the folder can't be written.
    """
    study, sheets = write_tables(folder, checksums_sha256, draws, out)
    _show(study, sheets, console)
    write_page(study, sheets, out / PAGE)
    console.print(Text(f"{len(sheets)} tables and {PAGE} in {out}"), soft_wrap=True)
    return ExitCode.COMPLETE


def write_tables(folder: Path, checksums_sha256: str, draws: Draws, out: Path) -> tuple[Study, list[Sheet]]:
    """Computes all tables and writes them, with `study.json`, which says how to make them again.

    Args, Raises: as for `explore`.
    """
    checks = check_checksums(folder, checksums_sha256)
    faults = [f"{check.file} {fault}" for check in checks for fault in check.faults]
    if faults:
        raise BundleError(f"{folder}: {faults[0]}; +experiment=reproduce_indicemo says all that is wrong")
    study = study_of(published_subject(folder), draws)
    sheets = sheets_of(study)
    write_sheets(sheets, out)
    command = "python run.py +experiment=indicemo_beyond"
    how = {"command": command, "checksums_sha256": checksums_sha256, "draws": draws.count, "seed": draws.seed}
    write_text(out / HOW, json.dumps(how, indent=1) + "\n")
    return study, sheets


def published_subject(folder: Path) -> Subject:
    """The published panel and what the bundle says about it.

    Raises:
        PanelError: a file can't be read.
    """
    judgments = read_judgments(folder)
    requests = read_requests(folder, CAPPED_SYSTEM)
    durations = {request.id: request.duration_s for request in requests}
    cap = max(request.max_tokens or 0 for request in requests)
    return Subject(
        panel=published_panel(judgments),
        scopes={ALL: SCOPES[ALL], **SCOPES},
        system_names={judgment.rating.system: judgment.system_name for judgment in judgments},
        revisions={judgment.rating.judge: judgment.judge_model for judgment in judgments},
        families=FAMILIES,
        source={
            "protocol": f"indicemo-{VERSION}",
            "promptset": file_sha256(folder / PROMPTS)[:12],
            "judgments": file_sha256(folder / JUDGMENTS)[:12],
        },
        cut_system=CAPPED_SYSTEM,
        cut_tasks={task: durations[task] for task in at_cap(durations, cap, TOKENS_PER_S)},
    )


def _show(study: Study, sheets: list[Sheet], console: Console) -> None:
    for sheet in sheets:
        if sheet.name in _NOT_ON_TERMINAL:
            continue
        sheet = sheet.only("scope", ALL) if sheet.name in _ONLY_OVERALL else sheet
        console.print(_fitting(sheet, console))
        console.print(Text(sheet.note, style="dim"))
        console.print()
    for name, reason in study.lacking.items():
        console.print(Text(f"no {name}: {reason}", style="yellow"))
    for finding in findings_of(study):
        console.print(Text(f"· {finding}"))
    console.print()


def _fitting(sheet: Sheet, console: Console) -> Table:
    """The table as it fits the terminal: intervals below their numbers if need be, then without minor columns."""
    table = _table(sheet, stacked=False)
    for column in [None, *reversed([column for column in sheet.columns if column.minor])]:
        if _width(table, console) <= console.width:
            break
        sheet = replace(sheet, columns=tuple(other for other in sheet.columns if other != column))
        table = _table(sheet, stacked=True)
    return table


def _width(table: Table, console: Console) -> int:
    return Measurement.get(console, console.options.update(max_width=10_000), table).maximum


def _table(sheet: Sheet, *, stacked: bool) -> Table:
    table = Table(title=Text(sheet.title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, show_edge=False)
    for column in sheet.columns:
        is_text = all(isinstance(row[column.key], str) for row in sheet.rows)
        heading = Text(column.heading.replace(" ", "\n").replace("_", "_\n"))
        table.add_column(
            heading,
            justify="left" if is_text else "right",
            vertical="top" if stacked else "bottom",
            no_wrap=True,
        )
    for row in sheet.rows:
        table.add_row(*(Text(cell.replace(" [", "\n[") if stacked else cell) for cell in sheet.shown(row)))
    return table
