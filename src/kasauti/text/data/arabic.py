"""A romanisation of the Arabic script as Urdu, Kashmiri and Sindhi write it.

ISO 15919 covers Indic scripts only. This table gives a letter the value that ISO 15919 gives to the sound, and marks
letters that Urdu pronounces alike with signs below or above, so that they stay apart. Vowels: see `romanise_arabic`.
A letter that is not listed has the value of the letter it is named after (`BEH WITH INVERTED V` is a `BEH`).

Source: The Unicode Standard, chapter 9, and the names of the characters; values of the Sindhi letters from the parallel
spelling of Sindhi in Devanagari; decisions in docs/transliteration.md.
"""

from __future__ import annotations

CONSONANTS = {
    **{"ب": "b", "پ": "p", "ت": "t", "ٹ": "ṭ", "ث": "s̱", "ج": "j", "چ": "c", "ح": "ḧ", "خ": "k͟h"},
    **{"د": "d", "ڈ": "ḍ", "ذ": "ẕ", "ر": "r", "ڑ": "ṛ", "ز": "z", "ژ": "ž", "س": "s", "ش": "ś"},
    **{"ص": "s̈", "ض": "ż", "ط": "ẗ", "ظ": "ẓ", "ع": "ʿ", "غ": "ġ", "ف": "f", "ق": "q", "ک": "k", "گ": "g"},
    **{"ل": "l", "م": "m", "ن": "n", "ہ": "h", "ھ": "h", "ۿ": "h", "ك": "k", "ڤ": "v", "ۋ": "v"},
    **{"ٻ": "ˍb", "ڀ": "bh", "ٿ": "th", "ٽ": "ṭ", "ٺ": "ṭh", "ڄ": "ˍj", "ڃ": "ñ", "ڇ": "ch", "ڌ": "dh"},
    **{"ڏ": "ˍḍ", "ڊ": "ḍ", "ڍ": "ḍh", "ڙ": "ṛ", "ڦ": "ph", "ڪ": "k", "ڳ": "ˍg", "ڱ": "ṅ", "ڻ": "ṇ"},
    **{"ݨ": "ṇ", "ࣇ": "ḷ", "ݪ": "ḷ", "ڽ": "ñ", "ݜ": "ṣ", "ڭ": "ṅ", "ݢ": "g"},
    **{"ٮ": "b", "ڡ": "f", "ٯ": "q", "ࢻ": "f", "ࢼ": "q", "ࢽ": "n", "ڎ": "d", "ࣈ": "g", "ػ": "k", "ة": "t", "ۃ": "t"},
}
SINDHI = {"\u06a9": "kh"}
"""Sindhi keeps keheh for the aspirate and has swash kaf for k."""

VOWELS = {
    **{"آ": "ā", "أ": "a", "إ": "i", "ٱ": "a", "ؤ": "ʾō", "ٵ": "ʾā", "ٶ": "ʾō", "ٸ": "ʾī", "ے": "ē", "ۓ": "ʾē"},
    **{"ٲ": "ȫ", "ٳ": "ŭ̄", "ۄ": "ô", "ۆ": "o", "ێ": "e", "ې": "ē", "ۅ": "ö", "ۇ": "u", "ٷ": "ʾu", "ۈ": "ü"},
    **{"ۉ": "ü", "۽": "aiṁ", "۾": "mēṁ", "ۂ": "ah", "ۀ": "ah", "ە": "ah"},
}
"""Letters, and two words of one sign, that end in a vowel wherever they stand (ah is a word's final vowel)."""

OTHERS = {"ں": "ṁ", "ء": "ʾ", "ٴ": "ʾ", "ؠ": "ʸ", "ۍ": "ʸ", "\u0658": "ṁ"}
"""Nasal sign, hamza, palatal sign."""

SHORT_VOWELS = {
    **{"\u064e": "a", "\u0650": "i", "\u064f": "u", "\u064b": "an", "\u064d": "in", "\u064c": "un"},
    **{"\u0670": "ā", "\u0656": "ī", "\u0657": "ū", "\u0654": "ö", "\u0655": "ŭ", "\u065f": "ŭ̄"},
    **{"\u065a": "e", "\u065b": "o", "\u065c": "i", "\u065d": "u", "\u065e": "a", "\u0659": "ö"},
    **{"\u06e5": "ū", "\u06e6": "ī"},
}
"""Signs above and below, where somebody has written them."""

LENGTHENED = {"aا": "ā", "iی": "ī", "uو": "ū", "aو": "au", "aی": "ai", "aے": "ai", "iے": "ē"}
"""A written short vowel and the letter after it: one long vowel or diphthong."""

ALEF, WAW, YEH, YEH_HAMZA, HEH, SHADDA = "اویئہ\u0651"

REWRITTEN = {
    **{"ي": "ی", "ى": "ی", "ࢆ": "ی", "ࢬ": "ی", "ه": "ہ", "ࢱ": "و", "ࢭ": "ا"},
    **{"ی\u0654": "ئ", "ی\u0670": "\u0670", "ا\u064b": "\u064b", "\u064bا": "\u064b"},
}
"""Letters and sequences written as others of the same value; the two of tanwin lose their silent alef."""
