"""A finished figure: drawing, caption and score signature, as PNG and as SVG that a drawing program can edit.

The same tables give the same bytes, so that a figure in a notebook is the figure of `make figures`. Caption and
signature stand in the files themselves.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kasauti.report.figures.fonts import set_fonts
from kasauti.report.figures.style import PNG_DPI, paper
from kasauti.store.files import write_bytes, write_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTIONS = "captions.md"


@dataclass(frozen=True)
class Plate:
    """One figure.

    Attributes:
        name: Stem of its files.
        caption: What is shown, with n, in sentences.
        signature: Score signatures of its numbers, one a line.
        figure: The drawing; change it and the files change.
    """

    name: str
    caption: str
    signature: str
    figure: Figure

    def png(self) -> bytes:
        """The figure in `PNG_DPI`; caption under `Description`, signature under `Source`."""
        facts = {"Title": self.name, "Description": self.caption, "Source": self.signature, "Software": None}
        return self._written("png", facts, dpi=PNG_DPI)

    def svg(self) -> bytes:
        """The same as SVG, text as text."""
        facts = {"Title": self.name, "Description": self.caption, "Source": self.signature}
        return self._written("svg", {**facts, "Date": None, "Creator": None})

    def _written(self, form: str, facts: dict[str, str | None], dpi: int | None = None) -> bytes:
        buffer = io.BytesIO()
        with paper():
            self.figure.savefig(buffer, format=form, metadata=facts, **({"dpi": dpi} if dpi else {}))
        return buffer.getvalue()

    def _repr_png_(self) -> bytes:
        """What a notebook shows."""
        return self.png()


def finished(name: str, figure: Figure, caption: str, signatures: Iterable[str]) -> Plate:
    """A figure with its fonts set and its layout made; inside `paper`.

    Args:
        name: Stem of its files; whatever is no letter, digit or underscore becomes a hyphen.
        figure: The drawing.
        caption: See `Plate`.
        signatures: Of its numbers, each once.

    Raises:
        FigureError: a font or a glyph is missing.
    """
    set_fonts(figure)
    stem = "".join(char if char.isalnum() or char == "_" else "-" for char in name).strip("-")
    return Plate(stem, " ".join(caption.split()), "\n".join(dict.fromkeys(filter(None, signatures))), figure)


def write_plates(plates: Iterable[Plate], folder: Path) -> list[Path]:
    """Writes each figure as NAME.png and NAME.svg, and all captions as `captions.md`.

    Returns:
        The figures' files.

    Raises:
        StoreError: the folder can't be written.
    """
    written, captions = [], []
    for plate in plates:
        for suffix, content in (("png", plate.png()), ("svg", plate.svg())):
            path = folder / f"{plate.name}.{suffix}"
            write_bytes(path, content)
            written.append(path)
        captions.append(f"**{plate.name}.** {plate.caption}\n")
    write_text(folder / CAPTIONS, "\n".join(captions))
    return written
