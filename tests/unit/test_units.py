"""Units of error counting."""

import re

import pytest
from hypothesis import given

from kasauti.text.units import code_points, code_points_without_spaces, graphemes, segmentation_rules, words
from text_cases import read_cases, written_in


@pytest.mark.parametrize("row", read_cases("metrics.jsonl", "grapheme_count"), ids=lambda row: row["id"])
def test_cases(row):
    assert len(code_points(row["text"])) == row["expected"]["code_points"]
    assert len(graphemes(row["text"])) == row["expected"]["graphemes_uax29_15_1"]


@pytest.mark.parametrize(
    ("text", "clusters"),
    [
        # GB9c: a conjunct is one cluster in the six scripts whose virama is a linker (InCB=Linker).
        ("स्त्री", ["स्त्री"]),
        ("ক্ষ", ["ক্ষ"]),
        ("ક્ષ", ["ક્ષ"]),
        ("କ୍ଷ", ["କ୍ଷ"]),
        ("క్ష", ["క్ష"]),
        ("സ്ക", ["സ്ക"]),
        ("क्‍ष", ["क्‍ष"]),  # with ZWJ
        ("க்ஷ", ["க்", "ஷ"]),  # Tamil has no linker
        ("தமிழ்", ["த", "மி", "ழ்"]),
        ("ਪੱਕਾ", ["ਪੱ", "ਕਾ"]),
        ("کِتاب", ["کِ", "ت", "ا", "ب"]),
        ("ᱟᱹᱰᱤ", ["ᱟ", "ᱹ", "ᱰ", "ᱤ"]),
        ("अब", ["अ", "ब"]),
        ("a\u0301b", ["a\u0301", "b"]),
    ],
)
def test_clusters(text, clusters):
    assert graphemes(text) == clusters


@given(written_in("Deva"))
def test_every_unit_gives_the_text_back(text):
    assert "".join(graphemes(text)) == text
    assert "".join(code_points(text)) == text
    assert "".join(words(text)) == "".join(code_points_without_spaces(text)) == "".join(text.split())


def test_segmentation_rules_name_library_and_unicode():
    stated = re.fullmatch(r"regex \d+\.\d+\.\d+ Unicode (\d+)\.(\d+)\.\d+", segmentation_rules())
    assert stated
    assert (int(stated[1]), int(stated[2])) >= (15, 1)
