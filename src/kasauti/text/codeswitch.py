"""The same word in two scripts: `phone` and फ़ोन, ice cream and आइसक्रीम.

Judges differ in the script they give an English word in the midst of a sentence: some never write Latin, some always
do. Here a word of the transcript that sounds like the word in its place of the reference, and is in another script, is
taken for that word. English spelling says little about vowels, so the consonants decide: the Latin word becomes a
pattern of the consonants it may stand for, and the native word's consonants (`phonetic.fold`) must match it. That
forgives a wrong vowel inside an English word (पान for `pen`), which is why this belongs to the level `lenient` only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from rapidfuzz.distance import Levenshtein

from kasauti.text.data.spelling import LATIN_SHORT
from kasauti.text.phonetic import fold
from kasauti.text.scripts import dominant_script

_AS_WRITTEN = "itself"

_ENGLISH: tuple[tuple[str, str], ...] = (
    (r"^kn|^gn|gn$", "n"),
    (r"^wr", "r"),
    (r"^ps", "s"),
    (r"mb$", "mb?"),
    (r"tch|t(?=ure)", "[ʧ]"),
    (r"sch", "(?:sk|ʃ)"),
    (r"ch", "[ʧkʃs]"),
    (r"sh", "[ʃs]"),
    (r"ph|f", "f"),
    (r"gh(?=t)", ""),
    (r"gh", "(?:g|f)?"),
    (r"th", "[td]"),
    (r"dge?(?=$|[aeiou])", "[dj]j?"),
    (r"(?:t|ss?)i(?=[aou])", "[ʃʧtsj]"),
    (r"ci(?=[ao])", "[ʃs]"),
    (r"sc(?=[eiy])", "s"),
    (r"cc(?=[eiy])", "ks"),
    (r"c(?=[eiy])", "s"),
    (r"qu", "kv?"),
    (r"ck|[ckq]", "k"),
    (r"x", "(?:ks|gj|j|g?s)"),
    (r"g(?=[eiy])", "[gj]"),
    (r"l(?=[kmfvd])", "l?"),
    (r"ng", "n?g?"),
    (r"[nm]", "[nm]"),
    (r"s", "[sʃj]"),
    (r"z", "[js]"),
    (r"w", "v?"),
    (r"v", "(?:v|b|f)"),
    (r"d$", "[td]"),
    (r"r$", "r?"),
    (r"[bdgjlprt]", _AS_WRITTEN),
)
"""Letters of an English word, and the consonants of the fold that they may be heard as; vowels, y, h are left out."""

_GRAPHS = re.compile("|".join(f"(?P<g{at}>{letters})" for at, (letters, _) in enumerate(_ENGLISH)))
_LATIN = re.compile("[a-z]")
_NOT_CONSONANT = re.compile("[aeiouyh]")
_DOUBLED = re.compile(r"(.)\1+")
_TAMIL_MERGE = str.maketrans({"f": "[fp]", "g": "k", "d": "t", "b": "p", "j": "s", "ʧ": "s", "ʃ": "s"})
"""Tamil letters don't show voice, nor s from ch and j, nor always f; the fold writes them so."""

_ENOUGH_CONSONANTS = 2
"""With fewer, the vowels must agree as well."""

_LONGEST_JOIN = 2
"""So many words of one side may be one word of the other."""


@lru_cache(maxsize=1 << 15)
def consonant_pattern(latin: str, lang: str) -> re.Pattern[str]:
    """What the consonants of a Latin word may be heard as."""
    parts: list[str] = []
    for match in _GRAPHS.finditer(_DOUBLED.sub(r"\1", latin)):
        assert match.lastgroup is not None
        heard = _ENGLISH[int(match.lastgroup[1:])][1]
        parts.append(match[0] if heard == _AS_WRITTEN else heard)
    pattern = "".join(parts)
    return re.compile(pattern.translate(_TAMIL_MERGE) if lang == "ta" else pattern)


@lru_cache(maxsize=1 << 15)
def _consonants(native: str, lang: str) -> str:
    """The consonants of a native word, long ones once, without h and y."""
    return _NOT_CONSONANT.sub("", _DOUBLED.sub(r"\1", fold(native, lang)))


@lru_cache(maxsize=1 << 16)
def same_word(one: str, other: str, lang: str) -> bool:
    """Whether two words in different scripts, one of them Latin, sound like one word.

    Args:
        one: A word at level `numbers`.
        other: Another.
        lang: Language of the sentence, a base code.
    """
    scripts = dominant_script(one), dominant_script(other)
    if scripts[0] == scripts[1] or "Latn" not in scripts or None in scripts:
        return False
    latin, native = (one, other) if scripts[0] == "Latn" else (other, one)
    latin = LATIN_SHORT.get(latin, latin)
    if fold(latin, lang) == fold(native, lang):
        return True
    heard = _consonants(native, lang)
    return (
        len(heard) >= _ENOUGH_CONSONANTS
        and _ends_agree(latin, fold(native, lang))
        and consonant_pattern(latin, lang).fullmatch(heard) is not None
    )


def _ends_agree(latin: str, heard: str) -> bool:
    """Whether both words begin with a vowel or neither does, and a vowel heard at the end is written.

    A vowel may be heard before s and a consonant (iskūl) or for w (oyedar), a written h be silent (hour), a final a or
    u be the language's own (bassu).
    """
    if latin[0] in "aeiou" and heard[0] not in "aeiouyvh":
        return False
    if heard[0] in "aeiou" and latin[0] not in "aeiouhsw":
        return False
    return heard[-1] not in "eio" or latin[-1] in "aeiouyw"


def respelled(reference: str, hypothesis: str, lang: str) -> str:
    """The hypothesis with each word that is the reference's word in another script written as the reference has it.

    Only words in the same place are compared: those between two stretches that both sides share.

    Args:
        reference: What was to be said, at level `numbers`.
        hypothesis: What was heard, at the same level.
        lang: Language of the sentence, a base code.
    """
    if not _LATIN.search(reference) and not _LATIN.search(hypothesis):
        return hypothesis
    said, heard = reference.split(), hypothesis.split()
    out: list[str] = []
    place: tuple[list[str], list[str]] = ([], [])
    for block in Levenshtein.opcodes(said, heard):
        if block.tag == "equal":
            out += _matched(*place, lang)
            out += heard[block.dest_start : block.dest_end]
            place = ([], [])
        else:
            place[0].extend(said[block.src_start : block.src_end])
            place[1].extend(heard[block.dest_start : block.dest_end])
    return " ".join(out + _matched(*place, lang))


def _matched(said: Sequence[str], heard: Sequence[str], lang: str) -> list[str]:
    """The heard words of one place, respelled where they match, in order, a word said in that place."""
    out: list[str] = []
    at = used = 0
    while at < len(heard):
        for start, n_said, n_heard in _candidates(len(said) - used, len(heard) - at):
            words = said[used + start : used + start + n_said]
            if same_word("".join(words), "".join(heard[at : at + n_heard]), lang):
                out += words
                used += start + n_said
                at += n_heard
                break
        else:
            out.append(heard[at])
            at += 1
    return out


def _candidates(n_said: int, n_heard: int) -> list[tuple[int, int, int]]:
    """(words skipped, words said, words heard) to try, single words before joined ones, the nearest first."""
    joins = [(1, 1), *((n, 1) for n in range(2, _LONGEST_JOIN + 1)), *((1, n) for n in range(2, _LONGEST_JOIN + 1))]
    return [(start, s, h) for s, h in joins if h <= n_heard for start in range(n_said - s + 1)]
