"""Pieces of an alignment: they rebuild both texts, mark what differs, and never tear a grapheme cluster."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.report.differences import Kind, differences
from kasauti.text.units import graphemes


def shown(reference: str, transcript: str) -> str:
    """Pieces in one line: `-deleted-`, `+inserted+`, `~said|heard~`."""
    forms = {
        Kind.SAME: "{0}",
        Kind.DELETED: "-{0}-",
        Kind.INSERTED: "+{1}+",
        Kind.SUBSTITUTED: "~{0}|{1}~",
    }
    return "".join(forms[piece.kind].format(piece.said, piece.heard) for piece in differences(reference, transcript))


@pytest.mark.parametrize(
    ("reference", "transcript", "expected"),
    [
        ("", "", ""),
        ("a b", "", "-a b-"),
        ("", "a b", "+a b+"),
        ("one two three", "one two three", "one two three"),
        ("one  two", " one two ", "one two"),
        ("one two three", "one three", "one- two- three"),
        ("one three", "one two three", "one+ two+ three"),
        ("two three", "one two three", "+one +two three"),
        ("one two", "two", "-one -two"),
        ("one two", "one two three", "one two+ three+"),
        ("the kettle", "the cattle", "the ~ke|ca~ttle"),
        ("to gether", "together", "to- -gether"),
        # Unlike words are marked whole; a chance match of letters is no help to a reader.
        ("sit down here", "sit plywood here", "sit ~down|plywood~ here"),
        # A vowel sign that went missing changes the whole cluster: षि is one letter to a reader.
        ("कृषि मंत्री", "कृष मंत्री", "कृ~षि|ष~ मंत्री"),
        # A conjunct is one cluster (UAX 29, rule GB9c): न्दी, not दी alone.
        ("हिन्दी", "हिदी", "हि~न्दी|दी~"),
        ("மழை நின்றதும்", "மழை நின்றது", "மழை நின்றது-ம்-"),
        ("بچوں کی ہنسی", "بچوں ہنسی", "بچوں- کی- ہنسی"),
    ],
)
def test_pieces(reference: str, transcript: str, expected: str) -> None:
    assert shown(reference, transcript) == expected


WORDS = st.lists(st.text(alphabet=st.sampled_from("abक्षिमनीதுர్స"), min_size=1, max_size=6), max_size=8).map(" ".join)
ANY_TEXT = st.text(max_size=40) | WORDS


@given(ANY_TEXT, ANY_TEXT)
def test_pieces_rebuild_both_texts(reference: str, transcript: str) -> None:
    pieces = differences(reference, transcript)
    assert "".join(piece.said for piece in pieces) == " ".join(reference.split())
    assert "".join(piece.heard for piece in pieces) == " ".join(transcript.split())


@given(ANY_TEXT, ANY_TEXT)
def test_neighbours_differ_in_kind(reference: str, transcript: str) -> None:
    pieces = differences(reference, transcript)
    assert all(piece.said or piece.heard for piece in pieces)
    assert all(a.kind is not b.kind for a, b in pairwise(pieces))


@given(ANY_TEXT)
def test_equal_texts_are_one_piece(text: str) -> None:
    assert [piece.kind for piece in differences(text, text)] == ([Kind.SAME] if text.split() else [])


@given(WORDS, WORDS)
def test_no_cluster_is_torn(reference: str, transcript: str) -> None:
    """Every cluster of every word of the reference lies whole in one piece."""
    cuts, at = set(), 0
    for piece in differences(reference, transcript):
        cuts.add(at)
        at += len(piece.said)
    start = 0
    for word in reference.split():
        for cluster in graphemes(word):
            assert not cuts & set(range(start + 1, start + len(cluster)))
            start += len(cluster)
        start += 1
