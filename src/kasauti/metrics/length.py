"""Length: how long a text takes to say, and what a clip pays for being much longer or shorter.

A text's expected duration is the sum over its letters and marks of the time that one of them takes in its language;
the paces are data (`conf/scoring`, with their source). Durations are whole clips, silence at the ends included, since
the paces were estimated from whole clips. A pace is an average over voices and deliveries: it can tell half a sentence
from a whole one, not a brisk reader from a calm one. No use for the timing of single words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from kasauti.errors import ConfigError
from kasauti.text.languages import LANGUAGES
from kasauti.text.scripts import script_counts

FREE_RATIO = 1.3
"""A clip up to so many times as long as expected, or as short, costs nothing."""

TEXT_LEVEL = "numbers"
"""Level of the text whose letters are counted: figures are long to say and short to write."""

PACE_OF_SCRIPT = {entry.script: code for code, entry in LANGUAGES.items()} | {
    "Arab": "ur",
    "Beng": "bn",
    "Deva": "hi",
    "Latn": "en",
}
"""Letters in a script that a text's language isn't written in are read at this language's pace, Latin ones at `en`."""


@dataclass
class LengthSettings:
    """What a length is measured against.

    Attributes:
        chars_per_second: Language code -> letters and marks said in a second. A language without an entry has no
            expected duration, and so no length penalty, no length gates and no rubric.
        min_expected_s: No text is expected to take less, be it a single letter.

    Raises:
        ConfigError: an unknown language, or a value that is not above 0.
    """

    chars_per_second: dict[str, float] = field(default_factory=dict)
    min_expected_s: float = 0.5

    def __post_init__(self) -> None:
        for name, value in {**self.chars_per_second, "min_expected_s": self.min_expected_s}.items():
            if not value > 0:
                raise ConfigError(f"scoring.length: {name} is {value}; wanted more than 0")
        unknown = sorted(set(self.chars_per_second) - set(LANGUAGES))
        if unknown:
            raise ConfigError(
                f"scoring.length.chars_per_second: no language {unknown[0]!r}; known: {' '.join(LANGUAGES)}"
            )


@dataclass(frozen=True)
class Length:
    """How long a text is expected to take, and why.

    Attributes:
        letters: Language code -> letters and marks read at its pace.
        chars_per_second: Language code -> that pace.
        expected_s: Seconds, at least `LengthSettings.min_expected_s`.
    """

    letters: Mapping[str, int]
    chars_per_second: Mapping[str, float]
    expected_s: float

    def seconds(self, lang: str) -> float:
        """What the letters of one language take."""
        return self.letters[lang] / self.chars_per_second[lang]


def expected_length(text: str, lang: str, settings: LengthSettings) -> Length | None:
    """How long a text takes to say.

    Args:
        text: The text at level `TEXT_LEVEL`.
        lang: Its language, a code.
        settings: The paces.

    Returns:
        None when the text has no letter, or letters at a pace that is not known.
    """
    letters: dict[str, int] = {}
    for script, n in script_counts(text).items():
        code = _read_as(script, lang)
        letters[code] = letters.get(code, 0) + n
    paces = {code: settings.chars_per_second[code] for code in letters if code in settings.chars_per_second}
    if not letters or len(paces) < len(letters):
        return None
    seconds = sum(n / paces[code] for code, n in letters.items())
    return Length(letters, paces, max(seconds, settings.min_expected_s))


@cache
def _read_as(script: str, lang: str) -> str:
    """Code of the language at whose pace letters of a script are read."""
    base = LANGUAGES[lang].base
    own = [code for code, entry in LANGUAGES.items() if entry.base == base and entry.script == script]
    return own[0] if own else PACE_OF_SCRIPT.get(script, lang)


def length_penalty(duration_s: float, expected_s: float) -> float:
    """max(0, |ln(d / d_expected)| - ln 1.3): 0 from 1/1.3 to 1.3 times the expected duration, 0.43 at twice and half.

    Args:
        duration_s: Duration of the clip, above 0.
        expected_s: Expected duration, above 0.
    """
    return max(0.0, abs(math.log(duration_s / expected_s)) - math.log(FREE_RATIO))
