"""`noise_floor.tsv` and the printed floors: closed form, what is there and what isn't."""

from __future__ import annotations

import io
from itertools import product

import pytest
from rich.console import Console

from kasauti.records import SampleRow
from kasauti.report.floor_plan import FLOOR_COLUMNS, PROMPTS, REPEATS, floor_rows, print_floors_at
from kasauti.stats.floors import noise_floors
from stats_rows import row


def rows_of(repeats: int, rejudges: int, langs: tuple[str, ...] = ("hi", "ta")) -> list[SampleRow]:
    return [
        row(f"{lang}{p}", "a", 0.1 + 0.02 * ((p + r) % 3) + 0.01 * ((p + k) % 2), lang=lang, repeat=r, rejudge=k)
        for lang, p, r, k in product(langs, range(6), range(repeats), range(rejudges))
    ]


def printed(rows: list[SampleRow]) -> str:
    out = io.StringIO()
    print_floors_at(rows, Console(file=out, width=140))
    return out.getvalue()


def test_every_place_has_its_floor_here_and_at_every_other_number() -> None:
    samples = rows_of(3, 2)
    rows = [one for one in floor_rows(samples) if one["metric"] == "cer"]
    assert all(list(one) == FLOOR_COLUMNS or set(one) == set(FLOOR_COLUMNS) for one in rows)
    here = [one for one in rows if one["here"]]
    assert [(one["scope"], one["key"], one["n_prompts"]) for one in here] == [
        ("lang", "hi", 6),
        ("lang", "ta", 6),
        ("macro", "all", 12),
    ]
    floors = noise_floors(samples)
    for one in here:
        floor = floors["a", "j", one["scope"], one["key"]]
        assert one["floor95"] == pytest.approx(floor.floor95)
        assert (one["repeats"], one["rejudges"]) == (3, 2)
    hi = [one for one in rows if one["key"] == "hi" and not one["here"]]
    assert {one["n_prompts"] for one in hi} == set(PROMPTS)
    assert {one["repeats"] for one in hi} == set(REPEATS)
    found = floors["a", "j", "lang", "hi"]
    assert found.var_synthesis is not None
    assert found.var_judge is not None
    for one in hi:
        takes = one["n_prompts"] * one["repeats"]
        variance = found.var_synthesis / takes + found.var_judge / (takes * one["rejudges"])
        assert one["floor95"] == pytest.approx(1.96 * (2 * variance) ** 0.5)
    macro = [one for one in rows if one["scope"] == "macro" and not one["here"]]
    assert {one["n_prompts"] for one in macro} == {2 * n for n in PROMPTS}


def test_what_was_not_measured_has_no_row() -> None:
    assert list(floor_rows(rows_of(1, 3))) == []
    assert printed(rows_of(1, 3)) == ""


def test_one_hearing_is_not_split_and_not_printed() -> None:
    rows = list(floor_rows(rows_of(3, 1)))
    assert {one["judge95"] for one in rows} == {None}
    assert {one["rejudges"] for one in rows} == {1}
    assert printed(rows_of(3, 1)) == ""


def test_the_printed_floors_are_those_of_the_table() -> None:
    samples = rows_of(3, 2)
    lines = [line.split() for line in printed(samples).splitlines() if line.startswith("a, j")]
    assert [line[2] for line in lines] == ["hi", "ta", "all,"]
    table = {
        (one["n_prompts"], one["repeats"], one["rejudges"]): one for one in floor_rows(samples) if one["key"] == "hi"
    }
    shown = lines[0]
    assert shown[3:8] == ["6", "×", "3", "×", "2"]
    assert shown[8:11] == [f"{100 * table[6, 3, 2][name]:.2f}" for name in ("floor95", "synthesis95", "judge95")]
    assert "all, mean" not in printed(rows_of(3, 2, ("hi",)))
    plans = [(100, 1), (100, 5), (1000, 1), (1000, 5)]
    assert shown[11:] == [f"{100 * table[n, r, 1]['floor95']:.2f}" for n, r in plans]
