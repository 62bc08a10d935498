"""Steps: the small pure functions that levels of normalisation are lists of.

Each takes a text and the rules of its language and returns a text. The rule for a character is found by (language of
the row, script of the character), so code-switched text, and a transcript in another script than its reference, are
each treated by the rules of the script they are in. No step of the levels up to `numbers` loses a vowel sign, a virama,
a nukta or any other mark. A few steps look at reference and transcript together and may change either.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import regex

from kasauti.errors import TextError, near_matches
from kasauti.text.codeswitch import respelled
from kasauti.text.data import letters as data
from kasauti.text.data import spelling
from kasauti.text.numbers import best_readings, expand_numbers
from kasauti.text.numbers.patterns import TRIGGER
from kasauti.text.phonetic import fold
from kasauti.text.rules import ZWJ, ZWNJ, Rules

Step = Callable[[str, Rules], str]
Clean = Callable[[str], str]
PairStep = Callable[[str, str, Rules, Clean], tuple[str, str]]
"""Reference, transcript, rules, and what the steps up to the next of this kind will do to each text."""


class _SoundlessTable(dict[int, str | int | None]):
    """For `str.translate`: control and format characters and variation selectors go; white space and joiners stay."""

    def __missing__(self, point: int) -> int | None:
        char = chr(point)
        formats = unicodedata.category(char) in ("Cc", "Cf") and not char.isspace() and char not in (ZWNJ, ZWJ)
        selects = 0xFE00 <= point <= 0xFE0F or 0xE0100 <= point <= 0xE01EF or point == 0x034F
        self[point] = kept = None if formats or selects else point
        return kept


class _PunctuationTable(dict[int, str | int | None]):
    """For `str.translate`: punctuation and symbols become a space."""

    def __missing__(self, point: int) -> int | str:
        char = chr(point)
        kept: int | str = point
        if char != "'" and char not in data.LETTERLIKE_SYMBOLS:
            kept = " " if unicodedata.category(char)[0] in "PS" else point
        self[point] = kept
        return kept


_old_numerals = {int(sign, 16): value for sign, value in data.OLD_NUMERALS.items()}
_soundless = _SoundlessTable()
_punctuation = _PunctuationTable()

_APOSTROPHE = "['\u2018\u2019\u201b\u02bc\u02b9\u0060\u00b4\uff07]"
_WORD = r"[\p{L}\p{M}\p{N}]"
_any_apostrophe = regex.compile(_APOSTROPHE)
_inner_apostrophe = regex.compile(rf"(?<={_WORD})({_APOSTROPHE})(?={_WORD})|{_APOSTROPHE}")
_inner_or_final_apostrophe = regex.compile(rf"(?<={_WORD})({_APOSTROPHE})(?!{_APOSTROPHE})|{_APOSTROPHE}")
_quotation = regex.compile(rf"(?<!{_WORD}){_APOSTROPHE}(?=\S)([^'\u2018\u2019\u02bc]*){_APOSTROPHE}(?!{_WORD})")

_accented = regex.compile("[\u00c0-\u024f\u0300-\u036f\u1e00-\u1eff]")
_accents = regex.compile(r"(?<=\p{Latin}\p{M}*)[\u0300-\u036f]")
_letters_apart = regex.compile(r"(?<!\S)[a-z](?: [a-z])+(?!\S)")
_colon_for_visarga = regex.compile(spelling.COLON_FOR_VISARGA)


def fold_white_space(text: str, _: Rules) -> str:
    """Runs of white space of any kind become one space; none at the ends."""
    return " ".join(text.split())


def drop_soundless(text: str, _: Rules) -> str:
    """Control and format characters (byte order mark, zero-width space, soft hyphen, direction marks) go."""
    return text.translate(_soundless)


def nfc(text: str, _: Rules) -> str:
    """Canonical composition. Letters excluded from composition come apart: क़ is two code points afterwards."""
    return unicodedata.normalize("NFC", text)


def drop_markup(text: str, rules: Rules) -> str:
    """What is written for the speech system and not to be spoken becomes a space."""
    return rules.markup.spoken(text)


def fold_case(text: str, _: Rules) -> str:
    """Capital letters become small."""
    return text.lower()


def fold_joiners(text: str, rules: Rules) -> str:
    """Letters spelled with a joiner become letters; of the other joiners only those that mean something stay."""
    if ZWNJ not in text and ZWJ not in text:
        return text

    def meant(match: regex.Match[str]) -> str:
        return rules.joiner_forms.get(match[0]) or match[1] or ""

    return str(rules.joiner.sub(meant, text))


def fold_letters(text: str, rules: Rules) -> str:
    """One encoding for each letter, beyond what NFC does. Ends in NFC; one fold may make room for another."""
    while True:
        folded = rules.sequence.sub(lambda m: rules.sequences[m[0]], text.translate(rules.letters))
        folded = unicodedata.normalize("NFC", folded)
        if folded == text:
            return text
        text = folded


def fold_apostrophes(text: str, rules: Rules) -> str:
    """Apostrophes inside a word (don't, ক’রে) become U+0027, all others a space.

    In Bodo, Dogri and Maithili an apostrophe also ends words and stays there unless it closes a quotation.
    """
    if not _any_apostrophe.search(text):
        return text
    inner = _inner_apostrophe
    if rules.word_final_apostrophe:
        text = _quotation.sub(r" \1 ", text)
        inner = _inner_or_final_apostrophe
    return str(inner.sub(lambda m: "'" if m[1] else " ", text))


def drop_punctuation(text: str, _: Rules) -> str:
    """Punctuation and symbols become a space, hyphens and dandas too; the apostrophes left by `apostrophes` stay."""
    return text.translate(_punctuation)


def drop_inner_signs(text: str, rules: Rules) -> str:
    """Joiners and apostrophes inside a word go; apostrophes stay in the languages that end words with them."""
    text = text.replace(ZWNJ, "").replace(ZWJ, "")
    return fold_letters(text if rules.word_final_apostrophe else text.replace("'", ""), rules)


def drop_accents(text: str, _: Rules) -> str:
    """Marks on Latin letters go: résumé is resume."""
    if not _accented.search(text):
        return text
    return unicodedata.normalize("NFC", _accents.sub("", unicodedata.normalize("NFD", text)))


def write_visarga(text: str, _: Rules) -> str:
    """A colon typed for the visarga inside a word becomes one; before punctuation goes."""
    return str(_colon_for_visarga.sub("\\1\u0903", text)) if ":" in text else text


def drop_nuktas(text: str, rules: Rules) -> str:
    """Nuktas of borrowed sounds, which print often leaves out, go: फ़ोन is फोन. Those that make other letters stay."""
    return rules.nukta.sub("", text) if rules.nukta else text


def fold_spelling(text: str, rules: Rules) -> str:
    """One spelling for words that print spells in two ways (हिन्दी, हिंदी) or cuts short; the list is `data.spelling`."""
    while True:
        folded = rules.spelling.sub(lambda m: rules.spelled[(m.lastindex or 0) - 1], text)
        folded = fold_letters(folded, rules)
        if folded == text:
            return text
        text = folded


def fold_sounds(text: str, rules: Rules) -> str:
    """Words by their sounds, in Latin letters, whatever script they are in (`phonetic.fold`)."""
    return fold(text, rules.base)


def write_old_numerals(text: str, _: Rules) -> str:
    """Tamil and Malayalam signs for 10, 100 and 1000 become figures."""
    return text.translate(_old_numerals)


def expand(text: str, rules: Rules) -> str:
    """Numbers become words, in the reading that is canonical; before punctuation goes, for a decimal point is some."""
    return expand_numbers(text, rules.lang, policy=rules.numbers)


def meet_in_a_reading(reference: str, hypothesis: str, rules: Rules, clean: Clean) -> tuple[str, str]:
    """Numbers become words, in the readings of both sides that are nearest to each other.

    With nothing on one side the canonical readings are taken: the nearest would be the shortest.
    """
    if not (TRIGGER.search(reference) or TRIGGER.search(hypothesis)):
        return reference, hypothesis
    if not (clean(reference) and clean(hypothesis)):
        return expand(reference, rules), expand(hypothesis, rules)
    return best_readings(reference, hypothesis, rules.lang, policy=rules.numbers, clean=clean)


def meet_short_forms(reference: str, hypothesis: str, _: Rules, __: Clean) -> tuple[str, str]:
    """Latin abbreviations (Dr., doctor) and initials (U.S.A., USA) of the transcript are put as the reference has them.

    When the points are gone, the letters of initials are words.
    """
    words, runs = set(reference.split()), _letters_apart.findall(reference)

    def together(run: regex.Match[str]) -> str:
        if run[0] in runs:
            return run[0]
        letters = run[0].replace(" ", "")
        # The word may be an end of the run: in "a u s a" an article stands before it.
        at = next((at for at in range(len(letters) - 1) if letters[at:] in words), None)
        return run[0] if at is None else " ".join((*letters[:at], letters[at:]))

    hypothesis = _letters_apart.sub(together, hypothesis)
    ends = [letters[at:] for run in runs for letters in [run.replace(" ", "")] for at in range(len(letters) - 1)]
    forms = {letters: " ".join(letters) for letters in ends}
    forms |= {long: short for short, long in spelling.LATIN_SHORT.items() if short in words}
    forms |= {short: long for short, long in spelling.LATIN_SHORT.items() if long in words}
    return reference, " ".join(word if word in words else forms.get(word, word) for word in hypothesis.split())


def meet_other_script(reference: str, hypothesis: str, rules: Rules, _: Clean) -> tuple[str, str]:
    """A heard word that is the word in its place of the reference in another script is spelled as there."""
    return reference, respelled(reference, hypothesis, rules.base)


STEPS: dict[str, Step] = {
    "white_space": fold_white_space,
    "visarga": write_visarga,
    "soundless": drop_soundless,
    "nfc": nfc,
    "markup": drop_markup,
    "old_numerals": write_old_numerals,
    "numbers": expand,
    "case": fold_case,
    "joiners": fold_joiners,
    "letters": fold_letters,
    "apostrophes": fold_apostrophes,
    "punctuation": drop_punctuation,
    "inner_signs": drop_inner_signs,
    "accents": drop_accents,
    "nukta": drop_nuktas,
    "spelling": fold_spelling,
    "sounds": fold_sounds,
}
"""Every step that looks at one text, by the name that a ladder calls it."""

PAIR_STEPS: dict[str, PairStep] = {
    "numbers": meet_in_a_reading,
    "short_forms": meet_short_forms,
    "other_script": meet_other_script,
}
"""Every step that looks at reference and transcript together. To a text alone it does nothing, or what `STEPS` has."""


def check_step(name: str) -> None:
    """Raises `TextError` with near matches when there is no step of that name."""
    if name not in STEPS and name not in PAIR_STEPS:
        raise TextError(f"unknown step of normalisation {name!r}; {near_matches(name, (*STEPS, *PAIR_STEPS))}")
