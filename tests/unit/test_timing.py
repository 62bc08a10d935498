"""Words in time: what is odd, and what a judge may not send."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.metrics.timing import LONG_FACTOR, LONG_S, PAUSE_S, UNSURE, TimedWord, odd_words, timed_words


def spoken(*lengths_s: float, gap_s: float = 0.1, score: float = 0.9) -> list[TimedWord]:
    """Words of four letters, one after the other."""
    words, at = [], 0.0
    for length_s in lengths_s:
        words.append(TimedWord("word", at, at + length_s, score))
        at += length_s + gap_s
    return words


def test_an_even_clip_has_nothing_odd() -> None:
    assert odd_words(spoken(0.4, 0.4, 0.4)) == ["", "", ""]
    assert odd_words([]) == []


def test_a_slow_voice_is_not_odd_throughout() -> None:
    assert odd_words(spoken(2.0, 2.0, 2.0)) == ["", "", ""]


@pytest.mark.parametrize(("length_s", "odd"), [(LONG_FACTOR * 0.4 - 0.01, ""), (LONG_FACTOR * 0.4 + 0.01, "long")])
def test_a_word_drawn_out(length_s: float, odd: str) -> None:
    assert odd_words(spoken(0.4, 0.4, length_s))[-1] == odd


def test_short_words_are_never_drawn_out() -> None:
    words = [*spoken(0.08, 0.08, 0.08), TimedWord("a", 0.5, 0.5 + LONG_S - 0.01, 0.9)]
    assert odd_words(words)[-1] == ""


@pytest.mark.parametrize(("gap_s", "odd"), [(PAUSE_S - 0.01, ""), (PAUSE_S + 0.01, "pause")])
def test_a_pause_is_told_of_the_word_after_it(gap_s: float, odd: str) -> None:
    assert odd_words(spoken(0.4, 0.4, gap_s=gap_s)) == ["", odd]


def test_silence_before_the_first_word_is_no_pause() -> None:
    assert odd_words([TimedWord("word", 5.0, 5.4, 0.9)]) == [""]


@pytest.mark.parametrize(("score", "odd"), [(UNSURE, ""), (UNSURE - 0.01, "unsure"), (None, "")])
def test_an_unclear_word(score: float | None, odd: str) -> None:
    assert odd_words([TimedWord("word", 0.0, 0.4, score)]) == [odd]


def test_a_word_without_a_place_is_missing_and_makes_no_pause() -> None:
    words = [TimedWord("one", 0.0, 0.4, 0.9), TimedWord("2"), TimedWord("three", 0.5, 0.9, 0.9)]
    assert odd_words(words) == ["", "missing", ""]


@pytest.mark.parametrize(
    "value",
    [
        "word",
        {"word": 1},
        [["word", 0.0, 1.0]],
        [[1, 0.0, 1.0, 0.5]],
        [["word", "0", 1.0, 0.5]],
        [["word", True, 1.0, 0.5]],
        [["word", 1.0, 0.5, 0.5]],
        [["word", -1.0, 0.5, 0.5]],
        [["one", 0.0, 1.0, 0.5], ["two", 0.5, 1.5, 0.5]],
        [None],
    ],
)
def test_what_is_no_list_of_words_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"wanted|does not follow"):
        timed_words(value)


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists, max_leaves=12))
def test_nothing_but_a_value_error_comes_of_any_json(value: Any) -> None:
    try:
        words = timed_words(value)
    except ValueError:
        return
    assert len(odd_words(words)) == len(words)


def test_words_read_back() -> None:
    assert timed_words([["एक", 0, 0.5, 0.9], ["दो", None, None, None]]) == [
        TimedWord("एक", 0, 0.5, 0.9),
        TimedWord("दो"),
    ]
