"""Scores of one pair and of many: counts per unit, and the rates that follow from them.

A rate is edits / max(1, reference length). With an empty reference and an empty hypothesis that is 0.0; with an empty
reference every unit heard is an insertion and the rate is their number (two words heard where none was to be said:
2.0), as jiwer 4 has it. Nothing is capped. A pooled rate divides all edits by all reference units and needs no rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache

from kasauti.errors import TextError
from kasauti.metrics.edits import edit_distance
from kasauti.text.levels import DEFAULT_LADDER, Ladder, normalize
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
    """

    char_edits: int
    ref_chars: int
    nospace_edits: int
    ref_nospace: int
    grapheme_edits: int
    ref_graphemes: int
    word_edits: int
    ref_words: int

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


_COUNTS = tuple(f.name for f in fields(Counts))


def score_pair(
    reference: str, hypothesis: str, lang: str, level: str = "strict", *, ladder: Ladder = DEFAULT_LADDER
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
    said = normalize(reference, lang, level, ladder=ladder)
    heard = normalize(hypothesis, lang, level, ladder=ladder)
    status = script_verdict(ladder.markup.spoken(reference), ladder.markup.spoken(hypothesis), lang)
    return PairScore(**vars(_counted(said, heard)), status=status)


@lru_cache(maxsize=8192)
def _counted(said: str, heard: str) -> Counts:
    """The counts of two normalised texts. Most texts are the same at several levels."""
    counts: list[int] = []
    for split in (code_points, code_points_without_spaces, graphemes, words):
        reference = _split_reference(said, split)
        edits = 0 if said == heard else edit_distance(reference, split(heard))
        counts += edits, len(reference)
    return Counts(*counts)


@lru_cache(maxsize=4096)
def _split_reference(said: str, split: Callable[[str], Sequence[str]]) -> Sequence[str]:
    """A reference in one unit; it comes again for every system and judge."""
    return split(said)


def pool(scores: Iterable[Counts]) -> Pooled:
    """Adds counts up, so that every reference unit weighs the same (corpus rates).

    Raises:
        TextError: there is nothing to add up; no rows is no number, and 0.0 would read as perfect.
    """
    rows = list(scores)
    if not rows:
        raise TextError("no scores to pool: got an empty list, wanted at least one; report the cell as missing")
    return Pooled(n=len(rows), **{name: sum(getattr(row, name) for row in rows) for name in _COUNTS})
