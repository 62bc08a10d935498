"""Tokens: the numbers of a text with their readings.

A token is a stretch of text that is read as a number, with everything that belongs to it: sign, currency, unit, the
suffix of an ordinal, a case ending glued to the figures. Its readings come as segments, said one after another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import regex

from kasauti.text.numbers.cardinal import cardinal_lattice, quarters_lattice
from kasauti.text.numbers.digits import digits, fold_digits
from kasauti.text.numbers.figures import code, fractional, one_by_one, plain, whole, year
from kasauti.text.numbers.lattice import Readings, attach, chain, distinct, literal
from kasauti.text.numbers.lexicon import word
from kasauti.text.numbers.patterns import (
    CURRENCIES,
    SCALES,
    code_marks,
    measures,
    money_marks,
    name_marks,
    numbers_in,
    ordinal_marks,
    scale_marks,
    scale_words,
    unit_keys,
    unit_marks,
)
from kasauti.text.numbers.policy import NumberPolicy
from kasauti.text.numbers.tables import Slot, unique, words_of

Match = regex.Match[str]

_KEEPS_SUFFIX = frozenset("as bn gu kn kok ml mni mni-Mtei mr ne or sa sat ta te".split())
"""Languages that write case endings and the like onto the word: २०२० + मध्ये is one word."""

_SUFFIX = regex.compile(r"[-‐]?(?P<tail>(?:(?!\p{Latin})[\p{L}\p{M}][\u200C\u200D]*)+)")
_CODE_WINDOW = 24
"""How far before a number a word such as PIN may stand, in characters."""

_WORD_BEFORE = regex.compile(r"(?P<word>[\p{L}\p{M}\u200C\u200D]+)(?P<between>[\s.:#-]*)$")
_INITIALS = regex.compile(r"\p{Lu}{1,2}")
"""Letters before a number that make a name with it: AI 302, NH 44."""

_FIRST_WORD = regex.compile(r"\s*(?P<word>[\p{L}\p{M}\u200C\u200D/]+)")

_WESTERN_GROUPS = regex.compile(r"\d{1,3}(?:,\d{3}){2,}|\d{3},\d{3}")
"""Groups that Indian grouping can't have; 12,345 is written so either way."""

_YEARS = range(1800, 2000)
"""A number in this range without groups, unit or currency is taken for a year."""


_QUARTERS = {15: "quarter_past", 30: "half_past", 45: "quarter_to"}
"""Minutes that have a word before the hour in some languages."""


@dataclass(frozen=True, slots=True)
class Token:
    """A number in a text.

    Attributes:
        start: Where it begins in the text.
        end: Where it ends.
        parts: Its readings, as parts said one after another.
    """

    start: int
    end: int
    parts: tuple[Readings, ...]


def tokens(text: str, lang: str, policy: NumberPolicy) -> Iterator[Token]:
    """The numbers of a text, in order."""
    folded = fold_digits(text)
    reader = _Reader(lang, policy)
    pattern = numbers_in(lang)
    end = 0
    while match := pattern.search(folded, end):
        kind = next(name for name in _KINDS if match[name] is not None)
        parts = _KINDS[kind](reader, match)
        end = match.end()
        suffix = _SUFFIX.match(folded, end) if kind != "sign" else None
        if suffix:
            end = suffix.end()
            parts = (*parts[:-1], reader.suffixed(parts[-1], suffix["tail"]))
        yield Token(match.start(), end, parts)


class _Reader:
    """Readings of the tokens of one language under one policy."""

    def __init__(self, lang: str, policy: NumberPolicy) -> None:
        self._lang = lang
        self._policy = policy

    def phone(self, match: Match) -> tuple[Readings, ...]:
        """A telephone, card or Aadhaar number."""
        spelled = code(digits(match[0]), self._lang, self._policy.phone)
        if not match[0].startswith("+"):
            return (spelled,)
        return (distinct((*chain(self._said("plus"), spelled), *spelled)),)

    def date(self, match: Match) -> tuple[Readings, ...]:
        """A date: day, month by name, year; or the three as numbers."""
        number = int(match["month"])
        day = cardinal_lattice(int(match["day"]), self._lang)
        name: Readings = ((words_of("months", self._lang)[str(number)],),)
        orders = [chain(day, name), chain(day, cardinal_lattice(number, self._lang)), chain(name, day)]
        if self._lang == "en":
            ordinal, the, of = self._ordinal(match["day"], "th"), literal("the"), literal("of")
            orders += [chain(ordinal, name), chain(ordinal, of, name), chain(the, ordinal, of, name)]
            orders.append(chain(name, ordinal))
        days = distinct(tuple(reading for order in orders for reading in order))
        return (days, year(match["year"], self._lang, self._policy.year))

    def time(self, match: Match) -> tuple[Readings, ...]:
        """A time of day: hours and minutes; halves and quarters; with the words for both."""
        hour, minute = int(match["hour"]), int(match["minute"])
        hours = cardinal_lattice(hour, self._lang)
        minutes = cardinal_lattice(minute, self._lang)
        if minute == 0:
            zeros = one_by_one("00", self._lang)
            found = (*hours, *chain(hours, self._said("oclock")), *chain(hours, zeros))
        else:
            shown = (*one_by_one(match["minute"], self._lang), *minutes) if minute < 10 else minutes
            found = (*chain(hours, shown), *self._clock(hour, minute))
        parts = [distinct(found)]
        if match["second"] is not None:
            seconds = cardinal_lattice(int(match["second"]), self._lang)
            parts.append(distinct((*seconds, *chain(seconds, self._unit("s")))))
        if match["half"] is not None:
            parts.append(self._unit(match["half"][0].lower() + "m", match["half"]))
        return tuple(parts)

    def _clock(self, hour: int, minute: int) -> Readings:
        """Halves and quarters of an hour, and hours and minutes with a word for each; 17:30 is half past five too."""
        found: Readings = ()
        for hours in {hour: None, (hour - 1) % 12 + 1: None}:
            if minute in _QUARTERS:
                next_hour = cardinal_lattice(hours % 12 + 1 if minute == 45 else hours, self._lang)
                quarters = quarters_lattice(hours % 12 if minute == 45 else hours, minute // 15, self._lang)
                found = (*found, *quarters, *chain(quarters, self._said("oclock")))
                found = (*found, *chain(self._said(_QUARTERS[minute]), next_hour))
            for past in word(self._lang, "past"):
                told = chain(cardinal_lattice(hours, self._lang), literal(past))
                found = (*found, *chain(told, cardinal_lattice(minute, self._lang), self._unit("min")))
        return found

    def row(self, match: Match) -> tuple[Readings, ...]:
        """Numbers between colons or hyphens, as in a score or a verse: one after another."""
        named = "-" in match[0]
        return tuple(plain(part, self._lang, named=named) for part in regex.split("[:-]", match[0]))

    def dotted(self, match: Match) -> tuple[Readings, ...]:
        """Several points, as in a version: numbers with the word for the point between them."""
        first, *others = match[0].split(".")
        parts = [plain(first, self._lang, named=True)]
        for part in others:
            parts += [self._said("point"), plain(part, self._lang, named=True)]
        return tuple(parts)

    def fraction(self, match: Match) -> tuple[Readings, ...]:
        """Two numbers with a slash: one by the other, or one after the other."""
        named = self._is_named(match)
        upper, lower = (plain(match[part], self._lang, named=named) for part in ("upper", "lower"))
        return (upper, distinct((*chain(self._said("by"), lower), *lower)))

    def quantity(self, match: Match) -> tuple[Readings, ...]:
        """A number with its sign, range, scale, currency, percent, unit or ordinal suffix."""
        before: tuple[Readings, ...] = ()
        if match["numero"] is not None:
            before = (((unique((*word(self._lang, "number"), match["numero"])),),),)
        sign = next(iter(match.captures("minus")), "")
        if sign:
            before = (*before, self._said("minus" if sign == "-" else "plus"))
        if match["ordinal"] is not None:
            return (*before, *self._ordered(match))
        currency = self._key(CURRENCIES, match["money"] or match["money_after"], money_marks)
        if match["dash"] is not None:
            currency = currency or "rupee"
        if currency:
            return (*before, *self._amount(match, currency))
        return (*before, *self._counted(match))

    def _amount(self, match: Match, currency: str) -> tuple[Readings, ...]:
        """An amount of money; two figures after the point are paise or cents too.

        A sign beside its own word (₹500 रुपये) is said once, by the word.
        """
        number, _, fraction = match["number"].partition(".")
        counted = self._counted(match, measured=True)
        if self._before_word_of(currency, match):
            return counted
        amount = (*counted, self._said(currency, one=_is_one(match)))
        if len(fraction) != 2 or match["scale"] or match["upto"]:
            return amount
        unit = self._said(currency, one=number == "1")
        western = _WESTERN_GROUPS.fullmatch(number) is not None
        full = chain(whole(number.replace(",", "") or "0", self._lang, western=western), unit)
        small = self._said("paisa" if currency == "rupee" else "cent", one=int(fraction) == 1)
        change = chain(cardinal_lattice(int(fraction), self._lang), small)
        if int(fraction) == 0:
            return (distinct((*full, *chain(full, change))),)
        both = (*chain(full, change), *chain(full, self._said("and"), change))
        return (distinct((*both, *chain(*amount))),)

    def _counted(self, match: Match, *, measured: bool = False) -> tuple[Readings, ...]:
        """Number or range, scale word, percent or unit."""
        scale = self._key(SCALES, match["scale"], scale_marks)
        percent, unit = match["percent"] is not None, self._key(unit_keys(self._lang), match["unit"], unit_marks)
        measured = measured or percent or bool(scale or unit)
        first = self._number(match["number"], match, measured=measured)
        parts: tuple[Readings, ...] = (first,)
        if match["upto"] is not None:
            parts = self._range(first, self._number(match["upto"], match, measured=measured))
        if scale:
            parts = (*parts, self._scale(scale, match["scale"]))
        if percent:
            return self._percent(parts, one=_is_one(match))
        if unit:
            return (*parts, self._unit(unit, match["unit"]))
        return parts

    def _number(self, number: str, match: Match, *, measured: bool) -> Readings:
        """A number by itself."""
        figures, point, fraction = number.partition(".")
        western = _WESTERN_GROUPS.fullmatch(figures) is not None
        figures = figures.replace(",", "")
        if point:
            return fractional(figures, fraction, self._lang, western=western)
        if self._is_code(match) and not measured:
            return code(figures, self._lang, self._policy.code)
        measured = measured or self._before_measure(match)
        if "," in number or (measured and figures[0] != "0"):
            return whole(figures, self._lang, western=western)
        named = not measured and (match["numero"] is not None or self._is_named(match))
        if not named and len(figures) == 4 and int(figures) in _YEARS:
            return year(figures, self._lang, self._policy.year)
        return plain(figures, self._lang, named=named)

    def _is_code(self, match: Match) -> bool:
        before = match.string[max(0, match.start() - _CODE_WINDOW) : match.start()]
        said = regex.split(r"[^\p{L}\p{M}\p{N}’']+", regex.split("[,;.!?।\n]", before)[-1])
        return any(mark in said for mark in code_marks(self._lang))

    def _is_named(self, match: Match) -> bool:
        """Whether a number is part of a name: after a word such as room, after initials, or right after a letter."""
        before = _WORD_BEFORE.search(match.string[max(0, match.start() - _CODE_WINDOW) : match.start()])
        if before is None:
            return False
        near, word_before = before["between"] in ("", "-"), before["word"]
        return near or bool(_INITIALS.fullmatch(word_before)) or word_before.lower() in name_marks(self._lang)

    def _before_measure(self, match: Match) -> bool:
        """Whether the next word of the text is a currency, a unit or a month."""
        following = _FIRST_WORD.match(match.string, match.end())
        return following is not None and following["word"] in measures(self._lang)

    def _before_word_of(self, currency: str, match: Match) -> bool:
        """Whether the next word of the text is one of a currency (of rupees with any case ending); English ones too."""
        following = _FIRST_WORD.match(match.string, match.end())
        if following is None:
            return False
        keys = (currency, f"{currency}1")
        words = tuple(form for lang in (self._lang, "en") for key in keys for form in word(lang, key))
        found = following["word"].lower()
        return found.startswith(words) if currency == "rupee" else found in words

    def _range(self, first: Readings, last: Readings) -> tuple[Readings, ...]:
        """From one number to another, with or without the words for it."""
        started = distinct((*attach(first, word(self._lang, "to")), *first))
        return (started, distinct((*last, *chain(last, self._said("until")))))

    def _percent(self, parts: tuple[Readings, ...], *, one: bool) -> tuple[Readings, ...]:
        said, ahead = (*parts, self._said("percent", one=one)), self._said("percent_before")
        return (distinct((*chain(*said), *chain(ahead, *parts))),) if ahead else said

    def _scale(self, key: str, written: str) -> Readings:
        """A scale word after a number; one in the language's own script stays as it was written."""
        words = scale_words(self._lang, key)
        return ((unique((written, *words) if written in words else (*words, written)),),)

    def _unit(self, key: str, *written: str) -> Readings:
        """Words of a unit; what was written counts as right beside them."""
        words = unique((*words_of("units", self._lang).get(key, ()), *written))
        return ((words,),) if words else ()

    def _ordered(self, match: Match) -> tuple[Readings, ...]:
        """A number with a suffix that makes it an ordinal, or that is a case ending after all."""
        *started, last = self._counted(match)
        suffix, number = match["ordinal"], match["number"].replace(",", "")
        ending = self.suffixed(last, suffix)
        if started or not number.isdecimal():
            return (*started, ending)
        general = ordinal_marks(self._lang, "suffix").get(suffix)
        if general:
            return (self._ordinal(number, general),)
        own = ordinal_marks(self._lang, "own")[suffix]
        if f"{own}.{number}" not in words_of("ordinals", self._lang):
            return (ending,)
        return (distinct((*self._ordinal(number, own), *ending)),)

    def _ordinal(self, figures: str, name: str) -> Readings:
        """An ordinal: a word of its own, or the cardinal with an ending."""
        forms = words_of("ordinals", self._lang)
        own = forms.get(f"{name}.{int(figures)}")
        regular = attach(whole(figures, self._lang), forms[f"{name}.regular"])
        return distinct(((own,), *regular)) if own else regular

    def sign(self, match: Match) -> tuple[Readings, ...]:
        """A mark that stands by no figure."""
        return (self._said("percent" if match[0] == "%" else "rupee"),)

    def suffixed(self, readings: Readings, tail: str) -> Readings:
        """Readings with letters that follow the figures directly: a case ending, or a word without its blank."""
        rules = words_of("suffixes", self._lang).get(tail, (f">{tail}",))
        if tail[0].isalpha():
            rules = (*rules, tail) if self._lang in _KEEPS_SUFFIX else (tail,)
        return attach(readings, rules)

    def _said(self, key: str, *, one: bool = False) -> Readings:
        """A word beside numbers; no reading at all where the language has none."""
        words = (word(self._lang, f"{key}1") if one else ()) or word(self._lang, key)
        return ((words,),) if words else ()

    def _key(self, keys: tuple[str, ...], written: str | None, marks: Callable[[str, str], Slot]) -> str:
        """Which of several keys a mark stands for; empty for no mark."""
        return next(key for key in keys if written in marks(self._lang, key)) if written else ""


def _is_one(match: Match) -> bool:
    """Whether a quantity is exactly one of something."""
    return match["number"] == "1" and not match["scale"] and not match["upto"]


_KINDS: dict[str, Callable[[_Reader, Match], tuple[Readings, ...]]] = {
    "phone": _Reader.phone,
    "date": _Reader.date,
    "time": _Reader.time,
    "row": _Reader.row,
    "dotted": _Reader.dotted,
    "fraction": _Reader.fraction,
    "quantity": _Reader.quantity,
    "sign": _Reader.sign,
}
"""Kind of token (a group of the pattern) -> how it is read."""
