"""What a run says on the terminal before and after its work."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kasauti.paths import shown
from kasauti.pipeline.estimate import Estimate
from kasauti.pipeline.plan import Plan
from kasauti.pipeline.progress import duration
from kasauti.records import Finding
from kasauti.report import load
from kasauti.report.floor_plan import print_floors_at
from kasauti.report.terminal import print_leaderboard


def show_start(console: Console, plan: Plan) -> None:
    """One line each: which run, which parts, which prompts."""
    langs = Counter(prompt.lang for prompt in plan.prompts)
    prompts = ", ".join(f"{lang} {count}" for lang, count in langs.items())
    console.rule(f"run {plan.run_id}", align="left")
    line = f"{', '.join(plan.systems)} → {', '.join(plan.judges)} · {plan.settings.promptset.name}: {prompts}"
    console.print(line, markup=False, highlight=False)


def show_findings(console: Console, findings: list[Finding]) -> None:
    """Warnings of preflight; its errors come as one error."""
    for finding in findings:
        if finding.level == "warning":
            text = f"note: {finding.subject}: {finding.message} {finding.remedy}".rstrip()
            console.print(text, style="yellow", markup=False, highlight=False)


def show_plan(console: Console, plan: Plan, left: Estimate) -> None:
    """The plan of a dry run: what would be made and judged, in what time and for what money."""
    table = Table(title="Plan (dry run: nothing was made)", title_justify="left")
    for name in ("part", "to make", "in store", "can't speak", "time", "money"):
        table.add_column(name, justify="left" if name == "part" else "right")
    for name in plan.systems:
        counts = [left.make[name], left.stored[name], left.refused.get(name, 0)]
        _plan_row(table, left, f"system {name}", [str(count) for count in counts])
    for name in plan.judges:
        _plan_row(table, left, f"judge {name}", [str(left.call[name]), str(left.judged[name]), ""])
    known = [usd for usd in left.usd.values() if usd is not None]
    total_usd = f"{'' if len(known) == len(left.usd) else 'at least '}{_money(sum(known))}"
    table.add_row("total", "", "", "", duration(sum(left.seconds.values())), total_usd, style="bold")
    console.print(table)


def _plan_row(table: Table, left: Estimate, part: str, counts: list[str]) -> None:
    table.add_row(escape(part), *counts, duration(left.seconds[part]), _money(left.usd[part]))


def show_end(console: Console, folder: Path) -> None:
    """The leaderboard, and what to open next."""
    tables = load(folder)
    print_leaderboard(tables, console)
    print_floors_at(tables.samples, console)
    console.print(f"Listen and read: {shown(folder / 'report.html')}", highlight=False, markup=False, soft_wrap=True)
    console.print(f"Tables:          {shown(folder)}", highlight=False, markup=False, soft_wrap=True)


def _money(usd: float | None) -> str:
    return "not known" if usd is None else f"${usd:.2f}"
