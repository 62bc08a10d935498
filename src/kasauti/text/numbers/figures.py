"""Figures to readings: what a string of ASCII figures may be called, apart from the marks around it.

Whether 1947 is a year, 560001 a PIN code or 9845012345 a telephone number is decided by who calls; here are the ways
to say each. Every function returns readings with the canonical one first, in the order that the policy sets.
"""

from __future__ import annotations

from functools import cache
from itertools import groupby

from kasauti.text.numbers.cardinal import (
    LARGEST,
    cardinal_lattice,
    hundreds_lattice,
    quarters_lattice,
    western_lattice,
)
from kasauti.text.numbers.lattice import Readings, chain, distinct
from kasauti.text.numbers.lexicon import below_hundred, word
from kasauti.text.numbers.tables import Slot, unique

_QUARTERS = {"25": 1, "5": 2, "50": 2, "75": 3}
_LONG = 10
"""From so many figures on a number without groups is an identifier, unless it is round."""

_MAYBE_NAME = 5
"""From so many figures on it may be one (a train, a PIN code without the word), unless it is in round thousands."""

_MOST_IN_A_RUN = 4


def whole(figures: str, lang: str, *, western: bool = False) -> Readings:
    """A quantity: as a cardinal, failing that figure by figure."""
    value = int(figures)
    if value >= LARGEST:
        return one_by_one(figures, lang)
    return western_lattice(value) if western and lang == "en" else cardinal_lattice(value, lang)


def plain(figures: str, lang: str, *, named: bool = False) -> Readings:
    """A number without groups or unit: as a cardinal, or of four figures in pairs; a name figure by figure too.

    A quantity read figure by figure is a fault of the voice, so only what may be a name is read so: `named` by what
    stands before it, with a zero in front, or long.
    """
    if len(figures) == 1:
        return whole(figures, lang)
    is_name = figures[0] == "0" or (len(figures) >= _LONG and len(figures.rstrip("0")) > _LONG // 2)
    may_be_name = named or is_name or (len(figures) >= _MAYBE_NAME and not figures.endswith("000"))
    spelled = one_by_one(figures, lang) if may_be_name else ()
    counted = whole(figures, lang)
    paired = in_pairs(figures, lang) if len(figures) == 4 else ()
    return distinct((*spelled, *counted, *paired) if is_name else (*counted, *spelled, *paired))


def code(figures: str, lang: str, style: str) -> Readings:
    """A PIN code, a password, a telephone or card number: figure by figure, in pairs or as a cardinal."""
    ways = {"digits": one_by_one(figures, lang), "pairs": in_pairs(figures, lang)}
    if style == "cardinal" or len(figures) < _LONG:
        ways["cardinal"] = whole(figures, lang)
    return distinct((*ways[style], *(reading for way in ways.values() for reading in way)))


def year(figures: str, lang: str, style: str) -> Readings:
    """A year of four figures (of two: what they say as a number); figure by figure only where the style is that."""
    if len(figures) != 4:
        return plain(figures, lang)
    hundreds, pairs = hundreds_lattice(int(figures), lang), in_pairs(figures, lang)
    ways = {
        "spoken": pairs if lang == "en" and figures[2] != "0" else hundreds,
        "cardinal": whole(figures, lang),
        "pairs": pairs,
        "digits": one_by_one(figures, lang),
    }
    return distinct((*ways[style], *ways["cardinal"], *hundreds, *pairs))


def fractional(whole_part: str, fraction: str, lang: str, *, western: bool = False) -> Readings:
    """A decimal number: the figures after the point one by one, or as a number, or in halves and quarters."""
    before = whole(whole_part or "0", lang, western=western)
    after = one_by_one(fraction, lang)
    if len(fraction) == 2 and fraction[0] != "0":
        after = distinct((*after, *cardinal_lattice(int(fraction), lang)))
    found = chain(before, ((word(lang, "point"),),), after)
    if not whole_part.strip("0"):
        found = (*found, *chain(((word(lang, "point"),),), after))
    if fraction in _QUARTERS and whole_part:
        found = (*found, *quarters_lattice(int(whole_part), _QUARTERS[fraction], lang))
    return found


def one_by_one(figures: str, lang: str) -> Readings:
    """Every figure by itself; English may say double and triple."""
    names = _names(lang)
    if not word(lang, "double"):
        return (tuple(names[int(figure)] for figure in figures),)
    slots: list[Slot] = []
    for figure, run in groupby(figures):
        left = len(list(run))
        while left:
            length = min(left, _MOST_IN_A_RUN)
            slots.append(_run(names[int(figure)], length, lang))
            left -= length
    return (tuple(slots),)


def in_pairs(figures: str, lang: str) -> Readings:
    """Two figures at a time; empty where their number is odd."""
    if len(figures) % 2:
        return ()
    reading: list[Slot] = []
    for first, second in zip(figures[::2], figures[1::2], strict=True):
        reading += [below_hundred(lang)[int(first + second)]] if first != "0" else one_by_one(first + second, lang)[0]
    return (tuple(reading),)


@cache
def _names(lang: str) -> tuple[Slot, ...]:
    """Names of the ten figures."""
    zero, *others = below_hundred(lang)[:10]
    return (unique((*word(lang, "nil"), *zero)), *others)


@cache
def _run(names: Slot, length: int, lang: str) -> Slot:
    """The same figure several times: every way to call it that double and triple allow."""
    sizes = {1: "", 2: word(lang, "double")[0] + " ", 3: word(lang, "triple")[0] + " "}
    found: list[str] = []
    for name in names:
        ways: list[list[str]] = [[""]]
        for done in range(1, length + 1):
            steps = range(1, min(done, 3) + 1)
            ways.append([f"{head} {sizes[n]}{name}".strip() for n in steps for head in ways[done - n]])
        found += ways[length]
    return unique(found)
