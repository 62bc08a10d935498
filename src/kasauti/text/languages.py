"""Languages: English and the 22 scheduled languages of India, and every name by which each may be asked for.

Codes are those of IndicConformer plus `en`. A language that is written in more than one script has its usual script
under the plain code (`ks`, `sd`, `mni`) and the other one under `code-Script` (`ks-Deva`, `sd-Deva`, `mni-Mtei`).
This module does not guess a language from text: eight of these languages share Devanagari.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from kasauti.errors import TextError, near_matches


@dataclass(frozen=True)
class Language:
    """One entry of the table.

    Attributes:
        code: What tables and ids carry, e.g. `hi`, `ks-Deva`.
        name: English name.
        scripts: ISO 15924 codes of the scripts it is natively written in; the one that `code` stands for comes first.
        aliases: ISO 639-3 codes and other names, lower case. BCP-47 tags are understood by rule, not listed.
    """

    code: str
    name: str
    scripts: tuple[str, ...]
    aliases: tuple[str, ...] = ()

    @property
    def base(self) -> str:
        """The code without its script: `ks` for `ks-Deva`."""
        return self.code.partition("-")[0]

    @property
    def script(self) -> str:
        """The script that this code stands for."""
        return self.scripts[0]


_TABLE = (
    Language("as", "Assamese", ("Beng",), ("asm", "asamiya", "axomiya")),
    Language("bn", "Bengali", ("Beng",), ("ben", "bangla")),
    Language("brx", "Bodo", ("Deva",), ("boro",)),
    Language("doi", "Dogri", ("Deva",), ("dgo",)),
    Language("en", "English", ("Latn",), ("eng", "indian english")),
    Language("gu", "Gujarati", ("Gujr",), ("guj",)),
    Language("hi", "Hindi", ("Deva",), ("hin",)),
    Language("kn", "Kannada", ("Knda",), ("kan",)),
    Language("kok", "Konkani", ("Deva",), ("gom", "knn", "goan konkani")),
    Language("ks", "Kashmiri", ("Arab", "Deva"), ("kas",)),
    Language("ks-Deva", "Kashmiri (Devanagari)", ("Deva", "Arab")),
    Language("mai", "Maithili", ("Deva",), ()),
    Language("ml", "Malayalam", ("Mlym",), ("mal",)),
    Language("mni", "Manipuri", ("Beng", "Mtei"), ("meitei", "meetei", "meiteilon")),
    Language("mni-Mtei", "Manipuri (Meetei Mayek)", ("Mtei", "Beng")),
    Language("mr", "Marathi", ("Deva",), ("mar",)),
    Language("ne", "Nepali", ("Deva",), ("nep", "npi")),
    Language("or", "Odia", ("Orya",), ("ori", "ory", "od", "oriya")),
    Language("pa", "Punjabi", ("Guru",), ("pan", "panjabi")),
    Language("sa", "Sanskrit", ("Deva",), ("san",)),
    Language("sat", "Santali", ("Olck",), ("santhali",)),
    Language("sd", "Sindhi", ("Arab", "Deva"), ("snd",)),
    Language("sd-Deva", "Sindhi (Devanagari)", ("Deva", "Arab")),
    Language("ta", "Tamil", ("Taml",), ("tam",)),
    Language("te", "Telugu", ("Telu",), ("tel",)),
    Language("ur", "Urdu", ("Arab",), ("urd",)),
)

LANGUAGES: dict[str, Language] = {entry.code: entry for entry in _TABLE}
"""Code -> entry, in the order of the codes."""

_NAMES: dict[str, str] = {
    name: entry.code for entry in _TABLE for name in (entry.code.lower(), entry.name.lower(), *entry.aliases)
}

_SCRIPT_SPELLINGS = {"meti": "Mtei", "meetei": "Mtei", "olch": "Olck", "tamil": "Taml"}
"""Script subtags seen in data sets that are not ISO 15924 codes."""

_TAG = re.compile(r"([a-z]{2,3})(?:-([a-z]{4,6}))?(?:-([a-z]{2}|\d{3}))?")


@cache
def resolve_language(name: str) -> str:
    """The code of a language, from any of its names in any case.

    Accepted are codes (`ks-Deva`), ISO 639-3 codes (`hin`), English names (`Odia`), and BCP-47 tags with `-` or `_`
    (`hi-IN`, `pa-Guru-IN`, `mni_Mtei`). A region is read and makes no difference. A script must be one that the
    language is natively written in: romanised text goes under the plain code, its script is seen from the text.

    Raises:
        TextError: nothing in the table goes by that name; the message suggests near ones. `nan` is refused like any
            other foreign code (Min Nan Chinese) and never means "missing".
    """
    if not isinstance(name, str):
        raise TextError(f"a language is a code or a name, got {name!r} ({type(name).__name__}); write e.g. 'hi'")
    wanted = " ".join(name.split()).replace("_", "-").lower()
    if wanted in _NAMES:
        return _NAMES[wanted]
    tag = _TAG.fullmatch(wanted)
    if tag and tag[1] in _NAMES:
        return _with_script(_NAMES[tag[1]], tag[2], name)
    raise TextError(f"unknown language {name!r}; {near_matches(wanted, _NAMES)}")


def _with_script(code: str, subtag: str | None, name: str) -> str:
    """The code of a language in a given script."""
    if subtag is None:
        return code
    script = _SCRIPT_SPELLINGS.get(subtag, subtag.title())
    entry = LANGUAGES[code]
    if script not in entry.scripts:
        written = " or ".join(entry.scripts)
        raise TextError(f"language {name!r}: {entry.name} is written in {written}, not {script}; use {code!r}")
    return code if script == entry.script else f"{code}-{script}"


def language(name: str) -> Language:
    """The entry of a language, from any of its names.

    Raises:
        TextError: as `resolve_language`.
    """
    return LANGUAGES[resolve_language(name)]
