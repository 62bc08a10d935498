"""Edit counts against hand-worked values and a plain dynamic programme."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.metrics.edits import EditCounts, align, edit_counts, edit_distance


@pytest.mark.parametrize(
    ("reference", "hypothesis", "counts"),
    [
        ("", "", EditCounts(0, 0, 0, 0)),
        ("", "ab", EditCounts(0, 0, 2, 0)),
        ("ab", "", EditCounts(0, 2, 0, 0)),
        ("abc", "abc", EditCounts(0, 0, 0, 3)),
        ("abc", "axc", EditCounts(1, 0, 0, 2)),
        ("abc", "ac", EditCounts(0, 1, 0, 2)),
        ("ac", "abc", EditCounts(0, 0, 1, 2)),
        ("ab", "ba", EditCounts(0, 1, 1, 1)),
    ],
)
def test_counts_worked_by_hand(reference, hypothesis, counts):
    got = edit_counts(reference, hypothesis)
    assert got.edits == counts.edits
    assert got.reference_length == len(reference)
    assert got.hypothesis_length == len(hypothesis)
    if reference != "ab" or hypothesis != "ba":  # several cheapest alignments: only the total is fixed
        assert got == counts


def least_edits(a, b):
    """Wagner and Fischer's table, one row at a time."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        corner, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (x != y))
    return row[-1]


@pytest.mark.oracle
def test_equals_a_plain_dynamic_programme_on_10000_random_strings():
    draw = random.Random(20261201)
    alphabet = "कखगािी् ab"
    for _ in range(10_000):
        a, b = ("".join(draw.choices(alphabet, k=draw.randint(0, 14))) for _ in range(2))
        assert edit_distance(a, b) == edit_counts(a, b).edits == least_edits(a, b), (a, b)


short_words = st.lists(st.sampled_from(["राम", "घर", "गया", "है"]), max_size=8)


@given(short_words, short_words)
def test_alignment_spells_both_sides_and_has_as_many_errors_as_counted(reference, hypothesis):
    pairs = align(reference, hypothesis)
    assert [p.reference for p in pairs if p.reference is not None] == reference
    assert [p.hypothesis for p in pairs if p.hypothesis is not None] == hypothesis
    kinds = [p.kind for p in pairs]
    counts = edit_counts(reference, hypothesis)
    assert len(kinds) - kinds.count("hit") == counts.edits == edit_distance(reference, hypothesis)
    assert kinds.count("hit") == counts.hits
