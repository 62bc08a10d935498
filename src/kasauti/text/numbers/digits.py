"""Figures in every script of Unicode: folding, picking out, parsing.

A figure is a character of general category Nd (`str.isdecimal`), whatever the language of the text around it. Groups
may be Indian (12,34,567) or western (1,234,567); the comma is never a decimal mark.
"""

from __future__ import annotations

import re
from decimal import Decimal
from unicodedata import decimal

from kasauti.errors import TextError

GROUPED = r"(?:\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})*,\d{3})(?!\d)"
"""A whole number in groups, western or Indian, in folded text."""

_FIGURE = re.compile(r"\d")
_MARKS = str.maketrans({"٫": ".", "٬": ",", "٪": "%", "％": "%", "．": ".", "，": ",", "−": "-"})
_NUMBER = re.compile(rf"([-+]?)({GROUPED}|\d+)?(?:\.(\d+))?")


def fold_digits(text: str) -> str:
    """Text with every figure as ASCII and the numeric marks of Arabic and full width as theirs; same length."""
    return _FIGURE.sub(lambda match: str(decimal(match[0])), text.translate(_MARKS))


def digits(text: str) -> str:
    """All figures of a text, in order, as ASCII.

    Example:
        >>> digits("+91 ९८४५०")
        '9198450'
    """
    return "".join(str(decimal(char)) for char in text if char.isdecimal())


def parse_number(text: str) -> int | Decimal:
    """The value of a number written in figures.

    Args:
        text: Sign, figures of any script, groups, decimal point; blanks at the ends are ignored.

    Returns:
        An int, or a Decimal when there is a decimal point.

    Raises:
        TextError: the text is not one number, or its groups are neither Indian nor western.

    Example:
        >>> parse_number("४,३२,०००")
        432000
    """
    match = _NUMBER.fullmatch(fold_digits(text.strip()))
    if match is None or match[2] is match[3] is None:
        raise TextError(f"not a number: {text!r}; wanted figures, grouped like 12,34,567 or 1,234,567 or not at all")
    sign, whole, fraction = match[1].replace("+", ""), (match[2] or "0").replace(",", ""), match[3]
    return int(sign + whole) if fraction is None else Decimal(f"{sign}{whole}.{fraction}")
