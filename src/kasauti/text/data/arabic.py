"""A romanisation of the Arabic script as Urdu, Kashmiri and Sindhi write it.

ISO 15919 covers Indic scripts only. This table gives a letter the value that ISO 15919 gives to the sound, and marks
letters that Urdu pronounces alike with signs below or above, so that they stay apart. Vowels: see `romanise_arabic`.
A letter that is not listed has the value of the letter it is named after (`BEH WITH INVERTED V` is a `BEH`).

Source: The Unicode Standard, chapter 9, and the names of the characters; values of the Sindhi letters from the parallel
spelling of Sindhi in Devanagari; decisions in docs/transliteration.md.
"""

from __future__ import annotations

from kasauti.text.data.pairs import pairs, row

CONSONANTS = (
    pairs("ب b  پ p  ت t  ٹ ṭ  ث s̱  ج j  چ c  ح ḧ  خ k͟h  د d  ڈ ḍ  ذ ẕ  ر r  ڑ ṛ  ز z  ژ ž  س s  ش ś")
    | pairs("ص s̈  ض ż  ط ẗ  ظ ẓ  ع ʿ  غ ġ  ف f  ق q  \u06a9 k  \u0643 k  گ g  ل l  م m  ن n  ڤ v  ۋ v")
    | pairs("\u06c1 h  \u06be h  \u06ff h  ݨ ṇ  ࣇ ḷ  ݪ ḷ  ڽ ñ  ݜ ṣ  ڭ ṅ  ݢ g  ڎ d  ࣈ g  ػ k  ة t  ۃ t")
    | pairs("ٻ ˍb  ڀ bh  ٿ th  ٽ ṭ  ٺ ṭh  ڄ ˍj  ڃ ñ  ڇ ch  ڌ dh  ڏ ˍḍ  ڊ ḍ  ڍ ḍh  ڙ ṛ  ڦ ph  \u06aa k")
    | pairs("ڳ ˍg  ڱ ṅ  ڻ ṇ  \u066e b  \u06a1 f  \u066f q  \u08bb f  \u08bc q  \u08bd n")
)
SINDHI = {"\u06a9": "kh"}
"""Sindhi keeps keheh for the aspirate and has swash kaf for k."""

VOWELS = pairs("آ ā  أ a  إ i  ٱ a  ؤ ʾō  ٵ ʾā  ٶ ʾō  ٸ ʾī  ے ē  ۓ ʾē  ٲ ȫ  ٳ ŭ̄  ۄ ô  ۆ o  ێ e  ې ē") | pairs(
    "ۅ ö  ۇ u  ٷ ʾu  ۈ ü  ۉ ü  ۽ aiṁ  ۾ mēṁ  \u06c2 ah  \u06c0 ah  \u06d5 ah"
)
"""Letters, and two words of one sign, that end in a vowel wherever they stand (ah is a word's final vowel)."""

OTHERS = pairs("ں ṁ  ء ʾ  \u0674 ʾ  ؠ ʸ  ۍ ʸ  \u0658 ṁ")
"""Nasal sign, hamza, palatal sign."""

SHORT_VOWELS = (
    row("\u064e\u0650\u064f\u064b\u064d\u064c", "a i u an in un")
    | row("\u0670\u0656\u0657\u0654\u0655\u065f", "ā ī ū ö ŭ ŭ̄")
    | row("\u065a\u065b\u065c\u065d\u065e\u0659\u06e5\u06e6", "e o i u a ö ū ī")
)
"""Signs above and below, where somebody has written them."""

LENGTHENED = pairs("a\u0627 ā  i\u06cc ī  u\u0648 ū  a\u0648 au  a\u06cc ai  a\u06d2 ai  i\u06d2 ē")
"""A written short vowel and the letter after it: one long vowel or diphthong."""

ALEF, WAW, YEH, YEH_HAMZA, HEH, SHADDA = "\u0627\u0648\u06cc\u0626\u06c1\u0651"

REWRITTEN = (
    row("\u064a\u0649\u0886\u08ac", "\u06cc \u06cc \u06cc \u06cc")
    | row("\u0647\u08b1\u08ad", "\u06c1 \u0648 \u0627")
    | pairs("\u06cc\u0654 \u0626  \u06cc\u0670 \u0670  \u0627\u064b \u064b  \u064b\u0627 \u064b")
)
"""Letters and sequences written as others of the same value: yeh, heh, waw and alef of other code points, yeh with
hamza, yeh under a dagger alef, tanwin with its silent alef."""
