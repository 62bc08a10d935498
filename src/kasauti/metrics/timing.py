"""Where time went wrong in a clip: words whose place in time is odd, from a forced alignment of its text.

Conventions: seconds from the start of the clip; words in the order of the text; a word that could not be placed has no
times. What is odd is said of a word against the other words of its clip, so a slow voice is not odd throughout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

PAUSE_S = 0.6
"""A pause before a word, within the text, that is longer is odd; pauses at commas and full stops stay below."""
LONG_FACTOR = 3.0
"""A word that takes more than so many times the clip's median seconds a letter is odd."""
LONG_S = 0.4
"""A word that takes less than this is never too long; the shortest words vary most."""
UNSURE = 0.2
"""A word whose letters the acoustic model gives less than this share of probability, on average, is odd."""


@dataclass(frozen=True)
class TimedWord:
    """One word of a text, placed in time.

    Attributes:
        word: As it was aligned (normalised).
        start_s, end_s: None where it could not be placed.
        score: Mean probability of its letters where they were placed, 0 to 1; None where it could not be placed.
    """

    word: str
    start_s: float | None = None
    end_s: float | None = None
    score: float | None = None


def timed_words(value: Any) -> list[TimedWord]:
    """Words from what a judge put into its facts: a list of `[word, start_s, end_s, score]`.

    Raises:
        ValueError: it is something else, or times that run backwards.
    """
    if not isinstance(value, list | tuple):
        raise ValueError(f"wanted a list of words, got {type(value).__name__}")
    words, last_s = [], 0.0
    for entry in value:
        if not isinstance(entry, list | tuple) or len(entry) != 4 or not isinstance(entry[0], str):
            raise ValueError(f"wanted [word, start_s, end_s, score], got {entry!r}")
        if any(number is not None and type(number) not in (int, float) for number in entry[1:]):
            raise ValueError(f"wanted numbers or null after the word, got {entry!r}")
        word = TimedWord(*entry)
        if word.start_s is not None and word.end_s is not None:
            if not last_s <= word.start_s <= word.end_s:
                raise ValueError(f"{entry!r} does not follow what ends at {last_s} s")
            last_s = word.end_s
        words.append(word)
    return words


def odd_words(words: Sequence[TimedWord]) -> list[str]:
    """What is odd about each word: any of `pause` (before it), `long`, `unsure`, `missing`, with spaces between."""
    paces = [pace for word in words if (pace := _pace_s(word)) is not None]
    usual = median(paces) if paces else None
    found: list[str] = []
    last_end: float | None = None
    for word in words:
        if word.start_s is None or word.end_s is None:
            found.append("missing")
            continue
        pace, names = _pace_s(word), []
        if last_end is not None and word.start_s - last_end > PAUSE_S:
            names.append("pause")
        if usual and pace is not None and pace > LONG_FACTOR * usual and word.end_s - word.start_s > LONG_S:
            names.append("long")
        if word.score is not None and word.score < UNSURE:
            names.append("unsure")
        found.append(" ".join(names))
        last_end = word.end_s
    return found


def _pace_s(word: TimedWord) -> float | None:
    """Seconds a letter."""
    if word.start_s is None or word.end_s is None or not word.word:
        return None
    return (word.end_s - word.start_s) / len(word.word)
