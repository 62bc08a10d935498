"""A run from settings to products: plan, preflight, synthesis, judging, tables. Each stage goes on where it ended."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from kasauti.errors import ExitCode, KasautiError
from kasauti.parts import build
from kasauti.paths import product_path
from kasauti.pipeline.assembly import assemble
from kasauti.pipeline.baseline import find_baseline, show_baseline
from kasauti.pipeline.estimate import Estimate, calls_left, estimate, spent_so_far
from kasauti.pipeline.executors import available_cores
from kasauti.pipeline.folder import RunFolder, now
from kasauti.pipeline.judging import judge_clips, tasks_of
from kasauti.pipeline.plan import Plan, decoding_of, judgment_needed, make_plan, unused_decoding
from kasauti.pipeline.preflight import preflight, refuse_errors
from kasauti.pipeline.products import FAILED, PRODUCTS, scored_with, write_products
from kasauti.pipeline.progress import Progresses, duration
from kasauti.pipeline.record_set import record_hint, record_seconds
from kasauti.pipeline.show import show_end, show_findings, show_plan, show_start
from kasauti.pipeline.spending import Spending
from kasauti.pipeline.stage import Interrupt
from kasauti.pipeline.sweep import Place
from kasauti.pipeline.synthesis import make_clips
from kasauti.pipeline.tracked import start_of, tracked
from kasauti.report.floor_history import Voice, find_noise
from kasauti.report.humans import find_floors, print_floors
from kasauti.settings import RunSettings
from kasauti.stats.humans import HumanFloor
from kasauti.stats.noise import StoredNoise
from kasauti.store.library import Store
from kasauti.tracking.base import Tracker


@dataclass(frozen=True)
class RunResult:
    """How a run ended."""

    run_id: str
    folder: Path
    exit_code: ExitCode
    same_as: int | None = None
    """The job of a sweep that has this run already; `note` says why it is the same."""
    note: str = ""
    record_s: float | None = None
    """After a run on the smoke prompts: what the same over prompts for numbers of record would take."""


@dataclass
class _Calls:
    """Times and costs of one invocation; they go to `run.json` and nowhere else."""

    started_at: str = field(default_factory=now)
    began: float = field(default_factory=time.monotonic)
    timings_s: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            self.timings_s[stage] = round(time.monotonic() - began, 3)

    def facts(self, spending: Spending) -> dict[str, Any]:
        return {
            "started_at": self.started_at,
            "finished_at": now(),
            "timings_s": self.timings_s,
            "cost_usd": spending.spent_usd,
        }


def run(settings: RunSettings, console: Console, place: Place | None = None) -> RunResult:
    """Does whatever of a run has not been done yet.

    Args:
        settings: The checked config.
        console: Where the run talks.
        place: Its place in a sweep, where it is in one.

    Returns:
        The run's id, its folder and the exit code.

    Raises:
        KasautiError: bad input, a failed preflight, an output that can't be written.
    """
    plan = make_plan(settings)
    store = Store(product_path(settings.paths.store))
    folder = RunFolder(product_path(settings.paths.runs), plan.run_id)
    if place is not None and (held_by := place.held_by(folder.path)) is not None:
        unused = [f"{name} does not use {', '.join(keys)}" for name, keys in unused_decoding(plan).items()]
        console.print(f"Run {plan.run_id} is the same as that of job {held_by}: not run twice.", highlight=False)
        return RunResult(plan.run_id, folder.path, ExitCode.COMPLETE, held_by, "; ".join(unused))
    plan.human_floors = _human_floors(plan, folder.path.parent)
    plan.noise = _noise(plan, folder.path.parent)
    left = estimate(plan, store, _cores(settings))
    show_start(console, plan)
    tracker: Tracker = build(settings.tracking)
    baseline = find_baseline(settings.baseline, plan, folder.path.parent)
    findings = preflight(plan, left)
    show_findings(console, findings)
    if settings.dry_run:
        show_plan(console, plan, left)
        refuse_errors(findings)
        if place is not None:
            place.sweep.write_calls(place.number, calls_left(plan, store, _cores(settings)))
        return RunResult(plan.run_id, folder.path, ExitCode.COMPLETE)
    refuse_errors(findings)
    with folder.locked():
        finished = _finished(plan, folder, left)
        if settings.baseline is None and tracker.follows(finished is not None):
            baseline = find_baseline(tracker.baseline, plan, folder.path.parent)
        spent_usd = spent_so_far(plan, store) if finished is None else 0.0
        start = start_of(plan, folder, left, spent_usd)
        with tracked(tracker, start, finished is not None, console) as end:
            end.baseline = baseline.name if baseline else None
            if finished is not None:
                console.print(f"Run {plan.run_id} was already finished: nothing to synthesise, nothing to judge.")
                _show_end(plan, folder, console)
            code = _work(plan, store, folder, console, spent_usd) if finished is None else finished
            end.verdicts = show_baseline(folder, baseline, settings.baseline, console)
            end.exit_code = int(code)
        record_s = record_seconds(plan, _cores(settings))
        if place is None and record_s is not None:
            console.print(record_hint(record_s), highlight=False)
        return RunResult(plan.run_id, folder.path, code, record_s=record_s)


def _work(plan: Plan, store: Store, folder: RunFolder, console: Console, spent_usd: float) -> ExitCode:
    calls, interrupt = _Calls(), Interrupt()
    spending = Spending(plan.settings.budget, interrupt, spent_usd)
    _state(folder, plan, "running")
    try:
        with interrupt.watched(console.print):
            _make_and_judge(plan, store, spending, calls, Progresses(console))
        tables = assemble(plan, store, left_because=spending.stopped_by or "not_reached")
        with calls.timed("products"):
            write_products(plan, store, folder, tables, calls.facts(spending))
    except BaseException as error:
        told = str(error) if isinstance(error, KasautiError) else traceback.format_exc()
        _state(folder, plan, "interrupted" if isinstance(error, KeyboardInterrupt) else "failed", error=told)
        raise
    failed = any(row.status in FAILED for row in tables.samples)
    code = ExitCode.INCOMPLETE if failed else ExitCode.COMPLETE
    if spending.stopped_by == "interrupted":
        code = ExitCode.INTERRUPTED
    _state(folder, plan, "complete" if code is ExitCode.COMPLETE else "incomplete", exit_code=int(code))
    _show_end(plan, folder, console)
    console.print(f"Took {duration(time.monotonic() - calls.began)}.", highlight=False)
    if code is ExitCode.INTERRUPTED:
        console.print("Interrupted. Run the same command again: it goes on from here.")
    return code


def _human_floors(plan: Plan, runs: Path) -> list[HumanFloor]:
    return find_floors(
        runs,
        plan.settings.scoring,
        revisions={judge.facts.signature for judge in plan.judges.values()},
        langs={prompt.lang for prompt in plan.prompts},
        without=[plan.run_id],
    )


def _noise(plan: Plan, runs: Path) -> list[StoredNoise]:
    voices = {
        options.id: Voice(
            plan.fingerprints[options.id],
            plan.systems[options.id].facts.settings,
            decoding_of(plan.settings, plan.systems[options.id]),
        )
        for options in plan.settings.systems
        if options.repeats == 1
    }
    judges = {name: judge.facts.signature for name, judge in plan.judges.items()}
    return find_noise(runs, voices, judges, plan.settings.scoring, plan.prompts_sha256)


def _show_end(plan: Plan, folder: RunFolder, console: Console) -> None:
    show_end(console, folder.path)
    if any(options.role != "human" for options in plan.settings.systems):
        print_floors(plan.human_floors, console)


def _make_and_judge(plan: Plan, store: Store, spending: Spending, calls: _Calls, progresses: Progresses) -> None:
    with closing(build(plan.settings.executor)) as executor, progresses.shown():
        with calls.timed("synthesis"):
            make_clips(plan, store, executor, spending, progresses)
        for name in plan.judges:
            to_hear = sum(judgment_needed(store, task.judgment_id) for task in tasks_of(plan, name, store))
            if to_hear:
                with calls.timed(f"judge {name}"):
                    judge_clips(plan, name, store, executor, spending, progresses.stage(f"{name} listens", to_hear))


def _finished(plan: Plan, folder: RunFolder, left: Estimate) -> ExitCode | None:
    """The exit code of a run that is finished and scored with today's rules; None if there is anything to do."""
    state = folder.read_json("status.json") or {}
    done = (
        state.get("state") in ("complete", "incomplete")
        and "exit_code" in state
        and left.nothing_to_do
        and state.get("scored_with") == scored_with(plan)
        and all((folder.path / name).is_file() for name in PRODUCTS)
        and folder.read_json("run.json") is not None
    )
    return ExitCode(state["exit_code"]) if done else None


def _state(folder: RunFolder, plan: Plan, state: str, **facts: Any) -> None:
    scored = scored_with(plan)
    folder.write_json(
        "status.json", {"run_id": plan.run_id, "state": state, "at": now(), **facts, "scored_with": scored}
    )


def _cores(settings: RunSettings) -> int:
    return settings.executor.workers or available_cores()
