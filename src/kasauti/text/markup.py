"""Markup: what is written for a speech system and is not to be spoken.

Five kinds, each a list that a ladder may change: rumik's `<description=…>`, a speaker's name and colon
at the start, sounds in angle brackets (`<laugh>`), sounds and stage directions in square or round brackets or between
asterisks (`[laughs]`, `(softly)`, `*sighs*`), and SSML elements. What an SSML element holds is spoken and stays, except
that of `<sub alias="…">` the alias is what is spoken. Anything else in brackets is text: `(हाय)` is read out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import unescape

from kasauti.text.data import markup as data


@dataclass(frozen=True)
class Markup:
    """The lists. Names are matched in any case.

    Attributes:
        speakers: Names that, followed by a colon, may open a text.
        sounds: What may stand alone in angle brackets.
        directions: What, like the sounds, may stand alone in square or round brackets or between asterisks.
        elements: SSML elements, with their prefix if they have one.
        any_square_brackets: Whether everything in square brackets is a direction, known or not.
    """

    speakers: Sequence[str] = data.SPEAKERS
    sounds: Sequence[str] = data.SOUNDS
    directions: Sequence[str] = data.DIRECTIONS
    elements: Sequence[str] = data.ELEMENTS
    any_square_brackets: bool = False

    def __post_init__(self) -> None:
        for name in ("speakers", "sounds", "directions", "elements"):
            object.__setattr__(self, name, tuple(getattr(self, name)))  # lists, as configs have them

    @cached_property
    def _tag(self) -> re.Pattern[str]:
        """Everything in brackets of some kind that is markup."""
        shown = _any_of((*self.sounds, *self.directions))
        square = r"[^\[\]]*" if self.any_square_brackets else shown
        kinds = [
            r"<description\b[^<>]*>",
            r"<!--.*?-->",
            r"<\?.*?\?>",
            rf"</?{_any_of(self.elements)}(?:\s[^<>]*|/)?>",
            rf"<\s*{_any_of(self.sounds)}\s*/?>",
            rf"\[\s*{square}\s*\]",
            rf"\(\s*{shown}\s*\)",
            rf"\*\s*{shown}\s*\*",
        ]
        return re.compile("|".join(kinds), re.IGNORECASE | re.DOTALL)

    @cached_property
    def _speaker(self) -> re.Pattern[str]:
        return re.compile(rf"\s*{_any_of(self.speakers)}\s*:", re.IGNORECASE)

    def spoken(self, text: str) -> str:
        """The text less its markup, a space in place of each piece; entities of SSML become characters."""
        if not _POSSIBLE.search(text):
            return text
        is_ssml = "<speak" in text
        text = self._tag.sub(" ", _SUB.sub(r" \1 ", text))
        text = self._speaker.sub(" ", text, count=1) if self._speaker.match(text) else text
        return unescape(text) if is_ssml else text


_POSSIBLE = re.compile(r"[<\[(*:]")
_SUB = re.compile(r"""<sub\s[^<>]*?alias\s*=\s*["']([^"'<>]*)["'][^<>]*>.*?</sub\s*>""", re.IGNORECASE | re.DOTALL)


def _any_of(names: Iterable[str]) -> str:
    """A group that matches any of the names, the longest first; nothing when there are none."""
    ordered = sorted({name.strip() for name in names if name.strip()}, key=len, reverse=True)
    return f"(?:{'|'.join(re.escape(name).replace(chr(92) + ' ', ' +') for name in ordered)})" if ordered else "(?!)"


DEFAULT_MARKUP = Markup()
