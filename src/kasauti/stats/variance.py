"""Variance components: how much of a score's noise is synthesis, and how much is the judge.

A score of prompt p, take r, hearing k is modelled as prompt + synthesis(p, r) + judge(p, r, k), the last two with mean
0. Takes tell the synthesis part, rejudges of one clip the judge part.

What is biased:
- The synthesis variance is a difference and is cut at 0 after pooling the prompts of a language (never prompt by
  prompt), so where it is truly near 0 it comes out too high on average.
- With a single judgment a clip, the judge's variance can't be told apart and is counted as synthesis. What is made of
  the sum (the floor) is right, the split is not.
- Prompts with unequal numbers of takes are weighed by what their takes tell about the variance; where prompts differ in
  noisiness, that is not the plain mean over prompts.

Source: the method of moments for the nested model with unequal numbers; Searle, Casella and McCulloch, Variance
Components (1992), chapters 2 and 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kasauti.stats.columns import FloatArray
from kasauti.stats.scores import Spread


@dataclass(frozen=True)
class Components:
    """Variances of single scores, mean over prompts.

    Attributes:
        synthesis: Between takes of one prompt; None with a single take.
        judge: Between rejudges of one clip; None with a single judgment.
    """

    synthesis: float | None
    judge: float | None


@dataclass(frozen=True)
class PromptNoise:
    """What one prompt tells about noise.

    Attributes:
        repeats: Takes with a score. `judgments`: scores of all takes together.
        mean: Mean of all scores.
        var_takes: Variance between the means of the takes, the judge's part included; None with a single take.
        var_judge: Variance between rejudges of one clip, mean over clips; None with a single judgment.
    """

    prompt: str
    repeats: int
    judgments: int
    mean: float
    var_takes: float | None
    var_judge: float | None


def components(spread: Spread) -> Components:
    """Splits the variance of single scores into synthesis and judge, pooled over prompts.

    With R takes of K judgments each for every prompt: judge = mean variance within a take; synthesis = mean variance
    between the takes' means, less judge / K, not below 0.
    """
    judge, synthesis = None, None
    free = float((spread.judgments - spread.takes).sum())
    if free > 0:
        judge = float(spread.within.sum()) / free
    free = float((spread.takes - 1).sum())
    if free > 0:
        between = float(spread.between.sum()) - free * (judge or 0.0)
        synthesis = max(0.0, between / float(_weight(spread).sum()))
    return Components(synthesis, judge)


def prompt_noise(names: Sequence[str], means: FloatArray, spread: Spread) -> tuple[PromptNoise, ...]:
    """Each prompt's own variances, as they are stored.

    Args:
        names: Names of the prompts.
        means: Their mean scores, shape (n,).
        spread: Their sums of squares.
    """
    missing = np.full(means.size, np.nan)
    takes = np.divide(spread.between, _weight(spread), out=missing.copy(), where=spread.takes > 1)
    heard = spread.judgments - spread.takes
    judge = np.divide(spread.within, heard, out=missing, where=heard > 0)
    return tuple(
        PromptNoise(
            prompt=name,
            repeats=int(spread.takes[place]),
            judgments=int(spread.judgments[place]),
            mean=float(means[place]),
            var_takes=None if np.isnan(takes[place]) else float(takes[place]),
            var_judge=None if np.isnan(judge[place]) else float(judge[place]),
        )
        for place, name in enumerate(names)
    )


def variance_of_mean(spread: Spread, parts: Components) -> float:
    """Variance from run to run of the mean over the prompts of `spread`; a part that is None counts as 0."""
    synthesis = (parts.synthesis or 0.0) * float((spread.squares / spread.judgments**2).sum())
    judge = (parts.judge or 0.0) * float((1 / spread.judgments).sum())
    return (synthesis + judge) / spread.takes.size**2


def _weight(spread: Spread) -> FloatArray:
    """What the synthesis variance is multiplied by in the expected `between`; with R takes of K it is (R - 1) K."""
    return spread.judgments - spread.squares / spread.judgments
