"""Human floors of earlier runs: found in the folder of all runs, for runs that have no recordings of people themselves.

What a judge makes of people in a language holds for every voice that it hears there, so a run of `system=human` serves
all later ones of the same judge. It must have ended, been scored by the same rules, and have at least `MIN_PROMPTS`
scored prompts in the language: a trial run of two sentences is no reference.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from kasauti.errors import StoreError
from kasauti.identity import signature_parts
from kasauti.report.loading import RunTables, load_aggregates
from kasauti.report.provenance import load_info
from kasauti.report.summarising import rules_of_scoring
from kasauti.report.wording import METRIC_NAMES, metric_name, value_of
from kasauti.runs import ended_runs
from kasauti.settings import ScoringSettings
from kasauti.stats.difference import MIN_PROMPTS
from kasauti.stats.humans import HumanFloor

JUDGE = "judge revision"
"""Name of the judge's part in the signatures that verdicts compare."""


def find_floors(
    runs: Path,
    scoring: ScoringSettings,
    *,
    revisions: Collection[str],
    langs: Collection[str],
    without: Collection[str] = (),
) -> list[HumanFloor]:
    """The human floors that earlier runs have for these judges and languages.

    Of several for one judge, metric and language the one over the most prompts counts, and of these the latest.

    Args:
        runs: The folder of all runs.
        scoring: How the scores that they are for are made.
        revisions: Signatures of the judges (model, revision, settings), as rows carry them.
        langs: Language codes.
        without: Ids of runs that are not looked at.
    """
    rules = rules_of_scoring(scoring)
    best: dict[tuple[str, str, str], HumanFloor] = {}
    for folder in reversed(ended_runs(runs, without)):
        for floor in _floors_of(folder, rules):
            key = (floor.signature[JUDGE], floor.metric, floor.lang)
            wanted = floor.signature[JUDGE] in revisions and floor.lang in langs
            if wanted and (key not in best or best[key].n_prompts <= floor.n_prompts):
                best[key] = floor
    return [best[key] for key in sorted(best)]


def floors_beside(parts: Sequence[RunTables], level: str | None = None) -> list[HumanFloor]:
    """The human floors for runs that were made before, from the folder that the first of them lies in.

    Args:
        parts: The runs.
        level: Of normalisation, where it is another than theirs.
    """
    scoring = parts[0].scoring
    return find_floors(
        parts[0].runs[0].folder.parent,
        replace(scoring, level=level or scoring.level),
        revisions={revision for part in parts for revision in part.judges.values()},
        langs={row.lang for part in parts for row in part.samples},
        without=[run.run_id for part in parts for run in part.runs],
    )


def print_floors(floors: Sequence[HumanFloor], console: Console) -> None:
    """Says where the human line comes from, a line for each language; the headline metric only."""
    for floor in floors:
        if floor.metric == next(iter(METRIC_NAMES)):
            line = (
                f"Human reference, {floor.lang}: {metric_name(floor.metric)} "
                f"{value_of(floor.mean, is_rate=True)} % over {floor.n_prompts} prompts "
                f"(run {floor.run}, {floor.system}, heard by {floor.signature[JUDGE]})"
            )
            console.print(line, markup=False, highlight=False)


def _floors_of(folder: Path, rules: dict[str, str]) -> Iterator[HumanFloor]:
    """The floors of one run; none where it has no people or can't be read."""
    try:
        people = {name for name, facts in load_info(folder).systems.items() if facts.role == "human"}
        rows = load_aggregates(folder) if people else []
    except StoreError:  # another run's damage must not stop this one
        return
    for row in rows:
        parts = signature_parts(row.signature)
        scored_alike = all(parts.get(name) == value for name, value in rules.items())
        if row.scope != "lang" or row.system not in people or not scored_alike:
            continue
        if row.mean is not None and row.status == "ok" and row.n_prompts >= MIN_PROMPTS:
            signature = {**rules, JUDGE: parts.get("judge", "").partition("@")[2]}
            yield HumanFloor(row.metric, row.key, row.mean, row.n_prompts, signature, folder.name, row.system)
