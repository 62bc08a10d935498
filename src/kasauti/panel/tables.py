"""The four published result tables, computed from the judgments.

Numbers are written in Python's shortest form that reads back as the same number. The arithmetic is the published one:
correctly rounded means of a task, then of a delivery, then over deliveries; `judge_sensitivity` and `pairwise` weigh
all tasks alike. Limits of intervals are not here: they depend on the draws of a bootstrap whose seed is not published.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from kasauti.panel.cases import Panel
from kasauti.panel.consensus import (
    column_means,
    consensus,
    delivery_means,
    judge_means,
    pooled_by_judge,
    preferred,
)
from kasauti.panel.indicemo import DELIVERIES, EMOTIONS, SCOPES, VERSION

AGGREGATION = "per_prompt_judge_median_then_delivery_macro_average"

CONSENSUS, SENSITIVITY, PAIRWISE, LEADERBOARD = (
    f"results/{name}.csv" for name in ("consensus_scores", "judge_sensitivity", "pairwise", "leaderboard")
)

LIMITS = tuple(f"{quantity}_ci95_{end}" for quantity in ("meq", "mean_rank", "win_rate") for end in ("low", "high"))
"""Columns of the leaderboard that are not recomputed here."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Source:
    """Common tasks of the published panel, and how its parts are named in tables."""

    panel: Panel
    system_names: Mapping[str, str]
    judge_models: Mapping[str, str]


def csv_text(rows: Sequence[Row]) -> str:
    """Rows as CSV with a header line and LF line ends."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def consensus_rows(source: Source) -> list[Row]:
    """`consensus_scores.csv`, best system first."""
    found = consensus(source.panel)
    emotions = consensus(source.panel.of_deliveries(EMOTIONS))
    counts = [int((source.panel.delivery_of == d).sum()) for d in range(len(DELIVERIES))]
    rows = []
    for s in found.order:
        system = source.panel.systems[s]
        rows.append(
            {
                "system_id": system,
                "system_name": source.system_names[system],
                "overall_consensus_score": float(found.overall[s]),
                "emotion_only_consensus_score": float(emotions.overall[s]),
                **{name.lower(): float(found.by_delivery[d, s]) for d, name in enumerate(DELIVERIES)},
                **{f"{name.lower()}_prompts": counts[d] for d, name in enumerate(DELIVERIES)},
                "strict_common_prompts": len(source.panel.tasks),
                "judge_count": len(source.panel.judges),
                "aggregation": AGGREGATION,
            }
        )
    return rows


def sensitivity_rows(source: Source) -> list[Row]:
    """`judge_sensitivity.csv`: what each judge alone made of each system."""
    rows = []
    for scope, deliveries in SCOPES.items():
        panel = source.panel.of_deliveries(deliveries)
        scores, ranks, wins = (pooled_by_judge(panel, values) for values in (panel.scores, panel.ranks, panel.wins))
        rows += [
            {
                "scope": scope,
                "judge_id": judge,
                "judge_model": source.judge_models[judge],
                "system_id": system,
                "system_name": source.system_names[system],
                "mean_expression_quality": float(scores[j, s]),
                "mean_rank": float(ranks[j, s]),
                "win_rate": float(wins[j, s]),
                "n_prompts": len(panel.tasks),
            }
            for j, judge in enumerate(panel.judges)
            for s, system in enumerate(panel.systems)
        ]
    return rows


def pairwise_rows(source: Source) -> list[Row]:
    """`pairwise.csv`: how often judges placed one system before another."""
    rows = []
    for scope, deliveries in SCOPES.items():
        panel = source.panel.of_deliveries(deliveries)
        rates = preferred(panel)
        for a, b in combinations(range(len(panel.systems)), 2):
            first, second = panel.systems[a], panel.systems[b]
            rows.append(
                {
                    "scope": scope,
                    "system_a": first,
                    "system_a_name": source.system_names[first],
                    "system_b": second,
                    "system_b_name": source.system_names[second],
                    "system_a_pairwise_win_rate": float(rates[a, b]),
                    "system_b_pairwise_win_rate": 1 - float(rates[a, b]),
                    "n_judge_cases": len(panel.tasks) * len(panel.judges),
                }
            )
    return rows


def leaderboard_rows(source: Source) -> list[Row]:
    """`leaderboard.csv` less its `LIMITS`."""
    rows = []
    for scope, deliveries in SCOPES.items():
        panel = source.panel.of_deliveries(deliveries)
        found = consensus(panel)
        scores, ranks, wins = (
            column_means(delivery_means(panel, judge_means(values)))
            for values in (panel.scores, panel.ranks, panel.wins)
        )
        rows += [
            {
                "scope": scope,
                "is_primary": scope == "emotion_only",
                "system_id": system,
                "system_name": source.system_names[system],
                "mean_expression_quality": float(found.overall[s]),
                "judge_mean_expression_quality": float(scores[s]),
                "score_aggregation": AGGREGATION,
                "mean_rank": float(ranks[s]),
                "win_rate": float(wins[s]),
                "n_prompts": len(panel.tasks),
                "n_judge_cases": len(panel.tasks) * len(panel.judges),
                "benchmark_version": VERSION,
                "meq_position": found.order.index(s) + 1,
            }
            for s, system in enumerate(panel.systems)
        ]
    return rows
