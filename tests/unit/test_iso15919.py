"""Transliteration: the cases, every letter by its Unicode name, each script's own rules, and the laws."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.errors import TextError
from kasauti.text.data.pairs import pairs
from kasauti.text.iso15919 import segments, to_iso15919
from kasauti.text.languages import LANGUAGES
from kasauti.text.scripts import script_counts
from text_cases import BLOCKS, characters, read_cases, written_in

NATIVE = [script for script in BLOCKS if script != "Latn"]
ISCII = ["Deva", "Beng", "Guru", "Gujr", "Orya", "Taml", "Telu", "Knda", "Mlym"]
NAME_OF_SCRIPT = dict(
    zip(ISCII, "DEVANAGARI BENGALI GURMUKHI GUJARATI ORIYA TAMIL TELUGU KANNADA MALAYALAM".split(), strict=True)
)
MORE_BLOCKS = [
    *[(script, first, last) for script, (first, last) in BLOCKS.items() if script != "Latn"],
    ("Arab", 0x0750, 0x077F),
    ("Arab", 0x0870, 0x08FF),
    ("Arab", 0xFB50, 0xFDFF),
    ("Arab", 0xFE70, 0xFEFC),
    ("Deva", 0x1CD0, 0x1CFF),
    ("Deva", 0xA8E0, 0xA8FF),
    ("Mtei", 0xAAE0, 0xAAFF),
]

# Names of letters in the Unicode character database -> ISO 15919 (its table 1). Not copied from our tables: there the
# key is a place in a block, here it is what the character is called.
CONSONANTS = pairs(
    """KA k KHA kh GA g GHA gh NGA ṅ CA c CHA ch JA j JHA jh NYA ñ TTA ṭ TTHA ṭh DDA ḍ DDHA ḍh NNA ṇ
    TA t THA th DA d DHA dh NA n NNNA ṉ PA p PHA ph BA b BHA bh MA m YA y RA r RRA ṟ LA l LLA ḷ LLLA ḻ VA v
    SHA ś SSA ṣ SA s HA h"""
)
VOWELS = pairs("A a AA ā I i II ī U u UU ū VOCALIC_R r̥ VOCALIC_RR r̥̄ VOCALIC_L l̥ VOCALIC_LL l̥̄ AI ai AU au")
LONG_ONLY = pairs("E ē O ō CANDRA_E ê CANDRA_O ô")
SHORT_AND_LONG = pairs("E e EE ē O o OO ō")
FLAP_BY_NAME = {"Beng", "Guru", "Orya"}
"""Here RRA is the flap, not the trill with a line below."""


def named(script: str, kind: str, name: str) -> str | None:
    """The character of this name, where the script has one."""
    full = f"{NAME_OF_SCRIPT[script]} {kind} {name.replace('_', ' ')}"
    try:
        return unicodedata.lookup(full)
    except KeyError:
        return None


def vowels_of(script: str) -> dict[str, str]:
    return VOWELS | (SHORT_AND_LONG if script in {"Taml", "Telu", "Knda", "Mlym"} else LONG_ONLY)


ISO_ROWS = [(row["id"], row["lang"], row["input"], row["expected"]) for row in read_cases("normalise.jsonl", "iso")] + [
    (row["id"], row["lang"], row[side], row["expected"][f"iso_{side}"])
    for row in read_cases("normalise.jsonl", "equal")
    for side in "ab"
    if isinstance(row["expected"], dict) and f"iso_{side}" in row["expected"]
]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize(("case", "lang", "text", "expected"), ISO_ROWS)
def test_cases(case: str, lang: str, text: str, expected: str, form: str) -> None:
    assert to_iso15919(unicodedata.normalize(form, text), lang) == expected


@pytest.mark.parametrize("script", ISCII)
def test_every_consonant_by_its_name(script: str) -> None:
    letters = {name: named(script, "LETTER", name) for name in CONSONANTS}
    if script in FLAP_BY_NAME:
        letters["RRA"] = None
    found = {name: to_iso15919(letter) for name, letter in letters.items() if letter}
    assert found == {name: value + "a" for name, value in CONSONANTS.items() if letters[name]}
    assert len(found) >= 18


@pytest.mark.parametrize("script", ISCII)
def test_every_vowel_letter_and_sign_by_its_name(script: str) -> None:
    ka = named(script, "LETTER", "KA")
    assert ka
    for name, value in vowels_of(script).items():
        if letter := named(script, "LETTER", name):
            assert to_iso15919(letter) == value, letter
        if sign := named(script, "VOWEL SIGN", name):
            assert to_iso15919(ka + sign) == "k" + value, ka + sign


@pytest.mark.parametrize("script", [*NATIVE, "fullest"])
def test_native_digits_become_ascii(script: str) -> None:
    kinds = characters(script, "N") if script in BLOCKS else "০৯٠٩۰۹"
    digits = [char for char in kinds if unicodedata.category(char) == "Nd"]
    assert [to_iso15919(char) for char in digits] == [str(unicodedata.decimal(char)) for char in digits]


@pytest.mark.parametrize(("script", "first", "last"), MORE_BLOCKS)
def test_no_letter_passes_through(script: str, first: int, last: int) -> None:
    for char in map(chr, range(first, last + 1)):
        if unicodedata.category(char)[0] in "LM":
            for text in (char, f"क{char}", f"{char}ا", f"ب{char}"):
                assert set(script_counts(to_iso15919(text))) <= {"Latn"}, f"{text} U+{ord(char):04X}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Nukta: composed and decomposed (ISO 15919 table 1; Stone on the Perso-Arabic letters).
        ("क़ ख़ ग़ ज़ ड़ ढ़ फ़", "qa k͟ha ġa za ṛa ṛha fa"),
        ("\u0958 \u0959 \u095a \u095b \u095c \u095d \u095e \u095f", "qa k͟ha ġa za ṛa ṛha fa ẏa"),
        ("\u09a1\u09bc \u09dc \u09af\u09bc \u09df", "ṛa ṛa ẏa ẏa"),
        ("\u0a38\u0a3c \u0a36 \u0a32\u0a3c \u0a33", "śa śa ḷa ḷa"),
        ("ಜ಼ ಫ಼", "za fa"),
        # Hiatus and clusters that would read as something else.
        ("कइ कै कउ कौ कई", "ka:i kai ka:u kau kaī"),
        ("क्ह ख त्ह थ न्ह", "k:ha kha t:ha tha nha"),
        # Addak: plain + aspirate; nothing to double at the end.
        ("ਅੱਖ ਪੱਥਰ ਕੁੱਝ ਸੱਜ਼ ਸੱ", "akkha patthara kujjha sazza sa"),
        ("ਪੜ੍ਹ ੴ", "paṛha ika ōaṅkāra"),
        # Assamese letters, khanda ta, ae.
        ("ৰাম ৱা উৎসব অ্যাপ এ্যা চাঁদ", "rāma vā utsaba êpa ê cām̐da"),
        # Tamil: aytham, grantha, the two spellings of shri.
        ("அஃது ஜ ஸ்ரீ ஶ்ரீ க்ஷ", "aḵtu ja śrī śrī kṣa"),
        # Malayalam: chillus in both encodings, half u, dot reph.
        ("അവൻ അവന്\u200d അവൾ കാറു് വൎഷം", "avan avan avaḷ kāṟŭ varṣaṁ"),
        # Joiners change nothing; avagraha, om, visarga; Vedic accents go.
        ("क्\u200dष क्\u200cष", "kṣa kṣa"),
        ("सोऽहम् ॐ नमः अ॒ग्निमी॑ळे ᳵ", "sō’ham ōṁ namaḥ agnimīḷē ẖ"),
        # Kashmiri and Sindhi letters of Devanagari; candra vowels.
        ("ॻ ॼ ॾ ॿ ॳ ॴ ॶ ॷ", "ˍga ˍja ˍḍa ˍba ö ȫ ŭ ŭ̄"),
        ("डॉक्टर कॅमेरा ॲप", "ḍôkṭara kêmērā êpa"),
        # Carriers.
        ("ੲਿ ੳੁ ੲ ੳ अा", "i u i u ā"),
        ("ꯃꯩꯇꯩ ꯃꯌꯦꯛ ꯑꯣꯏ ꯑꯃꯥ ꯅꯤꯡꯊꯧ", "maitai mayēk ōi amā niṅthau"),
        ("ᱥᱟᱱᱛᱟᱲᱤ ᱚᱞ ᱪᱤᱠᱤ ᱠᱟᱹᱢᱤ ᱡᱟᱸ ᱫᱷ", "santaṛi ôl ciki kạmi jam̐ dh"),
    ],
)
def test_scripts(text: str, expected: str) -> None:
    """Sources: ISO 15919 tables, A. Stone's notes on its use, and docs/transliteration.md for Ol Chiki."""
    assert to_iso15919(text) == unicodedata.normalize("NFC", expected)


@pytest.mark.parametrize(
    ("lang", "text", "expected"),
    [
        ("ur", "کتاب نام پاکستان یہ میں لوگ", "ktāb nām pākstān yah mīṁ lōg"),  # short vowels are not written
        ("ur", "کِتاب اُردو بَیل دَولت دُوسرا", "kitāb urdō bail dault dūsrā"),  # ... unless somebody writes them
        ("ur", "اچھا گھر کہا پتہ راہ", "achā ghr k:hā ptah rāh"),
        ("ur", "کیوں ہوا پیار وہ یہاں", "kyōṁ hvā pyār vah yhāṁ"),
        ("ur", "بچّہ محَبَّت فوراً اعلیٰ", "bccah mḧabbat fōran aʿlā"),
        ("ur", "بھائی گاؤں نئے کائنات آپ", "bhāʾī gāʾōṁ nʾē kāʾināt āp"),
        ("ur", "ثابت صبر ذرا ضد ظلم طرح حال خبر غم", "s̱ābt s̈br ẕrā żd ẓlm ẗrḧ ḧāl k͟hbr ġm"),
        ("ur", "كيا کیا", "kyā kyā"),  # Arabic kaf and yeh
        ("ur", "\ufeb1\ufefc\u0645", "slām"),  # presentation forms
        ("sd", "ڪتاب کير ۽ ۾ ٻار گهر", "ktāb khīr aiṁ mēṁ ˍbār ghr"),
        ("ks", "کٲشُر زَبان چھُ", "kȫśur zabān chu"),
        (None, "۲۰۲۵ ٣", "2025 3"),
    ],
)
def test_arabic_script(lang: str | None, text: str, expected: str) -> None:
    """Source: the convention stated in docs/transliteration.md."""
    assert to_iso15919(text, lang) == unicodedata.normalize("NFC", expected)


def test_manipuri_is_the_same_in_both_scripts() -> None:
    assert to_iso15919("মীতৈ মায়েক") == "mītai māẏēka"
    assert to_iso15919("ꯃꯦꯅꯥ ꯂꯣꯏ") == to_iso15919("মেনা লোই") == "mēnā lōi"


def test_code_switched_text_keeps_what_is_not_native() -> None:
    text = "कल meeting है, ok? (₹५०) 😀 Привет émigré—نام"
    assert to_iso15919(text, "hi") == "kala meeting hai, ok? (₹50) 😀 Привет émigré—nām"


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(TextError, match="unknown language 'xx'"):
        to_iso15919("क", "xx")


def test_joiners_outside_native_words_stay() -> None:
    family = "👩\u200d👧"
    assert to_iso15919(family) == family


@given(st.text())
def test_any_text_is_transliterated_once(text: str) -> None:
    latin = to_iso15919(text)
    assert unicodedata.is_normalized("NFC", latin)
    assert to_iso15919(latin) == latin


@pytest.mark.parametrize("script", NATIVE)
@given(data=st.data())
def test_laws_in_each_script(script: str, data: st.DataObject) -> None:
    text = data.draw(written_in(script))
    lang = data.draw(st.sampled_from([None, *LANGUAGES]))
    latin = to_iso15919(text, lang)
    assert to_iso15919(unicodedata.normalize("NFD", text), lang) == latin
    assert to_iso15919(latin, lang) == latin
    assert not set(script_counts(latin)) - {"Latn"}
    assert len(latin) <= 15 * len(text)
    written = "".join(piece for piece, _ in segments(text, lang))
    assert written == unicodedata.normalize("NFC", text)
    assert to_iso15919("".join(latin for _, latin in segments(text, lang))) == latin


@given(st.text(alphabet=st.characters(max_codepoint=0x24F)))
def test_latin_passes(text: str) -> None:
    assert to_iso15919(text) == unicodedata.normalize("NFC", text)
