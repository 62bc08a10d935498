"""Rules: what the steps of normalisation need to know about a language, compiled once from the tables of `data`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import regex

from kasauti.text.data import letters as data
from kasauti.text.data import spelling
from kasauti.text.languages import language
from kasauti.text.markup import DEFAULT_MARKUP, Markup
from kasauti.text.numbers.policy import DEFAULT_POLICY, NumberPolicy

ZWNJ, ZWJ = "\u200c", "\u200d"

_V = TypeVar("_V")


@dataclass(frozen=True, eq=False)
class Rules:
    """What the steps need to know about a language, compiled once.

    Attributes:
        lang: Its code.
        base: Its code without a script.
        letters: For `str.translate`: letters typed for others, Arabic digits, compatibility forms.
        sequences: Several code points that are one letter, and that letter.
        sequence: Matches any key of `sequences`, the longest first.
        joiner_forms: Letters spelled with a joiner, and the letter.
        joiner: Matches, in this order, a key of `joiner_forms`, a joiner that stays (group 1), any other joiner.
        word_final_apostrophe: Whether an apostrophe may end a word.
        nukta: Matches nuktas that print may leave out; None where it may not.
        spelling: Matches, in one group each, what has another spelling; `spelled` holds that, group by group.
        markup: What is not to be spoken.
        numbers: How numbers are read.
    """

    lang: str
    base: str
    letters: Mapping[int, str]
    sequences: Mapping[str, str]
    sequence: re.Pattern[str]
    joiner_forms: Mapping[str, str]
    joiner: regex.Pattern[str]
    word_final_apostrophe: bool
    nukta: re.Pattern[str] | None
    spelling: re.Pattern[str]
    spelled: tuple[str, ...]
    markup: Markup
    numbers: NumberPolicy


def _text(points: str) -> str:
    """`"0905 093E"` as text."""
    return "".join(chr(int(point, 16)) for point in points.split())


def _pick(table: Mapping[data.Key, _V], lang: str) -> list[_V]:
    """The entries of all scripts that hold for a language: its own where it has one, else the common one."""
    own = {script: value for (of, script), value in table.items() if of == lang}
    common = {script: value for (of, script), value in table.items() if of is None}
    return list((common | own).values())


def _compatibility_forms() -> dict[int, str]:
    """Full-width letters, Latin ligatures and Arabic presentation forms, as the letters they show."""
    forms = {}
    for first, last in ((0xFF01, 0xFF5E), (0xFB00, 0xFB06), (0xFB50, 0xFDFB), (0xFE80, 0xFEFC)):
        for point in range(first, last + 1):
            plain = unicodedata.normalize("NFKC", chr(point))
            # A form that is a mark on a blank has no letter to be; NFKC would make a word break of it.
            if plain != chr(point) and not plain.startswith(" "):
                forms[point] = plain
    return forms


def _nukta_order() -> dict[str, str]:
    """Vowel sign + nukta, and the two in the order they belong in."""
    pairs = {}
    for block in data.NUKTA_BLOCKS.values():
        nukta = chr(block + 0x3C)
        for offset in range(0x3E, 0x4D):
            sign = chr(block + offset)
            pairs[sign + nukta] = nukta + sign
    return pairs


@cache
def rules_of(lang: str, markup: Markup = DEFAULT_MARKUP, numbers: NumberPolicy = DEFAULT_POLICY) -> Rules:
    """The compiled rules of a language.

    Args:
        lang: The language, by any of its names.
        markup: What is not to be spoken.
        numbers: How numbers are read.

    Raises:
        TextError: unknown language.
    """
    entry = language(lang)
    base = entry.base
    spellings = [rule for (of, _), rows in spelling.SPELLINGS.items() if of in (None, base) for rule in rows]
    table = _compatibility_forms()
    for points in (*_pick(data.LETTERS, base), data.ARABIC_DIGITS):
        table |= {ord(_text(typed)): _text(meant) for typed, meant in points.items()}
    sequences = _nukta_order()
    common = {k: v for (of, _), rows in data.SEQUENCES.items() if of in (None, base) for k, v in rows.items()}
    sequences |= {_text(typed): _text(meant) for typed, meant in common.items()}
    forms = {_text(k): _text(v) for rows in _pick(data.JOINER_FORMS, base) for k, v in rows.items()}
    kept = [pattern for patterns in _pick(data.JOINERS_KEPT, base) for pattern in patterns]
    return Rules(
        lang=entry.code,
        base=base,
        letters=table,
        sequences=sequences,
        sequence=re.compile("|".join(map(re.escape, sorted(sequences, key=len, reverse=True)))),
        joiner_forms=forms,
        joiner=regex.compile(f"{'|'.join(forms)}|({'|'.join(kept)})|[{ZWNJ}{ZWJ}]"),
        word_final_apostrophe=base in data.WORD_FINAL_APOSTROPHE,
        nukta=None if base in spelling.NUKTA_KEPT else re.compile(spelling.NUKTA),
        spelling=re.compile("|".join(f"({pattern})" for pattern, _ in spellings)),
        spelled=tuple(meant for _, meant in spellings),
        markup=markup,
        numbers=numbers,
    )
