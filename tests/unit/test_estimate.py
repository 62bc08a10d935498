"""What is left of a plan: counted before the work, and again when it is half done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kasauti.pipeline.estimate import Estimate, estimate
from kasauti.pipeline.judging import tasks_of
from kasauti.pipeline.plan import Plan
from kasauti.records import Judgment, Outcome, Status
from kasauti.store.library import Store
from kasauti.systems.audio_dir import AudioDirOptions
from plans import ROWS, listener, panel, plan_for, put_clip, store_of, voice

CHARS = sum(len(row["text"]) for row in ROWS)


def judge_all(plan: Plan, store: Store, name: str, outcome: Outcome | None = None) -> None:
    for task in tasks_of(plan, name, store):
        store.judgments.put(Judgment(task.judgment_id, name, "r", task.lang, 0, outcome or Outcome(), transcript="x"))


def left_of(plan: Plan, store: Store) -> Estimate:
    return estimate(plan, store, cores=2)


def test_counts_as_the_work_goes_on(tmp_path: Path) -> None:
    store, plan = store_of(tmp_path), plan_for(tmp_path, rejudges=2)
    left = left_of(plan, store)
    assert (left.make, left.stored, left.call, left.judged) == ({"fake": 3}, {"fake": 0}, {"fake": 6}, {"fake": 0})
    assert not left.nothing_to_do
    put_clip(store, plan.takes[0])
    put_clip(store, plan.takes[1])
    judge_all(plan, store, "fake")
    left = left_of(plan, store)
    assert (left.make, left.stored, left.call, left.judged) == ({"fake": 1}, {"fake": 2}, {"fake": 2}, {"fake": 4})
    put_clip(store, plan.takes[2])
    judge_all(plan, store, "fake")
    left = left_of(plan, store)
    assert (left.make, left.stored, left.call, left.judged) == ({"fake": 0}, {"fake": 3}, {"fake": 0}, {"fake": 6})
    assert left.nothing_to_do
    assert set(left.usd.values()) == set(left.seconds.values()) == {0.0}


@pytest.mark.parametrize(
    ("outcome", "make", "call"),
    [
        (Outcome(Status.SYNTHESIS_FAILED, "timeout", retryable=True), 1, 1),
        (Outcome(Status.REFUSED, "declined"), 0, 0),  # it stays refused, and there is nothing to hear
        (Outcome(Status.AUDIO_INVALID, "silent"), 0, 0),
    ],
)
def test_a_failed_clip_is_to_be_made_where_a_retry_can_help(
    tmp_path: Path, outcome: Outcome, make: int, call: int
) -> None:
    store, plan = store_of(tmp_path), plan_for(tmp_path, rows=ROWS[:1])
    put_clip(store, plan.takes[0], outcome)
    left = left_of(plan, store)
    assert (left.make["fake"], left.call["fake"], left.nothing_to_do) == (make, call, make == 0)


def test_a_failed_judgment_is_to_be_made_where_a_retry_can_help(tmp_path: Path) -> None:
    store, plan = store_of(tmp_path), plan_for(tmp_path)
    for take in plan.takes:
        put_clip(store, take)
    judge_all(plan, store, "fake", Outcome(Status.JUDGE_FAILED, "timeout", retryable=True))
    assert left_of(plan, store).call == {"fake": 3}
    judge_all(plan, store, "fake", Outcome(Status.JUDGE_INVALID, "no_answer"))
    assert left_of(plan, store).nothing_to_do


def test_what_nobody_can_speak_or_hear_is_counted_apart(tmp_path: Path) -> None:
    voices = [voice("all"), voice("few", langs=["hi"], slip_rate=0.1)]
    plan = plan_for(tmp_path, *voices, judges=[listener("j", langs=["hi", "ta"])])
    left = left_of(plan, store_of(tmp_path))
    assert left.make == {"all": 3, "few": 1}
    assert dict(left.refused) == {"few": 2}
    assert left.call == {"j": 3}


def test_a_system_and_a_judge_of_one_name_are_two_parts(tmp_path: Path) -> None:
    plan = plan_for(tmp_path, voice("x", usd_per_1k_chars=1000), judges=[listener("x", usd_per_call=7)])
    left = left_of(plan, store_of(tmp_path))
    assert left.usd == {"system x": pytest.approx(CHARS), "judge x": 21}
    assert set(left.seconds) == {"system x", "judge x"}
    assert all(seconds > 0 for seconds in left.seconds.values())


def test_a_price_that_is_not_known_is_not_nothing(tmp_path: Path) -> None:
    plan = plan_for(tmp_path)
    object.__setattr__(plan.systems["fake"].facts, "usd_per_1k_chars", None)
    store = store_of(tmp_path)
    assert left_of(plan, store).usd == {"system fake": None, "judge fake": 0.0}
    for take in plan.takes:
        put_clip(store, take)
    assert left_of(plan, store).usd["system fake"] == 0.0  # nothing is left to be paid


def test_more_workers_need_less_time(tmp_path: Path) -> None:
    def seconds(cores: int, **options: Any) -> float:
        plan = plan_for(tmp_path, voice(**options))
        return estimate(plan, store_of(tmp_path), cores).seconds["system fake"]

    assert seconds(4) == seconds(1)  # a system of one process
    assert seconds(4, workers=0) == pytest.approx(seconds(1) / 4)
    assert seconds(4, workers=2) == pytest.approx(seconds(1) / 2)
    assert seconds(1, workers=8) == seconds(1)


def test_a_panel_is_one_call_a_prompt(tmp_path: Path) -> None:
    voices = [voice("a"), voice("b", slip_rate=0.5)]
    store, plan = store_of(tmp_path), plan_for(tmp_path, *voices, judges=[panel()])
    assert left_of(plan, store).call == {"panel": 3}
    for take in plan.takes[:3]:
        put_clip(store, take)
    left = left_of(plan, store)
    assert (left.make, left.call) == ({"a": 1, "b": 2}, {"panel": 3})
    for take in plan.takes[3:]:
        put_clip(store, take)
    judge_all(plan, store, "panel")
    assert left_of(plan, store).nothing_to_do


def test_a_place_holder_has_nothing_to_make(tmp_path: Path) -> None:
    nothing = AudioDirOptions("kasauti.systems.audio_dir.AudioDir", "none", path=None)
    left = left_of(plan_for(tmp_path, nothing), store_of(tmp_path))
    assert (left.make, left.stored, left.call) == ({"none": 0}, {"none": 0}, {"fake": 0})
