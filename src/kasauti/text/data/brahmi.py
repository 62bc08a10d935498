"""ISO 15919 values of the Brahmic scripts of India: Devanagari, Bengali, Gurmukhi, Gujarati, Odia, Tamil, Telugu,
Kannada, Malayalam, and Meetei Mayek.

The first nine blocks of Unicode have one layout, so a letter is a block and an offset; what differs is listed letter
by letter. Keys are NFC characters. The value of a consonant is written without its inherent vowel.

Sources: ISO 15919:2001 as described in A. Stone, "Transliteration of Indic scripts: how to use ISO 15919"; The Unicode
Standard, chapters 12 and 13 and the names of the characters; choices where these are silent: docs/transliteration.md.
"""

from __future__ import annotations

from kasauti.text.data.pairs import pairs, row

BLOCKS: dict[str, int] = {
    "Deva": 0x0900,
    "Beng": 0x0980,
    "Guru": 0x0A00,
    "Gujr": 0x0A80,
    "Orya": 0x0B00,
    "Taml": 0x0B80,
    "Telu": 0x0C00,
    "Knda": 0x0C80,
    "Mlym": 0x0D00,
}
"""Script -> first code point of its block."""

VOWEL_LETTERS_AT = 0x05
VOWEL_LETTERS = "a ā i ī u ū r̥ l̥ ê e ē ai ô o ō au".split()
CONSONANTS_AT = 0x15
CONSONANTS = "k kh g gh ṅ c ch j jh ñ ṭ ṭh ḍ ḍh ṇ t th d dh n ṉ p ph b bh m y r ṟ l ḷ ḻ v ś ṣ s h".split()
VOWEL_SIGNS_AT = 0x3E
VOWEL_SIGNS = "ā i ī u ū r̥ r̥̄ ê e ē ai ô o ō au".split()
STOPS = frozenset("kgcjṭḍtdpb")
"""Consonants that an h after them would turn into another letter."""
MARKS_AT = 0x01
MARKS = "m̐ ṁ ḥ".split()
DIGITS_AT = 0x66
LATE_VOWEL_LETTERS = {0x60: "r̥̄", 0x61: "l̥̄"}
LATE_VOWEL_SIGNS = {0x62: "l̥", 0x63: "l̥̄"}
NUKTA_AT, AVAGRAHA_AT, VIRAMA_AT = 0x3C, 0x3D, 0x4D
"""Offsets from the start of a block, the same in all nine."""

AVAGRAHA = "’"

# --- what the common layout does not have -------------------------------------------------------------------------

EXTRA_CONSONANTS = (
    pairs("ॸ ḍ  ॹ z̈  ॺ ẏ  ॻ ˍg  ॼ ˍj  ॾ ˍḍ  ॿ ˍb  ৰ r  ৱ v  ੜ ṛ  ૹ z̈  ୟ ẏ  ୱ v  ౘ ĉ  ౙ ẑ  ౚ ṟ  ೞ ḻ  ഺ ṯ")
    | row("ꯀꯁꯂꯃꯄꯅꯆꯇꯈꯉꯊꯋꯌꯍꯐ", "k s l m p n c t kh ṅ th v y h ph")
    | row("ꯒꯓꯔꯕꯖꯗꯘꯙꯚ", "g jh r b j d gh dh bh")
    | row("ꫢꫣꫤꫥꫦꫧꫨꫩꫪ", "ch ñ ṭ ṭh ḍ ḍh ṇ ś ṣ")
)

CARRIERS = pairs("ੲ i  ੳ u  ꯑ a")
"""Letters that hold a vowel sign and have a vowel of their own without one; so does the letter a of the nine blocks."""

EXTRA_VOWEL_LETTERS = pairs("ऄ e  ॲ ê  ॳ ö  ॴ ȫ  ॵ å  ॶ ŭ  ॷ ŭ̄  ꣾ ê  ൟ ī  ꯎ u  ꯏ i  ꫠ ē  ꫡ ō")

EXTRA_VOWEL_SIGNS = (
    row("\u093a\u093b\u094e\u094f\u0955\u0956\u0957\ua8ff", "ö ȫ ē å ê ŭ ŭ̄ ê")
    | row("\u09d7\u0b56\u0b57\u0bd7\u0c56\u0cd6\u0d57", "au ai au au ai ai au")
    | row("\uabe3\uabe4\uabe5\uabe6\uabe7\uabe8\uabe9", "ō i ā ē au u ai")
    | row("\uaaeb\uaaec\uaaed\uaaee\uaaef", "ī ū āi au āu")
)

EXTRA_MARKS = (
    pairs("ॐ ōṁ  ૐ ōṁ  ௐ ōṁ  ꣽ ōṁ  ঀ siddhaṁ  ॽ ʔ  ஃ ḵ  ৎ t  ౝ n  ೝ n  ೱ ẖ  ೲ ḫ  ᳵ ẖ  ᳶ ḫ  ᳲ ḥ  ᳳ ḥ")
    | pairs("௰ 10  ௱ 100  ௲ 1000  ൰ 10  ൱ 100  ൲ 1000")
    | row("ൎൔൕൖൺൻർൽൾൿ", "r m y ḻ ṇ n r l ḷ k")
    | row("ꯛꯜꯝꯞꯟꯠꯡꯢ\uabea\uaaf5", "k l m p n t ṅ i ṁ ḥ")
    | dict.fromkeys("\u0900\u0c00ಀꣲꣳꣴꣵꣶꣷ", "m̐")
    | dict.fromkeys("\u0a70\u0c04\u0d00ഄ\u0cf3ৼᳩᳪᳫᳬᳮᳯᳰᳱᳺ", "ṁ")
    | {"ੴ": "ika ōaṅkāra"}
)
"""Whatever stands for itself and takes no vowel: nasal and breath signs, consonants without a vowel, whole words."""

EXTRA_VIRAMAS = "\u0d3b\u0d3c\uabed\uaaf6"
ADDAK = "\u0a71"

SILENT_RANGES = ((0x0951, 0x0954), (0x1CD0, 0x1CF9), (0xA8E0, 0xA8FF))
"""Vedic accents and digits above the line: the marks among them tell pitch, not sounds."""
SILENT = "\u0971\u09fe\u0a51\u0afa\u0afb\u0afc\u0afd\u0afe\u0aff\u0b55\u0c55\u0cd5\ua8fb\uabec\uaaf2\uaaf3\uaaf4"
"""Other marks without a sound of their own (length marks that stand alone, tone, repetition and sandhi marks)."""

JOINERS = "\u200c\u200d"

NUKTA = {"": "ʿ"} | pairs("k q  kh k͟h  g ġ  j z  ḍ ṛ  ḍh ṛh  ph f  y ẏ  n ṉ  r ṟ  ḷ ḻ  c c̈  ch c̈h  jh z̈  t ẗ  s s̈  h ḧ")
"""Value of a consonant with a dot; the empty one is the vowel carrier. Any other consonant keeps its value."""
NUKTA_GURU = pairs("s ś  l ḷ")

REWRITTEN = pairs("অ্যা ऍ  এ্যা ऍ  ஸ்ரீ ஶ்ரீ  \u0d41\u0d4d \u0956  \u0a75 \u0a4d\u0a2f")
"""Sequences written as others of the same value, where need be with the letter of another script that has the sound:
Bengali ae; Tamil shri, whose two spellings look alike; the half u of Malayalam (sign u, virama); the Gurmukhi
subscript ya."""
