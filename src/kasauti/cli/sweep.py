"""What a whole sweep came to: one table over its jobs, which are missing, and of a dry run the price of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kasauti.cli.aggregate import aggregate_runs
from kasauti.errors import ExitCode
from kasauti.paths import shown
from kasauti.pipeline.estimate import Call, sum_of_known
from kasauti.pipeline.products import PRODUCTS
from kasauti.pipeline.progress import duration
from kasauti.pipeline.record_set import record_hint
from kasauti.pipeline.sweep import Job, SweepFolder
from kasauti.report.formats import csv_table
from kasauti.report.wording import count_of, money_of
from kasauti.store.files import write_text

JOB_COLUMNS = ("job", "state", "run_id", "same_as", "overrides", "error")


def show_sweep(sweep: SweepFolder, console: Console, *, dry_run: bool = False) -> ExitCode:
    """Shows the end of a sweep, or of its dry run, from what its jobs recorded.

    Args:
        sweep: Where the jobs have their records.
        console: Where to.
        dry_run: No job made anything.

    Returns:
        The worst exit code of the jobs; `INCOMPLETE` for one that was killed.

    Raises:
        StoreError: a record is torn, or the runs have no common table.
    """
    jobs = sweep.jobs()
    if dry_run:
        _show_price(sweep, jobs, console)
    else:
        _show_table(sweep, jobs, console)
    return max((ExitCode(job.exit_code) for job in jobs), default=ExitCode.COMPLETE)


def _show_table(sweep: SweepFolder, jobs: Sequence[Job], console: Console) -> None:
    by_number = {job.number: job for job in jobs}
    # A study that recomputes something has said what it found, and has no tables of a run.
    lacking = [job for job in jobs if not _has_results(_holder(job, by_number))]
    done = [Path(job.folder) for job in jobs if job.folder is not None and job not in lacking]
    console.rule(f"sweep: {len(jobs) - len(lacking)} of {len(jobs)} jobs have results", align="left")
    try:
        if done:
            target = aggregate_runs(done, console)
            write_text(target / "jobs.csv", csv_table(JOB_COLUMNS, map(_cells, jobs)))
            console.print(
                f"Listen and read: {shown(target / 'report.html')}", highlight=False, markup=False, soft_wrap=True
            )
            console.print(f"Tables:          {shown(target)}", highlight=False, markup=False, soft_wrap=True)
    finally:
        _say_same(jobs, console)
        _say_lacking(jobs, lacking, console)
    record_s = [job.record_s for job in jobs if job.record_s is not None]
    if record_s:
        console.print(record_hint(sum(record_s)), highlight=False)


def _show_price(sweep: SweepFolder, jobs: Sequence[Job], console: Console) -> None:
    """What all jobs of a dry run would make together, each clip and each judgment once."""
    calls: dict[str, dict[str, Call]] = {}
    asked: Counter[str] = Counter()
    seen: set[str] = set()
    for call in sweep.calls():
        asked[call.part] += 1
        mine = calls.setdefault(call.part, {})
        if call.key not in seen:
            seen.add(call.key)
            mine[call.key] = call
    planned = [job for job in jobs if job.state == "complete"]
    told = f"{count_of(len(jobs), 'job')}, {count_of(len(planned), 'different run')}"
    table = Table(title=f"Sweep (dry run: nothing was made): {told}", title_justify="left")
    for heading in ("part", "to make", "added up job by job", "time", "money"):
        table.add_column(heading, justify="left" if heading == "part" else "right")
    for part, once in calls.items():
        _price_row(table, part, len(once), asked[part], once.values())
    every = [call for once in calls.values() for call in once.values()]
    table.add_section()
    _price_row(table, "total", len(every), asked.total(), every)
    console.print(table)
    _say_same(jobs, console)
    _say_lacking(jobs, [job for job in jobs if job not in planned and job.state != "same"], console)


def _price_row(table: Table, part: str, count: int, asked: int, calls: Collection[Call]) -> None:
    usd = sum_of_known(call.usd for call in calls)
    known = sum(call.usd or 0.0 for call in calls)
    money = money_of(usd) if usd is not None else f"at least {money_of(known)}"
    time = duration(sum(call.seconds for call in calls))
    table.add_row(escape(part), f"{count:,}", f"{asked:,}", time, money)


def _holder(job: Job, by_number: Mapping[int, Job]) -> Job:
    """The job that has the run of this job."""
    return job if job.same_as is None else by_number.get(job.same_as, job)


def _has_results(job: Job) -> bool:
    if job.state in ("running", "failed"):
        return False
    return job.error is None if job.folder is None else has_tables(Path(job.folder))


def has_tables(folder: Path) -> bool:
    """Whether a run folder has everything that a common table is made of."""
    return all((folder / name).is_file() for name in PRODUCTS)


def _cells(job: Job) -> list[object]:
    return [job.number, job.state, job.run_id, job.same_as, " ".join(job.overrides), job.error]


def _say_same(jobs: Sequence[Job], console: Console) -> None:
    """Which jobs are one run, and why: a sweep that was meant to be larger than it is."""
    alike: dict[str, dict[int, list[int]]] = {}
    for job in jobs:
        if job.same_as is not None:
            alike.setdefault(job.note, {}).setdefault(job.same_as, [job.same_as]).append(job.number)
    for note, groups in alike.items():
        told = ", ".join("+".join(map(str, numbers)) for numbers in groups.values())
        line = f"same run, done once: jobs {told}{f' ({note})' if note else ''}"
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _say_lacking(jobs: Sequence[Job], lacking: Sequence[Job], console: Console) -> None:
    everywhere = set.intersection(*(set(job.overrides) for job in jobs)) if len(jobs) > 1 else set()
    for job in lacking:
        name = " ".join(word for word in job.overrides if word not in everywhere)
        told = job.error or ("it was broken off" if job.state == "running" else "no result")
        if job.same_as is not None:
            told = f"the same run as job {job.same_as}"
        line = f"failed: job {job.number}: {name}: {told}"
        console.print(line, style="red", markup=False, highlight=False, soft_wrap=True)
    if lacking:
        advice = " Run the same command again: only what is left is done."
        usage = all(job.exit_code == ExitCode.USAGE for job in lacking)
        console.print(
            f"{len(lacking)} of {len(jobs)} jobs are missing from this table.{'' if usage else advice}", highlight=False
        )
