"""Transliteration of every script of India to Latin letters: ISO 15919, and stated romanisations beside it.

Brahmic scripts follow ISO 15919 (simple option for anusvara); Ol Chiki and the Arabic script, which it does not cover,
follow tables of our own (`data.alphabets`, `data.arabic`). The script is found letter by letter, so code-switched text
works: Latin, punctuation, spaces and all other scripts pass as they are, native digits become ASCII digits. Nothing is
said about pronunciation here; `phonetic` does that. Differences from other tools: docs/transliteration.md.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from kasauti.text.data.alphabets import OL_CHIKI
from kasauti.text.data.brahmi import JOINERS
from kasauti.text.languages import language
from kasauti.text.romanise_arabic import LETTERS, romanise_arabic
from kasauti.text.romanise_brahmi import TABLE, romanise_brahmi

_DIGITS = {chr(first + digit): str(digit) for first in (0x0660, 0x06F0) for digit in range(10)}
_ONE_TO_ONE = str.maketrans(OL_CHIKI | _DIGITS)
_PRESENTATION_FORMS = re.compile("[\ufb50-\ufdff\ufe70-\ufefc]+")


def _run_of(letters: str) -> str:
    """A pattern for a run of these letters, with the joiners between and after them."""
    return f"[{letters}][{letters}{JOINERS}]*"


_NATIVE = re.compile(
    f"(?P<brahmi>{_run_of(''.join(char for char in TABLE if char not in JOINERS))})"
    f"|(?P<arabic>{_run_of(LETTERS)})"
    f"|(?P<one_to_one>{_run_of(''.join(OL_CHIKI | _DIGITS))})"
)
_NO_JOINERS = str.maketrans("", "", JOINERS)


def segments(text: str, lang: str | None = None) -> Iterator[tuple[str, str]]:
    """A text as pieces, each as it is written and in Latin letters.

    Args:
        text: Anything.
        lang: Language of the text, where known; it decides how letters are read that Sindhi uses in its own way.

    Yields:
        (written, latin): runs of native letters with their transliteration, and what lies between them twice. The
        first members together are the text in NFC, its Arabic presentation forms resolved.

    Raises:
        TextError: unknown language.
    """
    sindhi = lang is not None and language(lang).base == "sd"
    if text.isascii():
        yield text, text
        return
    text = unicodedata.normalize("NFC", text)
    text = _PRESENTATION_FORMS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    end = 0
    for run in _NATIVE.finditer(text):
        if run.start() > end:
            yield text[end : run.start()], text[end : run.start()]
        written, end = run[0], run.end()
        if run.lastgroup == "brahmi":
            yield written, romanise_brahmi(written)
        elif run.lastgroup == "arabic":
            yield written, romanise_arabic(written.translate(_NO_JOINERS), sindhi)
        else:
            yield written, written.translate(_NO_JOINERS).translate(_ONE_TO_ONE)
    if end < len(text):
        yield text[end:], text[end:]


def to_iso15919(text: str, lang: str | None = None) -> str:
    """A text in Latin letters.

    Inherent vowels are kept (`सड़क` is `saṛaka`), anusvara is always ṁ, vocalic r is r with a ring below, the flap is
    ṛ. Text that is Latin already comes back in NFC and otherwise as it was. Never fails on any text.

    Args:
        text: Any text, in any normal form: canonically equal texts give the same result.
        lang: Language of the text, where known; needed only to read Sindhi in Arabic letters rightly.

    Returns:
        NFC text.

    Raises:
        TextError: unknown language.

    Source: ISO 15919:2001; for Ol Chiki and the Arabic script docs/transliteration.md.
    """
    return unicodedata.normalize("NFC", "".join(latin for _, latin in segments(text, lang)))
