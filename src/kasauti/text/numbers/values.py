"""Values in words: ints and decimals without any text around them."""

from __future__ import annotations

from decimal import Decimal

from kasauti.text.languages import resolve_language
from kasauti.text.numbers.figures import fractional, whole
from kasauti.text.numbers.lattice import Readings, chain, reading_strings
from kasauti.text.numbers.lexicon import word
from kasauti.text.numbers.tables import unique


def cardinal(value: int | Decimal, lang: str) -> str:
    """A number in words, in the canonical reading.

    Args:
        value: Any int, or a finite Decimal: figures after the point are read one by one, trailing zeros included.
        lang: Language, by any of its names.

    Raises:
        TextError: unknown language.

    Example:
        >>> cardinal(1234567, "hi")
        'बारह लाख चौंतीस हज़ार पाँच सौ सड़सठ'
    """
    return next(reading_strings(_value_lattice(value, resolve_language(lang))[0]))


def cardinal_readings(value: int | Decimal, lang: str) -> tuple[str, ...]:
    """Every accepted way to say and spell a number, the canonical one first.

    The ways are a product over the number's words: some thousands for a number of ten figures. Readings of a number as
    a name (figure by figure, in pairs) are not among them; those depend on the text (`kasauti.text.numbers.readings`).

    Args:
        value: As for `cardinal`.
        lang: Language, by any of its names.

    Raises:
        TextError: unknown language.
    """
    lattice = _value_lattice(value, resolve_language(lang))
    return unique(string for reading in lattice for string in reading_strings(reading))


def _value_lattice(value: int | Decimal, lang: str) -> Readings:
    figures = f"{abs(value):f}" if isinstance(value, Decimal) else str(abs(value))
    before, point, after = figures.partition(".")
    found = fractional(before, after, lang) if point else whole(before, lang)
    return chain(((word(lang, "minus"),),), found) if value < 0 else found
