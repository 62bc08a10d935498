"""Long texts in pieces: nothing lost, none too long, cut at the best place there is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.systems.rumik.chunks import pieces
from kasauti.text.units import graphemes


@pytest.mark.parametrize(
    ("text", "limit", "wanted"),
    [
        ("One two. Three four. Five.", 20, ["One two. Three four.", "Five."]),
        ("One two. Three four. Five.", 19, ["One two.", "Three four. Five."]),
        ("पानी दो। खाना दो॥ अब जाओ।", 17, ["पानी दो। खाना दो॥", "अब जाओ।"]),
        ("کیا ہوا؟ کچھ نہیں۔ اچھا", 12, ["کیا ہوا؟", "کچھ نہیں۔", "اچھا"]),
        ('He said "go." Then left.', 15, ['He said "go."', "Then left."]),
        ("one, two, three four", 10, ["one, two,", "three four"]),
        ("at 3.14 metres each", 8, ["at 3.14", "metres", "each"]),
        ("abcdef", 4, ["abcd", "ef"]),
        ("short", 99, ["short"]),
        ("  ", 5, []),
    ],
)
def test_cuts(text: str, limit: int, wanted: list[str]) -> None:
    assert pieces(text, limit) == wanted


@given(st.text(), st.integers(1, 40))
def test_nothing_is_lost_and_no_cluster_is_cut(text: str, limit: int) -> None:
    found = pieces(text, limit)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(piece and piece == piece.strip() for piece in found)
    for piece in found:
        assert len(piece) <= limit or len(graphemes(piece)) == 1


@given(st.text(), st.integers(1, 40))
def test_a_text_that_fits_is_not_touched(text: str, limit: int) -> None:
    kept = text.strip()[:limit].strip()
    assert pieces(kept, limit) == ([kept] if kept else [])
