"""What the phonetic fold merges, and why: rules as data, printed in docs/transliteration.md.

A rule is a regular expression on lower-case Latin letters. `SPELLINGS` act on the ISO 15919 of a native word, before
vowels lose their length; `MERGES` act on every word, native or not, again and again until nothing changes. Letters of
the result: a e i o u, plain consonants with h after them for aspirates, ʧ and ʃ. Languages are base codes.
"""

from __future__ import annotations

from dataclasses import dataclass

ALL = frozenset("as bn brx doi en gu hi kn ks kok mai ml mni mr ne or pa sa sat sd ta te ur".split())
DRAVIDIAN = frozenset({"kn", "ml", "ta", "te"})
BENGALI = frozenset({"as", "bn"})
ONE_SIBILANT = BENGALI | {"brx", "mai", "mni", "ne", "or", "sat"}
"""Languages that say s for all three letters, or write them at random."""


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
    Rule("r̥̄?", "ru", frozenset({"gu", "kn", "kok", "mr", "or", "te"}), "how ऋ is said", "कृपा → krupa"),
    Rule("r̥̄?", "ri", ALL - {"gu", "kn", "kok", "mr", "or", "te"}, "how ऋ is said", "कृपा → kripa"),
    Rule("ŭ$", "", frozenset({"ml"}), "the half u at the end is written or not", "കാറു് → kar"),
    Rule("ṟṟ", "tt", frozenset({"ml"}), "double ṟ is said t", "കാറ്റ് → katt"),
    Rule("nṟ", "nt", frozenset({"ml"}), "nṟ is said nt", "എന്റെ → ente"),
    Rule("ṟṟ", "tr", frozenset({"ta"}), "double ṟ is said tr", "காற்று → katru"),
    Rule("ṉṟ", "ntr", frozenset({"ta"}), "ṉṟ is said ndr", "இன்று → intru"),
    Rule("ḵp", "f", frozenset({"ta"}), "aytham makes an f of p", "ஃபோன் → fon"),
    Rule("(?<=[ōu])ẏ(?=ā)", "v", BENGALI, "ওয়া is said wa", "খাওয়া → khava"),
    Rule("(^|(?<=[aāiīuūēō]))y", "j", BENGALI, "য is said j at the start and between vowels", "যদি → jodi"),
    Rule("kṣ", "kh", BENGALI, "ক্ষ is said kh", "ক্ষমা → khoma"),
    Rule("c̈?h?", "s", frozenset({"as"}), "চ and ছ are said s", "চাহ → sah"),
    Rule("a['’ʼ]", "o", frozenset({"brx"}), "the apostrophe of Bodo opens the vowel", "बर' → bro"),
)
"""Native spelling → what is said, for groups of letters that are not said letter by letter."""

MERGES: tuple[Rule, ...] = (
    Rule("zh", "l", frozenset({"ml", "ta"}), "Latin writers spell ḻ so", "Kozhikode → kolikode"),
    Rule("x", "s", frozenset({"as"}), "Latin writers spell the velar s so", "Oxom → osom"),
    Rule("t?ch+|tʃ", "ʧ", ALL, "Latin ch is c or ch: aspiration can't be told", "बच्चा, bachcha → baʧʧa"),
    Rule("ʧh", "ʧ", ALL, "the same", "छह → ʧa"),
    Rule("cʧ", "ʧʧ", ALL, "the same, doubled", "accha → aʧʧa"),
    Rule("sh", "ʃ", ALL, "ś and ṣ are one sound to every judge", "शेष, shesh → ʃeʃ"),
    Rule("sʃ", "ʃʃ", ALL, "the same, doubled", "ssh → ʃʃ"),
    Rule("ph", "f", ALL, "फ and फ़ are written for each other", "फल, फ़ल → fal"),
    Rule("zh|z", "j", ALL, "ज and ज़ are written for each other", "ज़रा, jara → jara"),
    Rule("w", "v", ALL, "one sound", "wah, वाह → va"),
    Rule("ck|q", "k", ALL, "English spellings; q is k to most speakers", "क़लम → kalam"),
    Rule("x", "ks", ALL - {"as"}, "English spelling", "taxi → taksi"),
    Rule("c(?=[eiy])", "s", ALL, "English spelling", "city → siti"),
    Rule("c", "k", ALL, "English spelling", "cricket → kriket"),
    Rule("ʃ", "s", ONE_SIBILANT | {"ta"}, "one sibilant is said for all", "শেষ → ses"),
    Rule("[ʧj]", "s", frozenset({"ta"}), "one letter ச for s, ch and j", "கொஞ்சம், konjam → konsam"),
    Rule("g", "k", frozenset({"ta"}), "one letter க for k and g", "மகன், magan → makan"),
    Rule("d", "t", frozenset({"ta"}), "one letter த for t and d", "இந்த, indha → inta"),
    Rule("b", "p", frozenset({"ta"}), "one letter ப for p and b", "கம்பி, kambi → kampi"),
    Rule("(?<=[kgtdpbjʧ])h", "", DRAVIDIAN, "Latin th and dh mean dental, and h is seldom said", "నది, nadhi → nadi"),
    Rule("n(?=[pbm])", "m", ALL, "a nasal sounds like what follows", "संबंध, sanbandh → sambandh"),
    Rule("ng(?=[kg])", "n", ALL, "the same", "শঙ্কর, shongkor → sonkor"),
    Rule("aa+", "a", ALL, "vowel length is not heard by all judges nor written in Latin", "naam → nam"),
    Rule("ee+|ii+", "i", ALL, "long i in Latin letters", "meera, मीरा → mira"),
    Rule("oo+|uu+", "u", ALL, "long u in Latin letters", "phool, फूल → ful"),
    Rule("(?<=[aeou])y(?=[ei])|(?<=[ei])y(?=[aeiou])", "", ALL, "a glide is written or not", "gayi, गई → ge"),
    Rule("(?<=[ou])y(?![aeiou])|(?<=[^aeiouy])y$", "i", ALL, "y for i in Latin letters", "city → siti"),
    Rule("[ae][iey](?![iey])|[ae]y(?=$)", "e", ALL, "ai is written ai, ay, ae, ei or e", "है, hai, hae → he"),
    Rule("[ao]u|[ao]v(?![aeiouv])", "o", ALL, "au is written au, ou, aw, ow or o", "और, aur → or"),
    Rule("(?<=[aeiou])h+$", "", ALL, "a final h is seldom heard", "यह → ya"),
)
"""Applied in this order to every word, from the start again until nothing changes."""
