"""Numbers in text: every kind of token, the languages' own marks, and laws that hold for any text.

Expected readings are the canonical ones of the default policy. They follow common usage as printed in the languages'
newspapers and school books; where usage differs, what else counts as right is asserted beside it.
"""

from __future__ import annotations

from unicodedata import normalize as to_form

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kasauti.errors import TextError
from kasauti.text.languages import LANGUAGES
from kasauti.text.numbers import DEFAULT_POLICY, NumberPolicy, best_reading, expand_numbers, readings
from kasauti.text.numbers.patterns import TRIGGER
from kasauti.text.numbers.tables import rows, spellings, table

ALL = sorted(LANGUAGES)

HINDI = [
    ("१२,३४,५६७", "बारह लाख चौंतीस हज़ार पाँच सौ सड़सठ"),
    ("1,234,567", "बारह लाख चौंतीस हज़ार पाँच सौ सड़सठ"),
    ("10,20,30", "दस,बीस,तीस"),
    ("3.05 और .5", "तीन दशमलव शून्य पाँच और शून्य दशमलव पाँच"),
    ("कुल 5. और 6।", "कुल पाँच. और छह।"),
    ("50%, ५० %", "पचास प्रतिशत, पचास प्रतिशत"),
    ("पचास% लोग", "पचास प्रतिशत लोग"),
    ("-5°C", "माइनस पाँच डिग्री सेल्सियस"),
    ("तापमान −5 डिग्री", "तापमान माइनस पाँच डिग्री"),
    ("₹500", "पाँच सौ रुपये"),
    ("₹1", "एक रुपया"),
    ("Rs. 500, Rs.500, रु. 500, 500 रु., 500/-", "पाँच सौ रुपये, पाँच सौ रुपये, पाँच सौ रुपये, पाँच सौ रुपये, पाँच सौ रुपये"),
    ("₹50.75", "पचास रुपये पचहत्तर पैसे"),
    ("₹500 रुपये, रु. 500/- रुपए", "पाँच सौ रुपये, पाँच सौ रुपए"),
    ("₹5 लाख रुपये, ₹50.75 रुपये", "पाँच लाख रुपये, पचास दशमलव सात पाँच रुपये"),
    ("₹500 का नोट, $5 रुपये", "पाँच सौ रुपये का नोट, पाँच डॉलर रुपये"),
    ("₹50.00", "पचास रुपये"),
    ("₹1.5 लाख", "एक दशमलव पाँच लाख रुपये"),
    ("₹2 crore", "दो करोड़ रुपये"),
    ("-₹5, ₹-5", "माइनस पाँच रुपये, माइनस पाँच रुपये"),
    ("$2.50 €3 £4", "दो डॉलर पचास सेंट तीन यूरो चार पाउंड"),
    ("15/08/1947", "पंद्रह अगस्त उन्नीस सौ सैंतालीस"),
    ("15-8-1947 1947-08-15 15.08.1947", "पंद्रह अगस्त उन्नीस सौ सैंतालीस " * 3),
    ("12/25/2024", "पच्चीस दिसंबर दो हज़ार चौबीस"),
    ("12:30 बजे", "बारह तीस बजे"),
    ("5:00", "पाँच"),
    ("5:05", "पाँच शून्य पाँच"),
    ("सुबह 10.30 बजे 10.30 किमी", "सुबह दस तीस बजे दस दशमलव तीन शून्य किलोमीटर"),
    ("10-15 किमी", "दस से पंद्रह किलोमीटर"),
    ("₹500-600", "पाँच सौ से छह सौ रुपये"),
    ("10–15%", "दस से पंद्रह प्रतिशत"),
    ("5 कि.मी. 5 km 5km 5 किग्रा", "पाँच किलोमीटर पाँच किलोमीटर पाँच किलोमीटर पाँच किलोग्राम"),
    ("5 m² 60 km/h 5 GB", "पाँच वर्ग मीटर साठ किलोमीटर प्रति घंटा पाँच जीबी"),
    ("3वाँ 21वीं 1ली 6वें 2रा", "तीसरा इक्कीसवीं पहली छठे दूसरा"),
    ("10बजे 10-दिवसीय", "दस बजे दस दिवसीय"),
    ("A4 B12 5G COVID-19 MH12", "A चार B बारह पाँच G COVID उन्नीस MH बारह"),
    ("कमरा204", "कमरा दो सौ चार"),
    ("1/2 24/7", "एक बटा दो चौबीस बटा सात"),
    ("1.2.3 2:3 1-2-3", "एक दशमलव दो दशमलव तीन दो तीन एक दो तीन"),
    ("007 05", "शून्य शून्य सात शून्य पाँच"),
    ("PIN 560001, ओटीपी: 4521", "PIN पाँच छह शून्य शून्य शून्य एक, ओटीपी: चार पाँच दो एक"),
    ("पिन 560 001", "पिन पाँच छह शून्य शून्य शून्य एक"),
    ("560001 लोग", "पाँच लाख साठ हज़ार एक लोग"),
    ("+91 98450-12345", "प्लस नौ एक नौ आठ चार पाँच शून्य एक दो तीन चार पाँच"),
    ("080-26712345", "शून्य आठ शून्य दो छह सात एक दो तीन चार पाँच"),
    ("1800 123 4567", "एक आठ शून्य शून्य एक दो तीन चार पाँच छह सात"),
    ("1234 5678 9012", "एक दो तीन चार पाँच छह सात आठ नौ शून्य एक दो"),
    ("2019 2020 2021", "दो हज़ार उन्नीस दो हज़ार बीस दो हज़ार इक्कीस"),
    ("1947 में", "उन्नीस सौ सैंतालीस में"),
    ("1947 रुपये 1,947", "एक हज़ार नौ सौ सैंतालीस रुपये एक हज़ार नौ सौ सैंतालीस"),
    ("1234", "एक हज़ार दो सौ चौंतीस"),
    ("50000000000", "पाँच हज़ार करोड़"),
    ("12345678901", "एक दो तीन चार पाँच छह सात आठ नौ शून्य एक"),
    ("नं. 5", "नंबर पाँच"),
    ("(50)", "(पचास)"),
    ("५०‍", "पचास‍"),
]

OTHERS = [
    ("en", "The 3rd and 21st, 112th", "The third and twenty first, one hundred and twelfth"),
    ("en", "at 5 pm, 5:30 p.m., 10.30am", "at five pm, five thirty pm, ten thirty am"),
    ("en", "₹1,000,001 and ₹10,00,001", "one million and one rupees and ten lakh and one rupees"),
    ("en", "100,000 or 1,00,000", "one hundred thousand or one lakh"),
    ("en", "$250,000.50", "two hundred and fifty thousand dollars fifty cents"),
    ("hi", "100,000", "एक लाख"),
    ("bn", "৳৫০০ টাকা, ৳৫০০ টাকার", "পাঁচশো টাকা, পাঁচশো টাকার"),
    ("en", "₹500 rupees and $5 Dollars, €5 European", "five hundred rupees and five Dollars, five euros European"),
    ("ta", "₹500 ரூபாய்க்கு", "ஐநூறு ரூபாய்க்கு"),
    ("en", "a 50-year-old, No. 5, # 7", "a fifty year-old, number five, number seven"),
    ("en", "$1, $1.5 million", "one dollar, one point five million dollars"),
    ("en", "in 1947 and 1905", "in nineteen forty seven and nineteen hundred and five"),
    ("mr", "२०२०मध्ये ५०% 1% 3रा 21व्या", "दोन हजार वीसमध्ये पन्नास टक्के एक टक्का तिसरा एकवीसव्या"),
    ("bn", "৫টি, ১০টায়, ১ম, ৫ই, ২১শে", "পাঁচটি, দশটায়, প্রথম, পাঁচই, একুশে"),
    ("bn", "১৯৭১ সালে ৫০%", "ঊনিশশো একাত্তর সালে পঞ্চাশ শতাংশ"),
    ("as", "৫০% ৩য়", "পঞ্চাশ শতাংশ তৃতীয়"),
    ("gu", "3જો 21મી 50%", "ત્રીજો એકવીસમી પચાસ ટકા"),
    ("gu", "10થી 4થી", "દસથી ચોથી"),
    ("mr", "10ला 1ला", "दहाला पहिला"),
    ("pa", "3ਜਾ 21ਵੀਂ ₹500", "ਤੀਜਾ ਇੱਕੀਵੀਂ ਪੰਜ ਸੌ ਰੁਪਏ"),
    ("or", "୫୦% ୩ୟ", "ପଚାଶ ପ୍ରତିଶତ ତୃତୀୟ"),
    ("ta", "2020இல் 3வது ரூ.500 10-15", "இரண்டாயிரத்து இருபதில் மூன்றாவது ஐநூறு ரூபாய் பத்து முதல் பதினைந்து"),
    ("te", "2020లో 3వ రూ. 50.50", "రెండు వేల ఇరవైలో మూడవ యాభై రూపాయలు యాభై పైసలు"),
    ("kn", "2020ರಲ್ಲಿ 3ನೇ 10-15 ಕಿ.ಮೀ.", "ಎರಡು ಸಾವಿರದ ಇಪ್ಪತ್ತರಲ್ಲಿ ಮೂರನೇ ಹತ್ತರಿಂದ ಹದಿನೈದು ಕಿಲೋಮೀಟರ್"),
    ("ml", "2020ൽ 3-ാം 50%", "രണ്ടായിരത്തി ഇരുപതിൽ മൂന്നാം അമ്പത് ശതമാനം"),
    ("ur", "۳۵٪ ۱۲٫۵ ۱٬۲۳۴ ۳را", "پینتیس فیصد بارہ اعشاریہ پانچ ایک ہزار دو سو چونتیس تیسرا"),
    ("ne", "३औँ रु. ५०", "तेस्रो पचास रुपैयाँ"),
    ("sd", "۲۰۴ 50%", "ٻه سؤ چار پنجاهه سيڪڙو"),
    ("sat", "᱒᱐᱔", "ᱵᱟᱨ ᱥᱟᱭ ᱯᱩᱱ"),
    ("mni-Mtei", "꯲꯰꯴", "ꯆꯅꯤ ꯒ ꯃꯔꯤ"),
    ("mni", "২০৪", "চনি গ মরি"),
    ("ks", "۲۰۴", "زٕ ہَتھ تہٕ ژور"),
    ("ks-Deva", "204", "ज़ॖ हथ तॖ चोर"),
    ("sa", "२०४", "चतुरधिकद्विशतम्"),
]

ALSO_RIGHT = [
    ("hi", "कमरा 204", "कमरा दो शून्य चार"),
    ("hi", "कमरा 204", "कमरा दो जीरो चार"),
    ("hi", "2024 में", "बीस चौबीस में"),
    ("hi", "1947 में", "एक हजार नौ सौ सैंतालीस में"),
    ("hi", "12:30 बजे", "साढ़े बारह बजे"),
    ("hi", "12:30", "बारह बजकर तीस मिनट"),
    ("hi", "3:45 बजे", "पौने चार बजे"),
    ("hi", "1:30 बजे", "डेढ़ बजे"),
    ("hi", "₹2.5 लाख", "ढाई लाख रुपए"),
    ("hi", "3.25", "तीन दशमलव पच्चीस"),
    ("hi", "₹50.75", "पचास दशमलव सात पाँच रुपये"),
    ("hi", "10-15 लोग", "दस पंद्रह लोग"),
    ("hi", "15/8/2024", "पंद्रह आठ दो हजार चौबीस"),
    ("hi", "5 km", "पाँच km"),
    ("hi", "+91 9845012345", "नौ एक नौ आठ चार पांच शून्य एक दो तीन चार पांच"),
    ("en", "9845500012", "nine eight four double five triple oh one two"),
    ("en", "15/08/2024", "the fifteenth of August twenty twenty four"),
    ("en", "5:30", "half past five"),
    ("en", "17:45", "quarter to six"),
    ("hi", "17:30 बजे", "साढ़े पाँच बजे"),
    ("hi", "12:45", "पौने एक"),
    ("te", "8:30", "ఎనిమిదిన్నర"),
    ("kn", "50%", "ಶೇಕಡಾ ಐವತ್ತು"),
    ("bn", "২০২০-এ", "দুই হাজার বিশ এ"),
    ("mr", "100", "एकशे"),
    ("gu", "4થી", "ચારથી"),
    ("en", "100,000 people", "one lakh people"),
    ("en", "10,000,000 people", "one crore people"),
    ("en", "250000 people", "two hundred and fifty thousand people"),
    ("hi", "कमरा नंबर 204", "कमरा नंबर दो शून्य चार"),
    ("en", "flight AI 302", "flight AI three zero two"),
    ("hi", "दिल्ली 110001", "दिल्ली एक एक शून्य शून्य शून्य एक"),
    ("ta", "அறை 204", "அறை இரண்டு பூஜ்ஜியம் நான்கு"),
]

FIGURE_BY_FIGURE_IS_A_FAULT = [
    ("hi", "₹500", "पाँच शून्य शून्य रुपये"),
    ("hi", "15 अगस्त", "एक पाँच अगस्त"),
    ("hi", "15 अगस्त 1947", "पंद्रह अगस्त एक नौ चार सात"),
    ("hi", "15/08/1947", "पंद्रह अगस्त एक नौ चार सात"),
    ("en", "15 kg", "one five kilograms"),
    ("en", "15 August", "one five August"),
    ("hi", "50%", "पाँच शून्य प्रतिशत"),
    ("hi", "2024 किलोमीटर,", "बीस चौबीस किलोमीटर,"),
    ("hi", "12345 रुपये", "एक दो तीन चार पाँच रुपये"),
    ("hi", "खाता 500 रुपये", "खाता पाँच शून्य शून्य रुपये"),
    ("hi", "15 लोग", "एक पाँच लोग"),
    ("hi", "10-15 लोग", "एक शून्य से एक पाँच लोग"),
    ("hi", "₹15 लाख", "एक पाँच लाख रुपये"),
    ("bn", "৫০ জন", "পাঁচ শূন্য জন"),
]
"""Quantities: their figures one by one are no reading of them."""


@pytest.mark.parametrize(("text", "expected"), HINDI)
def test_kinds_of_token(text, expected):
    assert expand_numbers(text, "hi") == to_form("NFC", expected.strip())


@pytest.mark.parametrize(("lang", "text", "expected"), OTHERS)
def test_every_language_has_its_own_marks(lang, text, expected):
    assert expand_numbers(text, lang) == to_form("NFC", expected)


@pytest.mark.parametrize(("lang", "text", "heard"), ALSO_RIGHT)
def test_other_readings_count_as_right(lang, text, heard):
    heard = to_form("NFC", heard)
    assert expand_numbers(text, lang) != heard
    assert best_reading(text, heard, lang) == heard


@pytest.mark.parametrize(("lang", "text", "heard"), FIGURE_BY_FIGURE_IS_A_FAULT)
def test_a_quantity_is_read_whole(lang, text, heard):
    assert to_form("NFC", heard) not in set(readings(text, lang).strings())


@pytest.mark.parametrize("lang", ALL)
def test_the_figures_of_a_name_may_be_read_one_by_one_those_of_money_not(lang):
    number = table("words")[lang].get("number", ("room",))[0]
    figures = readings("04", lang).canonical.split()[-1:] * 2
    spelled = " ".join(figures)
    assert best_reading(f"{number} 44", f"{number} {spelled}", lang) == f"{number} {spelled}"
    assert spelled not in best_reading("₹44", f"{spelled} {table('words')[lang]['rupee'][0]}", lang)


@pytest.mark.parametrize(
    ("policy", "text", "expected"),
    [
        (NumberPolicy(year="cardinal"), "1947", "एक हज़ार नौ सौ सैंतालीस"),
        (NumberPolicy(year="pairs"), "1947", "उन्नीस सैंतालीस"),
        (NumberPolicy(year="digits"), "1947", "एक नौ चार सात"),
        (NumberPolicy(code="pairs"), "पिन 560001", "पिन छप्पन शून्य शून्य शून्य एक"),
        (NumberPolicy(code="cardinal"), "पिन 560001", "पिन पाँच लाख साठ हज़ार एक"),
        (NumberPolicy(phone="pairs"), "9845012345", "अट्ठानवे पैंतालीस शून्य एक तेईस पैंतालीस"),
    ],
)
def test_policies(policy, text, expected):
    assert expand_numbers(text, "hi", policy=policy) == expected
    assert policy.signature != DEFAULT_POLICY.signature


def test_policy_refuses_what_it_does_not_know():
    with pytest.raises(TextError, match="year is 'roman'"):
        NumberPolicy(year="roman")  # type: ignore[arg-type]


def test_only_the_canonical_reading_when_asked():
    lattice = readings("कमरा 204, ₹50.75", "hi", policy=NumberPolicy(alternatives=False))
    assert list(lattice.strings()) == ["कमरा दो सौ चार, पचास रुपये पचहत्तर पैसे"]


figures = st.sampled_from(
    [chr(zero + n) for zero in (0x30, 0x966, 0x9E6, 0xBE6, 0x6F0, 0x1C50, 0xABF0) for n in range(10)]
)
marks = st.sampled_from([*" .,:/-–+%₹$°()'\n", "Rs.", "km", "th", "pm", "वाँ", "किमी", "ல்", "PIN ", "लाख ", "/-", "٫"])
scraps = st.lists(figures | marks | st.characters(codec="utf-8"), max_size=16).map("".join)


@settings(max_examples=300, deadline=None)
@given(scraps, st.sampled_from(ALL))
def test_no_figure_is_left_and_expanding_again_changes_nothing(text, lang):
    once = expand_numbers(text, lang)
    assert not any(char.isdecimal() for char in once)
    assert expand_numbers(once, lang) == once
    assert readings(text, lang).canonical == once


@settings(deadline=None)
@given(st.text().filter(lambda text: not TRIGGER.search(text)), st.sampled_from(ALL))
def test_text_without_numbers_keeps_every_word(text, lang):
    assert expand_numbers(text, lang) == " ".join(text.split())


@settings(deadline=None)
@given(st.text("abक \n\t", max_size=20), st.integers(0, 99_999), st.text("abक \n\t", max_size=20))
def test_what_stands_around_a_number_stays(before, value, after):
    words = expand_numbers(str(value), "hi")
    assert expand_numbers(f"{before} {value} {after}", "hi") == " ".join(f"{before} {words} {after}".split())


@pytest.mark.parametrize("lang", ALL)
def test_every_language_speaks_every_kind_of_token(lang):
    text = "-5 3.05 50% ₹5.50 $1 15/08/1947 12:30 10-15 5 km 1/2 9845012345 1.2.3 3 °C"
    words = expand_numbers(text, lang)
    assert not any(char.isdecimal() or char in "%₹$°/:-" for char in words)
    assert not [word for word in words.split() if word.isascii()] or lang == "en"


NAMES = ("scales", "words", "fractions", "months", "units", "ordinals", "suffixes", "marks", "symbols")


@pytest.mark.parametrize("name", NAMES)
def test_tables_hold_known_languages_and_clean_spellings(name):
    seen = set()
    for lang, key, cell in rows(name):
        assert lang in LANGUAGES or (lang == "*" and name in ("marks", "symbols"))
        assert (lang, key) not in seen
        seen.add((lang, key))
        words = spellings(cell)
        assert all(word == word.strip() and word and word == to_form("NFC", word) for word in words)
        assert len(set(words)) == len(words)


def test_tables_have_a_row_for_every_language():
    for lang in ALL:
        assert set(table("words")[lang]) >= {
            "point",
            "minus",
            "plus",
            "percent",
            "rupee",
            "paisa",
            "dollar",
            "cent",
            "by",
        }
        assert set(table("months")[lang]) == {str(month) for month in range(1, 13)}
        assert {"km", "kg", "m", "l", "c"} <= set(table("units")[lang])
    assert set(table("ordinals")) <= set(ALL)


def test_every_ordinal_has_a_rule():
    for lang, forms in table("ordinals").items():
        names = {key.partition(".")[0] for key in forms}
        assert {f"{name}.regular" for name in names} <= set(forms), lang
        assert all({f"{name}.suffix", f"{name}.own"} & set(forms) for name in names), lang
