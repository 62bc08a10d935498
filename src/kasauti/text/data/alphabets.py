"""Romanisation of Ol Chiki, which ISO 15919 does not cover.

Ol Chiki is an alphabet: vowels are letters, and signs after a letter change it. The sound of ᱚ is the open o that ISO
15919 writes ô; the dot of gaahlaa is written as a dot below the vowel, as in the Latin orthography of Santali.

Source: The Unicode Standard, chapter 13, Ol Chiki (names and sounds of the letters).
"""

from __future__ import annotations

OL_CHIKI = {
    **dict(zip("ᱚᱛᱜᱝᱞᱟᱠᱡᱢᱣ", "ô t g ṅ l a k j m v".split(), strict=True)),
    **dict(zip("ᱤᱥᱦᱧᱨᱩᱪᱫᱬᱭ", "i s h ñ r u c d ṇ y".split(), strict=True)),
    **dict(zip("ᱮᱯᱰᱱᱲᱳᱴᱵᱶᱷ", "e p ḍ n ṛ o ṭ b ṽ h".split(), strict=True)),
    **{"ᱸ": "m̐", "ᱹ": "\u0323", "ᱺ": "\u0323m̐", "ᱻ": "\u0304", "ᱼ": "-", "ᱽ": "’"},
    **{chr(0x1C50 + digit): str(digit) for digit in range(10)},
}
"""Character -> value. Signs in the order: nasal, lowered, both, long, glottal protector, released."""
