"""Scores of pairs and pools."""

from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kasauti.errors import TextError
from kasauti.metrics.edits import edit_counts, edit_distance
from kasauti.metrics.score import pool, score_pair
from kasauti.text.languages import LANGUAGES
from kasauti.text.levels import DEFAULT_STEPS, Ladder, normalize, normalize_pair
from kasauti.text.numbers import NumberPolicy, readings
from kasauti.text.phonetic import phonetic_pair
from kasauti.text.units import words
from text_cases import read_cases, written_in


def rows(*ops):
    return pytest.mark.parametrize("row", read_cases("metrics.jsonl", *ops), ids=lambda row: row["id"])


@rows("counts")
def test_case_counts(row):
    expected = row["expected"]
    score = score_pair(row["ref"], row["hyp"], row["lang"], "strict")
    for count in ("word_edits", "ref_words", "char_edits"):
        if count in expected:
            assert getattr(score, count) == expected[count]
    if "ref_chars" in expected:
        assert score.ref_chars == expected["ref_chars"]
    if "word_insertions" in expected:
        said, heard = (words(normalize(row[side], row["lang"])) for side in ("ref", "hyp"))
        assert edit_counts(said, heard).insertions == expected["word_insertions"]
    # Rates as in jiwer 4: nothing said and nothing heard is no error; what is heard instead of nothing counts as it is.
    assert score.wer == score.word_edits
    assert score.status == "ok"


@rows("pooled_wer")
def test_case_pooled(row):
    pooled = pool(score_pair(ref, hyp, row["lang"], "strict") for ref, hyp in row["rows"])
    assert (pooled.word_edits, pooled.ref_words) == (row["expected"]["edits"], row["expected"]["ref_words"])
    assert pooled.wer == pytest.approx(row["expected"]["rate"])
    assert pooled.n == len(row["rows"])


@rows("cer_gcer")
def test_case_graphemes(row):
    expected = row["expected"]
    score = score_pair(row["ref"], row["hyp"], row["lang"], "strict")
    assert (score.char_edits, score.ref_chars) == (expected["char_edits"], expected["ref_chars"])
    assert (score.grapheme_edits, score.ref_graphemes) == (expected["g_edits_15_1"], expected["ref_graphemes_15_1"])
    assert score.cer == pytest.approx(expected["cer"], abs=1e-6)
    assert score.gcer == pytest.approx(expected["gcer_15_1"], abs=1e-6)


@rows("cer")
def test_case_spaces(row):
    expected = row["expected"]
    score = score_pair(row["ref"], row["hyp"], row["lang"], "strict")
    with_spaces, without = expected["with_spaces"], expected["without_spaces"]
    assert (score.char_edits, score.ref_chars) == (with_spaces["edits"], with_spaces["ref_chars"])
    assert (score.nospace_edits, score.ref_nospace) == (without["edits"], without["ref_chars"])
    assert score.cer == pytest.approx(with_spaces["rate"], abs=1e-6)
    assert score.cer_nospace == pytest.approx(without["rate"], abs=1e-6)
    assert score.wer == expected.get("wer", score.wer)
    assert expected.get("never") not in (score.cer, score.cer_nospace)


@pytest.mark.parametrize("level", ["raw", "strict"])
@rows("wer_cer")
def test_case_white_space(row, level):
    score = score_pair(row["ref"], row["hyp"], row["lang"], level)
    assert (score.wer, score.cer) == (row["expected"]["wer"], row["expected"]["cer"])
    assert score.ref_chars == row["expected"].get("ref_chars_with_spaces", score.ref_chars)


@rows("wer_after_expansion")
def test_case_numbers(row):
    for at, hypothesis in enumerate(row["hyps"]):
        score = score_pair(row["ref"], hypothesis, row["lang"])
        # All readings that a speaker accepts count as right (metrics-15).
        accepted = row["expected"].get("wer_if_readings_allowed", row["expected"]["wer"])
        assert score.wer == pytest.approx(accepted[at], abs=1e-6)
        assert score.ref_words == row["expected"].get("ref_words", score.ref_words)
        if "wer_raw" in row["expected"]:
            raw = score_pair(row["ref"], hypothesis, row["lang"], "raw")
            assert raw.wer == pytest.approx(row["expected"]["wer_raw"][at], abs=1e-6)


def test_one_canonical_reading_where_the_policy_wants_one():
    [row] = [row for row in read_cases("metrics.jsonl") if row["id"] == "metrics-15"]
    strict_reading = Ladder(numbers=NumberPolicy(alternatives=False))
    score = score_pair(row["ref"], row["hyps"][0], "hi", ladder=strict_reading)
    assert score.wer == pytest.approx(row["expected"]["wer"][0])
    assert strict_reading.signature != Ladder().signature


@pytest.mark.parametrize(
    ("reference", "hypothesis", "lang"),
    [
        ("कुल ₹12,34,567 दो।", "कुल बारह लाख चौंतीस हज़ार पाँच सौ सड़सठ रुपये दो", "hi"),
        ("समय: 3.05", "समय तीन दशमलव शून्य पांच", "hi"),
        ("Room 204!", "room two oh four", "en"),
        ("It's 50% done", "it’s fifty percent done", "en"),
        ("৫০ জন", "পঞ্চাশ জন", "bn"),
    ],
)
def test_numbers_are_right_in_any_accepted_reading_with_punctuation_and_case_around_them(reference, hypothesis, lang):
    assert score_pair(reference, hypothesis, lang).char_edits == 0
    assert score_pair(hypothesis, reference, lang).char_edits == 0
    assert score_pair(reference, hypothesis, lang, "strict").char_edits > 0


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_sign_that_a_language_has_no_word_for_is_not_read(lang):
    assert score_pair("#5", "# 5", lang).char_edits == 0
    assert score_pair("5", "#5", lang).ref_chars == score_pair("5", "", lang).char_edits


def test_pcer_is_the_same_at_every_level_and_compares_across_scripts():
    good, bad = "mera naam raam hai", "tum kahan ja rahe ho"
    levels = {score_pair("मेरा नाम राम है", good, "hi", level).pcer for level in DEFAULT_STEPS}
    assert levels == {0.0}
    assert score_pair("मेरा नाम राम है", good, "hi").cer > 0.9
    assert score_pair("मेरा नाम राम है", good, "hi").status == "wrong_script"
    assert score_pair("मेरा नाम राम है", bad, "hi").pcer > 0.5
    assert score_pair("मेरा नाम राम है", "میرا نام رام ہے", "hi").pcer == 0.0
    assert score_pair("कमरा 204", "kamra do sau char", "hi").pcer == 0.0
    assert score_pair("", "", "hi").pcer == 0.0


@pytest.mark.parametrize(
    ("reference", "hypothesis", "said"),
    [
        ("₹1,250 दो", "baarah sau pachaas rupaye do", "बारह सौ पचास रुपए दो"),
        ("₹1,250 चाहिए", "ایک ہزار دو سو پچاس چاہیے", "एक हज़ार दो सौ पचास रुपये चाहिए"),
    ],
)
def test_a_number_heard_in_another_script_is_read_as_it_sounded(reference, hypothesis, said):
    # In words the prompt has one reading, the one heard.
    as_figures = {score_pair(reference, hypothesis, "hi", level).pcer for level in DEFAULT_STEPS}
    assert as_figures == {score_pair(said, hypothesis, "hi").pcer}
    assert score_pair(reference, hypothesis, "hi").status == "wrong_script"


_heard = st.lists(
    st.sampled_from("ek do sau chaar hazaar pachaas rupaye baarah சவா நூறு ایک ہزار دو سو پچاس روپے".split()),
    min_size=1,
    max_size=8,
).map(" ".join)


@given(st.sampled_from(["₹1,250 दो", "कमरा 204, 15 बजे", "7% लोग", "राम 2024 में"]), _heard)
@example("कमरा 204, 15 बजे", "kamra")  # readings that are as near as each other
def test_the_reading_for_another_script_is_the_first_of_those_nearest_by_sound(reference, hypothesis):
    def distance(said):
        return edit_distance(*phonetic_pair(said, hypothesis, "hi"))

    strings = list(readings(reference, "hi", clean=partial(normalize, lang="hi", level="strict")).strings())
    nearest = min(strings, key=distance)
    assert normalize_pair(reference, hypothesis, "hi", "numbers") == (nearest, hypothesis)
    assert score_pair(reference, hypothesis, "hi").phonetic_edits == distance(nearest)


def test_more_readings_than_can_be_listed_are_still_scored_in_another_script():
    reference = "₹1,250 और ₹2,500 और ₹1,50,000.75 दो"
    assert readings(reference, "hi").count > 10**4
    assert score_pair(reference, "baarah sau pachaas", "hi").pcer > 0.5


def test_an_empty_cell_is_an_empty_transcript():
    # Case io-02: read as NaN the row would drop out, read as the text "nan" it would have other errors.
    score = score_pair("ভাত", "", "bn", "strict")
    assert (score.word_edits, score.ref_words, score.char_edits, score.ref_chars) == (1, 1, 3, 3)
    assert score.status == "ok"
    assert score.cer == score.wer == score.gcer == score.cer_nospace == 1.0


def test_text_that_looks_like_a_missing_value_is_text():
    # Case io-03.
    score = score_pair("ना", "NA", "hi", "strict")
    assert (score.status, score.char_edits) == ("wrong_script", 2)


def test_nothing_is_capped():
    assert score_pair("हाँ", "हाँ हाँ हाँ हाँ", "hi", "strict").wer == 3.0


def test_pooling_nothing_is_refused():
    # Case stats-08: no rows is no number; 0.0 reads as perfect.
    with pytest.raises(TextError, match="no scores to pool"):
        pool([])


@given(written_in("Deva"))
def test_a_text_scores_zero_against_itself(text):
    score = score_pair(text, text, "hi", "strict")
    assert (score.char_edits, score.nospace_edits, score.grapheme_edits, score.word_edits) == (0, 0, 0, 0)


@given(st.lists(st.tuples(written_in("Taml", 10), written_in("Taml", 10)), min_size=1, max_size=5))
def test_pooling_is_adding(pairs):
    scores = [score_pair(a, b, "ta", "strict") for a, b in pairs]
    pooled = pool(scores)
    assert pooled.char_edits == sum(s.char_edits for s in scores)
    assert pooled.ref_graphemes == sum(s.ref_graphemes for s in scores)
    assert pooled == pool(reversed(scores))
    assert pool([pooled, pooled]).ref_chars == 2 * pooled.ref_chars
