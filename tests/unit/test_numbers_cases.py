"""Every row of numbers.jsonl, and the rows of metrics.jsonl that need numbers in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rapidfuzz.distance import Levenshtein

from kasauti.text.numbers import (
    NumberPolicy,
    best_readings,
    cardinal,
    cardinal_readings,
    digits,
    expand_numbers,
    parse_number,
    readings,
)

CASES = Path(__file__).parents[1] / "cases"

OTHERWISE = {
    "numbers-31": (
        "सौ करोड़",
        "crores are counted on above a hundred, as numbers-32 has it, so that one rule covers every language; "
        "एक अरब is among the readings",
    ),
}
"""Rows whose canonical reading is another one here: what it is, and why."""


def rows(name: str) -> list[dict[str, Any]]:
    with (CASES / name).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def of_op(op: str) -> list[Any]:
    return [pytest.param(row, id=row["id"]) for row in rows("numbers.jsonl") if row["op"] == op]


def test_no_row_is_left_out():
    assert {row["op"] for row in rows("numbers.jsonl")} == {"expand_text", "digits", "cardinal", "parse_number"}
    assert len(rows("numbers.jsonl")) == 37


@pytest.mark.parametrize("row", of_op("expand_text"))
def test_text(row):
    text = expand_numbers(row["input"], row["lang"])
    assert text == row["expected"]
    assert text != row.get("must_not_equal")
    assert not [word for word in row.get("must_not_contain", ()) if word in text]


@pytest.mark.parametrize("row", of_op("digits"))
def test_digits(row):
    assert digits(row["input"]) == row["expected"]
    assert len(digits(row["input"])) == row["count"]


@pytest.mark.parametrize("row", of_op("parse_number"))
def test_parsed(row):
    assert parse_number(row["input"]) == row["expected"]


@pytest.mark.parametrize("row", of_op("cardinal"))
def test_cardinal(row):
    expected, _ = OTHERWISE.get(row["id"], (row["expected"], ""))
    words = cardinal(row["value"], row["lang"])
    assert words == expected
    assert not [word for word in row.get("must_not_contain", ()) if word in words]
    assert {row["expected"], *row.get("accept", ())} <= set(cardinal_readings(row["value"], row["lang"]))


def word_errors(said: str, heard: str) -> int:
    return Levenshtein.distance(said.split(), heard.split())


@pytest.mark.parametrize("row", [row for row in rows("metrics.jsonl") if row["id"] in ("metrics-13", "metrics-14")])
def test_figures_on_either_side(row):
    for hypothesis, wer in zip(row["hyps"], row["expected"]["wer"], strict=True):
        said, heard = best_readings(row["ref"], hypothesis, row["lang"])
        assert word_errors(said, heard) == wer
        assert len(said.split()) == row["expected"].get("ref_words", len(said.split()))


def test_a_room_number_read_figure_by_figure():
    (row,) = (row for row in rows("metrics.jsonl") if row["id"] == "metrics-15")
    said, heard = best_readings(row["ref"], row["hyps"][0], row["lang"])
    assert word_errors(said, heard) == row["expected"]["wer_if_readings_allowed"][0]
    one = NumberPolicy(alternatives=False)
    said, heard = best_readings(row["ref"], row["hyps"][0], row["lang"], policy=one)
    assert word_errors(said, heard) / len(said.split()) == row["expected"]["wer"][0]
    assert readings(row["ref"], row["lang"], policy=one).count == 1
