"""Reader of the word tables in `data/`, and the rule for endings that they share.

A table is a TSV file in UTF-8: comment lines begin with `#`, the columns are language, key, spellings separated by
` / ` with the canonical one first. All words come out in NFC. What each key means stands at the head of its file. This
module knows no language and no number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from unicodedata import normalize

Slot = tuple[str, ...]
"""Spellings of one word (or of words that are always said together), the canonical one first."""

ANY = "*"
"""Stands for every language in `marks` and `symbols`."""

_EMPTY: Mapping[str, Slot] = MappingProxyType({})


@cache
def rows(name: str) -> tuple[tuple[str, ...], ...]:
    """Rows of `data/NAME.tsv`, split at tabs, comments left out."""
    text = files("kasauti.text.numbers").joinpath("data", f"{name}.tsv").read_text(encoding="utf-8")
    lines = normalize("NFC", text).splitlines()
    return tuple(tuple(line.split("\t")) for line in lines if line and not line.startswith("#"))


def spellings(cell: str) -> Slot:
    """The spellings in one cell of a table."""
    return tuple(cell.split(" / "))


@cache
def table(name: str) -> dict[str, dict[str, Slot]]:
    """A table of three columns as language -> key -> spellings."""
    found: dict[str, dict[str, Slot]] = {}
    for lang, key, cell in rows(name):
        found.setdefault(lang, {})[key] = spellings(cell)
    return found


def words_of(name: str, lang: str) -> Mapping[str, Slot]:
    """One language's part of a table; empty where the table has nothing for it."""
    return table(name).get(lang, _EMPTY)


def with_ending(words: Slot, rules: Slot) -> Slot:
    """Words after something was said behind them.

    Args:
        words: Spellings of the last word of a number.
        rules: Each either `ending>other` (a word with that ending gets the other one; an empty ending fits every
            word), of which those with the longest fitting ending count, or a separate word.

    Returns:
        All forms, in the order of the spellings and then of the rules.
    """
    forms: list[str] = []
    for word in words:
        fitting = [rule.partition(">")[0] for rule in rules if ">" in rule]
        longest = max((len(old) for old in fitting if word.endswith(old)), default=0)
        for rule in rules:
            old, joined, new = rule.partition(">")
            if not joined:
                forms.append(f"{word} {rule}")
            elif word.endswith(old) and len(old) == longest:
                forms.append(word[: len(word) - len(old)] + new)
    return unique(forms)


def unique(words: Iterable[str]) -> Slot:
    """Words without repetitions, order kept."""
    return tuple(dict.fromkeys(words))
