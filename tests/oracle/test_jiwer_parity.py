"""jiwer as an outside oracle: equal edits, lengths and rates on normalised text in nine scripts."""

import jiwer
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.metrics.score import score_pair
from kasauti.text.levels import normalize
from text_cases import written_in

pytestmark = pytest.mark.oracle

SCRIPTS = {
    "Deva": "hi",
    "Beng": "bn",
    "Guru": "pa",
    "Gujr": "gu",
    "Taml": "ta",
    "Telu": "te",
    "Mlym": "ml",
    "Arab": "ur",
    "Olck": "sat",
}


def edited(text):
    """A text and a version of it with some characters left out, doubled or moved."""
    return st.tuples(
        st.just(text),
        st.lists(st.integers(0, max(0, len(text) - 1)), max_size=len(text)).map(lambda at: pick(text, at)),
    )


def pick(text, at):
    return "".join(text[i] for i in at if i < len(text))


@pytest.mark.parametrize("script", SCRIPTS)
@given(st.data())
def test_equal_edits(script, data):
    lang = SCRIPTS[script]
    reference, hypothesis = data.draw(
        st.one_of(written_in(script).flatmap(edited), st.tuples(*[written_in(script)] * 2))
    )
    score = score_pair(reference, hypothesis, lang, "strict")
    said, heard = normalize(reference, lang), normalize(hypothesis, lang)
    by_word, by_char = jiwer.process_words(said, heard), jiwer.process_characters(said, heard)
    for theirs, edits, length, rate in (
        (by_word, score.word_edits, score.ref_words, score.wer),
        (by_char, score.char_edits, score.ref_chars, score.cer),
    ):
        assert edits == theirs.substitutions + theirs.deletions + theirs.insertions
        assert length == theirs.hits + theirs.substitutions + theirs.deletions
        assert rate == pytest.approx(getattr(theirs, "wer" if theirs is by_word else "cer"))
