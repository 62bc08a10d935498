"""Verdicts on pairs of systems, from rows of `per_sample.tsv` or from scores by prompt."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from kasauti.records import SampleRow
from kasauti.stats.cells import SCOPES, Cell, Scope, by_lang, places_of
from kasauti.stats.columns import Columns
from kasauti.stats.floors import ASSUMED, stored_by_lang
from kasauti.stats.humans import HumanFloor, human_limit
from kasauti.stats.noise import ASSUMED_CER, StoredNoise
from kasauti.stats.pairs import DEFAULT, Rules, Sample, pair_verdicts
from kasauti.stats.scores import score_units
from kasauti.stats.values import Takes, nested, strata_codes
from kasauti.stats.verdict import Verdict


@dataclass(frozen=True)
class CellVerdict:
    """A verdict and where it holds: judge, scope, key and metric as in `AggregateRow`.

    `human_source` names the earlier run that its human line is from; empty where it is from this table, or not known.
    """

    judge: str
    scope: Scope
    key: str
    metric: str
    verdict: Verdict
    human_source: str = ""


def compare(
    values: Mapping[str, Mapping[str, Takes]],
    *,
    strata: Mapping[str, str] | None = None,
    macro: bool = True,
    human: float | None = None,
    assumed: float | None = ASSUMED_CER,
    rules: Rules = DEFAULT,
) -> dict[tuple[str, str], Verdict]:
    """Verdicts on all pairs of systems, from scores by prompt.

    Args:
        values: System -> prompt -> one entry per repeat: its score, or the scores of its rejudges.
        strata: Prompt -> language; None where there is one.
        macro: Weigh languages alike, instead of prompts.
        human: Mean score that the judge gives to human recordings.
        assumed: Floor to assume where there is a single repeat; None for metrics other than CER.
        rules: How verdicts are made.

    Returns:
        (a, b) -> verdict on a against b, for each pair in the order given.

    Raises:
        StatsError: as for `bootstrap`.
    """
    prompts = list(dict.fromkeys(prompt for scores in values.values() for prompt in scores))
    langs, labels = strata_codes(prompts, strata)
    order = np.argsort(labels, kind="stable")
    place = {prompts[index]: number for number, index in enumerate(order.tolist())}
    samples = []
    for name, scores in values.items():
        mine = sorted(scores, key=place.__getitem__)
        found = nested({prompt: scores[prompt] for prompt in mine})
        numbers = np.array([place[prompt] for prompt in mine], dtype=np.int64)
        samples.append(Sample(name, numbers, labels[order][numbers], found.means, found.spread, {}, {}))
    pairs = list(combinations(samples, 2))
    verdicts = pair_verdicts(pairs, langs, [human] * len(pairs), macro=macro, assumed=assumed, rules=rules)
    return {(verdict.a, verdict.b): verdict for verdict in verdicts}


def compare_rows(
    rows: Sequence[SampleRow],
    metric: str = "cer",
    *,
    scopes: Iterable[Scope] = ("lang", "macro"),
    pairs: Iterable[tuple[str, str]] | None = None,
    humans: Collection[str] = (),
    floors: Sequence[HumanFloor] = (),
    stored: Sequence[StoredNoise] = (),
    signatures: Mapping[str, Mapping[str, str]] | None = None,
    rules: Rules = DEFAULT,
) -> list[CellVerdict]:
    """Verdicts on pairs of systems, judge by judge.

    Args:
        rows: As for `aggregate`.
        metric: One of `METRICS`, or the name of a mark.
        scopes: In which cells.
        pairs: Systems (a, b), for verdicts on a against b; None for all pairs of systems that are no humans. A pair is
            left out of a cell in which one of them has no rows.
        humans: Systems whose clips are human recordings: what the judge makes of them limits what it can tell.
        floors: What earlier runs found of human recordings, for languages in which `humans` have none.
        stored: Noise that earlier runs measured, for systems with a single take a prompt.
        signatures: System -> part -> value: what must be equal for scores to be comparable. The revision of the judge
            is added from the rows.
        rules: How verdicts are made.

    Returns:
        Sorted by judge, scope and key as in `aggregate`, pairs in the order given.

    Raises:
        StatsError: as for `aggregate`.
    """
    columns, found = Columns.of(rows), []
    known = [floor for floor in floors if floor.metric == metric]
    machines = [name for name in columns.systems if name not in humans]
    wanted = list(pairs) if pairs is not None else list(combinations(machines, 2))
    revisions = {(group.system, group.judge): columns.revision(group) for group in columns.groups}
    for cells in _tables(columns, metric, set(scopes)):
        first = cells[0].at
        samples = {}
        for cell in cells:
            name = columns.systems[cell.at.group.system]
            revision = {"judge revision": revisions[cell.at.group.system, cell.at.group.judge]}
            samples[name] = _sample(columns, cell, {**(signatures or {}).get(name, {}), **revision}, stored)
        here = [(samples[a], samples[b]) for a, b in wanted if a in samples and b in samples]
        people = [sample for name, sample in samples.items() if name in humans]
        limits = [human_limit(a, b, people, known, columns.langs, macro=first.macro) for a, b in here]
        means = [limit.mean for limit in limits]
        verdicts = pair_verdicts(
            here, columns.langs, means, macro=first.macro, assumed=ASSUMED.get(metric), rules=rules
        )
        judge = columns.judges[first.group.judge]
        found += [
            CellVerdict(judge, first.scope, first.key, metric, verdict, limit.source)
            for verdict, limit in zip(verdicts, limits, strict=True)
        ]
    return found


def _tables(columns: Columns, metric: str, scopes: set[Scope]) -> list[list[Cell]]:
    """The cells of all systems, place by place in the order of `aggregate`."""
    table: dict[tuple[int, int, int], list[Cell]] = defaultdict(list)
    scores = score_units(columns, metric)
    for place in places_of(columns):
        if place.scope in scopes:
            cell = Cell.of(place, metric, scores)
            table[place.group.judge, SCOPES.index(place.scope), place.number].append(cell)
    return [cells for _, cells in sorted(table.items())]


def _sample(columns: Columns, cell: Cell, signature: Mapping[str, str], stored: Sequence[StoredNoise]) -> Sample:
    name, scores = columns.systems[cell.at.group.system], cell.scores
    langs, units = cell.at.langs, cell.at.units
    counts = {
        int(langs[run.start]): (int(scores.n_ok[units[run]].sum()), int(scores.n_total[units[run]].sum()))
        for run in by_lang(langs)
    }
    means, spread = scores.mean[cell.scored], scores.spread[cell.scored]
    known = stored_by_lang(columns, cell, stored)
    return Sample(name, cell.prompts, cell.langs, means, spread, counts, signature, known)
