"""Steps: the small pure functions that levels of normalisation are lists of.

Each takes a text and the rules of its language and returns a text. The rule for a character is found by (language of
the row, script of the character), so code-switched text, and a transcript in another script than its reference, are
each treated by the rules of the script they are in. No step loses a vowel sign, a virama, a nukta or any other mark.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import regex

from kasauti.errors import TextError, near_matches
from kasauti.text.data import letters as data
from kasauti.text.languages import language
from kasauti.text.markup import DEFAULT_MARKUP, Markup

ZWNJ, ZWJ = "\u200c", "\u200d"

_V = TypeVar("_V")


@dataclass(frozen=True)
class Rules:
    """What the steps need to know about a language, compiled once.

    Attributes:
        lang: Its code.
        letters: For `str.translate`: letters typed for others, Arabic digits, compatibility forms.
        sequences: Several code points that are one letter, and that letter.
        sequence: Matches any key of `sequences`, the longest first.
        joiner_forms: Letters spelled with a joiner, and the letter.
        joiner: Matches, in this order, a key of `joiner_forms`, a joiner that stays (group 1), any other joiner.
        word_final_apostrophe: Whether an apostrophe may end a word.
        markup: What is not to be spoken.
    """

    lang: str
    letters: Mapping[int, str]
    sequences: Mapping[str, str]
    sequence: re.Pattern[str]
    joiner_forms: Mapping[str, str]
    joiner: regex.Pattern[str]
    word_final_apostrophe: bool
    markup: Markup


Step = Callable[[str, Rules], str]


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
def rules_of(lang: str, markup: Markup = DEFAULT_MARKUP) -> Rules:
    """The compiled rules of a language.

    Args:
        lang: The language, by any of its names.
        markup: What is not to be spoken.

    Raises:
        TextError: unknown language.
    """
    entry = language(lang)
    base = entry.base
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
        letters=table,
        sequences=sequences,
        sequence=re.compile("|".join(map(re.escape, sorted(sequences, key=len, reverse=True)))),
        joiner_forms=forms,
        joiner=regex.compile(f"{'|'.join(forms)}|({'|'.join(kept)})|[{ZWNJ}{ZWJ}]"),
        word_final_apostrophe=base in data.WORD_FINAL_APOSTROPHE,
        markup=markup,
    )


class _SoundlessTable(dict[int, str | int | None]):
    """For `str.translate`: control and format characters and variation selectors go; white space and joiners stay."""

    def __missing__(self, point: int) -> int | None:
        char = chr(point)
        formats = unicodedata.category(char) in ("Cc", "Cf") and not char.isspace() and char not in (ZWNJ, ZWJ)
        selects = 0xFE00 <= point <= 0xFE0F or 0xE0100 <= point <= 0xE01EF or point == 0x034F
        self[point] = kept = None if formats or selects else point
        return kept


class _PunctuationTable(dict[int, str | int | None]):
    """For `str.translate`: punctuation and symbols become a space."""

    def __missing__(self, point: int) -> int | str:
        char = chr(point)
        kept: int | str = point
        if char != "'" and char not in data.LETTERLIKE_SYMBOLS:
            kept = " " if unicodedata.category(char)[0] in "PS" else point
        self[point] = kept
        return kept


_soundless = _SoundlessTable()
_punctuation = _PunctuationTable()

_APOSTROPHE = "['\u2018\u2019\u201b\u02bc\u02b9\u0060\u00b4\uff07]"
_WORD = r"[\p{L}\p{M}\p{N}]"
_any_apostrophe = regex.compile(_APOSTROPHE)
_inner_apostrophe = regex.compile(rf"(?<={_WORD})({_APOSTROPHE})(?={_WORD})|{_APOSTROPHE}")
_inner_or_final_apostrophe = regex.compile(rf"(?<={_WORD})({_APOSTROPHE})(?!{_APOSTROPHE})|{_APOSTROPHE}")
_quotation = regex.compile(rf"(?<!{_WORD}){_APOSTROPHE}(?=\S)([^'\u2018\u2019\u02bc]*){_APOSTROPHE}(?!{_WORD})")


def fold_white_space(text: str, _: Rules) -> str:
    """Runs of white space of any kind become one space; none at the ends."""
    return " ".join(text.split())


def drop_soundless(text: str, _: Rules) -> str:
    """Control and format characters (byte order mark, zero-width space, soft hyphen, direction marks) go."""
    return text.translate(_soundless)


def nfc(text: str, _: Rules) -> str:
    """Canonical composition. Letters excluded from composition come apart: क़ is two code points afterwards."""
    return unicodedata.normalize("NFC", text)


def drop_markup(text: str, rules: Rules) -> str:
    """What is written for the speech system and not to be spoken becomes a space."""
    return rules.markup.spoken(text)


def fold_case(text: str, _: Rules) -> str:
    """Capital letters become small."""
    return text.lower()


def fold_joiners(text: str, rules: Rules) -> str:
    """Letters spelled with a joiner become letters; of the other joiners only those that mean something stay."""
    if ZWNJ not in text and ZWJ not in text:
        return text

    def meant(match: regex.Match[str]) -> str:
        return rules.joiner_forms.get(match[0]) or match[1] or ""

    return str(rules.joiner.sub(meant, text))


def fold_letters(text: str, rules: Rules) -> str:
    """One encoding for each letter, beyond what NFC does. Ends in NFC; one fold may make room for another."""
    while True:
        folded = rules.sequence.sub(lambda m: rules.sequences[m[0]], text.translate(rules.letters))
        folded = unicodedata.normalize("NFC", folded)
        if folded == text:
            return text
        text = folded


def fold_apostrophes(text: str, rules: Rules) -> str:
    """Apostrophes inside a word (don't, ক’রে) become U+0027, all others a space.

    In Bodo, Dogri and Maithili an apostrophe also ends words and stays there unless it closes a quotation.
    """
    if not _any_apostrophe.search(text):
        return text
    inner = _inner_apostrophe
    if rules.word_final_apostrophe:
        text = _quotation.sub(r" \1 ", text)
        inner = _inner_or_final_apostrophe
    return str(inner.sub(lambda m: "'" if m[1] else " ", text))


def drop_punctuation(text: str, _: Rules) -> str:
    """Punctuation and symbols become a space, hyphens and dandas too; the apostrophes left by `apostrophes` stay."""
    return text.translate(_punctuation)


STEPS: dict[str, Step] = {
    "white_space": fold_white_space,
    "soundless": drop_soundless,
    "nfc": nfc,
    "markup": drop_markup,
    "case": fold_case,
    "joiners": fold_joiners,
    "letters": fold_letters,
    "apostrophes": fold_apostrophes,
    "punctuation": drop_punctuation,
}
"""Every step by the name that `conf/scoring` calls it."""


def step(name: str) -> Step:
    """The step of that name.

    Raises:
        TextError: there is none; the message suggests near ones.
    """
    try:
        return STEPS[name]
    except KeyError:
        raise TextError(f"unknown step of normalisation {name!r}; {near_matches(name, STEPS)}") from None
