"""What earlier runs found of human recordings, as a limit of verdicts: where it counts, and where it must not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kasauti.records import SampleRow
from kasauti.stats.compare import compare_rows
from kasauti.stats.humans import HumanFloor
from kasauti.stats.pairs import Rules
from stats_rows import row

RULES = Rules(draws=200)
SIGNATURE = {"level": "numbers", "judge revision": "1"}
HINDI = HumanFloor("cer", "hi", 0.2, 20, SIGNATURE, "r9", "human")
TAMIL = replace(HINDI, lang="ta", mean=0.4)


def study(*langs: str, **people: float) -> list[SampleRow]:
    """Two systems at 0.1 and 0.15 over eight prompts of each language, and people at so much."""
    levels = {"a": 0.1, "b": 0.15}
    return [
        row(f"{lang}{number}", system, level, lang=lang)
        for lang in langs
        for number in range(8)
        for system, level in {**levels, **people}.items()
    ]


def limits(rows: list[SampleRow], *floors: HumanFloor, **others: str) -> dict[str, tuple[float | None, str, str]]:
    """Key -> human line, where it is from, verdict on a against b."""
    signatures = {name: {"level": "numbers"} for name in ("a", "b", "p")} | {
        name: {"level": level} for name, level in others.items()
    }
    found = compare_rows(rows, humans=["p"], floors=floors, signatures=signatures, rules=RULES)
    return {cell.key: (cell.verdict.human, cell.human_source, cell.verdict.verdict) for cell in found}


def test_an_earlier_run_limits_where_there_are_no_people(  # one language: macro and lang are the same line
) -> None:
    known = (0.2, "run r9 (human)", "judge_limited")
    assert limits(study("hi"), HINDI) == {"hi": known, "all": known}
    assert limits(study("hi")) == {"hi": (None, "", "better"), "all": (None, "", "better")}


def test_a_floor_below_the_voices_limits_nothing_and_is_shown() -> None:
    assert limits(study("hi"), replace(HINDI, mean=0.12))["hi"] == (0.12, "run r9 (human)", "better")


def test_people_of_the_same_table_come_first() -> None:
    assert limits(study("hi", p=0.3), HINDI)["hi"] == (pytest.approx(0.3), "", "judge_limited")


def test_over_languages_it_is_the_mean_of_the_languages_and_needs_them_all() -> None:
    found = limits(study("hi", "ta"), HINDI, replace(TAMIL, run="r8", system="team"))
    assert found["all"] == (pytest.approx(0.3), "run r9 (human), run r8 (team)", "judge_limited")
    assert limits(study("hi", "ta"), HINDI) == {
        "hi": (0.2, "run r9 (human)", "judge_limited"),
        "ta": (None, "", "better"),
        "all": (None, "", "better"),
    }


def test_people_of_one_language_leave_the_other_to_the_earlier_run() -> None:
    rows = [r for r in study("hi", "ta", p=0.5) if r.system != "p" or r.lang == "hi"]
    found = limits(rows, HINDI, TAMIL)
    assert found["hi"] == (pytest.approx(0.5), "", "judge_limited")
    assert found["ta"] == (0.4, "run r9 (human)", "judge_limited")
    assert found["all"] == (pytest.approx(0.3), "run r9 (human)", "judge_limited")


@pytest.mark.parametrize(
    "other",
    [
        replace(HINDI, signature={**SIGNATURE, "judge revision": "2"}),
        replace(HINDI, signature={**SIGNATURE, "level": "strict"}),
        replace(HINDI, signature={"level": "numbers"}),
        replace(HINDI, metric="wer"),
        replace(HINDI, lang="ta"),
    ],
    ids=["judge", "level", "nothing of the judge", "metric", "language"],
)
def test_what_was_made_otherwise_limits_nothing(other: HumanFloor) -> None:
    assert limits(study("hi"), other)["hi"] == (None, "", "better")


def test_systems_that_differ_themselves_are_not_comparable_whatever_people_do() -> None:
    assert limits(study("hi"), HINDI, b="strict")["hi"][2] == "not_comparable"
