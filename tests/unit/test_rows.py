"""Rows of users' files: every cell is text, and every fault is named with its line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.errors import PromptError
from kasauti.rows import read_rows, read_text, text_field
from text_cases import read_cases


def rows_of(
    path: Path, content: str | bytes, required: tuple[str, ...] = ("text",)
) -> list[tuple[int, dict[str, Any]]]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return [(line, dict(row)) for line, row in read_rows(path, required)]


@pytest.mark.parametrize("case", read_cases("io.jsonl", "read_csv"), ids=lambda case: case["id"])
@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_case_nothing_is_guessed(tmp_path: Path, case: dict[str, Any], suffix: str) -> None:
    content = case["content"] if suffix == "csv" else case["content"].replace(",", "\t")
    rows = rows_of(tmp_path / f"hyps.{suffix}", content, ("id", "hyp"))
    assert [row for _, row in rows] == case["expected"]
    assert [line for line, _ in rows] == list(range(2, 2 + len(rows)))


@pytest.mark.parametrize(
    "cell",
    ["007", "NA", "N/A", "nan", "NaN", "null", "None", "inf", "1e3", "1_000", "TRUE", "no", "-0", "१२", "0x1F", " a "],
)
@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_a_cell_is_text_byte_for_byte(tmp_path: Path, cell: str, suffix: str) -> None:
    between = "," if suffix == "csv" else "\t"
    content = f"id{between}text\n{cell}{between}{cell}\n"
    assert rows_of(tmp_path / f"rows.{suffix}", content) == [(2, {"id": cell, "text": cell})]


def test_line_ends_and_byte_order_marks_make_no_difference(tmp_path: Path) -> None:
    plain = "id,text\na,एक\n\nb,दो\n"
    expected = [(2, {"id": "a", "text": "एक"}), (4, {"id": "b", "text": "दो"})]
    for content in (plain, plain.rstrip("\n"), "\ufeff" + plain, plain.replace("\n", "\r\n")):
        assert rows_of(tmp_path / "rows.csv", content) == expected
        assert rows_of(tmp_path / "rows.tsv", content.replace(",", "\t")) == expected
    lines = '{"id":"a","text":"एक"}\n\n{"id":"b","text":"दो"}\n'
    expected = [(1, {"id": "a", "text": "एक"}), (3, {"id": "b", "text": "दो"})]
    for content in (lines, lines.rstrip("\n"), "\ufeff" + lines, lines.replace("\n", "\r\n")):
        assert rows_of(tmp_path / "rows.jsonl", content) == expected


def test_header_in_any_order_and_case_with_spaces(tmp_path: Path) -> None:
    assert rows_of(tmp_path / "rows.csv", " Text ,ID,LANG\nx,1,hi\n") == [(2, {"text": "x", "id": "1", "lang": "hi"})]


def test_quoted_cells_hold_what_a_table_is_made_of(tmp_path: Path) -> None:
    content = 'id,text\na,"one, ""two""\nand\tthree"\nb,four\n'
    assert rows_of(tmp_path / "rows.csv", content) == [
        (2, {"id": "a", "text": 'one, "two"\nand\tthree'}),
        (4, {"id": "b", "text": "four"}),
    ]


def test_quotes_in_tsv_are_letters(tmp_path: Path) -> None:
    content = 'id\ttext\na\t"he said\nb\tit\'s 5" long\n'
    assert [row["text"] for _, row in rows_of(tmp_path / "rows.tsv", content)] == ['"he said', "it's 5\" long"]


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\u00a0", "\ufeff"])
@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl"])
def test_no_letter_but_lf_ends_a_line(tmp_path: Path, mark: str, suffix: str) -> None:
    text = f"a{mark}b{mark}"
    content = {
        "csv": f"text,id\n{text},1\n",
        "tsv": f"text\tid\n{text}\t1\n",
        "jsonl": json.dumps({"text": text, "id": "1"}, ensure_ascii=False) + "\n",
    }[suffix]
    assert [row for _, row in rows_of(tmp_path / f"rows.{suffix}", content)] == [{"text": text, "id": "1"}]


@given(st.lists(st.tuples(st.text(max_size=8), st.text(max_size=8)), min_size=1, max_size=4))
def test_property_jsonl_gives_back_what_was_dumped(tmp_path_factory: pytest.TempPathFactory, pairs: Any) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    lines = [
        json.dumps({"id": one, "text": two}, ensure_ascii=bool(place % 2)) for place, (one, two) in enumerate(pairs)
    ]
    assert [row for _, row in rows_of(path, "\n".join(lines))] == [{"id": one, "text": two} for one, two in pairs]


BAD_BYTES = {
    "Latin-1": ("id,text\n1,ok\n2,caf\xe9\n".encode("latin-1"), 3, "byte 0xe9"),
    "cut off in mid-letter": ("id,text\n1,नम".encode()[:-1], 2, "byte 0xe0"),
    "a surrogate in UTF-8": (b"id,text\n1,\xed\xa0\x80\n", 2, "byte 0xed"),
    "an overlong form": (b"id,text\n1,\xc0\xaf\n", 2, "byte 0xc0"),
    "UTF-16": ("id,text\n1,नम\n".encode("utf-16"), 1, "looks like UTF-16"),
    "UTF-16, big end first": ("id,text\n1,नम\n".encode("utf-16-be").join([b"\xfe\xff", b""]), 1, "looks like UTF-16"),
    "a zip archive": (b"PK\x03\x04\x14\x00\x06\x00\x08\x00\x00\x00!\x00\xdf", 1, "byte 0xdf"),
}


@pytest.mark.parametrize(("content", "line", "why"), BAD_BYTES.values(), ids=BAD_BYTES)
@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl"])
def test_bytes_that_are_not_utf8_are_named_with_their_line(
    tmp_path: Path, content: bytes, line: int, why: str, suffix: str
) -> None:
    path = tmp_path / f"rows.{suffix}"
    with pytest.raises(PromptError, match=rf"{path}:{line}: not UTF-8 \(.*{why}.*\); save the file as UTF-8"):
        rows_of(path, content)


BAD_TABLES = {
    "no text column": ("csv", "id,lang\n1,hi\n", r":1: no column 'text'; found id, lang$"),
    "nothing at all": ("csv", "", r":1: no column 'text'; found nothing"),
    "only empty lines": ("tsv", "\n\n", r":1: no column 'text'; found nothing"),
    "semicolons": ("csv", "id;text\n1;a\n", r":1: no column 'text'; found id;text; .*semicolons"),
    "tabs in CSV": ("csv", "id\ttext\n1\ta\n", r":1: no column 'text'; .*tabs.*\.tsv"),
    "commas in TSV": ("tsv", "id,text\n1,a\n", r":1: no column 'text'; .*commas.*\.csv"),
    "a column twice": ("csv", "id,text,Text \n1,a,b\n", r":1: column 'text' comes twice"),
    "one cell too many": ("csv", "id,text\n1,a\n2,b,c\n", r":3: 3 cells, but the header has 2"),
    "one cell too few": ("tsv", "id\ttext\n1\ta\n2\n", r":3: 1 cells, but the header has 2"),
    "too few after a long cell": ("csv", 'id,text\n1,"a\nb"\n2\n', r":4: 1 cells"),
    "an open quote": ("csv", 'id,text\n1,"a\n2,b\n', r":3: not a valid table"),
    "a quote in mid-cell": ("csv", 'id,text\n1,"a"b\n', r":2: not a valid table"),
    "a lone CR in TSV": ("tsv", "id\ttext\n1\ta\rb\n", r":3: 1 cells"),
    "an endless cell": ("csv", "id,text\n1," + "x" * 200_000 + "\n", r":2: not a valid table"),
    "not JSON": ("jsonl", '{"text":"a"}\n{"text":\n', r":2: not JSON"),
    "a list": ("jsonl", '["a"]\n', r":1: expected a JSON object, got list"),
    "a number": ("jsonl", '{"text":"a"}\n\n5\n', r":3: expected a JSON object, got int"),
    "one array of rows": ("jsonl", '[\n{"text":"a"}\n]\n', r":1: not JSON"),
    "two objects in a line": ("jsonl", '{"text":"a"} {"text":"b"}\n', r":1: not JSON"),
    "single quotes": ("jsonl", "{'text':'a'}\n", r":1: not JSON"),
    "a raw line end in a text": ("jsonl", '{"text":"a\nb"}\n', r":1: not JSON"),
    "a field twice": ("jsonl", '{"text":"a","id":"1","text":"b"}\n', r":1: not JSON \(field 'text' comes twice"),
    "deep nesting": ("jsonl", "[" * 100_000 + "\n", r":1: not JSON"),
}


@pytest.mark.parametrize(("suffix", "content", "message"), BAD_TABLES.values(), ids=BAD_TABLES)
def test_a_bad_table_is_named_with_its_line(tmp_path: Path, suffix: str, content: str, message: str) -> None:
    path = tmp_path / f"rows.{suffix}"
    with pytest.raises(PromptError, match=re.escape(str(path)) + message):
        rows_of(path, content)


def test_old_mac_line_ends_are_read(tmp_path: Path) -> None:
    assert [row["text"] for _, row in rows_of(tmp_path / "rows.csv", "id,text\r1,a\r2,b\r")] == ["a", "b"]


@pytest.mark.parametrize("name", ["prompts.txt", "prompts", "prompts.xlsx", "prompts.json"])
def test_an_unknown_kind_of_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(PromptError, match=r"unknown kind of file '.*'; expected \.jsonl, \.csv, \.tsv"):
        rows_of(tmp_path / name, "id,text\n")


def test_the_kind_is_read_in_any_case(tmp_path: Path) -> None:
    assert len(rows_of(tmp_path / "ROWS.CSV", "text\na\n")) == 1


def test_a_file_that_can_not_be_read_is_named(tmp_path: Path) -> None:
    for path, why in ((tmp_path / "gone.csv", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(PromptError, match=f"{path}: can't read this file: {why}"):
            read_text(path)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "1"}, "no field 'text'; found id"),
        ({}, "no field 'text'; found none"),
        ({"text": 5}, r"text is 5; expected text \(put it in quotes\)"),
        ({"text": 1e3}, "text is 1000.0; expected text"),
        ({"text": None}, "text is None; expected text"),
        ({"text": True}, "text is True; expected text"),
        ({"text": ["a"]}, r"text is \['a'\]; expected text"),
        ({"text": "a\ud83d"}, "text holds half a surrogate pair"),
        ({"text": "\udc00"}, "text holds half a surrogate pair"),
    ],
)
def test_a_field_that_is_no_text_is_refused(row: dict[str, Any], message: str) -> None:
    with pytest.raises(PromptError, match=f"file:3: {message}"):
        text_field("file:3", row, "text")


def test_a_whole_surrogate_pair_in_json_is_one_letter(tmp_path: Path) -> None:
    [(_, row)] = rows_of(tmp_path / "rows.jsonl", r'{"text":"\ud83d\ude00"}')
    assert text_field("x", row, "text") == "😀"
