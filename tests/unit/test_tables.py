"""The text tables: whatever is written is read back, and a plain reader sees one row a line."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.errors import StoreError
from kasauti.records import SAMPLE_COLUMNS, AggregateRow, SampleRow, Status
from kasauti.report.tables import cell, read_records, read_table, text_of, write_records, write_table

# Surrogates are left out: no UTF-8 file can hold them.
TEXT = st.text(st.characters(exclude_categories=("Cs",))) | st.text("\\\t\n\r en\"',\u2028\x85\x00")


@given(TEXT)
def test_property_a_text_comes_back_from_its_cell(text: str) -> None:
    written = cell(text)
    assert written != ""
    assert not set("\t\n\r") & set(written)
    assert text_of(written) == text


@given(TEXT, TEXT)
def test_property_different_texts_have_different_cells(one: str, two: str) -> None:
    assert (cell(one) == cell(two)) == (one == two)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, ""),
        ("", "\\e"),
        ("\\e", "\\\\e"),
        ("\\", "\\\\"),
        ("a\tb\nc\rd", "a\\tb\\nc\\rd"),
        ("\\t", "\\\\t"),
        (" ", " "),
        ("NA", "NA"),
        ("नमस्ते\u2028", "नमस्ते\u2028"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (0.1, "0.1"),
        (1.0, "1.0"),
        (1e-17, "1e-17"),
        (np.float64(0.1), "0.1"),
        (np.float32(0.5), "0.5"),
        (np.int64(3), "3"),
        (Status.WRONG_SCRIPT, "wrong_script"),
    ],
)
def test_cells(value: Any, written: str) -> None:
    assert cell(value) == written


def test_an_escape_that_nobody_writes_is_left_as_it_is() -> None:
    assert text_of("\\x\\ud800\\") == "\\x\\ud800\\"


def test_property_a_table_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"

    @given(st.lists(st.dictionaries(st.sampled_from(["a", "b", "c"]), st.none() | TEXT), max_size=5))
    def check(rows: list[dict[str, str | None]]) -> None:
        write_table(path, ["a", "b", "c"], rows)
        assert read_table(path) == [{name: row.get(name) for name in ("a", "b", "c")} for row in rows]
        assert path.read_bytes().count(b"\n") == len(rows) + 1
        assert b"\r" not in path.read_bytes()

    check()


def test_property_a_table_of_one_column_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"

    @given(st.lists(st.none() | TEXT, max_size=4))
    def check(values: list[str | None]) -> None:
        write_table(path, ["only"], ({"only": value} for value in values))
        assert [row["only"] for row in read_table(path)] == values

    check()


def test_half_a_surrogate_pair_costs_a_letter_and_not_the_table(tmp_path: Path) -> None:
    write_table(tmp_path / "table.tsv", ["a", "b"], [{"a": "x\ud800y", "b": "whole"}])
    assert read_table(tmp_path / "table.tsv") == [{"a": "x\\ud800y", "b": "whole"}]


TEXTS = "run_id prompt_id lang script tags system judge judge_revision".split()
MAYBE_TEXTS = "reason clip_id audio_sha256 judgment_id hypothesis".split()
COUNTS = "char_edits ref_chars nospace_edits ref_nospace grapheme_edits ref_graphemes word_edits ref_words".split()
NUMBERS = "duration_s cer cer_nospace gcer wer pcer".split()
SAMPLES = st.builds(
    SampleRow,
    repeat=st.integers(0, 9),
    rejudge=st.integers(0, 9),
    status=st.sampled_from(Status),
    **dict.fromkeys(TEXTS, TEXT),
    **dict.fromkeys(MAYBE_TEXTS, st.none() | TEXT),
    **dict.fromkeys(COUNTS, st.none() | st.integers(0)),
    **dict.fromkeys(NUMBERS, st.none() | st.floats(allow_nan=False)),
)


def test_property_sample_rows_come_back_with_their_types(tmp_path: Path) -> None:
    path = tmp_path / "per_sample.tsv"

    @given(st.lists(SAMPLES, max_size=3))
    def check(rows: list[SampleRow]) -> None:
        write_records(path, SAMPLE_COLUMNS, rows)
        again = read_records(path, SampleRow)
        assert again == rows
        assert [repr(row) for row in again] == [repr(row) for row in rows]  # 1 is not 1.0

    check()


def test_the_columns_of_samples_are_frozen() -> None:
    # Users' scripts name them (design section 9): they stay, in this order; others may come between and after.
    frozen = (
        "run_id prompt_id lang script tags system repeat judge judge_revision rejudge status reason clip_id "
        "audio_sha256 judgment_id duration_s hypothesis char_edits ref_chars nospace_edits ref_nospace grapheme_edits "
        "ref_graphemes word_edits ref_words cer cer_nospace gcer wer pcer"
    ).split()
    assert [name for name in SAMPLE_COLUMNS if name in frozen] == frozen
    assert list(SAMPLE_COLUMNS[: frozen.index("char_edits")]) == frozen[: frozen.index("char_edits")]


@dataclass(frozen=True)
class Mixed:
    name: str
    kind: Literal["a", "b"]
    done: bool
    status: Status
    count: int = 5
    share: float | None = None


def write(path: Path, content: str) -> Path:
    path.write_bytes(content.encode())
    return path


def test_types_follow_the_dataclass(tmp_path: Path) -> None:
    path = write(tmp_path / "t.tsv", "kind\tname\tdone\tstatus\tcount\tshare\tnewer\na\ttrue\ttrue\tok\t3\t1\tx\n")
    assert read_records(path, Mixed) == [Mixed("true", "a", True, Status.OK, 3, 1.0)]
    assert isinstance(read_records(path, Mixed)[0].share, float)


def test_a_column_that_is_missing_has_its_default(tmp_path: Path) -> None:
    path = write(tmp_path / "t.tsv", "name\tkind\tdone\tstatus\nn\tb\tfalse\trefused\n")
    assert read_records(path, Mixed) == [Mixed("n", "b", False, Status.REFUSED)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("name\tkind\na\tb\n", r":2: not a row of Mixed: .*missing.*'done'"),
        (
            "name\tkind\tdone\tstatus\tcount\na\tb\ttrue\tok\t1\na\tb\ttrue\tok\tmany\n",
            r":3: not a row of Mixed: .*'many'",
        ),
        ("name\tkind\tdone\tstatus\tshare\na\tb\ttrue\tok\tNA\n", r":2: not a row of Mixed: .*'NA'"),
        ("name\tkind\tdone\tstatus\na\tb\ttrue\tsplendid\n", r":2: not a row of Mixed: 'splendid'"),
        ("name\tkind\tdone\tstatus\na\tb\ttrue\tok\nc\n", r":3: 1 cells, but the header has 4 columns"),
        ("name\tkind\na\tb\tc\n", r":2: 3 cells, but the header has 2 columns"),
        ("name\tkind\tdone\tstatus\na\tb\ttrue\tok\n\n", r":3: 1 cells, but the header has 4 columns"),
    ],
)
def test_a_table_that_does_not_fit_is_named_with_its_line(tmp_path: Path, content: str, message: str) -> None:
    path = write(tmp_path / "t.tsv", content)
    with pytest.raises(StoreError, match=f"{path}{message}"):
        read_records(path, Mixed)


def test_a_table_that_can_not_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "latin.tsv").write_bytes(b"a\n\xe9\n")
    for path in (tmp_path / "gone.tsv", tmp_path, tmp_path / "latin.tsv"):
        with pytest.raises(StoreError, match=f"{path}: can't read this table"):
            read_table(path)


def test_a_table_cut_off_at_a_line_is_whole_and_in_mid_line_is_not(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    write_table(path, ["a", "b"], [{"a": "1", "b": "2"}])
    assert read_table(write(path, path.read_text().rstrip("\n"))) == [{"a": "1", "b": "2"}]
    with pytest.raises(StoreError, match=":2: 1 cells"):
        read_table(write(path, "a\tb\n1"))


def test_aggregate_rows_can_be_read_like_samples(tmp_path: Path) -> None:
    row = AggregateRow("s", "j", "macro", "all", "cer", "strict", 2, 10, 9, 10, mean=0.25, floor_kind="measured")
    write_table(tmp_path / "t.tsv", [field.name for field in fields(AggregateRow)], [vars(row)])
    assert read_records(tmp_path / "t.tsv", AggregateRow) == [row]
