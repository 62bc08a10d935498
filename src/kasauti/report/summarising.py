"""From rows to what is said about them: aggregates with their signatures, verdicts on all pairs, noise by prompt.

A run, a merge of runs and an import all summarise here. Computes from rows alone and reads no file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kasauti.identity import score_signature
from kasauti.records import AggregateRow, SampleRow, Status, VerdictRow
from kasauti.report.provenance import SystemInfo
from kasauti.settings import ScoringSettings
from kasauti.stats.aggregate import aggregate
from kasauti.stats.columns import common_revision
from kasauti.stats.compare import CellVerdict, compare_rows
from kasauti.stats.floors import noise_floors
from kasauti.stats.humans import HumanFloor
from kasauti.stats.noise import StoredNoise
from kasauti.stats.pairs import Rules
from kasauti.stats.scores import METRICS, marks_of
from kasauti.text.units import segmentation_rules

AS_RECORDED = "as recorded"
"""In a signature: somebody else made the number, by rules that are not known here."""

UNITS = {
    "cer": "code_point",
    "cer_nospace": "code_point_no_space",
    "gcer": "grapheme_cluster",
    "wer": "word",
    "pcer": "folded_code_point",
}

NOISE_COLUMNS = "system judge metric lang prompt_id repeats judgments mean var_takes var_judge".split()


@dataclass(frozen=True)
class Summary:
    """What is said about rows; the tables `aggregate.csv` and `verdicts.csv`."""

    aggregates: list[AggregateRow]
    verdicts: list[VerdictRow]


def summarise(
    samples: Sequence[SampleRow],
    scoring: ScoringSettings,
    systems: Mapping[str, SystemInfo],
    prompts_sha256: str,
    floors: Sequence[HumanFloor] = (),
    stored: Sequence[StoredNoise] = (),
) -> Summary:
    """Aggregates, and verdicts on every pair of machines by language and over them.

    Args:
        samples: Rows of `per_sample.tsv`.
        scoring: What they were scored with.
        systems: Every system of the rows; human recordings limit what a judge can tell and do not compete.
        prompts_sha256: Hash of the prompts, for signatures.
        floors: What earlier runs found of human recordings.
        stored: Noise that earlier runs measured.

    Raises:
        StatsError: as for `kasauti.stats.aggregate.aggregate`.
    """
    rules = _rules(scoring, systems)
    rows = aggregate(
        samples,
        level=scoring.level,
        metrics=[*METRICS, *marks_of(samples)],
        min_ok_share=scoring.min_ok_share,
        humans=references(systems),
        draws=scoring.draws,
        seed=scoring.seed,
        stored=stored,
    )
    revisions = _revisions(samples)
    giving = {metric: _judges_of(samples, metric) for metric in dict.fromkeys(row.metric for row in rows)}
    signed = []
    for row in rows:
        if row.judge not in giving[row.metric]:
            continue
        heard_by = f"{row.judge}@{revisions.get((row.system, row.judge), '')}"
        signature = signature_of(row.metric, row.scope, rules[row.system], heard_by, prompts_sha256)
        signed.append(replace(row, level=rules[row.system]["level"], signature=signature))
    by_place = {(row.system, row.judge, row.scope, row.key, row.metric): row.signature for row in signed}
    humans = [name for name, facts in systems.items() if facts.role == "human"]
    verdicts = []
    for metric in scored_metrics(samples):
        deciding = verdict_rules(scoring, metric)
        compared = compare_rows(
            samples, metric, humans=humans, floors=floors, stored=stored, signatures=rules, rules=deciding
        )
        for found in compared:
            first = found.verdict.a
            if found.judge not in giving[metric]:
                continue
            signature = by_place[first, found.judge, found.scope, found.key, metric]
            verdicts.append(verdict_row(found, rules[first]["level"], signature))
    return Summary(signed, verdicts)


def references(systems: Mapping[str, SystemInfo]) -> dict[str, str]:
    """Systems that are listed and do not compete, and why: people, and rates made elsewhere beside rates made here."""
    found = {name: "human reference" for name, facts in systems.items() if facts.role == "human"}
    found |= {name: "published figures, no rows" for name, facts in systems.items() if facts.recorded == "figures"}
    competing = {name: facts.recorded for name, facts in systems.items() if name not in found}
    if not all(competing.values()):
        told = "rates as recorded, made by other rules"
        found |= {name: told for name, recorded in competing.items() if recorded}
    return found


def _rules(scoring: ScoringSettings, systems: Mapping[str, SystemInfo]) -> dict[str, dict[str, str]]:
    """System -> the parts of its signatures that say how a transcript became a number."""
    own = rules_of_scoring(scoring)
    return {name: dict.fromkeys(own, AS_RECORDED) if facts.recorded else own for name, facts in systems.items()}


def rules_of_scoring(scoring: ScoringSettings) -> dict[str, str]:
    """The parts of a signature that say how a transcript became a number."""
    ladder = scoring.ladder()
    return {
        "level": scoring.level,
        "normaliser": ladder.signature,
        "numbers": ladder.numbers.signature,
        "segmentation": segmentation_rules(),
    }


def signature_of(metric: str, scope: str, rules: Mapping[str, str], judge: str, prompts_sha256: str) -> str:
    """The score signature of one number.

    Args:
        metric, scope: As in `AggregateRow`.
        rules: From `rules_of_scoring`.
        judge: `judge@revision`.
        prompts_sha256: Hash of the prompts.
    """
    if metric not in UNITS:  # a judge's mark: no text was read to make it
        rules = dict.fromkeys(rules, "none")
    return score_signature(
        {
            "metric": metric,
            "unit": UNITS.get(metric, "mark"),
            "level": rules["level"],
            "normaliser": rules["normaliser"],
            "numbers": rules["numbers"],
            "aggregation": "macro_mean" if scope == "macro" else "mean",
            "failures": "common",
            "judge": judge,
            "prompts": prompts_sha256[:12],
            "segmentation": rules["segmentation"],
        }
    )


def verdict_rules(scoring: ScoringSettings, metric: str) -> Rules:
    """How verdicts by a metric are made under the settings of a run."""
    return Rules(
        higher_is_better=metric not in METRICS,
        min_ok_share=scoring.min_ok_share,
        draws=scoring.draws,
        seed=scoring.seed,
    )


def verdict_row(found: CellVerdict, level: str, signature: str) -> VerdictRow:
    """A verdict as a row of a table."""
    verdict, difference = found.verdict, found.verdict.difference
    assert found.scope in ("lang", "macro")
    limited = verdict.verdict == "judge_limited" and found.human_source
    return VerdictRow(
        judge=found.judge,
        scope="lang" if found.scope == "lang" else "macro",
        key=found.key,
        metric=found.metric,
        level=level,
        a=verdict.a,
        b=verdict.b,
        verdict=verdict.verdict,
        mean_a=verdict.mean_a,
        mean_b=verdict.mean_b,
        difference=difference.estimate if difference else None,
        ci95_low=difference.low if difference else None,
        ci95_high=difference.high if difference else None,
        n_prompts=difference.n_prompts if difference else 0,
        floor95=verdict.floor95,
        floor_kind=verdict.floor_kind,
        floor_source=verdict.floor_source,
        smallest=verdict.smallest,
        human=verdict.human,
        reason=f"{verdict.reason}, by {found.human_source}" if limited else verdict.reason,
        signature=signature,
    )


def scored_metrics(samples: Sequence[SampleRow]) -> list[str]:
    """The metrics and marks that at least one row carries; the headline metric where no row carries any."""
    carried = [metric for metric in METRICS if any(getattr(row, metric) is not None for row in samples)]
    return [*carried, *marks_of(samples)] or [METRICS[0]]


def _judges_of(samples: Sequence[SampleRow], metric: str) -> set[str]:
    """Judges that give a metric or a mark: of error rates also those that failed throughout, so that this is seen."""
    if metric not in METRICS:
        return {row.judge for row in samples if row.marks and metric in row.marks}
    giving = {row.judge for row in samples if getattr(row, metric) is not None}
    answering = {row.judge for row in samples if row.status is Status.OK}
    return giving | ({row.judge for row in samples} - answering)


def noise_rows(samples: Sequence[SampleRow]) -> Iterator[dict[str, Any]]:
    """Rows of `noise.tsv`: every prompt's variances between takes and between rejudges, by system, judge and metric."""
    for metric in scored_metrics(samples):
        for (system, judge, _, key), floor in noise_floors(samples, metric).items():
            place = {"system": system, "judge": judge, "metric": metric, "lang": key}
            for prompt in floor.prompts:  # only languages have them
                yield {**place, "prompt_id": prompt.prompt, **vars(prompt)}


def _revisions(samples: Sequence[SampleRow]) -> dict[tuple[str, str], str]:
    """(system, judge) -> revision of the judge; all of them where rows of several stand together."""
    found: dict[tuple[str, str], set[str]] = {}
    for row in samples:
        found.setdefault((row.system, row.judge), set()).add(row.judge_revision)
    return {key: common_revision(revisions) for key, revisions in found.items()}
