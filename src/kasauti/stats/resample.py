"""Drawing prompts again: strata, and statistics over the draws.

Prompts are drawn with replacement within their stratum (language), as many as there are. Draws depend on the seed, the
stratum's name and its number of prompts, and on nothing else: columns of one matrix share them, and so do matrices of
the same prompts.

A mean is not drawn value by value: how often each prompt came up is counted, and the counts times the matrix of all
systems' prompt means are all their means. Memory is bounded by `BLOCK`, whatever the number of prompts and draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kasauti.stats.columns import FloatArray, IntArray

BLOCK = 1 << 15
"""Numbers drawn at a time: few enough that the arrays stay in the cache and are not given back to the system."""

TILE = 1 << 18
"""Multiplications in one call of the linear algebra library; OpenBLAS starts threads above this number."""


@dataclass(frozen=True)
class Stratum:
    """Prompts that are drawn among themselves.

    Attributes:
        name: Seeds the draws.
        members: Indices of its prompts.
        weight: Of its mean in the mean over all.
    """

    name: str
    members: IntArray
    weight: float


def strata_of(labels: IntArray, names: Sequence[str], *, macro: bool) -> list[Stratum]:
    """Groups prompts by stratum; strata of a single prompt, which can't vary alone, form one together.

    Args:
        labels: Stratum of each prompt, an index into `names`; shape (n,).
        names: Names of the strata.
        macro: Weigh strata alike, whatever their size.
    """
    present, index, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    share = (1 / (present.size * sizes)) if macro else np.full(present.size, 1 / labels.size)
    alone = sizes == 1
    if alone.sum() > 1:
        labels = np.where(alone[index], -1, labels)
    weights = share[index]
    groups = [np.flatnonzero(labels == label) for label in np.unique(labels).tolist()]
    named = [names[label] if label >= 0 else "" for label in np.unique(labels).tolist()]
    return [Stratum(name, members, float(weights[members].sum())) for name, members in zip(named, groups, strict=True)]


def replicate_means(values: FloatArray, strata: Sequence[Stratum], *, draws: int, seed: int) -> FloatArray:
    """Weighted mean over strata of each column, for each draw.

    Args:
        values: One row a prompt, one column a system; shape (n, k).
        strata: From `strata_of`.
        draws: How often the prompts are drawn again.
        seed: Same seed, same draws.

    Returns:
        Shape (draws, k); exactly the value where a column holds one value only.
    """
    least = values.min(axis=0)
    total = np.zeros((draws, values.shape[1]))
    for stratum in strata:
        total += stratum.weight * stratum_means(values[stratum.members] - least, stratum.name, draws=draws, seed=seed)
    return np.asarray(total + least, dtype=np.float64)


def stratum_means(values: FloatArray, name: str, *, draws: int, seed: int) -> FloatArray:
    """Mean of each column over the prompts of one stratum, for each draw.

    Args:
        values: Shape (n, k).
        name: Name of the stratum; with the seed it fixes the draws.
        draws, seed: As for `replicate_means`.

    Returns:
        Shape (draws, k).
    """
    n = len(values)
    shares = values / n
    drawn = [_product(_counts(chosen), shares) for chosen in _draws(n, name, draws, seed, max(1, BLOCK // n))]
    return np.concatenate(drawn)


def _counts(chosen: IntArray) -> FloatArray:
    """How often each of n prompts comes up in each row of `chosen`, shape (rows, n)."""
    rows, n = chosen.shape
    cells = chosen + np.arange(0, rows * n, n)[:, None]
    return np.bincount(cells.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)


def _product(counts: FloatArray, shares: FloatArray) -> FloatArray:
    """Matrix product in tiles that the linear algebra library does not spread over threads.

    Threads gain little on matrices of this shape, cost much where cores are shared, and would let the last digits
    depend on how many there are.
    """
    rows, (n, k) = len(counts), shares.shape
    depth = max(1, TILE // (k * min(rows, 64)))
    height = max(1, TILE // (k * min(n, depth)))
    result = np.zeros((rows, k))
    for top in range(0, rows, height):
        for left in range(0, n, depth):
            result[top : top + height] += counts[top : top + height, left : left + depth] @ shares[left : left + depth]
    return result


def replicate_medians(values: FloatArray, strata: Sequence[Stratum], *, draws: int, seed: int) -> FloatArray:
    """Median over all prompts, drawn within strata, for each draw.

    Args:
        values: Shape (n,).
        strata, draws, seed: As for `replicate_means`.

    Returns:
        Shape (draws,).
    """
    step = max(1, BLOCK // values.size)
    blocks = zip(*(_draws(s.members.size, s.name, draws, seed, step) for s in strata), strict=True)
    medians = [
        np.median(
            np.concatenate([values[s.members[chosen]] for s, chosen in zip(strata, block, strict=True)], axis=1), axis=1
        )
        for block in blocks
    ]
    return np.concatenate(medians)


def _draws(n: int, name: str, draws: int, seed: int, step: int) -> Iterator[IntArray]:
    """Indices of the prompts drawn, in blocks of shape (at most `step` draws, n)."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(name.encode())))
    kind = np.uint16 if n <= np.iinfo(np.uint16).max else np.uint32
    for first in range(0, draws, step):
        yield rng.integers(0, n, size=(min(step, draws - first), n), dtype=kind).astype(np.int64)
