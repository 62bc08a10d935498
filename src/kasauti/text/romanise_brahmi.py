"""Brahmic scripts to ISO 15919: one pass over a run of letters.

A consonant carries the inherent vowel a until a vowel sign or a virama takes it away; all inherent vowels are kept,
also those that nobody pronounces (`phonetic` drops them). Anusvara is always ṁ, the simple option. A colon keeps
letters apart that would read as one sound: `a:i` against `ai`, `k:h` against `kh`. Not for whole texts: see `iso15919`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Literal

from kasauti.text.data import brahmi

Kind = Literal["consonant", "vowel", "sign", "mark", "virama", "nukta", "addak", "silent"]
Entry = tuple[Kind, str, str]
"""Kind, value, inherent vowel."""

INHERENT = "a"
_NOTHING: Entry = ("silent", "", "")
_ASPIRATES = frozenset({*(stop + "h" for stop in brahmi.STOPS), "ṛh", "c̈h"})
_HIATUS = frozenset({"i", "u"})
"""Vowels that would read as the second half of a diphthong after a."""


def _block(start: int) -> dict[str, Entry]:
    """The entries of one of the nine blocks that share a layout."""
    table: dict[str, Entry] = {}

    def add(kind: Kind, values: dict[int, str]) -> None:
        table.update({chr(start + at): (kind, value, "") for at, value in values.items()})

    add("mark", dict(enumerate(brahmi.MARKS, brahmi.MARKS_AT)))
    add("mark", {brahmi.DIGITS_AT + digit: str(digit) for digit in range(10)})
    add("mark", {brahmi.AVAGRAHA_AT: brahmi.AVAGRAHA})
    add("vowel", dict(enumerate(brahmi.VOWEL_LETTERS, brahmi.VOWEL_LETTERS_AT)) | brahmi.LATE_VOWEL_LETTERS)
    add("sign", dict(enumerate(brahmi.VOWEL_SIGNS, brahmi.VOWEL_SIGNS_AT)) | brahmi.LATE_VOWEL_SIGNS)
    add("virama", {brahmi.VIRAMA_AT: ""})
    add("nukta", {brahmi.NUKTA_AT: ""})
    for at, value in enumerate(brahmi.CONSONANTS, brahmi.CONSONANTS_AT):
        table[chr(start + at)] = ("consonant", value, INHERENT)
    table[chr(start + brahmi.VOWEL_LETTERS_AT)] = ("consonant", "", INHERENT)
    return table


def _extras() -> dict[str, Entry]:
    """The entries outside the common layout."""
    table: dict[str, Entry] = {
        chr(point): _NOTHING
        for first, last in brahmi.SILENT_RANGES
        for point in range(first, last + 1)
        if unicodedata.category(chr(point)).startswith("M")
    }
    table |= dict.fromkeys(brahmi.SILENT + brahmi.JOINERS, _NOTHING)
    table |= {char: ("consonant", value, INHERENT) for char, value in brahmi.EXTRA_CONSONANTS.items()}
    table |= {char: ("consonant", "", own) for char, own in brahmi.CARRIERS.items()}
    table |= {char: ("vowel", value, "") for char, value in brahmi.EXTRA_VOWEL_LETTERS.items()}
    table |= {char: ("sign", value, "") for char, value in brahmi.EXTRA_VOWEL_SIGNS.items()}
    table |= {char: ("mark", value, "") for char, value in brahmi.EXTRA_MARKS.items()}
    table |= {chr(0xABF0 + digit): ("mark", str(digit), "") for digit in range(10)}
    table |= dict.fromkeys(brahmi.EXTRA_VIRAMAS, ("virama", "", ""))
    table |= {written: _NOTHING for written in brahmi.REWRITTEN if len(written) == 1}
    return table | {brahmi.ADDAK: ("addak", "", "")}


TABLE: dict[str, Entry] = {}
"""Character -> what it is; every character that this module romanises is a key."""
for _start in brahmi.BLOCKS.values():
    TABLE |= _block(_start)
TABLE |= _extras()


def _letters(run: str) -> Iterator[Entry]:
    """The entries of a run of characters, with nuktas taken into their consonants and silent marks left out."""
    for written, same in brahmi.REWRITTEN.items():
        run = run.replace(written, same)
    for at, char in enumerate(run):
        kind, value, own = TABLE[char]
        if kind == "consonant" and TABLE.get(run[at + 1 : at + 2], _NOTHING)[0] == "nukta":
            dotted = brahmi.NUKTA_GURU if "\u0a00" <= char <= "\u0a7f" else {}
            value = dotted.get(value) or brahmi.NUKTA.get(value, value)
        if kind not in ("silent", "nukta"):
            yield kind, value, own


def romanise_brahmi(run: str) -> str:
    """ISO 15919 of a run of Brahmic letters.

    Args:
        run: NFC text, every character of it a key of `TABLE`.

    Returns:
        Latin letters, not normalised.
    """
    out: list[str] = []
    pending = ""  # the inherent vowel that the next letter may still take away
    consonant = ""  # the consonant before it
    killed = ""  # the consonant whose vowel a virama has just taken
    doubled = False
    for kind, value, own in _letters(run):
        if kind not in ("sign", "virama"):
            out.append(pending)
        if kind == "consonant":
            if killed in brahmi.STOPS and value == "h":
                out.append(":")
            if doubled:
                out.append(value[:-1] if value in _ASPIRATES else value)
            consonant = value
        elif kind == "vowel" and pending == INHERENT and value in _HIATUS:
            out.append(":")
        killed = consonant if kind == "virama" and pending else ""
        pending, doubled = own, kind == "addak"
        out.append(value)
    out.append(pending)
    return "".join(out)
