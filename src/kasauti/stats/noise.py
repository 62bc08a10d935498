"""Noise floor: how far two runs of the same thing lie apart when nothing has changed.

Made of the variance components of `kasauti.stats.variance`. The prompts stay the same from run to run, so their spread
is no part of the floor; it is what the interval of a mean is made of (`kasauti.stats.bootstrap`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from types import MappingProxyType

import numpy as np

from kasauti.records import FloorKind
from kasauti.stats.cells import by_lang, summarise
from kasauti.stats.columns import FloatArray, IntArray
from kasauti.stats.scores import Spread
from kasauti.stats.values import Takes, nested
from kasauti.stats.variance import Components, PromptNoise, components, prompt_noise, variance_of_mean

KINDS: tuple[FloorKind, ...] = ("measured", "stored", "assumed", "none")
"""From the best known to the least."""

MEASURED: tuple[FloorKind, ...] = ("measured", "stored")
"""Kinds that rest on takes of the system itself."""

Z95 = 1.96

ASSUMED_CER = 0.006
"""CER by which two runs of one checkpoint differ; published for one system, one judge, 100 prompts a language."""

ASSUMED_FROM_PROMPTS = 100


@dataclass(frozen=True)
class StoredNoise:
    """What an earlier run measured: noise of single scores of one system by one judge, in one language.

    Attributes:
        system, judge, metric, lang: Whose scores, by their names in the table that it is to serve.
        var_synthesis, var_judge: As in `Floor`.
        source: Which run it is from, in words.
    """

    system: str
    judge: str
    metric: str
    lang: str
    var_synthesis: float
    var_judge: float | None
    source: str


@dataclass(frozen=True)
class Split:
    """A floor and its parts; the squares of the parts add up to that of the floor.

    Attributes:
        floor95: As of `Floor`.
        synthesis95: What it would be if the judge never varied.
        judge95: What it would be if no take did; None where one hearing a take leaves it in `synthesis95`.
    """

    floor95: float
    synthesis95: float
    judge95: float | None


@dataclass(frozen=True)
class Floor:
    """The noise of a mean over prompts.

    Attributes:
        kind: `measured` from repeats (at least half of the prompts have two takes); `stored`, measured by an earlier
            run; `assumed`; or `none`: not known.
        n_prompts: Prompts with a score.
        repeats: Mean number of takes a prompt. `rejudges`: mean number of judgments a take.
        var_synthesis, var_judge: Variance between takes of one prompt, and between rejudges of one clip; None with one.
        var_mean: Variance of the mean over these prompts from run to run; None where no floor is known.
        var_mean_judge: The judge's part of it; None where it can't be told from the synthesis.
        largest_pair: Largest difference between two repeats, over the prompts that have both; None with a single
            repeat. A repeat is one take a prompt, so its like is `at(repeats=1)`, not `floor95`.
        prompts: Each prompt's own variances; empty where they were not asked for.
        source: The earlier run of a `stored` floor, in words; else empty.
    """

    kind: FloorKind
    n_prompts: int
    repeats: float
    rejudges: float
    var_synthesis: float | None
    var_judge: float | None
    var_mean: float | None
    largest_pair: float | None = None
    prompts: tuple[PromptNoise, ...] = ()
    source: str = ""
    var_mean_judge: float | None = None

    @property
    def floor95(self) -> float | None:
        """Difference between two independent runs like this one that is exceeded 5 % of the time."""
        return pair_floor95(self, self)

    def at(
        self, *, n_prompts: int | None = None, repeats: float | None = None, rejudges: float | None = None
    ) -> float | None:
        """The floor at other numbers of prompts, repeats a prompt and rejudges a take; None unless it is measured."""
        found = self.split(n_prompts=n_prompts, repeats=repeats, rejudges=rejudges)
        return None if found is None else found.floor95

    def split(
        self, *, n_prompts: int | None = None, repeats: float | None = None, rejudges: float | None = None
    ) -> Split | None:
        """The same, and how much of it synthesis and judge would leave alone.

        With n prompts of R takes of K judgments each, the variance of a mean is synthesis/(n R) + judge/(n R K).
        """
        if self.kind not in MEASURED or self.var_mean is None:
            return None
        judge = self.var_mean_judge
        takes = (self.n_prompts * self.repeats) / ((n_prompts or self.n_prompts) * (repeats or self.repeats))
        synthesis = (self.var_mean - (judge or 0.0)) * takes
        heard = None if judge is None else judge * takes * self.rejudges / (rejudges or self.rejudges)
        return Split(
            _floor95(2 * (synthesis + (heard or 0.0))),
            _floor95(2 * synthesis),
            None if heard is None else _floor95(2 * heard),
        )


def noise_floor(values_by_prompt: Mapping[str, Takes], *, assumed: float | None = ASSUMED_CER) -> Floor:
    """Noise floor of the mean over the prompts of one language.

    Args:
        values_by_prompt: Prompt -> one entry per repeat: its score, or the scores of its rejudges.
        assumed: Floor to assume with a single repeat of at least 100 prompts; None for metrics other than CER.

    Raises:
        StatsError: a prompt has no score, or one that is no finite number.
    """
    scores = nested(values_by_prompt)
    return replace(
        language_floor(scores.spread, assumed),
        largest_pair=largest_pair(
            scores.take_means, scores.take_prompts, scores.take_repeats, np.zeros(scores.means.size, dtype=np.int64)
        ),
        prompts=prompt_noise(list(values_by_prompt), scores.means, scores.spread),
    )


def language_floor(spread: Spread, assumed: float | None, stored: StoredNoise | None = None) -> Floor:
    """Floor of the mean over the prompts of one language.

    Args:
        spread: Sums of squares of its scored prompts.
        assumed: See `noise_floor`.
        stored: What an earlier run measured; for prompts of which too few have two takes.
    """
    n = spread.takes.size
    n_takes, n_judgments = float(spread.takes.sum()), float(spread.judgments.sum())
    parts = components(spread)
    kind: FloorKind = "none"
    var_mean, known = None, parts
    if parts.synthesis is not None and 2 * np.count_nonzero(spread.takes > 1) >= n:
        kind, var_mean = "measured", variance_of_mean(spread, parts)
    elif stored is not None and n:
        known = Components(stored.var_synthesis, stored.var_judge)
        kind, var_mean = "stored", variance_of_mean(spread, known)
    elif assumed is not None and n >= ASSUMED_FROM_PROMPTS:
        # A judge that is known to be noisier than all that is assumed is believed.
        kind = "assumed"
        var_mean = max((assumed / Z95) ** 2 / 2, variance_of_mean(spread, Components(None, parts.judge)))
    return Floor(
        kind=kind,
        n_prompts=n,
        repeats=n_takes / n if n else 0.0,
        rejudges=n_judgments / n_takes if n else 0.0,
        var_synthesis=parts.synthesis,
        var_judge=parts.judge,
        var_mean=var_mean,
        source=stored.source if stored is not None and kind == "stored" else "",
        var_mean_judge=None if known.judge is None else variance_of_mean(spread, Components(None, known.judge)),
    )


def mean_floor(
    spread: Spread,
    langs: IntArray,
    *,
    macro: bool,
    assumed: float | None,
    stored: Mapping[int, StoredNoise] = MappingProxyType({}),
) -> Floor:
    """Floor of a mean over prompts of several languages.

    Args:
        spread: Sums of squares of the scored prompts.
        langs: Their languages, ascending.
        macro: Weigh languages alike, instead of prompts.
        assumed: See `noise_floor`.
        stored: Language -> what an earlier run measured.
    """
    runs = [np.arange(run.start, run.stop) for run in by_lang(langs)]
    weights = [1 / len(runs) if macro else run.size / langs.size for run in runs]
    floors = [language_floor(spread[run], assumed, stored.get(int(langs[run[0]]))) for run in runs]
    return combined_floor(floors, weights)


def combined_floor(floors: Sequence[Floor], weights: Sequence[float]) -> Floor:
    """Floor of a weighted mean of the means of several languages; as well known as the least known of them."""
    kind = least_known(floors)
    n = sum(floor.n_prompts for floor in floors)
    takes = sum(floor.n_prompts * floor.repeats for floor in floors)
    judgments = sum(floor.n_prompts * floor.repeats * floor.rejudges for floor in floors)
    variances = [weight**2 * (floor.var_mean or 0.0) for floor, weight in zip(floors, weights, strict=True)]
    return Floor(
        kind=kind,
        n_prompts=n,
        repeats=takes / n if n else 0.0,
        rejudges=judgments / takes if n else 0.0,
        var_synthesis=_weighted([floor.var_synthesis for floor in floors], weights),
        var_judge=_weighted([floor.var_judge for floor in floors], weights),
        var_mean=None if kind == "none" else sum(variances),
        source=sources(floors),
        var_mean_judge=_judge_part(floors, weights) if kind in MEASURED else None,
    )


def _judge_part(floors: Sequence[Floor], weights: Sequence[float]) -> float | None:
    """The judge's part of the variance of a weighted mean; None where one of the floors does not tell it apart."""
    parts = [floor.var_mean_judge for floor in floors]
    if None in parts:
        return None
    return sum(weight**2 * (part or 0.0) for weight, part in zip(weights, parts, strict=True))


def sources(floors: Sequence[Floor]) -> str:
    """The earlier runs that some floors are from, in words; empty unless the least known of them is a stored one."""
    if least_known(floors) != "stored":
        return ""
    return ", ".join(dict.fromkeys(floor.source for floor in floors if floor.source))


def least_known(floors: Sequence[Floor]) -> FloorKind:
    """How well a number is known that rests on all of these."""
    return max((floor.kind for floor in floors), key=KINDS.index, default="none")


def pair_floor95(a: Floor, b: Floor) -> float | None:
    """Difference between the means of two runs that noise alone exceeds 5 % of the time; None where it is not known."""
    if a.var_mean is None or b.var_mean is None:
        return None
    return _floor95(a.var_mean + b.var_mean)


def largest_pair(
    take_mean: FloatArray, prompt: IntArray, repeat: IntArray, lang: IntArray, *, macro: bool = False
) -> float | None:
    """Largest difference between the means of two repeats.

    Args:
        take_mean: Score of each take, NaN where it has none, shape (takes,).
        prompt: Its prompt, counted from 0, ascending.
        repeat: Its repeat.
        lang: Language of each prompt, ascending.
        macro: Weigh languages alike instead of prompts.

    Returns:
        None where no two repeats have a score for the same half of the prompts.
    """
    numbers, column = np.unique(repeat, return_inverse=True)
    table = np.full((lang.size, numbers.size), np.nan)
    table[prompt, column] = take_mean
    found = []
    for one, other in combinations(table.T, 2):
        both = np.isfinite(one) & np.isfinite(other)
        if 2 * np.count_nonzero(both) >= lang.size:
            found.append(abs(summarise(one[both] - other[both], lang[both], macro=macro) or 0.0))
    return max(found, default=None)


def _floor95(variance: float) -> float:
    return Z95 * float(np.sqrt(variance))


def _weighted(values: Sequence[float | None], weights: Sequence[float]) -> float | None:
    """Weighted mean of what is known."""
    known = [(value, weight) for value, weight in zip(values, weights, strict=True) if value is not None]
    return sum(v * w for v, w in known) / sum(w for _, w in known) if known else None
