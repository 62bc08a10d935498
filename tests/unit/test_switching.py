"""Errors of code-switched text by script and place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.metrics.score import score_pair
from kasauti.metrics.switching import HeardCounts, switch_counts

REFERENCE = "मेरा phone चार्ज करो"


@pytest.mark.parametrize(
    ("hypothesis", "by_script", "word_edits", "switch_edits"),
    [
        (REFERENCE, {"Deva": HeardCounts(right=3), "Latn": HeardCounts(right=1)}, 0, 0),
        ("मेरा फ़ोन चार्ज करो", {"Deva": HeardCounts(right=3), "Latn": HeardCounts(other_script=1)}, 1, 1),
        ("मेरा पानी चार्ज करो", {"Deva": HeardCounts(right=3), "Latn": HeardCounts(wrong=1)}, 1, 1),
        ("मेरा चार्ज करो", {"Deva": HeardCounts(right=3), "Latn": HeardCounts(missing=1)}, 1, 1),
        ("मेरा phone चार्ज", {"Deva": HeardCounts(right=2, missing=1), "Latn": HeardCounts(right=1)}, 1, 0),
        ("तेरा phone चार्ज करो", {"Deva": HeardCounts(right=2, wrong=1), "Latn": HeardCounts(right=1)}, 1, 1),
        ("मेरा तो phone चार्ज करो", {"Deva": HeardCounts(right=3), "Latn": HeardCounts(right=1)}, 1, 1),
        ("मेरा phone चार्ज तो करो", {"Deva": HeardCounts(right=3), "Latn": HeardCounts(right=1)}, 1, 0),
        ("", {"Deva": HeardCounts(missing=3), "Latn": HeardCounts(missing=1)}, 4, 3),
    ],
)
def test_counts_worked_by_hand(hypothesis, by_script, word_edits, switch_edits):
    counts = switch_counts(REFERENCE, hypothesis, "hi")
    assert counts.by_script == by_script
    assert (counts.word_edits, counts.switch_words, counts.switch_edits) == (word_edits, 3, switch_edits)
    assert counts.switch_share == (switch_edits / word_edits if word_edits else None)


def test_lenient_counts_the_same_word_in_another_script_as_right():
    counts = switch_counts(REFERENCE, "मेरा फ़ोन चार्ज करो", "hi", "lenient")
    assert counts.by_script["Latn"] == HeardCounts(right=1)
    assert counts.switch_share is None


def test_text_in_one_script_has_no_switch_point():
    counts = switch_counts("राम घर गया", "राम वन", "hi")
    assert (counts.word_edits, counts.switch_words, counts.switch_edits) == (2, 0, 0)
    assert counts.switch_share == 0.0


def test_words_without_letters_are_passed_over():
    counts = switch_counts("कमरा 204 booked है", "कमरा 204 है", "hi", "strict")
    assert counts.by_script[None] == HeardCounts(right=1)
    assert (counts.switch_words, counts.switch_edits) == (3, 1)


words = st.lists(st.sampled_from(["राम", "घर", "phone", "book", "12", "फोन"]), max_size=7).map(" ".join)


@given(words, words)
def test_counts_add_up(reference, hypothesis):
    counts = switch_counts(reference, hypothesis, "hi", "strict")
    score = score_pair(reference, hypothesis, "hi", "strict")
    assert counts.word_edits == score.word_edits
    assert sum(heard.n for heard in counts.by_script.values()) == score.ref_words
    assert 0 <= counts.switch_edits <= counts.word_edits
