"""Chance comes from a clip's seed alone, and decoding fields are checked before anything is loaded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.errors import SpeechSystemError
from kasauti.systems.rumik.draws import Draw, draw_of, uniforms

SEEDS = st.integers(0, 2**31 - 1)


def test_the_stream_of_a_seed_is_frozen() -> None:
    """Source: this code on the day it was written. Other numbers are other clips: raise `system.RULES` with them."""
    assert [int(value * 2**24) for value in uniforms(1, 0, 4)] == [1120751, 1325617, 96923, 13531775]
    assert [int(value * 2**24) for value in uniforms(1, 1, 2)] == [13547470, 2693436]


@given(SEEDS, st.integers(0, 99), st.integers(1, 50), st.integers(1, 50))
def test_numbers_lie_in_range_and_do_not_depend_on_how_many_are_asked_for(
    seed: int, piece: int, few: int, many: int
) -> None:
    short, long = uniforms(seed, piece, min(few, many)), uniforms(seed, piece, max(few, many))
    assert ((long >= 0) & (long < 1)).all()
    assert long.dtype == np.float32
    assert (long[: len(short)] == short).all()


def test_seeds_and_pieces_have_streams_of_their_own() -> None:
    streams = {tuple(uniforms(seed, piece, 4)) for seed in range(50) for piece in range(4)}
    assert len(streams) == 200


def test_numbers_are_spread_evenly() -> None:
    """100,000 numbers in 10 bins: each within 5 standard deviations (95) of 10,000."""
    counts = np.histogram(uniforms(3, 0, 100_000), bins=10, range=(0, 1))[0]
    assert (abs(counts - 10_000) < 475).all()


@pytest.mark.parametrize("decoding", [{}, {"temperature": None, "top_k": None, "seed": 7}])
def test_what_is_not_asked_for_is_as_published(decoding: dict[str, Any]) -> None:
    assert draw_of(decoding) == Draw(0.8, 30, 8, 2048)


def test_greedy_has_one_candidate() -> None:
    assert draw_of({"temperature": 0.0}).among == 1
    assert draw_of({"top_k": 1}).among == 1
    assert draw_of({"top_k": 5, "temperature": 0.1}).among == 5


@pytest.mark.parametrize(
    ("decoding", "said"),
    [
        ({"temperature": -0.1}, r"decoding.temperature=-0.1"),
        ({"temperature": float("nan")}, "temperature"),
        ({"top_k": 0}, r"decoding.top_k=0: wanted at least 1"),
        ({"min_new_tokens": 9, "max_new_tokens": 8}, "min_new_tokens <= max_new_tokens"),
        ({"min_new_tokens": -1}, "min_new_tokens"),
        ({"min_new_tokens": 0, "max_new_tokens": 0}, "at least 1 token"),
    ],
)
def test_values_out_of_range_are_refused(decoding: dict[str, Any], said: str) -> None:
    with pytest.raises(SpeechSystemError, match=said):
        draw_of(decoding)
