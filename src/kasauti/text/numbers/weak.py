"""Languages whose number words are less sure than the others', and why.

How the others were checked: Hindi, Nepali and English word by word against CLDR's spelled-out numbers (a test holds
it), Bengali, Telugu and Kannada against num2words 0.5.14 with the differences decided one by one, the rest (as gu ml mr
or pa ta ur) by reading every word below a hundred and every form of the scales. No list was reviewed by a native
speaker for this project; a language that is not listed here is not free of errors, but none is known.
"""

from __future__ import annotations

WEAK: dict[str, str] = {
    "brx": "below 100 as in indic-numtowords, unchecked; months and units are loan words in one of several spellings",
    "doi": "below 100 as in indic-numtowords, unchecked; Dogri spelling of tone (the h-like sign) varies in print",
    "kok": "below 100 as in indic-numtowords, unchecked; Devanagari only, Goan and Mangalorean usage differ",
    "ks": "words and their vowel signs as in indic-numtowords, unchecked; ordinals are not inflected",
    "ks-Deva": "put into Devanagari by us from the Arabic-script words; this spelling is not standardised",
    "mai": "only one spelling of most words; final short vowels are often left unwritten by others",
    "mni": "put together by us; the spelling of Meitei in Bengali script varies, the link between parts too",
    "mni-Mtei": "tens of 70 and 90 and the hundreds are ours beside those of indic-numtowords; months, units by us",
    "sa": "compounds up to nine digits as in indic-numtowords with its sandhi mended in part, two words beyond; the "
    "spoken Sanskrit of news says large numbers differently; no case endings",
    "sat": "decimal counting as in indic-numtowords, unchecked; counting by twenties is not among the readings, words "
    "for thousand and lakh differ between regions",
    "sd": "below 100 from a printed grammar up to 34, the others by the same pattern; ordinals only the first four",
    "sd-Deva": "as in indic-numtowords, unchecked; no ordinals",
}
"""Language -> reason."""
