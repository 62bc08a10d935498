"""Chance, and how a clip is drawn with it: the numbers of a clip come from its own seed and from nothing else.

One number in [0, 1) a token, drawn before the first step from a counter-based generator, so that neither the batch,
nor the device, nor the length of other clips can move it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kasauti.errors import SpeechSystemError

FIELDS = ("temperature", "top_k", "seed", "min_new_tokens", "max_new_tokens")
_DEFAULTS: Mapping[str, Any] = {"temperature": 0.8, "top_k": 30, "min_new_tokens": 8, "max_new_tokens": 2048}


@dataclass(frozen=True)
class Draw:
    """How tokens are drawn. The seed is no part of it: each clip has its own.

    Attributes:
        temperature: 0 = always the most likely.
        top_k: Draw among so many; 1 = always the most likely.
        min_new_tokens: Neither the stop head nor `</audio>` ends a clip before so many.
        max_new_tokens: A clip is cut there.
    """

    temperature: float = 0.8
    top_k: int = 30
    min_new_tokens: int = 8
    max_new_tokens: int = 2048

    @property
    def among(self) -> int:
        """How many candidates there are."""
        return 1 if self.temperature == 0 else self.top_k


def draw_of(decoding: Mapping[str, Any]) -> Draw:
    """The decoding fields of a request; a field that is None or not there has the published value.

    Raises:
        SpeechSystemError: a value is out of range.
    """
    given = {name: decoding.get(name) for name in _DEFAULTS}
    draw = Draw(**{name: _DEFAULTS[name] if value is None else value for name, value in given.items()})
    if not 0 <= draw.temperature < float("inf"):
        raise SpeechSystemError(f"decoding.temperature={draw.temperature}: wanted 0 or more")
    if draw.top_k < 1:
        raise SpeechSystemError(f"decoding.top_k={draw.top_k}: wanted at least 1")
    if not 0 <= draw.min_new_tokens <= draw.max_new_tokens or draw.max_new_tokens < 1:
        raise SpeechSystemError(
            f"decoding.min_new_tokens={draw.min_new_tokens}, max_new_tokens={draw.max_new_tokens}: wanted "
            "0 <= min_new_tokens <= max_new_tokens, and at least 1 token"
        )
    return draw


def uniforms(seed: int, piece: int, count: int) -> NDArray[np.float32]:
    """Numbers in [0, 1) [count]; the first of a longer list are those of a shorter one.

    Args:
        seed: The clip's seed.
        piece: 0, or the place of a piece of a text that was cut.
        count: How many.
    """
    # The raw stream of a bit generator is promised to stay the same; the methods that make floats of it are not.
    bits = np.random.Philox(np.random.SeedSequence([seed, piece])).random_raw(count)
    return (bits >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)
