"""Alignment by code points shown in whole grapheme clusters.

Edits are counted in code points (`cer`), but half a cluster can't be read. So the cheapest alignment by code points is
cut only where both texts have a cluster boundary: the pieces hold whole clusters, and their edits add up to the count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from kasauti.metrics.edits import align
from kasauti.text.units import graphemes


@dataclass(frozen=True)
class ClusterPiece:
    """A stretch of both texts in whole clusters; `said` is `heard` exactly when `edits` is 0."""

    said: str
    heard: str
    edits: int


def cluster_pieces(said: str, heard: str) -> list[ClusterPiece]:
    """Cuts an alignment into pieces.

    Args:
        said: The reference, normalised.
        heard: The transcript, normalised.

    Returns:
        Pieces in the order of the texts, as short as they can be, except that neighbours without edits are one. Their
        edits add up to the edit distance in code points.
    """
    pieces: list[ClusterPiece] = []
    for piece in _shortest(said, heard):
        if pieces and not pieces[-1].edits and not piece.edits:
            piece = ClusterPiece(pieces[-1].said + piece.said, pieces.pop().heard + piece.heard, 0)
        pieces.append(piece)
    return pieces


def _shortest(said: str, heard: str) -> Iterator[ClusterPiece]:
    cuts_said, cuts_heard = (set(accumulate(map(len, graphemes(text)))) | {0} for text in (said, heard))
    start_said = start_heard = at_said = at_heard = edits = 0
    for pair in align(said, heard):
        at_said += pair.reference is not None
        at_heard += pair.hypothesis is not None
        edits += pair.kind != "hit"
        if at_said in cuts_said and at_heard in cuts_heard:
            yield ClusterPiece(said[start_said:at_said], heard[start_heard:at_heard], edits)
            start_said, start_heard, edits = at_said, at_heard, 0
