"""How the tables of letters are written: `"क k  ख kh"` reads as `{"क": "k", "ख": "kh"}`."""

from __future__ import annotations


def pairs(text: str) -> dict[str, str]:
    """Character and value by turns, between white space; a character listed twice is a mistake in a table."""
    words = text.split()
    table = dict(zip(words[::2], words[1::2], strict=True))
    if len(table) != len(words) // 2:
        raise ValueError(f"a character is listed twice in {text!r}")
    return table


def row(characters: str, values: str) -> dict[str, str]:
    """Characters in a row, and their values between white space."""
    return dict(zip(characters, values.split(), strict=True))
