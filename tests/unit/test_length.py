"""Length: letters at their language's pace, the expected duration, and the penalty, exactly as defined."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kasauti.errors import ConfigError
from kasauti.metrics.length import LengthSettings, expected_length, length_penalty

PACES = LengthSettings({"en": 14.0, "hi": 9.0, "ta": 12.0, "sd-Deva": 8.0}, min_expected_s=0.5)
SCORING = Path(__file__).parents[2] / "conf" / "scoring" / "default.yaml"
SECONDS = st.floats(0.01, 600)


@pytest.mark.parametrize(
    ("text", "lang", "letters", "expected_s"),
    [
        ("आज मौसम अच्छा है", "hi", {"hi": 13}, 13 / 9),  # 2 + 4 + 5 + 2 letters and marks, virama among them
        ("the rain stopped", "en", {"en": 14}, 1.0),
        ("कल meeting है शाम को", "hi", {"hi": 9, "en": 7}, 9 / 9 + 7 / 14),
        ("नमस्ते செய்தி", "hi", {"hi": 6, "ta": 6}, 6 / 9 + 6 / 12),
        ("नमस्ते", "sd", {"sd-Deva": 6}, 6 / 8),  # a language in its other script
        ("नमस्ते γεια", "hi", {"hi": 10}, 10 / 9),  # a script of none of the languages: the pace of the text
        ("हाँ", "hi", {"hi": 3}, 0.5),  # 3 / 9 s is less than any text takes
    ],
)
def test_expected_duration_is_the_sum_over_letters(
    text: str, lang: str, letters: dict[str, int], expected_s: float
) -> None:
    length = expected_length(text, lang, PACES)
    assert length is not None
    assert length.letters == letters
    assert length.expected_s == pytest.approx(expected_s)
    assert max(sum(length.seconds(code) for code in letters), 0.5) == pytest.approx(expected_s)


def test_the_example_of_the_methodology() -> None:
    paces = LengthSettings(**yaml.safe_load(SCORING.read_text(encoding="utf-8"))["length"])
    length = expected_length("कल meeting है शाम को", "hi", paces)
    assert length is not None
    assert length.letters == {"hi": 9, "en": 7}
    assert length.expected_s == pytest.approx(1.49, abs=0.005)


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("", "hi"),
        ("123 ...", "hi"),  # no letter: at level `numbers` a figure is a word already
        ("আজ", "bn"),  # no pace for the language
        ("আজ meeting", "bn"),  # nor for a part of the text
    ],
)
def test_nothing_is_expected_where_it_cannot_be_known(text: str, lang: str) -> None:
    assert expected_length(text, lang, PACES) is None


def test_latin_letters_have_the_pace_of_english_in_every_language() -> None:
    one, other = (expected_length("phone", lang, PACES) for lang in ("hi", "ta"))
    assert one is not None
    assert one == other
    assert one.letters == {"en": 5}


@pytest.mark.parametrize(
    ("ratio", "penalty"),
    [  # design, section 3: max(0, |ln(d / d_expected)| - ln 1.3)
        (1.0, 0.0),
        (1.29, 0.0),
        (1 / 1.29, 0.0),
        (2.0, 0.4307829160924543),  # ln 2 - ln 1.3
        (0.5, 0.4307829160924543),
        (10.0, 2.0402208285265546),
        (1.4, 0.07410797215372185),
    ],
)
def test_penalty_by_hand(ratio: float, penalty: float) -> None:
    assert length_penalty(4.0 * ratio, 4.0) == pytest.approx(penalty, abs=1e-12)


@given(SECONDS, SECONDS)
def test_property_penalty_is_the_same_for_too_long_and_too_short(duration_s: float, expected_s: float) -> None:
    assert length_penalty(duration_s, expected_s) == pytest.approx(length_penalty(expected_s, duration_s))


@given(SECONDS, SECONDS, st.floats(1.0, 3.0))
def test_property_a_longer_clip_beyond_the_free_band_pays_more(duration_s: float, expected_s: float, by: float) -> None:
    long_s = max(duration_s, expected_s)
    assert length_penalty(long_s * by, expected_s) >= length_penalty(long_s, expected_s)
    if length_penalty(long_s, expected_s) > 0:
        paid = length_penalty(long_s * by, expected_s) - length_penalty(long_s, expected_s)
        assert paid == pytest.approx(math.log(by), abs=1e-9)


@pytest.mark.parametrize(
    ("paces", "min_expected_s", "message"),
    [
        ({"hi": 0.0}, 0.5, "hi is 0.0; wanted more than 0"),
        ({"hi": float("nan")}, 0.5, "hi is nan"),
        ({"hindi": 9.0}, 0.5, "no language 'hindi'"),
        ({"hi": 9.0}, 0.0, "min_expected_s is 0.0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(paces: dict[str, float], min_expected_s: float, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        LengthSettings(paces, min_expected_s)
