"""Readings of a text, and the reading nearest to a transcript.

Both sides of a comparison go through here: figures in the reference become the set of all their readings, figures in
the transcript do too, and of all pairs the one with the fewest character edits is taken. So a judge who wrote 50 where
पचास was to be read, and a voice that said दो शून्य चार for room 204, are both right. Words that were written as words on
both sides are left as they are: two spellings of a word are a matter for a looser level, not for numbers.

A transcript in another script shares no letters with the reference, and the fewest character edits would choose among
its readings by their lengths. There the nearest by sound is taken, where the pairs are few enough to compare them all.

Expand before punctuation is taken away: a decimal point and a minus are punctuation too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import product
from unicodedata import category

from rapidfuzz.distance import Levenshtein

from kasauti.text.languages import resolve_language
from kasauti.text.numbers.lattice import Lattice, Segment, literal, mapped
from kasauti.text.numbers.patterns import TRIGGER
from kasauti.text.numbers.policy import DEFAULT_POLICY, NumberPolicy
from kasauti.text.numbers.search import nearest_string
from kasauti.text.numbers.tokens import Token, tokens
from kasauti.text.phonetic import phonetic_pair
from kasauti.text.scripts import script_verdict

Clean = Callable[[str], str]
"""What is done to text and words before they are compared; must not join what a letter keeps apart."""

_STAND_INS = "\ua66e\ua610\ua60b"
"""Letters of no language of India: the first that a text does not hold stands for a number while it is cleaned."""


_LARGEST_SEARCH = 100_000
"""Edges of the reference's graph times edges of the transcript's; about a second at the most."""

_FEW_BY_SOUND = 1 << 10
"""Up to so many pairs of strings are compared by sound, each pair for itself; most take some milliseconds."""

_HYPHENS = ("-", "‐")


def fold_white_space(text: str) -> str:
    """Words joined by single blanks; the cleaning of a text that is otherwise left as it is."""
    return " ".join(text.split())


def expand_numbers(text: str, lang: str, *, policy: NumberPolicy = DEFAULT_POLICY) -> str:
    """Text with its numbers in words, in the canonical reading.

    Args:
        text: Any text; figures of any script.
        lang: Language that is spoken, by any of its names.
        policy: Which reading is canonical.

    Returns:
        The text with white space folded. Nothing else changes in a text without figures, `%` and `₹`; blank text gives
        the empty string. Expanding again changes nothing.

    Raises:
        TextError: unknown language.

    Example:
        >>> expand_numbers("कमरा नंबर 204", "hi")
        'कमरा नंबर दो सौ चार'
    """
    return readings(text, lang, policy=policy).canonical


def readings(
    text: str, lang: str, *, policy: NumberPolicy = DEFAULT_POLICY, clean: Clean = fold_white_space
) -> Lattice:
    """All accepted readings of a text.

    Args:
        text: Any text.
        lang: Language that is spoken, by any of its names.
        policy: Which reading is canonical, and whether there are others.
        clean: What is done to the words before they are compared, e.g. taking punctuation away. It sees the text once,
            with a letter in the place of every number, and every word of a reading by itself. Lattices are kept by
            text and function: pass the same function object every time.

    Raises:
        TextError: unknown language.
    """
    return _readings(text, resolve_language(lang), policy, clean)


def best_readings(
    reference: str,
    hypothesis: str,
    lang: str,
    *,
    policy: NumberPolicy = DEFAULT_POLICY,
    clean: Clean = fold_white_space,
) -> tuple[str, str]:
    """The readings of two texts that are nearest to each other.

    Nearest is by character edits; where the hypothesis is in another script (`script_verdict`) and the pairs of strings
    are no more than `_FEW_BY_SOUND`, by edits between the two folded by sound (`phonetic_pair`).

    Args:
        reference: What was to be said.
        hypothesis: What was heard.
        lang: Language of both, by any of its names.
        policy: Which readings count as right.
        clean: See `readings`.

    Returns:
        A reading of each; the canonical ones where nothing is nearer. A hypothesis with so many numbers that the two
        graphs together pass `_LARGEST_SEARCH` (a transcript that loops) is read canonically.

    Raises:
        TextError: unknown language.
    """
    said = readings(reference, lang, policy=policy, clean=clean)
    heard = readings(hypothesis, lang, policy=policy, clean=clean)
    if 1 < said.count * heard.count <= _FEW_BY_SOUND and script_verdict(reference, hypothesis, lang) == "wrong_script":
        return _nearest_by_sound(said, heard, lang)
    if len(said.edges) * len(heard.edges) > _LARGEST_SEARCH:
        heard = heard.only_canonical()
    nearest = nearest_string(said, heard)
    return nearest, nearest_string(heard, _single(nearest))


def _nearest_by_sound(said: Lattice, heard: Lattice, lang: str) -> tuple[str, str]:
    """The strings of two lattices that sound most alike; of several pairs the one whose choices come first."""
    pairs = product(said.strings(), heard.strings())
    return min(pairs, key=lambda pair: Levenshtein.distance(*phonetic_pair(pair[0], pair[1], lang)))


def best_reading(reference: str, hypothesis: str, lang: str) -> str:
    """The reading of the reference with the fewest character edits to any reading of the hypothesis.

    Example:
        >>> best_reading("कमरा नंबर 204", "कमरा नंबर दो शून्य चार", "hi")
        'कमरा नंबर दो शून्य चार'
    """
    return best_readings(reference, hypothesis, lang)[0]


@lru_cache(maxsize=4096)
def _readings(text: str, lang: str, policy: NumberPolicy, clean: Clean) -> Lattice:
    if not TRIGGER.search(text):
        return _single(clean(text))
    found = list(tokens(text, lang, policy))
    stand_in = next(letter for letter in _STAND_INS if letter not in text)
    pieces = clean(_with_stand_ins(text, found, stand_in)).split(stand_in)
    segments: list[Segment] = []
    for i, piece in enumerate(pieces):
        joined = not piece[:1].isspace()
        if piece.strip():
            segments.append(Segment(literal(piece.strip()), joined=joined))
            joined = not piece[-1:].isspace()
        if i < len(found):
            first, *others = (mapped(part, clean) for part in found[i].parts)
            segments += [Segment(first, joined=joined)] if first else []
            segments += [Segment(part) for part in others if part]
    lattice = Lattice(tuple(segments))
    return lattice if policy.alternatives else lattice.only_canonical()


def _single(text: str) -> Lattice:
    """The lattice of one string."""
    return Lattice((Segment(literal(text)),) if text else ())


def _with_stand_ins(text: str, found: list[Token], stand_in: str) -> str:
    """Text with a letter for every number, apart from the letters beside it; a hyphen between the two goes."""
    parts: list[str] = []
    end = 0
    for token in found:
        before = text[end : token.start]
        if before[-1:] in _HYPHENS and _is_letter(before[-2:-1]):
            before = before[:-1] + " "
        parts += [before, " " if not before or _is_letter(before[-1]) else "", stand_in]
        end = token.end
        if text[end : end + 1] in _HYPHENS and _is_letter(text[end + 1 : end + 2]):
            end += 1
        if _is_letter(text[end : end + 1]):
            parts.append(" ")
    return "".join((*parts, text[end:]))


def _is_letter(char: str) -> bool:
    """Whether a character is a letter, a mark of one, or a figure."""
    return category(char)[0] in "LMN" if char else False
