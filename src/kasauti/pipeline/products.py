"""The products of a run: tables, aggregates, summary, spreadsheet, report page, all made from the store's records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from kasauti.identity import score_signature
from kasauti.pipeline.assembly import CLIP_COLUMNS, LEVEL_COLUMNS, SCORE_COLUMNS, SWITCH_COLUMNS, Tables
from kasauti.pipeline.folder import RunFolder, environment
from kasauti.pipeline.plan import Plan, decoding_of
from kasauti.records import SAMPLE_COLUMNS, AggregateRow, Status
from kasauti.report import load
from kasauti.report.page import write_page
from kasauti.report.sheet import write_xlsx
from kasauti.report.tables import write_table
from kasauti.settings import ScoringSettings
from kasauti.stats.aggregate import aggregate
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

RESULT_TABLES = ("per_sample.tsv", "levels.tsv", "switching.tsv", "scores.tsv", "aggregate.csv", "summary.json")
"""What must come out the same, bit for bit, however often a run was broken off: no time or cost is in them."""

PRODUCTS = (*RESULT_TABLES, "clips.tsv", "prompts.jsonl", "run.json", "leaderboard.xlsx", "report.html")


def scored_with(scoring: ScoringSettings) -> dict[str, Any]:
    """What a finished run was scored with; when it changes, the run is scored again, from the same answers."""
    return {"normaliser": scoring.ladder().signature, "segmentation": segmentation_rules(), **asdict(scoring)}


def signatures(plan: Plan) -> dict[str, str]:
    """Judge id -> signature of its headline number."""
    scoring = plan.settings.scoring
    return {
        name: score_signature(
            {
                "metric": "cer",
                "unit": "code_point",
                "level": scoring.level,
                "normaliser": plan.ladder.signature,
                "numbers": plan.ladder.numbers.signature,
                "aggregation": "macro_mean",
                "failures": "common",
                "judge": f"{name}@{judge.facts.revision}",
                "prompts": plan.prompts_sha256[:12],
                "segmentation": segmentation_rules(),
            }
        )
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
    scoring = plan.settings.scoring
    write_table(folder.path / "per_sample.tsv", SAMPLE_COLUMNS, (vars(row) for row in tables.samples))
    write_table(folder.path / "levels.tsv", LEVEL_COLUMNS, tables.levels)
    write_table(folder.path / "switching.tsv", SWITCH_COLUMNS, tables.switching)
    write_table(folder.path / "scores.tsv", SCORE_COLUMNS, tables.scores)
    write_table(folder.path / "clips.tsv", CLIP_COLUMNS, tables.clips)
    folder.write_prompts(plan.prompts)
    aggregates = aggregate(
        tables.samples, level=scoring.level, min_ok_share=scoring.min_ok_share, draws=scoring.draws, seed=scoring.seed
    )
    folder.write_aggregates(aggregates)
    folder.write_json("summary.json", _summary(plan, tables, aggregates))
    folder.write_json("run.json", _provenance(plan, store, calls))
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
            name: {"revision": judge.facts.revision, "settings": judge.facts.settings}
            for name, judge in plan.judges.items()
        },
        "scoring": asdict(settings.scoring),
        "signature": signatures(plan),
        "config": settings.config,
        **environment(),
    }
