"""Where a transcript differs from what was to be said, in pieces that can be shown.

Words are aligned first, then the grapheme clusters inside the words that differ, so that a mark never tears a conjunct
or a vowel sign from its letter. Both texts should be normalised at the level they were scored at: what is marked is
then what was counted. For counts use `kasauti.metrics`; a reader's alignment may hold more edits than the shortest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rapidfuzz.distance import Levenshtein

from kasauti.text.units import graphemes, words

_ALIKE = 0.4
"""Stretches less alike than this are marked as a whole: a match of single letters between other words is chance."""


class Kind(StrEnum):
    """What happened to a piece."""

    SAME = "same"
    DELETED = "deleted"
    INSERTED = "inserted"
    SUBSTITUTED = "substituted"


@dataclass(frozen=True)
class Piece:
    """A stretch of the alignment. `said` of all pieces in a row is the reference, `heard` the transcript."""

    said: str
    heard: str

    @property
    def kind(self) -> Kind:
        if self.said == self.heard:
            return Kind.SAME
        if not self.heard:
            return Kind.DELETED
        return Kind.SUBSTITUTED if self.said else Kind.INSERTED


def differences(reference: str, transcript: str) -> list[Piece]:
    """Aligns two texts.

    Args:
        reference: What was to be said; white space is folded to single spaces.
        transcript: What was heard, likewise.

    Returns:
        Pieces in reading order, neighbours of different kind; empty for two empty texts.
    """
    said, heard = words(reference), words(transcript)
    pieces: list[Piece] = []
    for same, block_said, block_heard in _blocks(said, heard):
        text_said, text_heard = " ".join(block_said), " ".join(block_heard)
        # A space stands before a word on a side that has begun already; where only one side has it, it is an edit.
        space_said = " " if text_said and any(piece.said for piece in pieces) else ""
        space_heard = " " if text_heard and any(piece.heard for piece in pieces) else ""
        pieces.append(Piece(space_said, space_heard))
        pieces += [Piece(text_said, text_heard)] if same else _inside(text_said, text_heard)
    return _joined(pieces)


def _blocks(said: Sequence[str], heard: Sequence[str]) -> list[tuple[bool, list[str], list[str]]]:
    """Runs of equal words and the runs of differing words between them."""
    blocks: list[tuple[bool, list[str], list[str]]] = []
    for step in Levenshtein.opcodes(said, heard):
        same = step.tag == "equal"
        if not blocks or blocks[-1][0] or same:
            blocks.append((same, [], []))
        blocks[-1][1].extend(said[step.src_start : step.src_end])
        blocks[-1][2].extend(heard[step.dest_start : step.dest_end])
    return blocks


def _inside(said: str, heard: str) -> list[Piece]:
    """Aligns the clusters of two stretches of words."""
    a, b = graphemes(said), graphemes(heard)
    if Levenshtein.normalized_similarity(a, b) < _ALIKE:
        return [Piece(said, heard)]
    return [
        Piece("".join(a[step.src_start : step.src_end]), "".join(b[step.dest_start : step.dest_end]))
        for step in Levenshtein.opcodes(a, b)
    ]


def _joined(pieces: Sequence[Piece]) -> list[Piece]:
    """Neighbours of one kind become one piece, empty ones go."""
    joined: list[Piece] = []
    for piece in pieces:
        if not piece.said and not piece.heard:
            continue
        if joined and joined[-1].kind is piece.kind:
            piece = Piece(joined[-1].said + piece.said, joined[-1].heard + piece.heard)
            joined.pop()
        joined.append(piece)
    return joined
