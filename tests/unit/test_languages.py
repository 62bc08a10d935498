"""The table of languages and the names that find them."""

import pytest

from kasauti.errors import TextError
from kasauti.text.languages import LANGUAGES, language, resolve_language

SCHEDULED = tuple("as bn brx doi gu hi kn kok ks mai ml mni mr ne or pa sa sat sd ta te ur".split())
"""Source: Eighth Schedule of the Constitution of India; codes as IndicConformer's."""


def test_has_english_the_22_scheduled_languages_and_three_second_scripts():
    assert sorted(LANGUAGES) == sorted([*SCHEDULED, "en", "ks-Deva", "sd-Deva", "mni-Mtei"])


def test_every_code_stands_for_a_script_of_its_base_language():
    for code, entry in LANGUAGES.items():
        assert entry.code == code
        assert set(entry.scripts) == set(LANGUAGES[entry.base].scripts)
        assert code == entry.base or code == f"{entry.base}-{entry.script}"


def test_no_name_means_two_languages():
    names = [name for entry in LANGUAGES.values() for name in (entry.code.lower(), entry.name.lower(), *entry.aliases)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("hi", "hi"),
        ("HI", "hi"),
        (" Hindi ", "hi"),
        ("hin", "hi"),
        ("hi-IN", "hi"),
        ("hi_in", "hi"),
        ("Odia", "or"),
        ("Oriya", "or"),
        ("od-IN", "or"),  # Sarvam's tag for Odia
        ("ory", "or"),
        ("pa-Guru-IN", "pa"),  # Google's tag for Punjabi
        ("ne-NP", "ne"),
        ("npi", "ne"),
        ("ur-PK", "ur"),
        ("gom", "kok"),
        ("dgo", "doi"),
        ("asm_Beng", "as"),  # Omnilingual's form
        ("sat_Olch", "sat"),  # spelled so in IndicLID
        ("mni_Meti", "mni-Mtei"),
        ("mni-Mtei", "mni-Mtei"),
        ("MNI-MTEI-in", "mni-Mtei"),
        ("mni-Beng", "mni"),
        ("ks-Arab", "ks"),
        ("ks_deva", "ks-Deva"),
        ("kas-Deva", "ks-Deva"),
        ("sd-Deva-IN", "sd-Deva"),
        ("en-US", "en"),
        ("Indian English", "en"),
        ("Manipuri (Meetei Mayek)", "mni-Mtei"),
    ],
)
def test_names(name, code):
    assert resolve_language(name) == code
    assert language(name).code == code


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_code_and_its_name_resolve_to_the_code(code):
    assert resolve_language(code) == code
    assert resolve_language(LANGUAGES[code].name.upper()) == code


def test_nan_is_a_foreign_language_not_a_missing_value():
    # ISO 639-3 nan is Min Nan Chinese (case io-01).
    with pytest.raises(TextError, match="unknown language 'nan'"):
        resolve_language("nan")


def test_a_missing_value_is_refused_by_its_type():
    with pytest.raises(TextError, match=r"got nan \(float\)"):
        resolve_language(float("nan"))


def test_near_matches_are_suggested():
    with pytest.raises(TextError, match="'malayalam'"):
        resolve_language("malayalm")


@pytest.mark.parametrize("name", ["hi-Latn", "ur-Deva", "ta-Beng"])
def test_a_script_the_language_is_not_written_in_is_refused(name):
    with pytest.raises(TextError, match="is written in"):
        resolve_language(name)


@pytest.mark.parametrize("name", ["", "h", "fr", "hi-", "hi-IN-x", "zh-Hans", "-hi"])
def test_everything_else_is_refused(name):
    with pytest.raises(TextError, match="unknown language"):
        resolve_language(name)
