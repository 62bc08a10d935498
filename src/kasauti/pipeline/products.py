"""The products of a run: tables, aggregates, summary, spreadsheet, report page, all made from the store's records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from kasauti.pipeline.assembly import (
    SCORE_COLUMNS,
    SWITCH_COLUMNS,
    WORD_COLUMNS,
    Tables,
)
from kasauti.pipeline.folder import RunFolder, environment
from kasauti.pipeline.plan import Plan, decoding_of
from kasauti.records import (
    AGGREGATE_COLUMNS,
    SAMPLE_COLUMNS,
    VERDICT_COLUMNS,
    AggregateRow,
    Prompt,
    SampleRow,
    Status,
)
from kasauti.report import SystemInfo, load
from kasauti.report.floor_plan import FLOOR_COLUMNS, floor_rows
from kasauti.report.page import write_page
from kasauti.report.sheet import write_xlsx
from kasauti.report.summarising import NOISE_COLUMNS, Summary, noise_rows, rules_of_scoring, signature_of, summarise
from kasauti.report.table_rows import CLIP_COLUMNS, LEVEL_COLUMNS
from kasauti.report.tables import write_records, write_table
from kasauti.store.library import Store
from kasauti.text.units import segmentation_rules

FAILED = (
    Status.SYNTHESIS_FAILED,
    Status.AUDIO_INVALID,
    Status.JUDGE_FAILED,
    Status.JUDGE_INVALID,
    Status.REFUSED,
    Status.MISSING,
    Status.NOT_RUN,
)
"""Statuses that make a run incomplete. A language that a voice lacks and a transcript in another script do not."""

RESULT_TABLES = (
    "per_sample.tsv",
    "levels.tsv",
    "switching.tsv",
    "words.tsv",
    "scores.tsv",
    "aggregate.csv",
    "verdicts.csv",
    "noise.tsv",
    "noise_floor.tsv",
    "summary.json",
)
"""What must come out the same, bit for bit, however often a run was broken off: no time or cost is in them."""

PRODUCTS = (*RESULT_TABLES, "clips.tsv", "prompts.jsonl", "run.json", "leaderboard.xlsx", "report.html")


def scored_with(plan: Plan) -> dict[str, Any]:
    """What a finished run was scored with; when it changes, the run is scored again, from the same answers."""
    scoring = plan.settings.scoring
    rules = {"normaliser": scoring.ladder().signature, "segmentation": segmentation_rules(), **asdict(scoring)}
    if plan.human_floors:
        rules["human_floors"] = [asdict(floor) for floor in plan.human_floors]
    if plan.noise:
        rules["noise"] = [asdict(one) for one in plan.noise]
    return rules


def signatures(plan: Plan) -> dict[str, str]:
    """Judge id -> signature of its headline number."""
    rules = rules_of_scoring(plan.settings.scoring)
    return {
        name: signature_of("cer", "macro", rules, f"{name}@{judge.facts.signature}", plan.prompts_sha256)
        for name, judge in plan.judges.items()
    }


def write_products(plan: Plan, store: Store, folder: RunFolder, tables: Tables, calls: Mapping[str, Any]) -> None:
    """Writes every product of a run.

    Args:
        plan: The run.
        store: Where the clips are; the page links to them.
        folder: Where the products go.
        tables: The rows.
        calls: Times and costs of this invocation, for `run.json`.
    """
    systems = {o.id: SystemInfo(role="human" if o.role == "human" else "machine") for o in plan.settings.systems}
    sha256, floors = plan.prompts_sha256, plan.human_floors
    summary = summarise(tables.samples, plan.settings.scoring, systems, sha256, floors, plan.noise)
    write_summary(folder, plan.prompts, tables.samples, summary)
    write_records(folder.path / "levels.tsv", LEVEL_COLUMNS, tables.levels)
    write_table(folder.path / "switching.tsv", SWITCH_COLUMNS, tables.switching)
    write_table(folder.path / "words.tsv", WORD_COLUMNS, tables.words)
    write_table(folder.path / "scores.tsv", SCORE_COLUMNS, tables.scores)
    write_records(folder.path / "clips.tsv", CLIP_COLUMNS, tables.clips)
    folder.write_json("summary.json", _summary(plan, tables, summary.aggregates))
    folder.write_json("run.json", _provenance(plan, store, calls))
    write_views(folder)


def write_summary(folder: RunFolder, prompts: Sequence[Prompt], samples: Sequence[SampleRow], summary: Summary) -> None:
    """Writes the rows and what is said about them; all that a report needs besides clips and provenance."""
    folder.write_prompts(prompts)
    write_records(folder.path / "per_sample.tsv", SAMPLE_COLUMNS, samples)
    folder.write_csv("aggregate.csv", AGGREGATE_COLUMNS, map(vars, summary.aggregates))
    folder.write_csv("verdicts.csv", VERDICT_COLUMNS, map(vars, summary.verdicts))
    write_table(folder.path / "noise.tsv", NOISE_COLUMNS, noise_rows(samples))
    write_table(folder.path / "noise_floor.tsv", FLOOR_COLUMNS, floor_rows(samples))


def write_views(folder: RunFolder) -> None:
    """Writes the spreadsheet and the page from the tables of the folder."""
    loaded = load(folder.path)
    write_xlsx(loaded, folder.path / "leaderboard.xlsx")
    write_page(loaded, folder.path / "report.html")


def _summary(plan: Plan, tables: Tables, aggregates: list[AggregateRow]) -> dict[str, Any]:
    statuses = Counter(str(row.status) for row in tables.samples)
    headline = [asdict(row) for row in aggregates if row.scope == "macro" and row.metric == "cer"]
    return {
        "run_id": plan.run_id,
        "complete": not any(row.status in FAILED for row in tables.samples),
        "rows": dict(sorted(statuses.items())),
        "headline": headline,
        "signatures": signatures(plan),
    }


def _provenance(plan: Plan, store: Store, calls: Mapping[str, Any]) -> dict[str, Any]:
    settings = plan.settings
    roles = {options.id: options.role for options in settings.systems}
    return {
        "run_id": plan.run_id,
        "study": settings.study,
        **calls,
        "store": str(store.root.resolve()),
        "promptset": {
            "name": settings.promptset.name,
            "sha256": plan.prompts_sha256,
            "count": len(plan.prompts),
        },
        "systems": {
            name: {
                "role": roles[name],
                "fingerprint": plan.fingerprints[name],
                "languages": system.facts.languages,
                "settings": system.facts.settings,
                "decoding": decoding_of(settings, system),
                "usd_per_1k_chars": system.facts.usd_per_1k_chars,
            }
            for name, system in plan.systems.items()
        },
        "judges": {
            name: {"revision": judge.facts.signature, "settings": judge.facts.settings}
            for name, judge in plan.judges.items()
        },
        "scoring": asdict(settings.scoring),
        "signature": signatures(plan),
        "human_floors": [asdict(floor) for floor in plan.human_floors],
        "noise": [asdict(one) for one in plan.noise],
        "overrides": settings.overrides,
        "config": settings.config,
        **environment(),
    }
