"""Scores given prompt by prompt, as callers of the API have them, to arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from kasauti.errors import StatsError
from kasauti.stats.columns import FloatArray, IntArray, codes
from kasauti.stats.scores import Spread, run_means, spread_of

Takes = Sequence[float | Sequence[float]]
"""Scores of one prompt, one entry per repeat: a score, or the scores of all its rejudges."""


@dataclass(frozen=True)
class Nested:
    """Scores by prompt, take and judgment.

    Attributes:
        means: Mean of each prompt's judgments. `spread`: its sums of squares.
        take_means: Mean of each take. `take_prompts`: the prompt it is of. `take_repeats`: its repeat.
    """

    means: FloatArray
    spread: Spread
    take_means: FloatArray
    take_prompts: IntArray
    take_repeats: IntArray


def prompt_means(values_by_prompt: Mapping[str, Sequence[float]]) -> FloatArray:
    """Mean of each prompt's values, in the order of the mapping.

    Raises:
        StatsError: a prompt has no value, or one that is no finite number.
    """
    lengths = np.array([len(takes) for takes in values_by_prompt.values()], dtype=np.int64)
    values = np.array(list(chain.from_iterable(values_by_prompt.values())), dtype=np.float64)
    starts = np.cumsum(lengths) - lengths
    names = list(values_by_prompt)
    if not np.all(lengths):
        raise StatsError(
            f"prompt {names[int(np.argmin(lengths))]!r} has no value; leave it out and count it as missing"
        )
    if not np.all(np.isfinite(values)):
        place = int(np.searchsorted(starts, np.argmin(np.isfinite(values)), side="right")) - 1
        raise StatsError(
            f"prompt {names[place]!r} has a value that is no number; leave failed takes out and count them"
        )
    return run_means(values, np.ones(values.size), starts)


def nested(values_by_prompt: Mapping[str, Takes]) -> Nested:
    """Sorts scores into prompts, takes and judgments, in the order of the mapping.

    Raises:
        StatsError: as `prompt_means`.
    """
    flat = {
        prompt: [float(score) for take in takes for score in np.atleast_1d(take)]
        for prompt, takes in values_by_prompt.items()
    }
    means = prompt_means(flat)
    sizes = [
        (prompt, repeat, np.size(take))
        for prompt, takes in enumerate(values_by_prompt.values())
        for repeat, take in enumerate(takes)
        if np.size(take)
    ]
    prompts, repeats, judgments = np.array(sizes, dtype=np.int64).reshape(-1, 3).T
    values = np.array(list(chain.from_iterable(flat.values())), dtype=np.float64)
    unit_takes = np.searchsorted(prompts, np.arange(means.size))
    take_means, _, spread = spread_of(values, np.ones(values.size), np.cumsum(judgments) - judgments, unit_takes)
    return Nested(means, spread, take_means, prompts, repeats)


def strata_codes(prompts: Sequence[str], strata: Mapping[str, str] | None) -> tuple[list[str], IntArray]:
    """Names of the strata, and the stratum of each prompt; without strata there is one, without a name.

    Raises:
        StatsError: a prompt has no stratum.
    """
    if strata is None:
        return [""], np.zeros(len(prompts), dtype=np.int64)
    missing = [prompt for prompt in prompts if prompt not in strata]
    if missing:
        raise StatsError(
            f"{len(missing)} prompts have no stratum, the first is {missing[0]!r}; name one for each prompt"
        )
    return codes(strata[prompt] for prompt in prompts)
