"""Times the bootstrap of 8 means and 28 paired differences against `scipy.stats.bootstrap` on the same numbers.

    PYTHONPATH=src python benchmarks/bootstrap.py [--draws 10000] [--rounds 3] [--skip-scipy]

21 strata of 100 prompts with 3 takes each. Ours draws all 36 statistics at once, paired, within strata; scipy is called
once for each of them with 21 samples (its way of saying strata) of prompt means. Both give percentile intervals. Prints
wall and CPU seconds (best of the rounds), peak memory above the start, the ratios, and by how much the ends differ.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from kasauti.stats.bootstrap import Interval, Paired, paired_differences

STRATA, PROMPTS, TAKES, SYSTEMS = 21, 100, 3, 8

Ends = dict[Any, tuple[float, float]]


def study(seed: int = 0) -> np.ndarray:
    """Error rates (systems, strata, prompts, takes): prompts shared by all systems, half of the noise between takes."""
    rng = np.random.default_rng(seed)
    hard = rng.beta(1, 8, (1, STRATA, PROMPTS, 1))
    return hard * rng.gamma(4, 0.25, (SYSTEMS, STRATA, PROMPTS, TAKES))


def ours(scores: np.ndarray, draws: int) -> Ends:
    names = [(stratum, prompt) for stratum in range(STRATA) for prompt in range(PROMPTS)]
    values = {f"s{system}": {f"{s}-{p}": scores[system, s, p].tolist() for s, p in names} for system in range(SYSTEMS)}
    strata = {f"{s}-{p}": str(s) for s, p in names}
    return ends_of(paired_differences(values, strata=strata, draws=draws))


def ends_of(paired: Paired) -> Ends:
    def ends(interval: Interval) -> tuple[float, float]:
        assert interval.low is not None
        assert interval.high is not None
        return interval.low, interval.high

    return {name: ends(interval) for name, interval in {**paired.systems, **paired.differences}.items()}


def scipys(scores: np.ndarray, draws: int) -> Ends:
    from scipy import stats

    def mean_over_strata(*samples: np.ndarray, axis: int = -1) -> np.ndarray:
        return np.asarray(sum(sample.mean(axis=axis) for sample in samples)) / STRATA

    def ends(strata: np.ndarray) -> tuple[float, float]:
        found = stats.bootstrap(
            list(strata), mean_over_strata, n_resamples=draws, method="percentile", rng=np.random.default_rng(0)
        )
        return tuple(map(float, found.confidence_interval))

    means = scores.mean(axis=-1)
    found: Ends = {f"s{system}": ends(means[system]) for system in range(SYSTEMS)}
    for a, b in combinations(range(SYSTEMS), 2):
        found[f"s{a}", f"s{b}"] = ends(means[a] - means[b])
    return found


def measured(work: Callable[[], Ends], rounds: int) -> tuple[Ends, float, float, float]:
    """What the work gives, its wall and CPU seconds (best of the rounds), and its peak memory in MiB."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, cpu = float("inf"), float("inf")
    for _ in range(rounds):
        started, started_cpu = time.perf_counter(), time.process_time()
        found = work()
        wall = min(wall, time.perf_counter() - started)
        cpu = min(cpu, time.process_time() - started_cpu)
    return found, wall, cpu, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--skip-scipy", action="store_true")
    options = parser.parse_args()
    scores = study()
    mine, wall, cpu, memory = measured(lambda: ours(scores, options.draws), options.rounds)
    print(f"kasauti: {wall:.2f} s wall, {cpu:.2f} s CPU, peak +{memory:.0f} MiB, {len(mine)} statistics")
    if options.skip_scipy:
        return
    theirs, their_wall, their_cpu, their_memory = measured(lambda: scipys(scores, options.draws), 1)
    print(f"scipy:   {their_wall:.2f} s wall, {their_cpu:.2f} s CPU, peak +{their_memory:.0f} MiB")
    apart = max(
        abs(end - other) / (mine[name][1] - mine[name][0])
        for name in mine
        for end, other in zip(mine[name], theirs[name], strict=True)
    )
    print(
        f"ratio:   {their_wall / wall:.1f} x wall, {their_cpu / cpu:.1f} x CPU; ends differ by {apart:.1%} of the width"
    )


if __name__ == "__main__":
    main()
