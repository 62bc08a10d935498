"""Text to the symbols that Kokoro was trained on: eSpeak NG's IPA with some phonemes renamed, and punctuation kept.

Conventions: one character per symbol. eSpeak NG drops punctuation, which carries Kokoro's pauses and tune, so a text is
cut at its marks, each piece is put into phonemes on its own, and the marks are set between them again. A phoneme that
the model has no symbol for takes its nearest neighbour, or is dropped and counted.

Source of the symbols: the model's own vocabulary file; of their values (`A` = eɪ, `I` = aɪ, ...): hexgrad/misaki.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kasauti.systems import espeak_client

RULES = 1
"""Raised with every change here that can change a sound; part of the fingerprint of the voice."""

MAX_TOKENS = 510

_LONG: Mapping[str, str] = {
    "a^ɪ": "I",
    "a^ʊ": "W",
    "e^ɪ": "A",
    "o^ʊ": "O",
    "ə^ʊ": "Q",
    "ɔ^ɪ": "Y",
    "t^ʃ": "ʧ",
    "d^ʒ": "ʤ",
    "t^s": "ʦ",
    "d^z": "ʣ",
    "ʰ^χ": "ʰ",
    "r.": "ɾ",
}
"""eSpeak NG's spelling of a phoneme -> symbol. `r.` is the retroflex flap: as ɾ it is understood, as ɽ it is not."""
_NEAREST: Mapping[str, str] = {
    "g": "ɡ",
    "ɭ": "l",
    "ɫ": "l",
    "ʉ": "u",
    "ɵ": "o",
    "ɦ": "h",
    "ʱ": "ʰ",
    "ɱ": "m",
} | dict.fromkeys("^.+", "")
_ENGLISH: Mapping[str, str] = {"e^ə": "ɛː", "ɐ": "ə", "r": "ɹ", "ɾ": "T", "ɚ": "əɹ", "x": "k"}

_MARK = re.compile(r"([।॥۔؟،؛…—]+|(?<=\s)[-–]+(?=\s)|[.,;:!?]+(?=[\s\"'”’»)\]]|$))")
_SAME_MARK = str.maketrans({"।": ".", "॥": ".", "۔": ".", "؟": "?", "،": ",", "؛": ";", "-": "—", "–": "—"})
_ENDS = (".!?…", ",;:—", " ")
"""Where a long text is cut, best first."""


def symbols(text: str, lang: str, vocabulary: Mapping[str, int]) -> tuple[str, int]:
    """Kokoro's symbols for a text.

    Args:
        text: The words.
        lang: A language that eSpeak NG speaks.
        vocabulary: Symbol -> token.

    Returns:
        The symbols, all of them in the vocabulary, and how many others were dropped.

    Raises:
        SpeechFailed, SpeechSystemError, WeightsError: as `espeak_client.phonemes`.
    """
    pieces = _MARK.split(text)
    spoken = espeak_client.phonemes(pieces[::2], espeak_client.VOICES[lang])
    marks = [mark.translate(_SAME_MARK)[0] for mark in pieces[1::2]] + [""]
    joined = " ".join(_rename(ipa, lang) + mark for ipa, mark in zip(spoken, marks, strict=True))
    renamed = " ".join(joined.split())
    kept = "".join(symbol for symbol in renamed if symbol in vocabulary)
    return kept, len(renamed) - len(kept)


def chunks(line: str) -> list[str]:
    """Cuts symbols into stretches of at most `MAX_TOKENS`, at the end of a sentence, a clause or a word if it can."""
    cut = []
    while len(line) > MAX_TOKENS:
        head = line[:MAX_TOKENS]
        end = next((at for marks in _ENDS if (at := max(head.rfind(mark) for mark in marks)) > 0), MAX_TOKENS - 1)
        cut.append(line[: end + 1].strip())
        line = line[end + 1 :].strip()
    return [*cut, line] if line else cut


def _rename(ipa: str, lang: str) -> str:
    tables = (_LONG, _ENGLISH, _NEAREST) if lang == "en" else (_LONG, _NEAREST)
    for table in tables:
        for phoneme, symbol in table.items():
            ipa = ipa.replace(phoneme, symbol)
    return ipa
