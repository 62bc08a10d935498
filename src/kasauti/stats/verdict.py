"""Verdicts: whether a difference between two systems means anything.

In this order, the first that applies: `not_comparable` (their signatures differ), `insufficient` (too many failures, or
nothing in common), `judge_limited` (both at or below what the judge makes of humans: the number measures the judge),
`within_noise` (the difference is not above the noise floor, or its paired interval covers 0), `better`, `worse`.

Not for many comparisons at once: each verdict may be wrong 5 % of the time, so among 28 pairs expect one or two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from kasauti.records import FloorKind, VerdictName
from kasauti.stats.difference import MIN_PROMPTS, NORMAL_975, Difference
from kasauti.stats.noise import MEASURED, Floor, least_known, pair_floor95, sources

NORMAL_80 = 0.841621
"""80th percentile of the normal distribution: what is planned for is told four times in five."""


@dataclass(frozen=True)
class Side:
    """One system in a comparison, on the prompts that both have scored.

    Attributes:
        name: The system.
        n_ok: Scored rows of all that it could have had in the comparison, `n_total`.
        mean: Mean over the common prompts; None without one.
        floor: Noise of that mean.
        signature: Part -> value: all that must be equal for two scores to be comparable.
    """

    name: str
    n_ok: int
    n_total: int
    mean: float | None
    floor: Floor
    signature: Mapping[str, str]


@dataclass(frozen=True)
class Verdict:
    """What can be said of A against B.

    Attributes:
        a, b: The systems.
        verdict: `better` means that A is better.
        reason: Why, in words.
        difference: Mean of A less mean of B over the common prompts; None without any.
        floor95: Difference that noise alone exceeds 5 % of the time; None where it is not known.
        floor_kind: How well it is known.
        var_noise: Variance of the difference from run to run; None where it is not measured.
        repeats: Takes a prompt, the larger of the two.
        mean_a, mean_b: Means over the common prompts; None without any.
        human: Mean score that the judge gives to human recordings; None where it is not known.
        floor_source: Earlier runs that a stored floor is from, in words; else empty.
    """

    a: str
    b: str
    verdict: VerdictName
    reason: str
    difference: Difference | None
    floor95: float | None
    floor_kind: FloorKind
    var_noise: float | None
    repeats: float
    mean_a: float | None = None
    mean_b: float | None = None
    human: float | None = None
    floor_source: str = ""

    @property
    def smallest(self) -> float | None:
        """Smallest difference that these runs could have told; None where no difference of any size could be."""
        found = self.difference
        if found is None or found.n_prompts < MIN_PROMPTS:
            return None
        return max(self.floor95 or 0.0, found.half)

    def prompts_for(self, delta: float) -> int | None:
        """How many prompts would tell a true difference four times in five, with as many repeats as here.

        Args:
            delta: The difference, above 0.

        Returns:
            None where no number would: there is nothing to plan from, or the assumed floor is as large.
        """
        found = self.difference
        if found is None or found.n_prompts < MIN_PROMPTS:
            return None
        floor = self.floor95 or 0.0
        if self.floor_kind == "assumed":
            if delta <= floor:
                return None
            factor = max((NORMAL_975 + NORMAL_80) / delta, NORMAL_80 / (delta - floor)) * found.se
        else:
            factor = (max(NORMAL_975 * found.se, floor) + NORMAL_80 * found.se) / delta
        return max(MIN_PROMPTS, ceil(found.n_prompts * factor**2))

    def repeats_for(self, delta: float) -> int | None:
        """How many repeats of these prompts would tell a true difference four times in five.

        Returns:
            None where no number would, since the prompts themselves disagree too much, or where noise is not measured.
        """
        found = self.difference
        if found is None or found.n_prompts < MIN_PROMPTS or self.var_noise is None:
            return None
        prompts = max(0.0, found.se**2 - self.var_noise)
        left = (delta / (NORMAL_975 + NORMAL_80)) ** 2 - prompts
        return max(1, ceil(self.repeats * self.var_noise / left)) if left > 0 else None


def verdict_of(
    a: Side,
    b: Side,
    difference: Difference | None,
    *,
    human: float | None = None,
    min_ok_share: float = 0.95,
    higher_is_better: bool = False,
) -> Verdict:
    """Decides.

    Args:
        a, b: The two systems.
        difference: Of A less B over the common prompts; None without any.
        human: Mean score that the judge gives to human recordings of this language; None where it is not known.
        min_ok_share: A side with a smaller share of scored rows is `insufficient`.
        higher_is_better: For marks; error rates are better the lower they are.
    """
    floor, kind = pair_floor95(a.floor, b.floor), least_known([a.floor, b.floor])
    source = sources([a.floor, b.floor])
    noise = None
    if kind in MEASURED and a.floor.var_mean is not None and b.floor.var_mean is not None:
        noise = a.floor.var_mean + b.floor.var_mean
    known = f"noise floor {floor:.4f}, {source or kind}" if floor is not None else "no noise floor is known"
    name, reason = _decide(a, b, difference, floor, known, human, min_ok_share, higher_is_better)
    return Verdict(
        a=a.name,
        b=b.name,
        verdict=name,
        reason=reason,
        difference=difference,
        floor95=floor,
        floor_kind=kind,
        var_noise=noise,
        repeats=max(a.floor.repeats, b.floor.repeats),
        mean_a=a.mean,
        mean_b=b.mean,
        human=human,
        floor_source=source,
    )


def _decide(
    a: Side,
    b: Side,
    difference: Difference | None,
    floor: float | None,
    known: str,
    human: float | None,
    min_ok_share: float,
    higher_is_better: bool,
) -> tuple[VerdictName, str]:
    """The first verdict that applies, and why; `known` says of the floor how it is known."""
    parts = dict.fromkeys([*a.signature, *b.signature])
    differing = [part for part in parts if a.signature.get(part) != b.signature.get(part)]
    if differing:
        told = [
            f"{part} differs ({a.name}: {a.signature.get(part)}, {b.name}: {b.signature.get(part)})"
            for part in differing
        ]
        return "not_comparable", "; ".join(told)
    few = [f"{s.name}: {s.n_ok}/{s.n_total} scored" for s in (a, b) if s.n_ok < min_ok_share * s.n_total]
    if few or difference is None:
        return "insufficient", "; ".join(few) or "no scored prompt in common"
    sign = -1 if higher_is_better else 1
    if human is not None and all(s.mean is not None and sign * s.mean <= sign * human for s in (a, b)):
        return "judge_limited", f"both as good as human speech is to this judge ({human:.4f})"
    delta = f"{difference.estimate:+.4f}"
    if difference.n_prompts < MIN_PROMPTS:
        return "within_noise", f"{difference.n_prompts} prompts in common can't tell any difference"
    if floor is not None and abs(difference.estimate) <= floor:
        return "within_noise", f"{delta} is not above the noise ({known})"
    interval = f"interval {difference.low:+.4f} to {difference.high:+.4f}"
    if not difference.tells:
        return "within_noise", f"{delta}, {interval} covers 0 ({known})"
    return ("better" if sign * difference.estimate < 0 else "worse"), f"{delta}, {interval} ({known})"
