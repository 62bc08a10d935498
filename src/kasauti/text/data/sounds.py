"""What the phonetic fold merges, and why: rules as data, printed in docs/transliteration.md.

A rule is a regular expression on lower-case text. `SPELLINGS` act on the ISO 15919 of a native word, `SOUNDS` then
gives every letter its sound, `MERGES` act on all words, native or not. Letters of the result: a e i o u, plain
consonants with an h after them for aspirates, ʧ and ʃ. Languages are base codes.
"""

from __future__ import annotations

from dataclasses import dataclass

from kasauti.text.data.pairs import pairs

ALL = frozenset("as bn brx doi en gu hi kn ks kok mai ml mni mr ne or pa sa sat sd ta te ur".split())
DRAVIDIAN = frozenset({"kn", "ml", "ta", "te"})
BENGALI = frozenset({"as", "bn"})
ONE_SIBILANT = BENGALI | {"brx", "mai", "mni", "ne", "or", "sat"}
"""Languages that say s for all three letters, or write them at random."""
SAY_RU = frozenset({"gu", "kn", "kok", "mr", "or", "te"})


@dataclass(frozen=True)
class Rule:
    """One row of the table.

    Attributes:
        pattern, replacement: For `re.sub`.
        languages: Where it holds.
        why: One clause, printed in the table.
        example: A word and what it becomes.
    """

    pattern: str
    replacement: str
    languages: frozenset[str]
    why: str
    example: str


SPELLINGS: tuple[Rule, ...] = (
    Rule("jñ", "gy", ALL - DRAVIDIAN - {"mr", "kok", "gu"}, "how ज्ञ is said", "ज्ञान → gyan"),
    Rule("jñ", "dny", frozenset({"mr", "kok"}), "how ज्ञ is said", "ज्ञान → dnyan"),
    Rule("jñ", "gn", frozenset({"gu", "kn", "te"}), "how ज्ञ is said", "ఆజ్ఞ → agna"),
    Rule("r̥̄?", "ru", SAY_RU, "how ऋ is said", "कृपा → krupa"),
    Rule("r̥̄?", "ri", ALL - SAY_RU, "how ऋ is said", "कृपा → kripa"),
    Rule("ŭ$", "", frozenset({"ml"}), "the half u at the end is written or not", "കാറു് → kar"),
    Rule("ṟṟ", "tt", frozenset({"ml"}), "double ṟ is said t", "കാറ്റ് → katt"),
    Rule("nṟ", "nt", frozenset({"ml"}), "nṟ is said nt", "എന്റെ → ente"),
    Rule("ṟṟ", "tr", frozenset({"ta"}), "double ṟ is said tr", "காற்று → katru"),
    Rule("ṉṟ", "ntr", frozenset({"ta"}), "ṉṟ is said ndr", "இன்று → intru"),
    Rule("ḵp", "f", frozenset({"ta"}), "aytham makes an f of p", "ஃபோன் → fon"),
    Rule("(?:^|(?<=[aāiīuūēōr]))y", "j", BENGALI, "য is said j, but not below a letter", "যদি → jodi"),
    Rule("y", "j", frozenset({"or"}), "ଯ is said j, ୟ is the glide", "ଯଦି → jadi"),
    Rule("kṣ", "kh", BENGALI, "ক্ষ is said kh", "ক্ষমা → khoma"),
    Rule("c̈?h?", "s", frozenset({"as"}), "চ and ছ are said s", "চাহ → sa"),
)
"""Native spelling → what is said, for groups of letters that are not said letter by letter."""

SOUNDS = (
    pairs("ā A  ī I  ū U  ē E  ō O  ê E  ô O  å O  ö A  ȫ A  ŭ I  ŭ̄ I  ü I  l̥ lI  l̥̄ lI")
    | pairs("kh K  gh G  jh J  th T  dh D  bh B  ṭh T  ḍh D  ṛh R  k͟h K  q k  ġ g  ẏ y  ph f")
    | pairs("c ʧ  ch ʧ  ĉ ʧ  c̈ ʧ  c̈h ʧ  ś ʃ  ṣ ʃ  z j  ẑ j  z̈ j  ẓ j  ż j  ẕ j  ž j  ṁ M  m̐ N  ṅ Q")
    | dict.fromkeys("ḥẖḫʿʾʔʸ’-ː:ˍ", "")
)
"""ISO 15919 → one sign a sound: capitals are long vowels (a stays short), aspirates, the two nasal signs and Q, the
velar nasal. Letters that are not here lose their marks: ṭ and t are t, ḷ and ḻ are l, ṇ and ñ are n, s̈ is s."""

OPEN_VOWEL_APOSTROPHE = frozenset({"brx", "mai"})
"""Languages that write an apostrophe after a consonant for an o."""

FINAL_ANUSVARA = dict.fromkeys(DRAVIDIAN | {"sa"}, "m") | dict.fromkeys(BENGALI | {"mni", "or"}, "ng")
"""What anusvara is at the end of a word (n where nothing is listed); in `VELAR_ANUSVARA` it is ng everywhere."""
VELAR_ANUSVARA = BENGALI | {"mni"}

SCHWA_SCRIPTS = frozenset({"Deva", "Beng", "Guru", "Gujr"})
"""Scripts whose unwritten a may be silent. In the others a silent vowel is written as such, or there is none."""
SCHWA_KEPT = frozenset({"sa", "sd"})
"""Languages of these scripts in which every a is said."""
SCHWA_KEPT_AFTER_CLUSTER = BENGALI | {"ne"}
"""Languages that say the final a after any two consonants; the others only where the second is the more sonorous."""
SCHWA_KEPT_INSIDE = SCHWA_KEPT | {"as", "brx", "mni"}
"""Languages in which only a final a is silent."""
SONORITY = dict.fromkeys("MNQnm", 1) | dict.fromkeys("lrRv", 2) | {"y": 3}
"""Nasals, liquids, glides; every other consonant is 0. Source: the usual sonority scale."""
INHERENT_O = BENGALI
"""Languages that say the inherent vowel of Bengali letters as o."""

MERGES: tuple[Rule, ...] = (
    Rule("zh", "l", frozenset({"ml", "ta"}), "Latin writers spell ḻ so", "pazham, பழம் → palam"),
    Rule("x", "s", frozenset({"as"}), "Latin writers spell the velar s so", "Oxom → osom"),
    Rule("t?ch+", "ʧ", ALL, "Latin ch is c or ch, so both are one", "छह → ʧa"),
    Rule("tʃ|ʧh", "ʧ", ALL, "the same", "tshirt → ʧirt"),
    Rule("cʧ", "ʧʧ", ALL, "the same, doubled", "accha, अच्छा → aʧʧa"),
    Rule("sh", "ʃ", ALL, "ś and ṣ are one sound to every judge", "शेष, shesh → ʃeʃ"),
    Rule("kʃ|x", "ks", ALL, "क्ष is written ksh, ks or x", "लक्ष्मी, Laxmi → laksmi"),
    Rule("ʃ", "s", ONE_SIBILANT | {"ta"}, "one sibilant is said for all", "শেষ, shesh → ses"),
    Rule("ts", "ʧ", frozenset({"kok", "ks", "mr", "te"}), "च is said ts before some vowels", "tsar, चार → ʧar"),
    Rule("ʧ", "s", frozenset({"as"}), "চ and ছ are said s", "chah → sa"),
    Rule("ph", "f", ALL, "फ and फ़ are written for each other", "phal, फल → fal"),
    Rule("zh|z", "j", ALL, "ज and ज़ are written for each other", "zara, जरा → jara"),
    Rule("w", "v", ALL, "one sound", "hawa, हवा → hava"),
    Rule("ck|q", "k", ALL, "English spellings; q is k to most speakers", "qalam, कलम → kalam"),
    Rule("c(?=[eiy])", "s", ALL, "English spelling", "city → siti"),
    Rule("c", "k", ALL, "English spelling", "cricket → kriket"),
    Rule("[ʧj]", "s", frozenset({"ta"}), "one letter ச for s, ch and j", "கொஞ்சம், konjam → konsam"),
    Rule("g", "k", frozenset({"ta"}), "one letter க for k and g", "மகன், magan → makan"),
    Rule("d", "t", frozenset({"ta"}), "one letter த for t and d", "இந்த, indha → inta"),
    Rule("b", "p", frozenset({"ta"}), "one letter ப for p and b", "தம்பி, thambi → tampi"),
    Rule("(?<=[kgtdpbjʧ])h", "", DRAVIDIAN, "Latin th and dh mean dental; h is seldom said", "నది, nadhi → nadi"),
    Rule("n(?=[pb])", "m", ALL, "a nasal sounds like what follows", "sanbandh, संबंध → sambandh"),
    Rule("ng(?=[kg])", "n", ALL, "the same", "songkot, সংকট → sonkot"),
    Rule("aa+", "a", ALL, "Latin letters don't show length", "naam, नाम → nam"),
    Rule("ee+|ii+", "i", ALL, "the same", "meera, मीरा → mira"),
    Rule("oo+|uu+", "u", ALL, "the same", "phool, फूल → ful"),
    Rule("(?<=[aeiou])oya", "va", BENGALI, "ওয়া is said wa", "khaoya, khawa, খাওয়া → khava"),
    Rule("(?<=[aeou])y(?=[ei])|(?<=[ei])y(?=[aeiou])", "", ALL, "a glide is written or not", "diya, दिया → dia"),
    Rule("(?<=[ou])y(?![aeiou])|(?<=[^aeiouy])y$", "i", ALL, "y for i in Latin letters", "roy, রয় → roi"),
    Rule("a[ie]|ei|[ae]y(?![aeiou])", "e", ALL, "ai, ay, ae, ei, ey and e are written for each other", "hai, है → he"),
    Rule("[ao]u", "o", ALL, "au, ou and o are written for each other", "aur, और → or"),
    Rule("(?<=[aeiou])h+$", "", ALL, "a final h is seldom heard", "yah, यह → ya"),
)
"""Applied in this order to every word, from the start again until none applies: that makes the fold idempotent. It
ends, since each rule makes a word poorer in x, else shorter, else puts in a letter from which none leads back."""

FOREIGN_LETTERS = {"ś": "ʃ", "ṣ": "ʃ", "š": "ʃ", "č": "ʧ", "ć": "ʧ", "ß": "s"}
"""Marked Latin letters that would lose their sound with their mark; all others lose the mark."""

SILENT_LETTERS = "[aeiouy]"
"""What one script writes and the Arabic script leaves out, or writes with letters that are vowels as well."""
