"""Intervals by drawing prompts again.

The unit that is drawn is the prompt with all its takes: three takes of one prompt are not three pieces of evidence.
The interval is the 2.5th to 97.5th percentile of the statistic over the draws (`kasauti.stats.resample`). Systems that
share their prompts share their draws, so differences between them are paired. Ends are given to 12 decimals; below
that, matrix products differ between machines.

Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapters 6 and 13 (percentile interval).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from kasauti.errors import StatsError
from kasauti.stats.columns import FloatArray
from kasauti.stats.resample import Stratum, replicate_means, replicate_medians, strata_of
from kasauti.stats.values import prompt_means, strata_codes

PERCENTILES = (2.5, 97.5)

DECIMALS = 12


@dataclass(frozen=True)
class Interval:
    """A statistic over prompts with its 95 % percentile interval.

    Attributes:
        estimate: The statistic; None without a prompt, as is all else.
        low, high: Ends of the interval. From a single prompt both are the estimate: nothing is known about its spread,
            so look at `n_prompts`.
        se: Standard deviation of the statistic over the draws.
        n_prompts: Prompts that it rests on.
    """

    estimate: float | None
    low: float | None
    high: float | None
    se: float | None
    n_prompts: int


@dataclass(frozen=True)
class Paired:
    """Several systems on the prompts that all of them have.

    Attributes:
        systems: Interval of each system's mean.
        differences: (a, b) -> interval of the mean of a less that of b, for each pair in the order given.
    """

    systems: dict[str, Interval]
    differences: dict[tuple[str, str], Interval]


def bootstrap(
    values_by_prompt: Mapping[str, Sequence[float]],
    *,
    strata: Mapping[str, str] | None = None,
    draws: int = 10_000,
    seed: int = 0,
    statistic: Literal["mean", "median"] = "mean",
    macro: bool = False,
) -> Interval:
    """Mean or median over prompts, with its interval.

    Args:
        values_by_prompt: Prompt -> values of all its takes, which are averaged first.
        strata: Prompt -> language or category; prompts are drawn within it. Strata of one prompt form one together.
        draws: How often the prompts are drawn again.
        seed: Same seed, same interval.
        statistic: Over the prompts.
        macro: Mean over the strata's means instead of over all prompts; for means only.

    Raises:
        StatsError: a prompt has no value, a value is no finite number, a prompt has no stratum, or a median is to be
            averaged over strata.
    """
    means = prompt_means(values_by_prompt)
    if not means.size:
        return Interval(None, None, None, None, 0)
    groups = _strata(list(values_by_prompt), strata, macro=macro)
    if statistic == "mean":
        matrix = means[:, None]
        return _intervals(matrix, replicate_means(matrix, groups, draws=draws, seed=seed), groups)[0]
    if macro:
        raise StatsError("statistic='median' has no mean over strata here; call it stratum by stratum, or macro=False")
    return interval_of(float(np.median(means)), replicate_medians(means, groups, draws=draws, seed=seed), means.size)


def paired_differences(
    values: Mapping[str, Mapping[str, Sequence[float]]],
    *,
    strata: Mapping[str, str] | None = None,
    draws: int = 10_000,
    seed: int = 0,
    macro: bool = False,
) -> Paired:
    """Means of several systems and the differences of all pairs, from shared draws.

    Args:
        values: System -> prompt -> values of all its takes. Prompts that a system lacks are left out for all.
        strata, draws, seed, macro: As for `bootstrap`.

    Raises:
        StatsError: as for `bootstrap`.
    """
    names = list(values)
    common = [prompt for prompt in next(iter(values.values()), {}) if all(prompt in values[name] for name in names)]
    if not common:
        nothing = Interval(None, None, None, None, 0)
        return Paired(dict.fromkeys(names, nothing), dict.fromkeys(combinations(names, 2), nothing))
    means = np.stack([prompt_means({prompt: values[name][prompt] for prompt in common}) for name in names], axis=1)
    groups = _strata(common, strata, macro=macro)
    drawn = replicate_means(means, groups, draws=draws, seed=seed)
    first, second = np.triu_indices(len(names), 1)
    pairs = _intervals(means[:, first] - means[:, second], drawn[:, first] - drawn[:, second], groups)
    return Paired(
        systems=dict(zip(names, _intervals(means, drawn, groups), strict=True)),
        differences=dict(zip(combinations(names, 2), pairs, strict=True)),
    )


def interval_of(estimate: float, drawn: FloatArray, n_prompts: int) -> Interval:
    """The interval of one statistic from its values over the draws, shape (draws,)."""
    # Rounding the distance makes an end exactly the estimate where nothing varies.
    low, high = (estimate + round(float(end) - estimate, DECIMALS) for end in np.percentile(drawn, PERCENTILES))
    return Interval(estimate, low, high, round(float(np.std(drawn - estimate)), DECIMALS), n_prompts)


def weighted_mean(values: FloatArray, strata: Sequence[Stratum]) -> float:
    """Weighted mean over strata of the means of their prompts; exactly the value where there is only one."""
    least = values.min()
    return float(least + sum(s.weight * (values[s.members] - least).mean() for s in strata))


def _intervals(values: FloatArray, drawn: FloatArray, strata: Sequence[Stratum]) -> list[Interval]:
    """Intervals of the columns of a matrix of prompt values."""
    return [
        interval_of(weighted_mean(column, strata), drawn[:, place], len(values))
        for place, column in enumerate(np.ascontiguousarray(values.T))
    ]


def _strata(prompts: Sequence[str], strata: Mapping[str, str] | None, *, macro: bool) -> list[Stratum]:
    names, labels = strata_codes(prompts, strata)
    return strata_of(labels, names, macro=macro)
