"""The search for the nearest strings of two lattices, against every pair of strings."""

from __future__ import annotations

from functools import partial

from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from kasauti.text.levels import normalize
from kasauti.text.numbers import Lattice, Segment, best_reading, best_readings, expand_numbers, readings
from kasauti.text.numbers.search import _nearest, nearest_string

words = st.text("ab c", min_size=1, max_size=5)
slots = st.lists(words, min_size=1, max_size=2, unique=True).map(tuple)


def lattices(n_segments: int, n_readings: int, n_slots: int) -> st.SearchStrategy[Lattice]:
    reading = st.lists(slots, min_size=1, max_size=n_slots).map(tuple)
    segment = st.builds(Segment, st.lists(reading, min_size=1, max_size=n_readings).map(tuple), st.booleans())
    return st.lists(segment, max_size=n_segments).map(tuple).map(Lattice)


some_lattices = st.one_of(lattices(2, 2, 2), lattices(1, 4, 3), lattices(4, 2, 1), lattices(1, 1, 1))


@settings(max_examples=150, deadline=None)
@given(some_lattices, some_lattices)
def test_nothing_is_nearer(lattice, against):
    mine, theirs = list(lattice.strings()), list(against.strings())
    nearest = {string: min(Levenshtein.distance(string, other) for other in theirs) for string in mine}
    first = min(mine, key=lambda string: nearest[string])  # the earliest choices of those that are nearest
    assert nearest_string(lattice, against) == first
    assert _nearest(lattice, against, Levenshtein.distance(mine[0], theirs[0])) == first
    assert lattice.canonical == mine[0]


@settings(deadline=None)
@given(some_lattices)
def test_the_graph_has_the_strings_of_the_lattice(lattice):
    def paths(node: int) -> list[str]:
        steps = [text + rest for start, end, text in lattice.edges if start == node for rest in paths(end)]
        return steps or [""]

    assert sorted(paths(0)) == sorted(lattice.strings())
    assert len(paths(0)) == lattice.count
    assert all(start < end and text for start, end, text in lattice.edges)


def test_long_words_cross_the_size_of_a_machine_word():
    long = Lattice((Segment(((("ab" * 200,),), (("ba" * 200,),))),))
    assert nearest_string(long, Lattice((Segment(((("x" + "ba" * 200,),),)),))) == "ba" * 200


def test_six_numbers_with_readings_beyond_counting():
    text = "कमरा 204, 1947, 15/08/1947, ₹1,50,000.75, 12:30, 9845012345 और 2.5 लाख"
    lattice = readings(text, "hi")
    assert lattice.count > 10**9
    heard = (
        "कमरा दो शून्य चार, उन्नीस सैंतालीस, पंद्रह अगस्त उन्नीस सौ सैंतालीस, एक लाख पचास हजार रुपए और पचहत्तर पैसे, "
        "साढ़े बारह, नौ आठ चार पांच जीरो एक दो तीन चार पांच और ढाई लाख"
    )
    assert best_reading(text, heard, "hi") == heard


def test_figures_on_both_sides_take_the_pair_that_is_nearest():
    assert best_readings("कमरा 204", "कमरा 205", "hi") == ("कमरा दो सौ चार", "कमरा दो सौ पाँच")
    assert best_readings("छः बजे", "6 बजे", "hi") == ("छः बजे", "छः बजे")
    assert best_readings("4 लोग", "", "hi") == ("चार लोग", "")
    assert best_readings("", "4 लोग", "hi")[0] == ""


def test_words_are_compared_as_the_level_cleans_them():
    strict = partial(normalize, lang="en", level="strict")
    said, heard = best_readings("Room 204, (Block B-12)!", "room two oh four block b twelve", "en", clean=strict)
    assert said == heard == "room two oh four block b twelve"


def test_cleaning_sees_the_words_beside_a_number_as_they_stand():
    lattice = readings("(50) 5% x=3", "en", clean=partial(normalize, lang="en", level="strict"))
    assert lattice.canonical == normalize("(fifty) five percent x=three", "en", "strict")


def test_a_transcript_that_loops_is_read_canonically():
    heard = "204 " * 400
    said, read = best_readings("कमरा 204", heard, "hi")
    assert read == expand_numbers(heard, "hi")
    assert said == "कमरा दो सौ चार"


numbers = st.integers(0, 4000)


@settings(max_examples=20, deadline=None)
@given(st.tuples(numbers, numbers), st.tuples(numbers, numbers), st.sampled_from(["hi", "en", "ta", "mr", "ur"]))
def test_both_ways_round_are_equally_near(said, heard, lang):
    one = readings("{} ₹{}.50".format(*said), lang)
    other = readings("{}% {}".format(*heard), lang)
    there = nearest_string(one, other)
    back = nearest_string(other, one)
    nearest = nearest_string(other, readings(there, lang))
    returned = nearest_string(one, readings(back, lang))
    assert Levenshtein.distance(there, nearest) == Levenshtein.distance(back, returned)
