"""Scripts: which one a character, a text or a transcript is in.

Only letters and marks vote. Digits, punctuation, symbols and joiners belong to no script here, nor do the danda and
double danda, which sit in the Devanagari block and are shared by all. Scripts are ISO 15924 codes. This module does
not identify languages.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections import Counter
from functools import lru_cache
from typing import Literal

from kasauti.text.languages import language

ScriptVerdict = Literal["ok", "wrong_script"]

OTHER_SCRIPT = "Zzzz"
"""Script of a letter that is in none of the blocks below (ISO 15924: uncoded script)."""

SUBSTANTIAL_SHARE = 1 / 3
"""A reference uses a script substantially when at least this share of its letters and marks is in it."""

_BLOCKS: tuple[tuple[int, int, str], ...] = (
    (0x0041, 0x024F, "Latn"),
    (0x0250, 0x02AF, "Latn"),
    (0x0370, 0x03FF, "Grek"),
    (0x0400, 0x052F, "Cyrl"),
    (0x0600, 0x06FF, "Arab"),
    (0x0750, 0x077F, "Arab"),
    (0x0870, 0x08FF, "Arab"),
    (0x0900, 0x097F, "Deva"),
    (0x0980, 0x09FF, "Beng"),
    (0x0A00, 0x0A7F, "Guru"),
    (0x0A80, 0x0AFF, "Gujr"),
    (0x0B00, 0x0B7F, "Orya"),
    (0x0B80, 0x0BFF, "Taml"),
    (0x0C00, 0x0C7F, "Telu"),
    (0x0C80, 0x0CFF, "Knda"),
    (0x0D00, 0x0D7F, "Mlym"),
    (0x0D80, 0x0DFF, "Sinh"),
    (0x0E00, 0x0E7F, "Thai"),
    (0x0F00, 0x0FFF, "Tibt"),
    (0x1000, 0x109F, "Mymr"),
    (0x1C50, 0x1C7F, "Olck"),
    (0x1CD0, 0x1CFF, "Deva"),
    (0x1E00, 0x1EFF, "Latn"),
    (0x3041, 0x309F, "Hira"),
    (0x30A0, 0x30FF, "Kana"),
    (0x4E00, 0x9FFF, "Hani"),
    (0xA8E0, 0xA8FF, "Deva"),
    (0xAAE0, 0xAAFF, "Mtei"),
    (0xABC0, 0xABFF, "Mtei"),
    (0xAC00, 0xD7AF, "Hang"),
    (0xFB00, 0xFB06, "Latn"),
    (0xFB50, 0xFDFF, "Arab"),
    (0xFE70, 0xFEFE, "Arab"),
    (0xFF21, 0xFF5A, "Latn"),
)
"""First and last code point of a block, script. Source: Unicode Character Database, Blocks.txt."""

_STARTS = [first for first, _, _ in _BLOCKS]

_LETTERLIKE = {0x06FD: "Arab", 0x06FE: "Arab"}
"""Words written as one sign, of category So: Sindhi 'and' and 'in'."""


def script_of_char(char: str) -> str | None:
    """The script of one character.

    Args:
        char: A string of one code point.

    Returns:
        An ISO 15924 code, `Zzzz` for a letter of a script that this project has no block for, or None for
        everything that does not vote (digits, punctuation, symbols, joiners, marks shared between scripts).
    """
    point = ord(char)
    if point in _LETTERLIKE:
        return _LETTERLIKE[point]
    category = unicodedata.category(char)
    if category[0] not in "LM":
        return None
    at = bisect_right(_STARTS, point) - 1
    if at >= 0 and point <= _BLOCKS[at][1]:
        return _BLOCKS[at][2]
    return None if category[0] == "M" or category == "Lm" else OTHER_SCRIPT


class _ScriptOfChar(dict[str, str | None]):
    """`script_of_char` with a memory."""

    def __missing__(self, char: str) -> str | None:
        self[char] = script = script_of_char(char)
        return script


_script_of = _ScriptOfChar()


@lru_cache(maxsize=1 << 14)
def _ranked(text: str) -> tuple[tuple[str, int], ...]:
    """Scripts and their numbers of letters and marks, most first. Each text is asked about several times in a row."""
    counts = Counter(map(_script_of.__getitem__, text))
    return tuple((script, n) for script, n in counts.most_common() if script is not None)


def script_counts(text: str) -> dict[str, int]:
    """How many letters and marks of a text are in each script, most first; equals in order of appearance."""
    return dict(_ranked(text))


def dominant_script(text: str) -> str | None:
    """The script that most letters and marks of a text are in, or None when it has neither."""
    ranked = _ranked(text)
    return ranked[0][0] if ranked else None


def script_verdict(reference: str, hypothesis: str, lang: str) -> ScriptVerdict:
    """Whether a transcript is in a script that it can be compared in.

    The transcript's main script must be one that the reference uses substantially (`SUBSTANTIAL_SHARE`, or as much as
    any other), so a Latin word inside a Devanagari sentence is fine on either side, and a sentence written half in each
    may come back in either. A reference without letters (digits alone) expects a native script of its language. A
    transcript without letters is `ok`: it is wrong or right by its content.

    Args:
        reference: What was to be said.
        hypothesis: What was heard.
        lang: Language of the reference.

    Raises:
        TextError: unknown language.
    """
    native = language(lang).scripts
    heard = dominant_script(hypothesis)
    if heard is None:
        return "ok"
    counts = script_counts(reference)
    if not counts:
        return "ok" if heard in native else "wrong_script"
    enough = min(SUBSTANTIAL_SHARE * sum(counts.values()), max(counts.values()))
    return "ok" if counts.get(heard, 0) >= enough else "wrong_script"
