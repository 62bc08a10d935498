"""Cardinals: the library's faults one by one, an outside oracle, and laws that hold in every language."""

from __future__ import annotations

import random
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from indic_numtowords import num2words

from kasauti.errors import TextError
from kasauti.text.languages import LANGUAGES
from kasauti.text.numbers import WEAK, cardinal, cardinal_readings, digits, parse_number
from kasauti.text.numbers.lexicon import LIBRARY_CODES, NOT_IN_LIBRARY, below_hundred, library_words
from kasauti.text.numbers.tables import rows

CLDR = Path(__file__).parents[1] / "cases" / "numbers_cldr.tsv"
ALL = sorted(LANGUAGES)

FAULTS = [
    # language, value, what indic-numtowords 1.1.0 says, what is right
    ("mr", 1000, "एक हज़ार", "एक हजार"),
    ("mr", 3163, "तीन हज़ार एकशे त्रेसष्ट", "तीन हजार एकशे त्रेसष्ट"),
    ("mr", 74, "चौर्‍याहत्तर", "चौऱ्याहत्तर"),
    ("kn", 83, "ಎಂಬತ್ತೆರಡು", "ಎಂಬತ್ತಮೂರು"),
    ("kn", 110, "ನೂ", "ನೂರ ಹತ್ತು"),
    ("kn", 250, "ಇನ್ನೂ", "ಇನ್ನೂರ ಐವತ್ತು"),
    ("kn", 2000, "ಎರಡು ಸಾವಿರದ", "ಎರಡು ಸಾವಿರ"),
    ("kn", 200000, "ಎರಡು ಲಕ್ಷದ", "ಎರಡು ಲಕ್ಷ"),
    ("ta", 1047, "ஆயிரத்து  நாற்பத்து ஏழு", "ஆயிரத்து நாற்பத்து ஏழு"),
    ("ta", 81, "எண்பத்து ஓன்று", "எண்பத்து ஒன்று"),
    ("ta", 89, "எண்பத்து ஓன்பது", "எண்பத்து ஒன்பது"),
    ("ta", 98, "தொண்ணூரெட்டு", "தொண்ணூற்று எட்டு"),
    ("ta", 2000, "இரண்டாயிரம்\u200c", "இரண்டாயிரம்"),
    ("te", 1001, "ఒక వెయ్యి ఒకటి", "వెయ్యి ఒకటి"),
    ("ml", 29, "ഇരുപത്തി ഒന്പത്", "ഇരുപത്തിയൊമ്പത്"),
    ("pa", 73, "ਤਹੇਹਰ", "ਤਿਹੱਤਰ"),
    ("pa", 75, "ਪਚਹੱਤ", "ਪੰਝੱਤਰ"),
    ("pa", 1100, "ਇੱਕ ਹਜ਼ਾਰ ਸੌ", "ਇੱਕ ਹਜ਼ਾਰ ਇੱਕ ਸੌ"),
    ("ur", 5, "پاںچ", "پانچ"),
    ("ur", 23, "تےيس", "تئیس"),
    ("ur", 27, "ستااس", "ستائیس"),
    ("ur", 31, "اكتيس", "اکتیس"),
    ("ur", 150, "ڈیڑھ سو", "ایک سو پچاس"),
    ("or", 0, "ଶୁନ୍ୟ", "ଶୂନ୍ୟ"),
    ("or", 20, "କୋଡିଏ", "କୋଡ଼ିଏ"),
    ("ne", 16, "साोह्र", "सोह्र"),
    ("as", 30, "ত্রিশ", "ত্ৰিশ"),
    ("as", 45, "পঁঞ্চল্লিশ", "পঞ্চল্লিশ"),
    ("bn", 88, "অষ্টআশি", "অষ্টাশি"),
    ("hi", 6, "छः", "छह"),
    ("hi", 67, "सरसठ", "सड़सठ"),
    ("sat", 58, "ᱢᱚᱬᱮ ᱜᱮᱞ ᱤᱨᱟᱹᱨ", "ᱢᱚᱬᱮ ᱜᱮᱞ ᱤᱨᱟᱹᱞ"),
    ("mni-Mtei", 99, "ꯃꯔꯐꯨ ꯃꯥꯄꯟ", "ꯃꯔꯤꯐꯨꯇꯔꯥ ꯃꯥꯄꯟ"),
    ("mni-Mtei", 21, "ꯀꯨꯨꯟ ꯃꯥꯊꯣꯏ", "ꯀꯨꯟ ꯃꯥꯊꯣꯏ"),
    ("mni-Mtei", 700, "ꯆꯇ꯭꯭ꯔꯦꯠ", "ꯆꯇꯔꯦꯠ"),
    ("sa", 56, "षड्पञ्चाशत्", "षट्पञ्चाशत्"),
    ("sd-Deva", 92, "बि॒यानवे", "ॿियानवे"),
    ("brx", 10**9, "से" + " लाथिख'" * 9, "जौसे कौटि"),
]

RAISES = [
    # language, value, error of the library, what is right
    ("sd-Deva", 100, IndexError, "हिक सौ"),
    ("sd-Deva", 1000, IndexError, "हिकु हज़ार"),
    ("sd-Deva", 10**7, IndexError, "हिकु किरोड़"),
    ("hi", 10**9, TypeError, "सौ करोड़"),
    ("ta", 10**10, TypeError, "ஆயிரம் கோடி"),
    ("en", 10**9, TypeError, "one hundred crore"),
]


@pytest.mark.parametrize(("lang", "value", "wrong", "right"), FAULTS)
def test_a_fault_of_the_library_is_mended(lang, value, wrong, right):
    assert num2words(value, lang=LIBRARY_CODES.get(lang, lang)) == wrong, "mended in the library: take the row out"
    assert cardinal(value, lang) == right


@pytest.mark.parametrize(("lang", "value", "error", "right"), RAISES)
def test_where_the_library_fails(lang, value, error, right):
    with pytest.raises(error):
        num2words(value, lang=LIBRARY_CODES.get(lang, lang))
    assert cardinal(value, lang) == right


def test_every_mend_changes_something():
    for lang, value, *_ in rows("below_hundred"):
        if lang not in NOT_IN_LIBRARY:
            assert below_hundred(lang)[int(value)] != library_words(int(value), lang), (lang, value)


@pytest.mark.parametrize(
    ("lang", "value", "words"), [line.split("\t") for line in CLDR.read_text("utf-8").split("\n")[2:-1]]
)
def test_cldr_is_accepted(lang, value, words):
    assert words in cardinal_readings(int(value), lang)


@pytest.mark.parametrize("lang", ALL)
def test_distinct_numbers_have_distinct_words(lang):
    draw = random.Random(lang)
    sample = {draw.randrange(10**size, 10 ** (size + 1)) for size in range(3, 12) for _ in range(60)}
    sample |= {*range(1300), *(10**size for size in range(3, 18)), *(10**size + 1 for size in range(3, 18))}
    words = {value: cardinal(value, lang) for value in sample}
    assert len(set(words.values())) == len(sample)


@pytest.mark.parametrize("lang", ALL)
def test_no_reading_belongs_to_two_numbers(lang):
    owner: dict[str, int] = {}
    for value in (*range(300), *range(900, 1260), 1500, 1900, 2500, 10**5, 15 * 10**4, 10**7, 25 * 10**6):
        for reading in cardinal_readings(value, lang):
            assert owner.setdefault(reading, value) == value, reading
            assert ">" not in reading


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from(ALL))
def test_words_hold_no_figures(value, lang):
    words = cardinal(value, lang)
    assert words
    assert digits(words) == ""
    assert words == " ".join(words.split())
    assert cardinal(-value, lang) == (words if value == 0 else f"{cardinal(-1, lang).split()[0]} {words}")


@pytest.mark.parametrize("lang", ALL)
def test_every_language_has_all_words_below_a_hundred(lang):
    assert all(below_hundred(lang))
    assert lang in WEAK or not NOT_IN_LIBRARY & {lang}


@pytest.mark.parametrize(
    ("value", "lang", "expected"),
    [
        (150, "hi", {"एक सौ पचास", "डेढ़ सौ"}),
        (2500, "hi", {"दो हज़ार पाँच सौ", "पच्चीस सौ", "ढाई हज़ार"}),
        (125000, "hi", {"सवा लाख", "सवा एक लाख", "एक लाख पच्चीस हज़ार"}),
        (375, "mr", {"पावणे चारशे", "तीनशे पंचाहत्तर"}),
        (1947, "bn", {"ঊনিশশো সাতচল্লিশ", "উনিশশ সাতচল্লিশ"}),
        (35000000, "kn", {"ಮೂರೂವರೆ ಕೋಟಿ", "ಮೂರು ಕೋಟಿ ಐವತ್ತು ಲಕ್ಷ"}),
        (1200000, "en", {"twelve lakh", "one million two hundred thousand"}),
        (101, "en", {"one hundred and one", "one hundred one", "a hundred and one"}),
        (155, "ta", {"நூற்று ஐம்பத்து ஐந்து", "நூற்றி ஐம்பத்தைந்து", "நூற்றைம்பத்தைந்து"}),
        (5000, "ml", {"അയ്യായിരം", "അഞ്ചായിരം"}),
    ],
)
def test_readings_that_speakers_accept(value, lang, expected):
    assert expected <= set(cardinal_readings(value, lang))


@pytest.mark.parametrize(
    ("value", "lang", "expected"),
    [
        (0, "te", "సున్నా"),
        (Decimal("3.05"), "bn", "তিন দশমিক শূন্য পাঁচ"),
        (Decimal("-0.50"), "hi", "माइनस शून्य दशमलव पाँच शून्य"),
        (Decimal("1E+2"), "en", "one hundred"),
        (10**17, "hi", "एक हज़ार करोड़ करोड़"),
        (10**21, "en", "one zero" + " zero" * 20),
    ],
)
def test_values_of_every_kind(value, lang, expected):
    assert cardinal(value, lang) == expected


def test_language_by_any_name():
    assert cardinal(5, "Hindi") == cardinal(5, "hi-IN") == "पाँच"
    with pytest.raises(TextError, match="unknown language"):
        cardinal(5, "klingon")


@pytest.mark.parametrize("text", ["", "-", "1,2", "1,23,45", "12,34.5.6", "५०%", "1 000", "abc", "."])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(TextError, match="not a number"):
        parse_number(text)


@settings(deadline=None)
@given(st.integers(0, 10**15), st.sampled_from("0٠۰०০੦૦୦௦౦೦൦᱐꯰０"))
def test_figures_of_any_script_are_parsed(value, zero):
    native = "".join(chr(ord(zero) + int(figure)) for figure in str(value))
    assert parse_number(native) == value
    assert parse_number("-" + native) == -value
    assert digits(f"क{native}ख") == str(value)
