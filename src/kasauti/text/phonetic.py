"""Folding by sound: the same word in any script becomes nearly the same short string.

For judges that write Hindi in Latin letters or Telugu in Arabic ones. Each native run is transliterated (`iso15919`),
vowels that nobody says are dropped, letters of one sound are merged; Latin words go through the same merging. What is
merged and why is data (`data.sounds`), printed in docs/transliteration.md. The fold loses much on purpose (length of
vowels, dental against retroflex): it is for `pcer` and the level `phonetic`, never for the headline. It is no
pronunciation: English words are not read as English.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache

import regex

from kasauti.text.data import sounds
from kasauti.text.iso15919 import segments
from kasauti.text.languages import language
from kasauti.text.scripts import dominant_script

_APOSTROPHES = "'’ʼ‘`´"
_WORD = regex.compile(rf"[\p{{L}}\p{{M}}\p{{N}}\p{{Join_Control}}\u06fd\u06fe{_APOSTROPHES}]+")
_DROPPED = regex.compile(rf"[\p{{M}}\p{{Join_Control}}{_APOSTROPHES}]+")
_FOREIGN = str.maketrans(sounds.FOREIGN_LETTERS)
_OPEN_VOWEL = re.compile(f"(?<=[\u0915-\u0939\u093c])[{_APOSTROPHES}]")
_SOUND = re.compile("|".join(sorted(map(re.escape, sounds.SOUNDS), key=len, reverse=True)))
_VOWELS = frozenset("aAiIuUeEoO")
_FINAL_SCHWA = re.compile("(?<=[aAiIuUeEoO])(?P<cluster>[^aAiIuUeEoO]+)a$")
_NASAL_BEFORE_LABIAL = re.compile("[MN](?=[mpbBf])")
_CAPITALS = str.maketrans(
    {vowel: vowel.lower() for vowel in "AIUEO"}
    | {aspirate: aspirate.lower() + "h" for aspirate in "KGJTDBR"}
    | {"M": "n", "N": "n", "Q": "ng"}
)

Rules = tuple[tuple[re.Pattern[str], str], ...]


@cache
def _spellings(lang: str) -> Rules:
    return _compiled(sounds.SPELLINGS, lang)


@cache
def _merges(lang: str) -> tuple[re.Pattern[str], Rules]:
    """The merges of a language, behind a pattern that finds whether any of them has something to do."""
    rules = _compiled(sounds.MERGES, lang)
    return re.compile("|".join(f"(?:{pattern.pattern})" for pattern, _ in rules)), rules


def _compiled(rules: Iterable[sounds.Rule], lang: str) -> Rules:
    return tuple((re.compile(rule.pattern), rule.replacement) for rule in rules if lang in rule.languages)


@lru_cache(maxsize=1 << 14)
def fold(text: str, lang: str) -> str:
    """A text by its sounds.

    Words stay apart by single spaces; punctuation, apostrophes and joiners go; digits are ASCII. Folding a folded text
    changes nothing, and canonically equal texts fold to the same.

    Args:
        text: Any text in any script; not text that is ISO 15919 already, in which c is not an English c.
        lang: The language spoken, which decides what is silent and what is merged.

    Returns:
        Lower-case letters (ASCII, ʧ and ʃ, and letters of scripts from elsewhere), digits, spaces.

    Raises:
        TextError: unknown language.
    """
    base = language(lang).base
    words = _WORD.findall(unicodedata.normalize("NFC", text).casefold())
    return " ".join(folded for word in words if (folded := _fold_word(word, base)))


def phonetic_pair(reference: str, hypothesis: str, lang: str) -> tuple[str, str]:
    """The two strings whose character error rate is `pcer`.

    Spaces are taken out, since a judge that writes a foreign script breaks words where it likes. If one side is in
    Arabic letters and the other is not, only consonants are compared, single: the script doesn't write short vowels or
    doubling, so a perfect clip would be charged for them. A reference without consonants is compared whole.

    Args:
        reference: What was to be said.
        hypothesis: What was heard.
        lang: Language of the reference.

    Raises:
        TextError: unknown language.
    """
    said, heard = fold(reference, lang), fold(hypothesis, lang)
    if (dominant_script(reference) == "Arab") != (dominant_script(hypothesis) == "Arab") and _skeleton(said):
        said, heard = _skeleton(said), _skeleton(heard)
    return said.replace(" ", ""), heard.replace(" ", "")


def _skeleton(folded: str) -> str:
    """Consonants alone, each pair of equal ones in a word made one; a longer run, as in a loop, stays long."""
    return re.sub(r"(.)\1", r"\1", re.sub(sounds.SILENT_LETTERS, "", folded))


@lru_cache(maxsize=1 << 16)
def _fold_word(word: str, lang: str) -> str:
    """One word, NFC and case-folded."""
    if lang in sounds.OPEN_VOWEL_APOSTROPHE:
        word = _OPEN_VOWEL.sub("\u094b", word)
    folded = "".join(
        _plain(latin if written == latin else _sounds(latin, dominant_script(written), lang))
        for written, latin in segments(word, lang)
    )
    mergeable, merges = _merges(lang)
    while mergeable.search(folded):
        for pattern, replacement in merges:
            folded = pattern.sub(replacement, folded)
    return folded


def _plain(latin: str) -> str:
    """Latin letters without marks, apostrophes and joiners."""
    return str(_DROPPED.sub("", unicodedata.normalize("NFD", latin.translate(_FOREIGN))))


def _sounds(iso: str, script: str | None, lang: str) -> str:
    """A native word in ISO 15919, as it is said."""
    iso = unicodedata.normalize("NFC", iso)
    for pattern, replacement in _spellings(lang):
        iso = pattern.sub(replacement, iso)
    said = _plain(_SOUND.sub(lambda found: sounds.SOUNDS[found[0]], iso))
    if script in sounds.SCHWA_SCRIPTS:
        said = _without_silent_schwas(said, lang)
    if script == "Beng" and lang in sounds.INHERENT_O:
        said = said.replace("a", "o")
    if lang in sounds.VELAR_ANUSVARA:
        said = said.replace("M", "ng")
    said = _NASAL_BEFORE_LABIAL.sub("m", said)
    if said.endswith("M"):
        said = said[:-1] + sounds.FINAL_ANUSVARA.get(lang, "n")
    return said.translate(_CAPITALS)


def _without_silent_schwas(word: str, lang: str) -> str:
    """Drop the inherent vowels that are written and not said.

    At the end: after one consonant; after several too, unless the last is more sonorous than the one before it (mitra,
    surya). Inside, from the right: between vowel + consonant and consonant + vowel (namakīn → namkīn). A word keeps
    one vowel.

    Source: M. Ohala, Aspects of Hindi Phonology (1983), the rule of schwa deletion in its plain form, without the
    limits that morphemes set.
    """
    if lang in sounds.SCHWA_KEPT:
        return word
    final = _FINAL_SCHWA.search(word)
    if final and not _needs_vowel(final["cluster"], lang):
        word = word[:-1]
    if lang in sounds.SCHWA_KEPT_INSIDE:
        return word
    for at in range(len(word) - 3, 1, -1):
        left, right = word[at - 2 : at], word[at + 1 : at + 3]
        if word[at] == "a" and _is_open(left) and _is_open(right[::-1]) and right[0] not in "MN":
            word = word[:at] + word[at + 1 :]
    return word


def _is_open(pair: str) -> bool:
    """A vowel, then a consonant."""
    return pair[0] in _VOWELS and pair[1] not in _VOWELS


def _needs_vowel(cluster: str, lang: str) -> bool:
    """Whether the consonants at the end of a word can't be said without the a after them.

    A nasal sign belongs to the vowel before it (गाँव, चाँद), but an anusvara not where every cluster keeps its vowel
    (অংশ).
    """
    always = lang in sounds.SCHWA_KEPT_AFTER_CLUSTER
    cluster = cluster.lstrip("N" if always else "MN")
    if len(cluster) < 2:
        return False
    return always or sounds.SONORITY.get(cluster[-1], 0) > sounds.SONORITY.get(cluster[-2], 0)


def rules_table() -> str:
    """The rules in Markdown, as docs/transliteration.md shows them."""
    lines = ["| rule | becomes | languages | why | example |", "| --- | --- | --- | --- | --- |"]
    for rule in (*sounds.SPELLINGS, *sounds.MERGES):
        absent = sounds.ALL - rule.languages
        where = " ".join(sorted(rule.languages))
        if len(absent) < len(rule.languages):
            where = " ".join(["all but", *sorted(absent)]) if absent else "all"
        pattern = rule.pattern.replace("|", "\\|")
        lines.append(f"| `{pattern}` | {rule.replacement or '(nothing)'} | {where} | {rule.why} | {rule.example} |")
    return "\n".join(lines) + "\n"
