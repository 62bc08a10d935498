"""Letters that NFC leaves apart although a reader sees the same letter, and joiners that mean something.

Every entry is written in code points, because the two sides look alike. Keys of the tables are (language, script); a
language without an entry of its own has the one of `(None, script)`. Two kinds of difference are *not* here: letters
that look different (Assamese and Bengali ra, tippi and bindi, Odia va and ba), and spellings (the Malayalam au sign in
its two styles, nta written with a chillu). The first stay apart at every level below the phonetic one, the second meet
at `lenient`.

Sources: The Unicode Standard, chapters 9 and 12 (tables of vowel letters, eyelash ra, khanda ta, ya-phalaa, chillu
letters, Tamil shrii, Sindhi implosives) and its DoNotEmit.txt; Urdu folds: cases normalise-34 to -38.
"""

from __future__ import annotations

Key = tuple[str | None, str]

SEQUENCES: dict[Key, dict[str, str]] = {
    (None, "Deva"): {
        "0905 0946": "0904",
        "0905 093E": "0906",
        "0930 094D 0907": "0908",
        "0909 0941": "090A",
        "090F 0945": "090D",
        "090F 0946": "090E",
        "090F 0947": "0910",
        "0905 0949": "0911",
        "0906 0945": "0911",
        "0905 094A": "0912",
        "0906 0946": "0912",
        "0905 094B": "0913",
        "0906 0947": "0913",
        "0905 094C": "0914",
        "0906 0948": "0914",
        "0905 0945": "0972",
        "0905 093A": "0973",
        "0905 093B": "0974",
        "0906 093A": "0974",
        "0905 094F": "0975",
        "0905 0956": "0976",
        "0905 0957": "0977",
        "093E 0945": "0949",
        "093E 0946": "094A",
        "093E 0947": "094B",
        "093E 0948": "094C",
    },
    ("sd", "Deva"): {"0917 0952": "097B", "091C 0952": "097C", "0921 0952": "097E", "092C 0952": "097F"},
    (None, "Beng"): {"0985 09BE": "0986", "098B 09C3": "09E0", "098C 09E2": "09E1"},
    (None, "Guru"): {
        "0A05 0A3E": "0A06",
        "0A72 0A3F": "0A07",
        "0A72 0A40": "0A08",
        "0A73 0A41": "0A09",
        "0A73 0A42": "0A0A",
        "0A72 0A47": "0A0F",
        "0A05 0A48": "0A10",
        "0A73 0A4B": "0A13",
        "0A05 0A4C": "0A14",
    },
    (None, "Gujr"): {
        "0A85 0ABE": "0A86",
        "0A85 0AC5": "0A8D",
        "0A85 0AC7": "0A8F",
        "0A85 0AC8": "0A90",
        "0A85 0AC9": "0A91",
        "0A86 0AC5": "0A91",
        "0A85 0ACB": "0A93",
        "0A86 0AC7": "0A93",
        "0A85 0ACC": "0A94",
        "0A86 0AC8": "0A94",
        "0AC5 0ABE": "0AC9",
        "0ABE 0AC5": "0AC9",
        "0ABE 0AC7": "0ACB",
        "0ABE 0AC8": "0ACC",
    },
    (None, "Orya"): {"0B05 0B3E": "0B06", "0B0F 0B57": "0B10", "0B13 0B57": "0B14", "0B2F 0B3C": "0B5F"},
    (None, "Taml"): {"0B85 0BC2": "0B86", "0BB8 0BCD 0BB0 0BC0": "0BB6 0BCD 0BB0 0BC0"},
    (None, "Telu"): {
        "0C12 0C55": "0C13",
        "0C12 0C4C": "0C14",
        "0C3F 0C55": "0C40",
        "0C46 0C55": "0C47",
        "0C4A 0C55": "0C4B",
    },
    (None, "Knda"): {"0C89 0CBE": "0C8A", "0C92 0CCC": "0C94", "0C8B 0CBE": "0CE0"},
    (None, "Mlym"): {
        "0D07 0D57": "0D08",
        "0D09 0D57": "0D0A",
        "0D0E 0D46": "0D10",
        "0D12 0D3E": "0D13",
        "0D12 0D57": "0D14",
        "0D7B 0D4D 0D31": "0D28 0D4D 0D31",
    },
    (None, "Arab"): {"06CC 0654": "0626"},
}
"""Sequences that stand for one letter, and that letter."""

NUKTA_BLOCKS = {"Deva": 0x0900, "Beng": 0x0980, "Guru": 0x0A00, "Gujr": 0x0A80, "Orya": 0x0B00}
"""First code point of each block that has its nukta at +3C and its vowel signs at +3E to +4C. A nukta typed after the
vowel sign belongs before it; canonical ordering does not move it, since vowel signs have combining class 0."""

LETTERS: dict[Key, dict[str, str]] = {
    (None, "Beng"): {"09F7": "0964"},
    (None, "Arab"): {
        "064A": "06CC",
        "0649": "06CC",
        "0643": "06A9",
        "06AA": "06A9",
        "0647": "06C1",
        "06D5": "06C1",
        "06C0": "06C2",
        "0629": "06C3",
        "0673": "0627 065F",
        "0640": "",
    },
    ("sd", "Arab"): {
        "0640": "",
        "06CC": "064A",
        "0649": "064A",
        "0643": "06AA",
        "06C1": "0647",
        "06D5": "0647",
        "06C3": "0629",
    },
}
"""Single letters typed for another one that looks the same, and the code point native to the language.

In Sindhi the roles differ: the swash kaf (06AA) is /k/, the keheh (06A9) is /kh/, so only the Arabic kaf is folded. The
stretching mark (tatweel, 0640) is a letter only by category and goes. The Bengali currency numerator four (09F7) is
typed as a danda.
"""

ARABIC_DIGITS = {f"{0x660 + digit:04X}": f"{0x6F0 + digit:04X}" for digit in range(10)}
"""The two rows of Arabic digits become the one used in Urdu."""

OLD_NUMERALS = {"0BF0": "10", "0BF1": "100", "0BF2": "1000", "0D70": "10", "0D71": "100", "0D72": "1000"}
"""Tamil and Malayalam signs for 10, 100 and 1000, and their values in figures."""

JOINER_FORMS: dict[Key, dict[str, str]] = {
    (None, "Mlym"): {
        "0D23 0D4D 200D": "0D7A",
        "0D28 0D4D 200D": "0D7B",
        "0D30 0D4D 200D": "0D7C",
        "0D32 0D4D 200D": "0D7D",
        "0D33 0D4D 200D": "0D7E",
        "0D15 0D4D 200D": "0D7F",
        "0D2E 0D4D 200D": "0D54",
        "0D2F 0D4D 200D": "0D55",
        "0D34 0D4D 200D": "0D56",
    },
    (None, "Beng"): {"09A4 09CD 200D": "09CE", "09B0 09CD 200D 09AF": "09B0 200D 09CD 09AF"},
    ("mr", "Deva"): {"0930 094D 200D": "0931 094D"},
    ("ne", "Deva"): {"0930 094D 200D": "0931 094D"},
    ("kok", "Deva"): {"0930 094D 200D": "0931 094D"},
}
"""Consonant + virama + ZWJ that is a letter of its own: chillus, khanda ta, ra with ya-phalaa, eyelash ra."""

JOINERS_KEPT: dict[Key, tuple[str, ...]] = {
    (None, "Mlym"): ("(?<=\u0d4d)\u200c(?=\\p{Lo})",),
    (None, "Beng"): ("(?<=\u09cd)\u200c(?=\\p{Lo})", "(?<=\u09b0)\u200d(?=\u09cd\u09af)"),
    ("sa", "Deva"): ("(?<=\u094d)\u200c(?=\\p{Lo})",),
}
"""Patterns of the joiners that stay. A ZWNJ after a virama and before a letter keeps the virama a sound of its own in
Malayalam (the short vowel inside a compound), keeps Bengali and Assamese consonants from becoming a conjunct that is
read otherwise (ud-yog, uddog), and marks the seam of a sandhi in Sanskrit; the ZWJ of Bengali ra + ya-phalaa tells it
from reph + ya. All others only ask for a shape: half forms, visible viramas of Hindi, Telugu, Kannada and the rest."""

WORD_FINAL_APOSTROPHE = frozenset({"brx", "doi", "mai"})
"""Languages in which an apostrophe ends words: it marks a tone or an open vowel."""

LETTERLIKE_SYMBOLS = "\u06fd\u06fe"
"""Signs of category So that are words: Sindhi 'and' and 'in'."""
