"""Rubric: one number for a row, between 0 and 1, made of weighted parts and of what failed gates leave of them.

    rubric = product of the factors of the failed gates * sum of weight * part / sum of the weights

Parts, weights and factors are a choice (`conf/scoring`), made for ranking clips that want listening to; the headline
is an error rate. Only a row with a transcript, a length and status `ok` has a rubric: a failure is never a low score.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kasauti.errors import ConfigError, near_matches
from kasauti.metrics.gates import GATES
from kasauti.records import SampleRow, Status


def _right(rate: float | None) -> float | None:
    """An error rate as a share that is right; more errors than units leave nothing."""
    return None if rate is None else 1.0 - min(1.0, rate)


PARTS: dict[str, tuple[str, Callable[[SampleRow], float | None]]] = {
    "characters": ("1 - min(1, cer)", lambda row: _right(row.cer)),
    "words": ("1 - min(1, wer)", lambda row: _right(row.wer)),
    "sounds": ("1 - min(1, pcer)", lambda row: _right(row.pcer)),
    "length": (
        "exp(-length_penalty)",
        lambda row: None if row.length_penalty is None else math.exp(-row.length_penalty),
    ),
}
"""Name of a part -> its formula, and the formula as a function of a row; each from 0 (bad) to 1."""


@dataclass
class RubricSettings:
    """Weights and factors.

    Attributes:
        weights: Part -> weight; parts that are not named weigh nothing.
        failed_gates: Gate -> what is left of the score when it fails, 0 to 1; gates that are not named leave all.

    Raises:
        ConfigError: an unknown part or gate, a negative weight, no weight at all, a factor outside 0 to 1.
    """

    weights: dict[str, float] = field(
        default_factory=lambda: {"characters": 0.4, "words": 0.2, "sounds": 0.2, "length": 0.2}
    )
    failed_gates: dict[str, float] = field(
        default_factory=lambda: {
            "leading_silence": 0.8,
            "trailing_silence": 0.8,
            "clipping": 0.8,
            "token_cap": 0.5,
            "too_short": 0.0,
            "too_long": 0.0,
            "empty_transcript": 0.0,
            "run_on": 0.0,
            "looping": 0.0,
        }
    )

    def __post_init__(self) -> None:
        _check("weights", self.weights, PARTS, math.inf)
        _check("failed_gates", self.failed_gates, GATES, 1.0)
        if not sum(self.weights.values()) > 0:
            raise ConfigError("scoring.rubric.weights: no part has a weight above 0")


def _check(key: str, values: Mapping[str, float], known: Mapping[str, object], highest: float) -> None:
    for name, value in values.items():
        if name not in known:
            raise ConfigError(f"scoring.rubric.{key}: unknown name {name!r}; {near_matches(name, known)}")
        if not 0 <= value <= highest:
            wanted = "0 or more" if highest == math.inf else f"0 to {highest:g}"
            raise ConfigError(f"scoring.rubric.{key}.{name} is {value}; wanted {wanted}")


@dataclass(frozen=True)
class Part:
    """One weighted part: `weight` is its share of all weights, `formula` how `value` came from the row."""

    name: str
    formula: str
    value: float
    weight: float

    @property
    def points(self) -> float:
        """What the part adds."""
        return self.weight * self.value


@dataclass(frozen=True)
class Rubric:
    """The arithmetic of one row.

    Attributes:
        parts: The weighted parts, those without weight left out.
        factors: Failed gate -> what it leaves.
    """

    parts: tuple[Part, ...]
    factors: Mapping[str, float]

    @property
    def weighted(self) -> float:
        """Sum of the parts, 0 to 1, before the gates."""
        return sum(part.points for part in self.parts)

    @property
    def score(self) -> float:
        """The rubric, 0 to 1."""
        return math.prod(self.factors.values()) * self.weighted


def rubric_terms(row: SampleRow, settings: RubricSettings) -> Rubric | None:
    """The rubric of a row, term by term.

    Args:
        row: A row with its rates, `gates` and `length_penalty`.
        settings: Weights and factors.

    Returns:
        None for a row that is not `ok`, or that lacks what a part with a weight is made of.
    """
    weighed = {name: weight for name, weight in settings.weights.items() if weight}
    values = {name: value for name in weighed if (value := PARTS[name][1](row)) is not None}
    if row.status is not Status.OK or len(values) < len(weighed):
        return None
    total = sum(weighed.values())
    parts = (Part(name, PARTS[name][0], value, weighed[name] / total) for name, value in values.items())
    failed = (row.gates or "").split()
    return Rubric(tuple(parts), {gate: settings.failed_gates.get(gate, 1.0) for gate in failed})
