"""Tables for other programs: Markdown, LaTeX and CSV, with everything escaped that would be read as markup there."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "\N{MINUS SIGN}": r"$-$",
    "\N{EN DASH}": "--",
    **{char: f"\\{char}" for char in "&%$#_{}"},
}

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
"""First characters of text that a spreadsheet takes for a formula. Source: OWASP, CSV Injection."""

_FORMULA = re.compile(f"'*[{re.escape(''.join(FORMULA_STARTS))}]")

_MARKDOWN = re.compile(r"[\\`*_\[\]|~$]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def markdown_text(text: str) -> str:
    """Text as it must be written in a cell of a Markdown table to be read as itself."""
    plain = re.sub("[&<>]", lambda found: _ENTITIES[found[0]], _one_line(text))
    return _MARKDOWN.sub(lambda found: f"\\{found[0]}", plain)


def latex_text(text: str) -> str:
    """Text as it must be written in a cell of a LaTeX table to be read as itself."""
    # A bracket after the `\\` of the row before would be read as the optional argument of `\\`.
    written = "".join(_LATEX.get(char, char) for char in _one_line(text))
    return f"{{}}{written}" if written.startswith(("[", "*")) else written


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in the pipe syntax of GitHub; the first column is text, the others stand to the right."""
    lines = [[markdown_text(cell) for cell in line] for line in (columns, *rows)]
    rule = ["---", *["---:"] * (len(columns) - 1)]
    return "".join(f"| {' | '.join(line)} |\n" for line in (lines[0], rule, *lines[1:]))


def latex_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A `tabular` with the rules of the package booktabs."""
    lines = [" & ".join(latex_text(cell) for cell in line) + r" \\" for line in (columns, *rows)]
    parts = [rf"\begin{{tabular}}{{l{'r' * (len(columns) - 1)}}}", r"\toprule", lines[0], r"\midrule", *lines[1:]]
    return "\n".join([*parts, r"\bottomrule", r"\end{tabular}"]) + "\n"


def csv_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """RFC 4180 with LF: numbers at full length, None as an empty cell, text so that no spreadsheet calculates it."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(["" if value is None else _inert(value) for value in row] for row in rows)
    return buffer.getvalue()


def csv_text(written: str) -> str:
    """The text that a cell of `csv_table` was written from."""
    return written[1:] if written.startswith("'") and _FORMULA.match(written) else written


def _inert(value: Any) -> Any:
    """Text that begins like a formula behind an apostrophe; so is text that reading would take for such a one."""
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def _one_line(text: str) -> str:
    return " ".join(text.split())


FORMATTERS = {"md": markdown_table, "latex": latex_table}
"""Name on the command line -> what writes cells of text; `csv` holds records at full length instead."""
