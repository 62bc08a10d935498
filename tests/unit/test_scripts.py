"""Scripts of characters and texts, and the verdict on a transcript's script."""

import unicodedata

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from kasauti.errors import TextError
from kasauti.text.scripts import dominant_script, script_counts, script_of_char, script_verdict
from text_cases import BLOCKS, read_cases

NAMES = {
    "Deva": "Devanagari",
    "Beng": "Bengali",
    "Guru": "Gurmukhi",
    "Gujr": "Gujarati",
    "Orya": "Oriya",
    "Taml": "Tamil",
    "Telu": "Telugu",
    "Knda": "Kannada",
    "Mlym": "Malayalam",
    "Arab": "Arabic",
    "Olck": "Ol_Chiki",
    "Mtei": "Meetei_Mayek",
    "Latn": "Latin",
}


@pytest.mark.parametrize("script", NAMES)
def test_letters_have_the_script_that_unicode_gives_them(script):
    of_script = regex.compile(rf"\p{{Script={NAMES[script]}}}")
    first, last = BLOCKS[script]
    for char in map(chr, range(0x10000)):
        if unicodedata.category(char).startswith("L") and of_script.fullmatch(char):
            elsewhere = () if first <= ord(char) <= last else ("Zzzz", None)  # rare letters of supplementary blocks
            assert script_of_char(char) in (script, *elsewhere), hex(ord(char))


@pytest.mark.parametrize("char", "।॥०৩٣۴7.,-'₹|\u200c\u200d\u0301 \n")
def test_what_does_not_vote(char):
    assert script_of_char(char) is None


@pytest.mark.parametrize(
    ("char", "script"),
    [("ा", "Deva"), ("्", "Deva"), ("़", "Deva"), ("\u06fd", "Arab"), ("ৰ", "Beng"), ("ක", "Sinh"), ("한", "Hang")],
)
def test_marks_and_letterlike_signs_vote(char, script):
    assert script_of_char(char) == script


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("", None),
        ("9000012345", None),
        ("१२:३०।", None),
        ("नमस्ते", "Deva"),
        ("मेरा phone चार्ज करो", "Deva"),
        ("NA", "Latn"),
        ("ᱥᱟᱱᱛᱟᱲᱤ", "Olck"),
        ("Привет", "Cyrl"),
        ("ქართული", "Zzzz"),
    ],
)
def test_dominant_script(text, script):
    assert dominant_script(text) == script


def test_counts_are_of_letters_and_marks():
    assert script_counts("मेरा phone, १२।") == {"Latn": 5, "Deva": 4}


@pytest.mark.parametrize("row", read_cases("normalise.jsonl", "script_check"), ids=lambda row: row["id"])
def test_cases(row):
    expected = row["expected"]
    assert script_verdict(row["ref"], row["hyp"], row["lang"]) == expected["verdict"]
    if "ref_script" in expected:
        assert dominant_script(row["ref"]) == expected["ref_script"]
        assert dominant_script(row["hyp"]) == expected["hyp_script"]


@pytest.mark.parametrize(
    ("reference", "hypothesis", "lang", "verdict"),
    [
        ("ना", "NA", "hi", "wrong_script"),  # case io-03
        ("मेरा phone चार्ज करो", "mera phone charge karo", "hi", "wrong_script"),
        ("मेरा phone चार्ज करो", "मेरा फ़ोन चार्ज करो", "hi", "ok"),
        ("आज weather बहुत nice है today", "aaj weather bahut nice hai today", "hi", "ok"),  # half Latin already
        ("आज weather बहुत nice है today", "आज वेदर बहुत नाइस है टुडे", "hi", "ok"),
        ("नमस्ते", "", "hi", "ok"),
        ("नमस्ते", "123", "hi", "ok"),
        ("9000012345", "नौ शून्य", "hi", "ok"),
        ("9000012345", "nau shunya", "hi", "wrong_script"),
        ("9000012345", "نو", "hi", "wrong_script"),
        ("کٲشُر", "कॉशुर", "ks", "wrong_script"),
        ("ꯃꯤꯇꯩ", "মিতৈ", "mni", "wrong_script"),
        ("mera naam", "मेरा नाम", "hi", "wrong_script"),
        ("नमस्ते", "안녕하세요", "hi", "wrong_script"),
        ("hello", "हेलो", "en", "wrong_script"),
    ],
)
def test_verdicts(reference, hypothesis, lang, verdict):
    assert script_verdict(reference, hypothesis, lang) == verdict


def test_unknown_language_is_refused():
    with pytest.raises(TextError, match="unknown language"):
        script_verdict("क", "क", "xx")


@given(st.text())
def test_a_text_is_always_in_its_own_script(text):
    assert script_verdict(text, text, "hi") == "ok"


@given(st.text(alphabet=st.sampled_from("0123456789।॥.,- \u200d१२३")))
def test_a_text_without_letters_has_no_script(text):
    assert dominant_script(text) is None
