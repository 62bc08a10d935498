"""Markdown, LaTeX and CSV: what stands in a cell is read back as itself."""

from __future__ import annotations

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.report.formats import csv_table, csv_text, latex_table, latex_text, markdown_table, markdown_text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a_b*c", r"a\_b\*c"),
        ("x|y", r"x\|y"),
        ("<img src=x>", "&lt;img src=x&gt;"),
        ("R&D", "R&amp;D"),
        ("`code` [link](u)", r"\`code\` \[link\](u)"),
        ("back\\slash", r"back\\slash"),
        ("two\nlines\there", "two lines here"),
        ("हिन्दी", "हिन्दी"),
    ],
)
def test_markdown_cells(text: str, written: str) -> None:
    assert markdown_text(text) == written


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("95 % of R&D_1", r"95 \% of R\&D\_1"),
        ("{a}^2~b", r"\{a\}\textasciicircum{}2\textasciitilde{}b"),
        ("C:\\temp $1 #2", r"C:\textbackslash{}temp \$1 \#2"),
        ("[0.1, 0.2]", "{}[0.1, 0.2]"),
        ("*", "{}*"),
        ("5–6", "5--6"),
        ("a\nb", "a b"),
    ],
)
def test_latex_cells(text: str, written: str) -> None:
    assert latex_text(text) == written


def test_tables_have_as_many_cells_in_every_line() -> None:
    assert markdown_table(["s", "cer"], [["a|b", "1.0"]]) == "| s | cer |\n| --- | ---: |\n| a\\|b | 1.0 |\n"
    assert latex_table(["s", "cer"], [["a&b", "1.0"]]).splitlines() == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"s & cer \\",
        r"\midrule",
        r"a\&b & 1.0 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


@given(st.text(st.characters(codec="utf-8")))
def test_no_cell_ends_a_markdown_or_latex_cell(text: str) -> None:
    assert "|" not in re.sub(r"\\.", "", markdown_text(text))
    assert not set(re.sub(r"\\(?:text\w+\{\}|.)|\$-\$|\{\}", "", latex_text(text))) & set("&%$#_{}~^\\")


@given(st.lists(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\0")), min_size=2, max_size=2)))
def test_csv_reads_back(rows: list[list[str]]) -> None:
    read = list(csv.reader(io.StringIO(csv_table(["a", "b"], rows), newline="")))[1:]
    assert [[csv_text(cell) for cell in row] for row in read] == rows


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-x", "'-x"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\n=1", "'\n=1"),
        ("'=1", "''=1"),
        ("'tis", "'tis"),
        ("a=1", "a=1"),
        (-0.5, "-0.5"),
        (-1, "-1"),
    ],
)
def test_csv_text_that_looks_like_a_formula_is_text(value: object, written: str) -> None:
    """Source: OWASP, CSV Injection: cells that begin with = + - @, tab or line feed."""
    ((cell, _),) = list(csv.reader(io.StringIO(csv_table(["a", "b"], [[value, 0]]), newline="")))[1:]
    assert cell == written
    assert csv_text(cell) == str(value) or not isinstance(value, str)


def test_csv_numbers_are_whole_and_nothing_is_empty() -> None:
    assert csv_table(["a", "b"], [[0.1 + 0.2, None]]) == "a,b\n0.30000000000000004,\n"
