"""The Arabic script of Urdu, Kashmiri and Sindhi in Latin letters, by a stated convention.

The script writes consonants and long vowels. **Short vowels that are not written are not guessed**: کتاب is `ktāb`.
Some letters are read by their place:

- alef: `a` at the start of a word, silent there before waw, yeh or a vowel sign, `ā` elsewhere;
- waw: `v` at the start of a word, before a vowel and after a long one, else `ō` (also for ū and au);
- yeh: `y` in the same places, else `ī` (also for ē and ai; the final yeh barree is always `ē`);
- heh at the end of a word after a consonant is that word's vowel, `ah`; after a stop it is `:h`, as a short vowel goes
  unwritten between them (کہا `k:hā`, کھا `khā`), but not in Sindhi, which writes aspirates with it.

Signs for short vowels and doubling are read where they are written. Not for whole texts: see `iso15919`.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

from kasauti.text.data import arabic, brahmi

Kind = Literal["start", "consonant", "short", "long"]
"""What the letter before was."""

_SEMIVOWELS = {arabic.WAW: ("v", "ō"), arabic.YEH: ("y", "ī")}
_VALUES: dict[str, str] = arabic.CONSONANTS | arabic.VOWELS | arabic.OTHERS | arabic.SHORT_VOWELS
_OPENERS = frozenset({arabic.ALEF, *_SEMIVOWELS, *arabic.VOWELS, *arabic.SHORT_VOWELS})
"""Characters before which waw and yeh are consonants."""

_BLOCKS = ((0x0600, 0x06FF), (0x0750, 0x077F), (0x0870, 0x08FF), (0xFE73, 0xFE73))
_CHARACTERS = [
    char
    for first, last in _BLOCKS
    for char in map(chr, range(first, last + 1))
    if unicodedata.category(char)[0] in "LM" or char in arabic.VOWELS
]
_READ = {*_VALUES, *_SEMIVOWELS, arabic.ALEF, arabic.YEH_HAMZA, arabic.SHADDA}


def _simpler(char: str) -> str:
    """The letter that a letter outside the tables is read as: the one its name begins with. Signs are silent."""
    if char in arabic.REWRITTEN:
        return arabic.REWRITTEN[char]
    base = unicodedata.name(char).partition(" WITH ")[0]
    if not base.startswith("ARABIC LETTER ") or base == unicodedata.name(char):
        return ""
    letter = unicodedata.lookup(base)
    return letter if letter in _READ else _simpler(letter)


_SIMPLER = str.maketrans({char: _simpler(char) for char in _CHARACTERS if char not in _READ})
_SHADDA_LAST = re.compile(f"([{''.join(arabic.SHORT_VOWELS)}]+){arabic.SHADDA}")
"""NFC puts the sign of doubling behind that of the vowel."""
_SEQUENCES = {written: same for written, same in arabic.REWRITTEN.items() if len(written) > 1}

LETTERS = "".join(_CHARACTERS)
"""Every character that this module romanises, presentation forms aside."""


def romanise_arabic(run: str, sindhi: bool = False) -> str:
    """Latin letters for a word or a run of words in Arabic letters.

    Args:
        run: NFC text, every character of it one of `LETTERS`; a word, since places in it matter.
        sindhi: Read keheh as the aspirate.

    Returns:
        Latin letters, not normalised.
    """
    run = _SHADDA_LAST.sub(rf"{arabic.SHADDA}\1", run.translate(_SIMPLER))
    for written, same in _SEQUENCES.items():
        run = run.replace(written, same)
    out: list[str] = []
    before: Kind = "start"
    for at, char in enumerate(run):
        value, kind = _read(char, run[at + 1 : at + 2], before, out)
        if before == "short" and (long := arabic.LENGTHENED.get(out[-1] + char)):
            out[-1], kind = long, "long"
        elif sindhi:
            out.append(arabic.SINDHI.get(char, value).removeprefix(":"))
        else:
            out.append(value)
        before = kind
    return "".join(out)


def _read(char: str, following: str, before: Kind, out: list[str]) -> tuple[str, Kind]:
    """Value and kind of one character in its place."""
    if char == arabic.ALEF:
        if before != "start":
            return "ā", "long"
        carrier = following in _SEMIVOWELS or following in arabic.SHORT_VOWELS
        return ("", "consonant") if carrier else ("a", "long")
    if char in _SEMIVOWELS:
        consonant, vowel = _SEMIVOWELS[char]
        if before in ("start", "long") or following in _OPENERS:
            return consonant, "consonant"
        return vowel, "long"
    if char == arabic.YEH_HAMZA:
        return ("ʾ" if following in _OPENERS else "ʾi"), "consonant"
    if char == arabic.SHADDA:
        return (out[-1] if out else ""), "consonant"
    if char == arabic.HEH and before == "consonant":
        if not following:
            return "ah", "long"
        return (":h" if out[-1] in brahmi.STOPS else "h"), "consonant"
    value = _VALUES[char]
    if char in arabic.SHORT_VOWELS:
        return value, "short"
    return value, "long" if char in arabic.VOWELS else "consonant"
