"""Spellings that a careful reader takes for the same word: what the level `lenient` forgives besides a foreign script.

A rule is a pattern and what it becomes; the rules of a language are those of its own entries and of `(None, script)`.
Patterns hold no groups that capture. Nothing here changes what is said, as far as spelling alone can tell; where a
rule may meet another word (हँस and हंस) the loss is accepted at this level and named here.

Sources: Central Hindi Directorate, standard of spelling (anusvara for the nasal of the class, ए and ई after a vowel,
nukta of borrowed sounds optional in print); Paschimbanga Bangla Akademi (ং for ঙ্ before ক-row); the Unicode Standard,
chapter 12 (two forms of the Malayalam au sign); the Urdu dictionary board's note on لیے and لئے.
"""

from __future__ import annotations

from kasauti.text.data.letters import Key

Rule = tuple[str, str]

SPELLINGS: dict[Key, tuple[Rule, ...]] = {
    (None, "Deva"): (
        ("ङ्(?=[क-घ])", "ं"),
        ("ञ्(?=[च-झ])", "ं"),
        ("ण्(?=[ट-ढ])", "ं"),
        ("न्(?=[त-ध])", "ं"),
        ("म्(?=[प-भ])", "ं"),
        ("ँ", "ं"),
    ),
    ("hi", "Deva"): (
        ("(?<=[अ-ह़ा-ौ])ये(?=ं?(?!\\S))", "ए"),
        ("(?<=[अ-ह़ा-ौ])यी(?=ं?(?!\\S))", "ई"),
    ),
    (None, "Beng"): (("ঙ্(?=[ক-ঘ])", "ং"),),
    (None, "Guru"): (("ਂ", "ੰ"), ("ਨ੍(?=[ਤ-ਧ])", "ੰ"), ("ਮ੍(?=[ਪ-ਭ])", "ੰ")),
    (None, "Gujr"): (
        ("ઙ્(?=[ક-ઘ])", "ં"),
        ("ઞ્(?=[ચ-ઝ])", "ં"),
        ("ણ્(?=[ટ-ઢ])", "ં"),
        ("ન્(?=[ત-ધ])", "ં"),
        ("મ્(?=[પ-ભ])", "ં"),
    ),
    (None, "Orya"): (("ଙ୍(?=[କ-ଘ])", "ଂ"),),
    (None, "Telu"): (
        ("ఙ్(?=[క-ఘ])", "ం"),
        ("ఞ్(?=[చ-ఝ])", "ం"),
        ("ణ్(?=[ట-ఢ])", "ం"),
        ("న్(?=[త-ధ])", "ం"),
        ("మ్(?=[ప-భ])", "ం"),
    ),
    (None, "Knda"): (
        ("ಙ್(?=[ಕ-ಘ])", "ಂ"),
        ("ಞ್(?=[ಚ-ಝ])", "ಂ"),
        ("ಣ್(?=[ಟ-ಢ])", "ಂ"),
        ("ನ್(?=[ತ-ಧ])", "ಂ"),
        ("ಮ್(?=[ಪ-ಭ])", "ಂ"),
    ),
    (None, "Mlym"): (("\u0d4c", "\u0d57"), ("ൻറ", "ന്റ")),
    ("ur", "Arab"): (
        ("[\u064b-\u0652\u0670]", ""),
        ("[أإ]", "ا"),
        ("ؤ", "و"),
        ("ۂ", "ہ"),
        ("ئ(?=ے)", "ی"),
        ("ۓ", "ے"),
    ),
    ("sd", "Arab"): (("[\u064b-\u0652\u0670]", ""), ("[أإ]", "ا")),
}
"""By (language, script). Accents of Latin letters, joiners and apostrophes inside a word have steps of their own."""

NUKTA = "(?<=[कखगजफ])\u093c+|(?<=[ਖਗਜਫ])\u0a3c+"
"""Nuktas of borrowed sounds, often left out in print. Those of ड़ ढ़ ਸ਼ ਲ਼ and of Bengali and Odia make other letters."""

NUKTA_KEPT = frozenset({"ks", "sd"})
"""Languages whose own sounds are written with them."""
