"""Spellings that a careful reader takes for the same word: what the level `lenient` forgives besides a foreign script.

A rule is a pattern and what it becomes; the rules of a language are those of its own entries and of `(None, script)`.
Patterns hold no groups that capture. Nothing here changes what is said, as far as spelling alone can tell; where a
rule may meet another word (हँस and हंस) the loss is accepted at this level and named here. Abbreviations are whole words
whose point is gone by then; those that are words too (no, st, प्रो) are not in the list, nor native initials (ए.पी.जे.).

Sources: Central Hindi Directorate, standard of spelling (anusvara for the nasal of the class, ए and ई after a vowel,
nukta of borrowed sounds optional in print); Paschimbanga Bangla Akademi (ং for ঙ্ before ক-row); the Unicode Standard,
chapter 12 (two forms of the Malayalam au sign); the Urdu dictionary board's note on لیے and لئے.
"""

from __future__ import annotations

from kasauti.text.data.letters import Key

Rule = tuple[str, str]

LATIN_SHORT = {
    "approx": "approximately",
    "dept": "department",
    "dr": "doctor",
    "govt": "government",
    "jr": "junior",
    "ltd": "limited",
    "mr": "mister",
    "mrs": "missus",
    "prof": "professor",
    "pvt": "private",
    "sr": "senior",
    "vs": "versus",
}
"""Latin abbreviations and what is said for them. They are compared in pairs: `dr` alone may be what the sounds of a
word in Arabic letters come to."""


def _whole_words(said: dict[str, str]) -> tuple[Rule, ...]:
    """Rules for abbreviations and the words that are said for them."""
    return tuple((rf"(?<!\S){short}(?!\S)", word) for short, word in said.items())


SPELLINGS: dict[Key, tuple[Rule, ...]] = {
    (None, "Deva"): (
        *_whole_words({"डॉ": "डॉक्टर", "पं": "पंडित"}),
        ("ङ्(?=[क-घ])", "ं"),
        ("ञ्(?=[च-झ])", "ं"),
        ("ण्(?=[ट-ढ])", "ं"),
        ("न्(?=[त-ध])", "ं"),
        ("म्(?=[प-भ])", "ं"),
        ("ँ", "ं"),
    ),
    ("ne", "Deva"): _whole_words({"डा": "डाक्टर"}),
    ("hi", "Deva"): (
        *_whole_words({"डा": "डॉक्टर"}),
        ("(?<=[अ-ह़ा-ौ])ये(?=ं?(?!\\S))", "ए"),
        ("(?<=[अ-ह़ा-ौ])यी(?=ं?(?!\\S))", "ई"),
    ),
    (None, "Beng"): (("ঙ্(?=[ক-ঘ])", "ং"),),
    ("bn", "Beng"): _whole_words({"ডা": "ডাক্তার", "ড": "ডক্টর"}),
    ("as", "Beng"): _whole_words({"ডা": "ডাক্তৰ", "ড": "ডক্টৰ"}),
    (None, "Guru"): (*_whole_words({"ਡਾ": "ਡਾਕਟਰ"}), ("ਂ", "ੰ"), ("ਨ੍(?=[ਤ-ਧ])", "ੰ"), ("ਮ੍(?=[ਪ-ਭ])", "ੰ")),
    (None, "Gujr"): (
        *_whole_words({"ડૉ": "ડૉક્ટર", "ડો": "ડૉક્ટર"}),
        ("ઙ્(?=[ક-ઘ])", "ં"),
        ("ઞ્(?=[ચ-ઝ])", "ં"),
        ("ણ્(?=[ટ-ઢ])", "ં"),
        ("ન્(?=[ત-ધ])", "ં"),
        ("મ્(?=[પ-ભ])", "ં"),
    ),
    (None, "Orya"): (
        *_whole_words({"ଡା": "ଡାକ୍ତର", "ଡଃ": "ଡକ୍ଟର"}),
        ("ଙ୍(?=[କ-ଘ])", "ଂ"),
    ),
    (None, "Telu"): (
        *_whole_words({"డా": "డాక్టర్"}),
        ("ఙ్(?=[క-ఘ])", "ం"),
        ("ఞ్(?=[చ-ఝ])", "ం"),
        ("ణ్(?=[ట-ఢ])", "ం"),
        ("న్(?=[త-ధ])", "ం"),
        ("మ్(?=[ప-భ])", "ం"),
    ),
    (None, "Knda"): (
        *_whole_words({"ಡಾ": "ಡಾಕ್ಟರ್"}),
        ("ಙ್(?=[ಕ-ಘ])", "ಂ"),
        ("ಞ್(?=[ಚ-ಝ])", "ಂ"),
        ("ಣ್(?=[ಟ-ಢ])", "ಂ"),
        ("ನ್(?=[ತ-ಧ])", "ಂ"),
        ("ಮ್(?=[ಪ-ಭ])", "ಂ"),
    ),
    (None, "Mlym"): (*_whole_words({"ഡോ": "ഡോക്ടർ"}), ("\u0d4c", "\u0d57"), ("ൻറ", "ന്റ")),
    ("ur", "Arab"): (
        ("[\u064b-\u0652\u0670]", ""),
        ("[أإ]", "ا"),
        ("ؤ", "و"),
        ("ۂ", "ہ"),
        ("ئ(?=ے)", "ی"),
        ("ۓ", "ے"),
    ),
    ("sd", "Arab"): (
        ("[\u064b-\u0652\u0670]", ""),
        ("[أإ]", "ا"),
        # Both are typed for /h/ (آهي, آھي); only in جھ and گھ is it part of the letter before.
        ("(?<![جگ])(?<![جگ][\u064b-\u0652\u0670])\u06be", "\u0647"),
    ),
}
"""By (language, script). Accents of Latin letters, joiners and apostrophes inside a word have steps of their own."""

COLON_FOR_VISARGA = (
    r"(?<![\u0900-\u0963\u0971-\u097f])"
    "(दु|नि|अंत|अन्त|पुन|प्रात|स्वत|मन|अध|तप|यश|वय|छंद|छन्द|ज्योति|चतु|बहि|प्राय|वस्तुत|विशेषत|अंशत|मूलत)"
    r":(?=[\u0904-\u0939\u0958-\u0961\u0972-\u097f])"
)
"""A colon typed for the visarga (दु:ख), before more of the word. After these stems alone: any other colon between two
letters may as well part two words (समय:पाँच)."""

NUKTA = "(?<=[कखगजफ])\u093c+|(?<=[ਖਗਜਫ])\u0a3c+"
"""Nuktas of borrowed sounds, often left out in print. Those of ड़ ढ़ ਸ਼ ਲ਼ and of Bengali and Odia make other letters."""

NUKTA_KEPT = frozenset({"ks", "sd"})
"""Languages whose own sounds are written with them."""
