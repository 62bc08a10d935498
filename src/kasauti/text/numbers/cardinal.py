"""Whole numbers in words: the readings of a cardinal in 26 languages and scripts.

The canonical reading counts in thousands, lakhs and crores, crores counted on above a hundred (155 billion is fifteen
thousand five hundred and twenty-one crore); English counts the same way. Other readings that speakers accept stand
beside it: hundreds up to 99 (fifteen hundred), quarters and halves (सवा, डेढ़, ढाई, साढ़े, पौने), arab and kharab,
millions in English, one left out before a scale word.

indic-numtowords 1.1.0 gives the words below a hundred (`kasauti.text.numbers.lexicon`); its own composition drops the
tens of 110, 120 … 990 in Kannada, fails on 100 and 1000 in Sindhi, on every int of ten digits or more, and reads the
latter digit by digit where it does not fail. This module does not read text and knows no digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from kasauti.text.numbers.lattice import Reading, Readings, attach, distinct, reading_strings
from kasauti.text.numbers.lexicon import below_hundred, library_words
from kasauti.text.numbers.tables import Slot, unique, with_ending, words_of

_Scales = tuple[tuple[int, str], ...]

_COUNTED: _Scales = ((10**7, "crore"), (10**5, "lakh"), (10**3, "thousand"), (100, "hundred"))
_ARAB: _Scales = ((10**11, "kharab"), (10**9, "arab"), *_COUNTED)
_WESTERN: _Scales = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"), *_COUNTED[2:])

LARGEST = 10**21
"""Numbers from here on have no words here and are read digit by digit."""

_VOWEL_SIGN_OFFSET = 0x38
"""From an independent vowel to its sign, in the blocks of the southern scripts."""

_VOICED = re.compile(r"षड्(?=[कचटतपशषस])")


@lru_cache(maxsize=8192)
def cardinal_lattice(value: int, lang: str) -> Readings:
    """Readings of a whole number from 0 to `LARGEST` - 1, the canonical one first."""
    grammar = _grammar(lang)
    return distinct((grammar.compose(value), *grammar.styles(value)))


def western_lattice(value: int) -> Readings:
    """Readings of an English number that was written in groups of three: millions before lakhs."""
    return distinct((_grammar("en").compose(value, _WESTERN), *cardinal_lattice(value, "en")))


def hundreds_lattice(value: int, lang: str) -> Readings:
    """Readings as so many hundreds (nineteen hundred and forty-seven); empty where nobody says so."""
    return _grammar(lang).as_hundreds(value)


def quarters_lattice(count: int, quarters: int, lang: str) -> Readings:
    """Readings of `count` and so many quarters (1 to 3) that are one phrase: ढाई, सवा तीन, மூன்றரை."""
    return _grammar(lang).with_quarters(count, quarters) if count < 99 else ()


@cache
def _grammar(lang: str) -> _Grammar:
    return _Sanskrit(lang) if lang == "sa" else _Grammar(lang)


class _Grammar:
    """How one language puts its number words together."""

    def __init__(self, lang: str) -> None:
        self._lang = lang
        self._below = below_hundred(lang)
        self._scales = words_of("scales", lang)
        self._fractions = words_of("fractions", lang)
        self._link = self._scales.get("link", ())
        self._link_before = "".join(self._scales.get("link_before", ()))
        self._scale_first = "scale_first" in self._scales

    def compose(self, value: int, scales: _Scales = _COUNTED) -> Reading:
        """The reading that counts in the given scales."""
        parts: list[Reading] = []
        for size, name in scales:
            count, value = divmod(value, size)
            if count:
                parts.append(self._scaled(count, size, name, scales, more=value > 0, before=bool(parts)))
        if not parts:
            return (self._below[value],)
        return self._joined(parts, value, after_hundreds=count > 0)

    def styles(self, value: int) -> Readings:
        """Other ways to say a number."""
        found = [*self.as_hundreds(value), *self._quarters(value)]
        if value >= 10**9 and "arab" in self._scales:
            found.append(self.compose(value, _ARAB if "kharab" in self._scales else _ARAB[1:]))
        if value >= 10**5 and "million" in self._scales:
            found.append(self.compose(value, _WESTERN))
        return tuple(found)

    def as_hundreds(self, value: int) -> Readings:
        """See `hundreds_lattice`."""
        hundreds, rest = divmod(value, 100)
        if not 10 < hundreds < 100 or hundreds % 10 == 0 or "hundred" not in self._scales:
            return ()
        head = self._multiplied((self._below[hundreds],), self._words("hundred", more=rest > 0))
        return (self._joined([head], rest, after_hundreds=True),)

    def with_quarters(self, count: int, quarters: int) -> Readings:
        """See `quarters_lattice`."""
        words = self._fractions
        if not words or (count == 0 and quarters < 3):
            return ()
        if "and_half" in words:
            return attach(((self._below[count],),), words["and_half"]) if quarters == 2 else ()
        if quarters == 2 and count < 3:
            return ((words["one_half" if count == 1 else "two_half"],),)
        name, counted = {1: ("quarter", count), 2: ("half", count), 3: ("less_quarter", count + 1)}[quarters]
        phrase = (words[name], self._below[counted])
        return ((words[name],), phrase) if (quarters, count) == (1, 1) else (phrase,)

    def _quarters(self, value: int) -> Iterator[Reading]:
        """Readings with a quarter, a half or three quarters of a scale: 150, 2500, 175000."""
        for size, name in _COUNTED:
            count, part = divmod(value, size)
            fits = count and part and 4 * part % size == 0 and count < 99 and name in self._scales
            if fits and not (size == 100 and "and_half" in self._fractions):
                for reading in self.with_quarters(count, 4 * part // size):
                    scaled = self._multiplied(reading, self._words(name))
                    if all(scaled):
                        yield scaled

    def _scaled(self, count: int, size: int, name: str, scales: _Scales, *, more: bool, before: bool) -> Reading:
        """So many hundreds, thousands, lakhs or crores."""
        # Rows are of one to nine of a scale: a hundred thousand is not the row of a lakh.
        whole = self._words(str(count * size), more=more, before=before) if count < 10 else ()
        if whole:
            return (whole,)
        words = self._words(name, more=more)
        if count == 1 and not self._scale_first:
            # Scales that are joined to their multiplier have a row for one of them, so these are words, not rules.
            return (unique((*(f"{one} {scale}" for scale in words for one in self._below[1][:2]), *words)),)
        return self._multiplied(self.compose(count, scales), words)

    def _words(self, key: str, *, more: bool = False, before: bool = False) -> Slot:
        """Words of a scale, or of a multiple of one that has a row of its own.

        `more` when something follows, `before` when something of the same number stands before.
        """
        special = f"{key}+" if more else f"+{key}" if before else key
        return self._scales.get(special) or self._scales.get(key, ())

    def _multiplied(self, count: Reading, words: Slot) -> Reading:
        if self._scale_first:
            return (words, *count)
        if any(">" in rule for rule in words):
            return (*count[:-1], with_ending(count[-1], words))
        return (*count, words)

    def _joined(self, parts: list[Reading], rest: int, *, after_hundreds: bool) -> Reading:
        """Parts and what remains below a hundred in a row, with what the language says between them."""
        if rest and after_hundreds and "juncture" in self._scales:
            parts = [*parts[:-1], (self._run_on(parts[-1], rest),)]
        elif rest:
            parts = [*parts, (self._below[rest],)]
        if len(parts) > 1 and self._link_before:
            linked = {"all": len(parts) - 1, "last": 1, "units": min(rest, 1)}[self._link_before]
            parts = [*parts[: len(parts) - linked], *map(self._linked, parts[len(parts) - linked :])]
        return tuple(slot for part in parts for slot in part)

    def _linked(self, part: Reading) -> Reading:
        linked = (f"{link} {first}" for link in self._link for first in part[0])
        return (unique((*linked, *part[0])), *part[1:])

    def _run_on(self, hundreds: Reading, rest: int) -> Slot:
        """Hundreds and what follows, apart or as one word."""
        heads, tails = tuple(reading_strings(hundreds)), self._below[rest]
        apart = [f"{head} {tail}" for head in heads for tail in tails]
        return unique((*apart, *(_fused(heads[0], tail) for tail in tails)))


class _Sanskrit(_Grammar):
    """Sanskrit says a number as one compound, units first; the library's are used, their sandhi mended."""

    def compose(self, value: int, scales: _Scales = _COUNTED) -> Reading:
        """The compound up to nine digits; beyond, crores and the rest as two words."""
        if value < 100:
            return (self._below[value],)
        if value < 10**9:
            return (unique(_VOICED.sub("षट्", found) for found in library_words(value, self._lang)),)
        crores, rest = divmod(value, 10**7)
        counted = (*self.compose(crores), self._scales["crore"])
        return (*counted, *self.compose(rest)) if rest else counted


def _fused(head: str, tail: str) -> str:
    """Two words as one: the vowel that begins the second takes the place of the one that ends the first."""
    vowel = ord(tail[0]) & 0x7F
    if not 0x05 <= vowel <= 0x14:
        return head + tail
    stem = head[:-1] if ord(head[-1]) & 0x7F >= 0x3E else head
    return stem + ("" if vowel == 0x05 else chr(ord(tail[0]) + _VOWEL_SIGN_OFFSET)) + tail[1:]
