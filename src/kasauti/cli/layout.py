"""Plain text in columns that a terminal of 80 can show: wrapping, padding, small tables.

Widths are in cells as terminals count them: a mark that sits on a letter takes no room. Terminals disagree about marks
that stand beside their letter, so lines are broken as if each took a cell. A line is broken between words, a longer
word between grapheme clusters, never inside one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from rich.cells import cell_len

from kasauti.text.units import graphemes

WIDTH = 80


def wrapped(text: str, first: str = "", rest: str | None = None, width: int = WIDTH) -> list[str]:
    """A text as lines.

    Args:
        text: Any text; runs of spaces become one.
        first: What stands before the first line.
        rest: What stands before the others; None = as many spaces as `first` is wide.
        width: Cells of a line.
    """
    rest = " " * cell_len(first) if rest is None else rest
    lines, line = [], first
    begun = False
    for word in text.split():
        for piece in _pieces(word, width - cell_len(rest)):
            if begun and _most_cells(f"{line} {piece}") > width:
                lines.append(line)
                line, begun = rest, False
            line += f" {piece}" if begun else piece
            begun = True
    return [*lines, line]


def _pieces(word: str, room: int) -> list[str]:
    """A word, cut between clusters where it is wider than a line."""
    if _most_cells(word) <= room:
        return [word]
    pieces = [""]
    for cluster in graphemes(word):
        if pieces[-1] and _most_cells(pieces[-1] + cluster) > room:
            pieces.append("")
        pieces[-1] += cluster
    return pieces


def _most_cells(text: str) -> int:
    return cell_len(text) + sum(unicodedata.category(char) == "Mc" for char in text)


def table(rows: Iterable[Sequence[str]], right: Sequence[int] = (), indent: str = "  ") -> list[str]:
    """Rows of cells as lines, two spaces between columns.

    Args:
        rows: Cells; all rows have as many.
        right: Columns that are set flush right.
        indent: What stands before every line.
    """
    rows = list(rows)
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            " " * (width - cell_len(cell)) + cell if at in right else cell + " " * (width - cell_len(cell))
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append((indent + "  ".join(cells)).rstrip())
    return lines
