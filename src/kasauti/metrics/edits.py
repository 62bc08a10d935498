"""Edit counts: the least number of substitutions, deletions and insertions that turn a reference into a hypothesis.

Units may be anything hashable: code points, grapheme clusters, words. Counts first; rates are derived elsewhere. When
several alignments have the same least total, the split into kinds is one of them and only the total is meaningful
to compare between tools.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein


@dataclass(frozen=True)
class EditCounts:
    """What it takes to turn a reference into a hypothesis.

    Attributes:
        substitutions: Units of the reference that came out as another unit.
        deletions: Units of the reference that are missing.
        insertions: Units of the hypothesis that the reference has not.
        hits: Units that are right.
    """

    substitutions: int
    deletions: int
    insertions: int
    hits: int

    @property
    def edits(self) -> int:
        """All errors."""
        return self.substitutions + self.deletions + self.insertions

    @property
    def reference_length(self) -> int:
        """Units of the reference."""
        return self.hits + self.substitutions + self.deletions

    @property
    def hypothesis_length(self) -> int:
        """Units of the hypothesis."""
        return self.hits + self.substitutions + self.insertions


@dataclass(frozen=True)
class AlignedPair:
    """One place of an alignment: a unit of each side, None where one side has nothing."""

    reference: Hashable | None
    hypothesis: Hashable | None

    @property
    def kind(self) -> str:
        """`hit`, `substitution`, `deletion` or `insertion`."""
        if self.reference is None:
            return "insertion"
        if self.hypothesis is None:
            return "deletion"
        return "hit" if self.reference == self.hypothesis else "substitution"


def edit_distance(reference: Sequence[Hashable], hypothesis: Sequence[Hashable]) -> int:
    """The least number of edits, without their kinds."""
    return Levenshtein.distance(reference, hypothesis)


def edit_counts(reference: Sequence[Hashable], hypothesis: Sequence[Hashable]) -> EditCounts:
    """The least number of edits, by kind."""
    kinds = [operation.tag for operation in Levenshtein.editops(reference, hypothesis)]
    substitutions, deletions = kinds.count("replace"), kinds.count("delete")
    return EditCounts(
        substitutions=substitutions,
        deletions=deletions,
        insertions=kinds.count("insert"),
        hits=len(reference) - substitutions - deletions,
    )


def align(reference: Sequence[Hashable], hypothesis: Sequence[Hashable]) -> list[AlignedPair]:
    """A cheapest alignment, place by place, in the order of the texts."""
    pairs: list[AlignedPair] = []
    for block in Levenshtein.opcodes(reference, hypothesis):
        said = reference[block.src_start : block.src_end]
        heard = hypothesis[block.dest_start : block.dest_end]
        if block.tag == "delete":
            pairs += [AlignedPair(unit, None) for unit in said]
        elif block.tag == "insert":
            pairs += [AlignedPair(None, unit) for unit in heard]
        else:
            pairs += [AlignedPair(a, b) for a, b in zip(said, heard, strict=True)]
    return pairs
