"""Romanisation of Ol Chiki, which ISO 15919 does not cover.

Ol Chiki is an alphabet: vowels are letters, and signs after a letter change it. The sound of ᱚ is the open o that ISO
15919 writes ô; the dot of gaahlaa is written as a dot below the vowel, as in the Latin orthography of Santali.

Source: The Unicode Standard, chapter 13, Ol Chiki (names and sounds of the letters).
"""

from __future__ import annotations

from kasauti.text.data.pairs import pairs, row

OL_CHIKI = (
    row("ᱚᱛᱜᱝᱞᱟᱠᱡᱢᱣ", "ô t g ṅ l a k j m v")
    | row("ᱤᱥᱦᱧᱨᱩᱪᱫᱬᱭ", "i s h ñ r u c d ṇ y")
    | row("ᱮᱯᱰᱱᱲᱳᱴᱵᱶᱷ", "e p ḍ n ṛ o ṭ b ṽ h")
    | pairs("ᱸ m̐  ᱹ \u0323  ᱺ \u0323m̐  ᱻ \u0304  ᱼ -  ᱽ ’")
    | row("᱐᱑᱒᱓᱔᱕᱖᱗᱘᱙", "0 1 2 3 4 5 6 7 8 9")
)
"""Character -> value. Signs in the order: nasal, lowered, both, long, glottal protector, released."""
