"""Scores of one pair and of many: counts per unit, and the rates that follow from them.

A rate is edits / max(1, reference length). With an empty reference and an empty hypothesis that is 0.0; with an empty
reference every unit heard is an insertion and the rate is their number (two words heard where none was to be said:
2.0), as jiwer 4 has it. Nothing is capped. A pooled rate divides all edits by all reference units and needs no rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from kasauti.errors import TextError
from kasauti.metrics.edits import edit_distance
from kasauti.text.levels import DEFAULT_LADDER, Ladder, normalize_pair
from kasauti.text.phonetic import phonetic_pair
from kasauti.text.scripts import ScriptVerdict, script_verdict
from kasauti.text.units import code_points, code_points_without_spaces, graphemes, words


@dataclass(frozen=True)
class Counts:
    """Edits and reference lengths in every unit.

    Attributes:
        char_edits: Edits in code points, words joined by single spaces, spaces counted.
        ref_chars: Reference length in the same unit.
        nospace_edits: Edits in code points with spaces taken out.
        ref_nospace: Reference length in the same unit.
        grapheme_edits: Edits in extended grapheme clusters, spaces counted.
        ref_graphemes: Reference length in the same unit.
        word_edits: Edits in words.
        ref_words: Reference length in words.
        phonetic_edits: Edits in code points of the two texts folded by sound, spaces out (`phonetic.phonetic_pair`).
            The same at every level: the texts folded are those of `PCER_LEVEL`.
        ref_phonetic: Length of the folded reference.
    """

    char_edits: int
    ref_chars: int
    nospace_edits: int
    ref_nospace: int
    grapheme_edits: int
    ref_graphemes: int
    word_edits: int
    ref_words: int
    phonetic_edits: int
    ref_phonetic: int

    @property
    def cer(self) -> float:
        """Character error rate, spaces counted."""
        return self.char_edits / max(1, self.ref_chars)

    @property
    def cer_nospace(self) -> float:
        """Character error rate without spaces."""
        return self.nospace_edits / max(1, self.ref_nospace)

    @property
    def gcer(self) -> float:
        """Grapheme cluster error rate."""
        return self.grapheme_edits / max(1, self.ref_graphemes)

    @property
    def wer(self) -> float:
        """Word error rate."""
        return self.word_edits / max(1, self.ref_words)

    @property
    def pcer(self) -> float:
        """Phonetic character error rate: how far apart the sounds are, whatever script each side is in."""
        return self.phonetic_edits / max(1, self.ref_phonetic)


@dataclass(frozen=True)
class PairScore(Counts):
    """Counts of one pair.

    Attributes:
        status: `ok`, or `wrong_script` when the hypothesis is mainly in a script that the reference is not in: the
            counts are what they are, but `cer`, `gcer` and `wer` say nothing about the sound then.
    """

    status: ScriptVerdict


@dataclass(frozen=True)
class Pooled(Counts):
    """Sums of the counts of many pairs; the rates are corpus rates.

    Attributes:
        n: How many pairs.
    """

    n: int


Split = Callable[[str], Sequence[str]]

PCER_LEVEL = "numbers"
"""Level of the texts that are folded by sound. A looser one would forgive in one script what it does not in another."""

COUNTS = tuple(f.name for f in fields(Counts))

RATES = ("cer", "cer_nospace", "gcer", "wer", "pcer")


def score_pair(
    reference: str, hypothesis: str, lang: str, level: str = "numbers", *, ladder: Ladder = DEFAULT_LADDER
) -> PairScore:
    """Compares a transcript with what was to be said.

    Args:
        reference: The text of the prompt.
        hypothesis: The transcript, as the judge gave it.
        lang: Language of the prompt, by any of its names.
        level: Level of normalisation of both sides.
        ladder: The levels and their steps.

    Returns:
        Counts in every unit; an empty hypothesis is all deletions, an empty reference all insertions.

    Raises:
        TextError: unknown language or level.
    """
    said, heard = normalize_pair(reference, hypothesis, lang, level, ladder=ladder)
    status = script_verdict(ladder.markup.spoken(reference), ladder.markup.spoken(hypothesis), lang)
    folded = normalize_pair(reference, hypothesis, lang, PCER_LEVEL, ladder=ladder)
    return PairScore(*_counted(said, heard), *_counted_by_sound(*folded, lang), status)


@lru_cache(maxsize=8192)
def _counted(said: str, heard: str) -> tuple[int, int, int, int, int, int, int, int]:
    """The counts of two normalised texts, in the order of `Counts`. Most texts are the same at several levels."""
    characters, nospace, clusters, in_words = (
        _edits_and_length(said, heard, split) for split in (code_points, code_points_without_spaces, graphemes, words)
    )
    return *characters, *nospace, *clusters, *in_words


def _edits_and_length(said: str, heard: str, split: Split) -> tuple[int, int]:
    reference = _split_reference(said, split)
    return 0 if said == heard else edit_distance(reference, split(heard)), len(reference)


@lru_cache(maxsize=8192)
def _counted_by_sound(said: str, heard: str, lang: str) -> tuple[int, int]:
    """Edits and reference length of two texts folded by sound."""
    said, heard = phonetic_pair(said, heard, lang)
    return edit_distance(said, heard), len(said)


@lru_cache(maxsize=4096)
def _split_reference(said: str, split: Split) -> Sequence[str]:
    """A reference in one unit; it comes again for every system and judge."""
    return split(said)


def row_values(score: Counts) -> dict[str, Any]:
    """Counts and rates by name, as they stand in a row of a table."""
    return {name: getattr(score, name) for name in (*COUNTS, *RATES)}


def pool(scores: Iterable[Counts]) -> Pooled:
    """Adds counts up, so that every reference unit weighs the same (corpus rates).

    Raises:
        TextError: there is nothing to add up; no rows is no number, and 0.0 would read as perfect.
    """
    rows = list(scores)
    if not rows:
        raise TextError("no scores to pool: got an empty list, wanted at least one; report the cell as missing")
    return Pooled(n=len(rows), **{name: sum(getattr(row, name) for row in rows) for name in COUNTS})
