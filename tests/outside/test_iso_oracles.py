"""Transliteration against Aksharamukha and ICU: every letter of every Brahmic block and a list of words per script.

Both tools are for development only. Where they and we differ on purpose, the difference is a rule below; what a tool
can't read at all is listed by character, and the list must be exact. docs/transliteration.md says why.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from kasauti.text.data import brahmi
from kasauti.text.iso15919 import to_iso15919

pytestmark = pytest.mark.oracle

RANGES = {script: (start, start + 0x7F) for script, start in brahmi.BLOCKS.items()}
RANGES |= {"Mtei": (0xABC0, 0xABFF), "Olck": (0x1C50, 0x1C7F)}
KA = {script: chr(start + 0x15) for script, (start, _) in RANGES.items()} | {"Mtei": "ꯀ", "Olck": "ᱠ"}
WORDS = {
    script: words.split()
    for line in (Path(__file__).parent / "iso_words.tsv").read_text(encoding="utf-8").splitlines()
    for script, words in [line.split("\t")]
}

AKSHARAMUKHA = dict(
    name.split("=")
    for name in (
        "Deva=Devanagari Beng=Bengali Guru=Gurmukhi Gujr=Gujarati Orya=Oriya Taml=Tamil Telu=Telugu "
        "Knda=Kannada Mlym=Malayalam Mtei=MeeteiMayek Olck=Santali"
    ).split()
)
"""Script -> the tool's name for it."""
ICU_SCRIPTS = {script: name for script, name in AKSHARAMUKHA.items() if script in brahmi.BLOCKS}

AKSHARAMUKHA_RULES: list[tuple[str, str, str]] = [
    ("Deva Gujr", "[æǣ]", "ê"),  # candra e: the pair of candra o, which is ô to both
    ("Deva", "[\u030d\u0331]", ""),  # Vedic accents are left out
    ("Guru", "^ōṁ", "ika ōaṅkāra"),  # ek onkar is read out
    ("Guru", "n(?=n)", "ṁ"),  # tippi stays a nasal sign before n
]
OL_CHIKI_VOWELS = str.maketrans({"a": "ô", "ā": "a", "ē": "e", "ō": "o", "ô": "ạ", "ḥ": "h", "ṁ": "ṅ"})
AKSHARAMUKHA_CANNOT_READ = "ऀऄ॓ॏॱॵॸॺ" + "ঀৗৰৱৼ৾" + "ੑੱੲੳ" + "ૺૻૼ૽૾૿" + "୕ୖୗ" + "ஂௗ௰௱௲" + "ఄౕౖౘౙౚ" + "ಀೕೖ" + "ഀഄഺ഻഼൰൱൲" + "ꯢ꯬" + "ᱶᱹᱺᱻᱼ"

ICU_RULES: list[tuple[str, str, str]] = [
    ("", "ḵẖ", "k͟h"),
    ("", "ŏ", "ô"),
    ("", "ĕ", "ê"),
    ("", "'oṁ", "ōṁ"),
    ("", "[':]", ""),  # hiatus: an apostrophe there, a colon here
    ("", "\u0315", "’"),
    ("Beng", "ṯ", "t"),  # khanda ta
    ("Guru", "ḻ", "ḷ"),
    ("Orya", "ẇ", "v"),
    ("Taml", "ḥ", "ḵ"),  # aytham
    ("Taml", "^srī", "śrī"),
]
ICU_CANNOT_READ = (
    "ऀऄऺऻॎॏॕॖॗॱॲॳॴॵॶॷॸॹॺॻॼॾॿ" + "ঀৗৱ৴৵৶৷৸৹ৼ৾" + "ਃੑੰੱੲੳੴੵ" + "ૢૣૹૺૻૼ૽૾૿" + "ୄ୕ୖୗୢୣ" + "ௐௗఀఄఴ఼ఽౖౘౙౚౝౢౣ" + "ಀಁೖೝೢೣೱೲ" + "ഀഁഄഩഺ഻഼ഽൄൊോൌൎൔൕൖൗൟൢൣ൰൱൲ൺൻർൽൾൿ" + "\u200d"
)


def items(script: str) -> list[str]:
    """Each letter alone and before ka, each sign on ka, and the words."""
    first, last = RANGES[script]
    out = list(WORDS[script])
    for char in map(chr, range(first, last + 1)):
        kind = unicodedata.category(char)[0]
        if kind in "LMN":
            unit = KA[script] + char if kind == "M" else char
            out += [unit, unit + KA[script]]
    return out


def differences(
    script: str, tool: Callable[[str], str], rules: list[tuple[str, str, str]], ours: Callable[[str], str]
) -> tuple[int, list[tuple[str, str, str]]]:
    """How many items were compared, and those that differ once the rules are applied to both sides."""
    found, compared = [], items(script)
    for item in compared:
        theirs, mine = unicodedata.normalize("NFC", tool(item)), ours(item)
        for scripts, pattern, replacement in rules:
            if not scripts or script in scripts.split():
                theirs = re.sub(pattern, replacement, theirs)
        if theirs != mine:
            found.append((item, mine, theirs))
    return len(compared), found


def check(results: dict[str, tuple[int, list[tuple[str, str, str]]]], unreadable: str, at_least: int) -> None:
    """Every difference is due to a character on the list, and every character on the list causes one."""
    found = [row for _, rows in results.values() for row in rows]
    assert [row for row in found if not set(row[0]) & set(unreadable)] == []
    assert [char for char in unreadable if not any(char in item for item, _, _ in found)] == []
    assert sum(n for n, _ in results.values()) >= at_least


def test_aksharamukha() -> None:
    from aksharamukha import transliterate

    def tool(script: str) -> Callable[[str], str]:
        name = AKSHARAMUKHA[script]
        if script == "Olck":
            return lambda item: transliterate.process(name, "ISO", item).translate(OL_CHIKI_VOWELS)
        return lambda item: transliterate.process(name, "ISO", item)

    results = {s: differences(s, tool(s), AKSHARAMUKHA_RULES, to_iso15919) for s in AKSHARAMUKHA}
    check(results, AKSHARAMUKHA_CANNOT_READ, 2000)


def test_icu() -> None:
    import icu

    def one_nasal(latin: str, item_has_anusvara: bool) -> str:
        """ICU writes the nasal of the class for anusvara; both sides are brought to ṁ."""
        return re.sub("n̄|[ṅñṇnm](?!r̥|[aāiīuūeēoō\u0310\u0304])", "ṁ", latin) if item_has_anusvara else latin

    def tool(script: str) -> Callable[[str], str]:
        romanise = icu.Transliterator.createInstance(f"{ICU_SCRIPTS[script]}-Latin").transliterate
        return lambda item: one_nasal(romanise(item), "ṁ" in to_iso15919(item))

    def ours(item: str) -> str:
        latin = to_iso15919(item).replace(":", "")
        return one_nasal(latin, "ṁ" in latin).replace("'", "")

    results = {script: differences(script, tool(script), ICU_RULES, ours) for script in ICU_SCRIPTS}
    check(results, ICU_CANNOT_READ, 1900)
