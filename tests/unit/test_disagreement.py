"""Two judges of one run: what counts, and what does not."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.records import Prompt, SampleRow, Status
from kasauti.report.disagreement import Disagreement, disagreements
from kasauti.settings import ScoringSettings

ROW = SampleRow("r", "p", "hi", "Deva", "", "s", 0, "a", "", 0, Status.OK, hypothesis="", cer=0.0)


def run(*rows: SampleRow) -> Any:
    """As much of a run as is looked at."""
    prompts = [Prompt("p", "hi", "x", "Deva")]
    return SimpleNamespace(
        judges={"a": "", "b": ""},
        samples=rows,
        languages=list(dict.fromkeys(p.lang for p in prompts)),
        scoring=ScoringSettings(),
    )


def pair(one: str, other: str, prompt: str = "p", **changes: Any) -> list[SampleRow]:
    first = replace(ROW, prompt_id=prompt, hypothesis=one)
    return [first, replace(first, judge="b", hypothesis=other, **changes)]


def found(*rows: SampleRow) -> Disagreement:
    [one] = disagreements(run(*rows), "a", "b")
    return one


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("मेरा घर", "मेरा घर", 0.0),
        ("मेरा घर", "मेरा  घर।", 0.0),  # compared at the run's level
        ("₹500", "पाँच सौ रुपये", 0.0),
        ("abcd", "abxd", 1 / 4),
        ("abcd", "abcdefgh", 4 / 8),  # the longer of the two, so that it is the same either way
        ("abcdefgh", "abcd", 4 / 8),
        ("", "abcd", 1.0),
        ("abcd", "", 1.0),
        ("", "", 0.0),
    ],
)
def test_apart_is_edits_by_the_longer_transcript(one: str, other: str, apart: float) -> None:
    assert found(*pair(one, other)).apart == pytest.approx(apart)


@given(st.text("abc ", max_size=8), st.text("abc ", max_size=8))
def test_property_apart_is_a_share_and_the_same_either_way(one: str, other: str) -> None:
    apart = found(*pair(one, other)).apart
    assert apart is not None
    assert 0 <= apart <= 1
    assert apart == found(*pair(other, one)).apart


def test_rows_in_different_scripts_are_counted_and_not_compared() -> None:
    one = found(*pair("मेरा घर", "mera ghar", status=Status.WRONG_SCRIPT), *pair("abcd", "abxd", prompt="q", cer=0.5))
    assert (one.rows, one.both, one.other_script) == (2, 2, 1)
    assert one.apart == pytest.approx(1 / 4)
    assert one.cer == (0.0, 0.5)


def test_a_failure_is_no_answer() -> None:
    failed = {"status": Status.JUDGE_FAILED, "hypothesis": None}
    one = found(*pair("abcd", "abcd"), replace(ROW, prompt_id="q"), replace(ROW, prompt_id="q", judge="b", **failed))
    assert (one.rows, one.both) == (2, 1)
    alone = found(ROW)
    assert alone == Disagreement("hi", 1, 0, None, None, 0)
    assert alone.single_judge
