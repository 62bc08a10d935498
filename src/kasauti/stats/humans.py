"""What a judge makes of human recordings: the limit below which its numbers say nothing more about voices.

Recordings that were heard beside the voices come first. Where these have none in a language, what an earlier run found
stands in; it must have been scored in the same way, by the same revision of the judge, on whatever prompts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kasauti.stats.cells import summarise
from kasauti.stats.pairs import Sample
from kasauti.stats.scores import mean_of


@dataclass(frozen=True)
class HumanFloor:
    """Mean score that a judge gave to human recordings in one language, in an earlier run.

    Attributes:
        metric, lang: Of the mean.
        mean: Over the scored prompts.
        n_prompts: How many these were.
        signature: Part -> value: all that must be equal for the mean to limit others, prompts aside.
        run, system: Where it was found.
    """

    metric: str
    lang: str
    mean: float
    n_prompts: int
    signature: Mapping[str, str]
    run: str
    system: str


@dataclass(frozen=True)
class Limit:
    """The human line of one comparison; `mean` is None where it is not known, `source` names an earlier run."""

    mean: float | None = None
    source: str = ""


def human_limit(
    a: Sample, b: Sample, people: Sequence[Sample], floors: Sequence[HumanFloor], langs: Sequence[str], *, macro: bool
) -> Limit:
    """Mean score of human recordings in the languages that two systems share.

    Args:
        a, b: The two.
        people: Human recordings of the same table, judge and metric. Of several sets, each that has all the languages
            weighs the same.
        floors: Of earlier runs, of this metric; of one signature and language at most one.
        langs: Number of a language -> its code.
        macro: Languages weigh alike, instead of prompts.

    Returns:
        Without a mean where neither has all the languages.
    """
    shared = np.intersect1d(a.langs, b.langs)
    if not shared.size:
        return Limit()
    fitting = [p for p in people if p.signature == a.signature and np.all(np.isin(shared, p.langs))]
    chosen = [(p, np.isin(p.langs, shared)) for p in fitting]
    means = [summarise(p.means[flags], p.langs[flags], macro=macro) for p, flags in chosen]
    if means:
        return Limit(mean_of([mean for mean in means if mean is not None]))
    stored = {floor.lang: floor for floor in floors if floor.signature == a.signature}
    codes = [langs[number] for number in shared.tolist()]
    if not all(code in stored for code in codes) or not (macro or len(codes) == 1):
        return Limit()
    runs = dict.fromkeys(f"run {stored[code].run} ({stored[code].system})" for code in codes)
    return Limit(mean_of([stored[code].mean for code in codes]), ", ".join(runs))
