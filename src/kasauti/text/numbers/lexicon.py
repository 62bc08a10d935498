"""Words of 0 to 99 in every language: indic-numtowords where it is right, mended where it is not.

`data/below_hundred.tsv` says value by value what is added to the library's words or put in their place, and why. The
library's own composition of larger numbers is not used (see `kasauti.text.numbers.cardinal` for what it gets wrong),
except for Sanskrit compounds.
"""

from __future__ import annotations

from functools import cache
from unicodedata import normalize

from indic_numtowords import num2words

from kasauti.text.numbers.tables import Slot, rows, spellings, unique, words_of

LIBRARY_CODES = {"sd-Deva": "sd", "mni-Mtei": "mni"}
"""Codes under which the library has a language, where they differ: its `sd` and `mni` are in these scripts."""

NOT_IN_LIBRARY = frozenset({"sd", "ks-Deva", "mni"})
"""Languages whose usual script the library does not write."""


def library_words(value: int, lang: str) -> Slot:
    """The library's words for a whole number, cleaned of what it leaves in them.

    Joiners and blanks at the ends are taken off, letters are in NFC.
    """
    code = LIBRARY_CODES.get(lang, lang)
    found = (num2words(value, lang=code), *num2words(value, lang=code, variations=True))
    return unique(normalize("NFC", word).replace("\u200c", "").strip() for word in found)


@cache
def below_hundred(lang: str) -> tuple[Slot, ...]:
    """Spellings of 0 to 99, the canonical one first."""
    mends = {
        int(value): (keep, spellings(cell)) for code, value, keep, cell, *_ in rows("below_hundred") if code == lang
    }
    found = []
    for value in range(100):
        keep, words = mends.get(value, ("also", ()))
        if keep == "also" and lang not in NOT_IN_LIBRARY:
            words = unique((*words, *library_words(value, lang)))
        found.append(words)
    return tuple(found)


def word(lang: str, key: str) -> Slot:
    """Spellings of a word that stands around numbers (`data/words.tsv`); empty where the language has none."""
    return words_of("words", lang).get(key, ())
