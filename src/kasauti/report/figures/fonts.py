"""Fonts for the scripts of India: one list of families for each text, and an error where a letter has no glyph.

Conjuncts, reph and split vowel signs come out right from matplotlib 3.11 on, which shapes text. The fonts are the
system's.
"""

from __future__ import annotations

import unicodedata
import warnings
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from kasauti.report.figures.style import FigureError
from kasauti.text.scripts import script_counts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LATIN = "DejaVu Sans"
"""Comes with matplotlib, so that figures in Latin letters need no font of the system."""

FAMILIES = {
    "Arab": "Noto Sans Arabic",
    "Beng": "Noto Sans Bengali",
    "Deva": "Noto Sans Devanagari",
    "Gujr": "Noto Sans Gujarati",
    "Guru": "Noto Sans Gurmukhi",
    "Knda": "Noto Sans Kannada",
    "Mlym": "Noto Sans Malayalam",
    "Mtei": "Noto Sans Meetei Mayek",
    "Olck": "Noto Sans Ol Chiki",
    "Orya": "Noto Sans Oriya",
    "Taml": "Noto Sans Tamil",
    "Telu": "Noto Sans Telugu",
}
"""ISO 15924 code -> family."""

_WITHOUT_GLYPH = frozenset({"Cc", "Cf", "Zs"})
"""Line ends, joiners, spaces: they need none."""

_LAYOUTS = 3
"""After so many the layout no longer moves; it is kept then, so that a figure has the same bytes each time."""

_WHERE = "Debian and Ubuntu: apt install fonts-noto-core; elsewhere fonts.google.com/noto; then start again"


def families(text: str) -> list[str]:
    """The families to set a text in, the first that has a letter counts.

    Raises:
        FigureError: a family is not on this machine; the message says how to get it.
    """
    wanted = [FAMILIES[script] for script in script_counts(text) if script in FAMILIES]
    for family in wanted:
        if not _is_here(family):
            raise FigureError(f"the font {family} is missing, which {text!r} is to be set in. {_WHERE}")
    return [*wanted, LATIN]


def set_fonts(figure: Figure) -> None:
    """Gives every text of a figure its families, lays the figure out and keeps it so; inside `paper`.

    Raises:
        FigureError: a font, or a glyph in all of a text's fonts, is missing.
    """
    from matplotlib.text import Text

    # The first layout makes the labels of ticks, in whatever font stands there; the others measure what they are.
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure.draw_without_rendering()
    for text in figure.findobj(Text):
        written = text.get_text()
        text.set_fontfamily(families(written))
        _check_glyphs(written)
    for _ in range(_LAYOUTS):
        figure.draw_without_rendering()
    figure.set_layout_engine("none")


def _check_glyphs(text: str) -> None:
    """A letter that no font of a text has would be a box."""
    for char in dict.fromkeys(text):
        if unicodedata.category(char) in _WITHOUT_GLYPH or any(ord(char) in _letters(f) for f in families(text)):
            continue
        name = unicodedata.name(char, "a letter without a name")
        raise FigureError(
            f"{name} (U+{ord(char):04X}) of {text!r} has no glyph in {', '.join(families(text))} and would be a box. "
            f"{_WHERE}"
        )


@cache
def _letters(family: str) -> frozenset[int]:
    """Code points that a family has a glyph for."""
    from matplotlib import font_manager

    return frozenset(font_manager.get_font(font_manager.findfont(family)).get_charmap())


@cache
def _is_here(family: str) -> bool:
    """Whether a family can be used; matplotlib's own list may be older than the font."""
    from matplotlib import font_manager

    manager = font_manager.fontManager
    if family in manager.get_font_names():
        return True
    stem = family.replace(" ", "")
    for path in map(Path, font_manager.findSystemFonts()):
        if path.stem.partition("-")[0] == stem:
            manager.addfont(path)
    return family in manager.get_font_names()
