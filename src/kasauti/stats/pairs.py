"""Verdicts on pairs of systems, from their scores as arrays.

A pair is compared on the prompts that both have scored, in the languages that both have rows in. Pairs that have the
same prompts in common share their draws.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from kasauti.stats.cells import summarise
from kasauti.stats.columns import FloatArray, IntArray
from kasauti.stats.difference import Difference, differences
from kasauti.stats.noise import StoredNoise, mean_floor
from kasauti.stats.resample import strata_of
from kasauti.stats.scores import Spread
from kasauti.stats.verdict import Side, Verdict, verdict_of


@dataclass(frozen=True)
class Rules:
    """How verdicts are made.

    Attributes:
        higher_is_better: For marks; error rates are better the lower they are.
        min_ok_share: A system with a smaller share of scored rows is `insufficient`.
        draws, seed: Of the bootstrap.
    """

    higher_is_better: bool = False
    min_ok_share: float = 0.95
    draws: int = 10_000
    seed: int = 0


DEFAULT = Rules()


@dataclass(frozen=True)
class Sample:
    """One system's scores.

    Attributes:
        name: The system.
        prompts: Scored prompts as numbers, ascending; `langs`, `means` and `spread` are theirs.
        counts: Language -> scored rows, and all rows that the system could have had.
        signature: Part -> value: all that must be equal for scores to be comparable.
        stored: Language -> noise that an earlier run measured.
    """

    name: str
    prompts: IntArray
    langs: IntArray
    means: FloatArray
    spread: Spread
    counts: Mapping[int, tuple[int, int]]
    signature: Mapping[str, str]
    stored: Mapping[int, StoredNoise] = field(default_factory=dict)


def pair_verdicts(
    pairs: Sequence[tuple[Sample, Sample]],
    langs: Sequence[str],
    humans: Sequence[float | None],
    *,
    macro: bool,
    assumed: float | None,
    rules: Rules,
) -> list[Verdict]:
    """Verdicts on pairs of samples.

    Args:
        pairs: What to compare; prompts and languages are numbered alike in all of them.
        langs: Names of the languages.
        humans: For each pair what the judge makes of human recordings.
        macro, assumed, rules: As for `compare`.
    """
    common = [np.intersect1d(a.prompts, b.prompts, assume_unique=True, return_indices=True) for a, b in pairs]
    alike: dict[bytes, list[int]] = defaultdict(list)
    for position, (prompts, _, _) in enumerate(common):
        if prompts.size:
            alike[prompts.tobytes()].append(position)
    found: list[Difference | None] = [None] * len(pairs)
    for positions in alike.values():
        labels = pairs[positions[0]][0].langs[common[positions[0]][1]]
        columns = [pairs[p][0].means[common[p][1]] - pairs[p][1].means[common[p][2]] for p in positions]
        strata = strata_of(labels, langs, macro=macro)
        drawn = differences(np.stack(columns, axis=1), strata, draws=rules.draws, seed=rules.seed)
        for position, difference in zip(positions, drawn, strict=True):
            found[position] = difference
    return [
        verdict_of(
            _side(a, b, in_a, macro=macro, assumed=assumed),
            _side(b, a, in_b, macro=macro, assumed=assumed),
            difference,
            human=human,
            min_ok_share=rules.min_ok_share,
            higher_is_better=rules.higher_is_better,
        )
        for (a, b), (_, in_a, in_b), difference, human in zip(pairs, common, found, humans, strict=True)
    ]


def _side(sample: Sample, other: Sample, common: IntArray, *, macro: bool, assumed: float | None) -> Side:
    """One side of a pair, on the prompts (by position in `sample`) that are common to both."""
    counts = [sample.counts[lang] for lang in sample.counts.keys() & other.counts.keys()]
    langs = sample.langs[common]
    return Side(
        name=sample.name,
        n_ok=sum(ok for ok, _ in counts),
        n_total=sum(total for _, total in counts),
        mean=summarise(sample.means[common], langs, macro=macro),
        floor=mean_floor(sample.spread[common], langs, macro=macro, assumed=assumed, stored=sample.stored),
        signature=sample.signature,
    )
