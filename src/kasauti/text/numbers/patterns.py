"""Patterns: where the numbers of a text are, and what kind each one is.

All patterns run over folded text (`kasauti.text.numbers.digits.fold_digits`), where every figure is ASCII. The kinds
are tried in the order of `_KINDS` at each place, so a date is not taken for a fraction. What a number is called is not
decided here (`kasauti.text.numbers.tokens`).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import regex

from kasauti.text.numbers.digits import GROUPED
from kasauti.text.numbers.tables import ANY, Slot, unique, words_of

CURRENCIES = ("rupee", "dollar", "euro", "pound")
SCALES = ("thousand", "lakh", "crore", "million", "billion", "trillion")

TRIGGER = regex.compile(r"[\d%₹٪％]")
"""A text without any of these has nothing to expand."""

_W = r"[\p{L}\p{M}\p{N}_]"
_S = r"[ \u00A0\u2009\u202F]"
_GAP = r"[ \u00A0-]"
_NUMBER = rf"(?:{GROUPED}|\d+)(?:\.\d+)?|(?<!{_W})\.\d+"
_DAY, _MONTH = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])"
_YEARS_IN_A_ROW = rf"(?:(?:1[89]|20)\d\d{_GAP}){{2}}"

_PHONE = rf"""
    (?<![\d.,])(?:
      \+(?=(?:{_GAP}?\d){{8,15}}(?!\d))\d{{1,5}}(?:{_GAP}?\d{{2,5}}){{1,4}}
    | 0?[6-9]\d{{4}}{_GAP}?\d{{5}}
    | [6-9]\d\d{_GAP}\d{{3}}{_GAP}\d{{4}}
    | [6-9]\d{{3}}{_GAP}\d{{3}}{_GAP}\d{{3}}
    | 0\d{{2,4}}{_GAP}\d{{6,8}}
    | 1[89]00{_GAP}?\d{{3}}{_GAP}?\d{{3,4}}
    | (?!{_YEARS_IN_A_ROW})\d{{4}}{_GAP}\d{{4}}{_GAP}\d{{4}}(?:{_GAP}\d{{4}})?
    )(?![\d]|[.,]\d)"""

_DATE = rf"""
    (?<![\d/.-])(?:
      (?P<year>\d{{4}})-(?P<month>{_MONTH})-(?P<day>{_DAY})
    | (?P<day>{_DAY})(?P<mark>[/-])(?P<month>{_MONTH})(?P=mark)(?P<year>\d{{4}}|\d\d)
    | (?P<day>{_DAY})\.(?P<month>{_MONTH})\.(?P<year>\d{{4}})
    | (?P<month>{_MONTH})/(?P<day>{_DAY})/(?P<year>\d{{4}})
    )(?![\d/-])"""

_HOUR, _MINUTE = r"(?P<hour>[01]?\d|2[0-4])", r"(?P<minute>[0-5]\d)"
_HALF = rf"(?P<half>[AaPp]\.?[Mm]\.?)(?!{_W})"
_ROW = r"(?<![\d:.-])(?:\d+(?::\d+)+|\d+(?:-\d+){2,})(?![\d:])"
_DOTTED = r"(?<![\d.])\d+(?:\.\d+){2,}"
_FRACTION = r"(?<![\d/])(?P<upper>\d+)/(?P<lower>\d+)(?![\d/])"

_KINDS = (
    ("phone", _PHONE),
    ("date", _DATE),
    ("row", _ROW),
    ("dotted", _DOTTED),
    ("fraction", _FRACTION),
)


@cache
def numbers_in(lang: str) -> regex.Pattern[str]:
    """Pattern of everything that is read as a number in one language; the kind is the last group that matched."""
    kinds = [rf"(?P<{name}>{pattern})" for name, pattern in _KINDS]
    kinds.insert(2, rf"(?P<time>{_time(lang)})")
    kinds += [rf"(?P<quantity>{_quantity(lang)})", r"(?P<sign>[%₹])"]
    return regex.compile("|".join(kinds), regex.VERBOSE)


def _time(lang: str) -> str:
    """A time of day; hours and minutes with a point between them only before a word such as o'clock."""
    oclock = _any(words_of("words", lang).get("oclock", ()))
    told = rf"{_S}*(?:{_HALF}|{oclock})" if oclock else rf"{_S}*{_HALF}"
    return rf"""
        (?<![\d:.]){_HOUR}(?::{_MINUTE}(?::(?P<second>[0-5]\d))?(?![\d:])|\.{_MINUTE}(?!\d)(?={told}))
        (?:{_S}?{_HALF})?"""


def _quantity(lang: str) -> str:
    """A number with what stands beside it: sign, currency, range, scale word, percent, unit, ordinal suffix."""
    money = _any(mark for key in CURRENCIES for mark in money_marks(lang, key))
    scale = _any(mark for key in SCALES for mark in scale_marks(lang, key))
    unit = _any(mark for key in unit_keys(lang) for mark in unit_marks(lang, key))
    numero = _any(number_marks(lang))
    suffix = _any(mark for part in ("suffix", "own") for mark in ordinal_marks(lang, part)) or "(?!)"
    return rf"""
        (?:(?<!{_W})(?P<numero>{numero}){_S}?)?
        (?P<minus>(?<![\p{{L}}\p{{M}}\p{{N}}.,)%])[-+])?
        (?:(?<!{_W})(?P<money>{money}){_S}?(?P<minus>-)?)?
        (?P<number>{_NUMBER})
        (?:(?:[-–—~]|{_S}[-–—]{_S})(?:{money}{_S}?)?(?P<upto>{_NUMBER})(?!\d|[-/]\d))?
        (?:{_S}?(?P<scale>{scale})(?!{_W}))?
        (?:{_S}?(?P<percent>%)
          |{_S}?(?P<money_after>{money})(?!{_W})|(?P<dash>/-)(?!\d)
          |{_S}?(?P<unit>{unit})(?!{_W})
          |(?P<ordinal>{suffix})(?!{_W}))?"""


def money_marks(lang: str, key: str) -> Slot:
    """Signs of a currency."""
    return _marks("marks", lang, key)


def number_marks(lang: str) -> Slot:
    """Abbreviations of the word number."""
    return _marks("marks", lang, "number")


def scale_words(lang: str, key: str) -> Slot:
    """Words of a scale that may stand after figures."""
    return tuple(rule for rule in words_of("scales", lang).get(key, ()) if ">" not in rule)


def scale_marks(lang: str, key: str) -> Slot:
    """Scale words after figures, Latin ones included."""
    return unique((*scale_words(lang, key), *_marks("marks", lang, key)))


def unit_keys(lang: str) -> tuple[str, ...]:
    """Units that have an abbreviation in a language."""
    return unique((*words_of("symbols", ANY), *words_of("symbols", lang)))


def unit_marks(lang: str, key: str) -> Slot:
    """Abbreviations of a unit."""
    return _marks("symbols", lang, key)


@cache
def ordinal_marks(lang: str, part: str) -> dict[str, str]:
    """Suffixes of ordinals and the name of the kind that each belongs to.

    Args:
        lang: Language code.
        part: `suffix` for those of any number, `own` for those of numbers with a word of their own.
    """
    keys = words_of("ordinals", lang)
    return {mark: key.partition(".")[0] for key in keys if key.endswith(f".{part}") for mark in keys[key]}


@cache
def code_marks(lang: str) -> frozenset[str]:
    """Words before a number that is read figure by figure."""
    return frozenset(_marks("marks", lang, "code"))


@cache
def name_marks(lang: str) -> frozenset[str]:
    """Words before a number that is a name, such as that of a room, in small letters."""
    words = (*words_of("words", lang).get("number", ()), *number_marks(lang), *_marks("marks", lang, "name"))
    return frozenset(word.rstrip(".").lower() for word in words)


@cache
def measures(lang: str) -> frozenset[str]:
    """Words of currencies, units and months: what is before them is a quantity."""
    words = words_of("words", lang)
    money = [spelling for key in CURRENCIES for spelling in words.get(key, ())]
    others = (spelling for name in ("units", "months") for unit in words_of(name, lang).values() for spelling in unit)
    return frozenset((*money, *others))


def _marks(table: str, lang: str, key: str) -> Slot:
    """Spellings of one key, those of the language and those of every language."""
    return (*words_of(table, lang).get(key, ()), *words_of(table, ANY).get(key, ()))


def _any(marks: Iterable[str]) -> str:
    """Alternatives of literal strings, the longest first."""
    ordered = sorted(set(marks), key=lambda mark: (-len(mark), mark))
    return "|".join(regex.escape(mark, special_only=False, literal_spaces=False) for mark in ordered)
