"""Fonts for the scripts of India: one list of families for each text, and an error where a letter has no glyph.

Conjuncts, reph and split vowel signs come out right from matplotlib 3.11 on, which shapes text. The fonts are the
system's.
"""

from __future__ import annotations

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
    """Gives every text of a figure its families and lays the figure out; inside `paper`.

    Raises:
        FigureError: a font, or a glyph in all of a text's fonts, is missing.
    """
    from matplotlib.text import Text

    with warnings.catch_warnings():
        # The first layout makes the labels of ticks, by whatever font stands there.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure.draw_without_rendering()
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        text.set_fontfamily(families(text.get_text()))
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Glyph .* missing from")
        try:
            figure.draw_without_rendering()
        except UserWarning as warning:
            raise FigureError(f"a letter has no glyph and would be a box: {warning}. {_WHERE}") from warning


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
