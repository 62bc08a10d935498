"""The two stages with fakes: what a call cost and how it streamed is recorded, spending stops, no sound is a row."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from audio_files import P, encoded, invalid_files, tone, wav
from kasauti.judges.base import Answer, JudgeTask
from kasauti.judges.fake import FakeJudge
from kasauti.pipeline import judging
from kasauti.pipeline.assembly import assemble
from kasauti.pipeline.executors import LocalExecutor
from kasauti.pipeline.judging import judge_clips
from kasauti.pipeline.plan import Plan
from kasauti.pipeline.progress import Progresses
from kasauti.pipeline.spending import Spending
from kasauti.pipeline.stage import Interrupt
from kasauti.pipeline.synthesis import make_clips
from kasauti.records import Clip, Outcome, Status
from kasauti.settings import BudgetSettings, ExecutorSettings
from kasauti.store.library import Store
from kasauti.systems.base import Speech, SpeechRequest
from kasauti.systems.fake import Fake
from plans import ROWS, listener, plan_for, put_clip, store_of, voice

EXECUTOR = LocalExecutor(ExecutorSettings("x", 1))


def make(plan: Plan, store: Store, max_usd: float | None = None) -> Spending:
    """Makes the clips of a plan."""
    spending = Spending(BudgetSettings(max_usd), Interrupt())
    make_clips(plan, store, EXECUTOR, spending, Progresses(Console(file=io.StringIO())))
    return spending


def judge(plan: Plan, store: Store, max_usd: float | None = None) -> Spending:
    """Asks every judge of a plan."""
    spending = Spending(BudgetSettings(max_usd), Interrupt())
    for name in plan.judges:
        judge_clips(plan, name, store, EXECUTOR, spending, Progresses(Console(file=io.StringIO())).stage(name, 1))
    return spending


def clips_of(plan: Plan, store: Store) -> list[Clip]:
    clips = [store.clips.get(take.clip_id or "") for take in plan.takes]
    return [clip for clip in clips if clip is not None]


def statuses(plan: Plan, store: Store) -> list[Status]:
    """Of the rows of the table."""
    return [row.status for row in assemble(plan, store, "not_reached").samples]


def speaks(monkeypatch: pytest.MonkeyPatch, speak: Callable[[SpeechRequest], Speech]) -> None:
    """Every fake system answers with this."""
    monkeypatch.setattr(Fake, "speak", lambda _self, request: speak(request))


def test_what_a_call_cost_and_how_it_streamed_is_in_its_record(tmp_path: Path) -> None:
    plan, store = plan_for(tmp_path, voice(usd_per_1k_chars=1000, ttfb_s=0.25)), store_of(tmp_path)
    spending = make(plan, store)
    outcomes = [clip.outcome for clip in clips_of(plan, store)]
    assert [outcome.cost_usd for outcome in outcomes] == [float(len(row["text"])) for row in ROWS]
    assert {outcome.ttfb_s for outcome in outcomes} == {0.25}
    assert all(outcome.wall_s is not None and outcome.wall_s >= 0 for outcome in outcomes)
    assert spending.spent_usd == sum(len(row["text"]) for row in ROWS)
    plain = plan_for(tmp_path, voice(slip_rate=0.1))
    make(plain, store)
    assert {clip.outcome.ttfb_s for clip in clips_of(plain, store)} == {None}


def test_spending_stops_before_the_budget_is_passed_and_goes_on_later(tmp_path: Path) -> None:
    plan, store = plan_for(tmp_path, voice(usd_per_1k_chars=1000)), store_of(tmp_path)
    spending = make(plan, store, max_usd=14.5)
    assert [clip.text for clip in clips_of(plan, store)] == [ROWS[0]["text"], ROWS[1]["text"]]
    assert (spending.spent_usd, spending.stopped_by) == (14.0, "budget")
    rest = make(plan, store, max_usd=10.0)
    assert len(clips_of(plan, store)) == 3
    assert (rest.spent_usd, rest.stopped_by) == (len(ROWS[2]["text"]), None)


def test_a_failed_call_is_paid_for_too(tmp_path: Path) -> None:
    plan = plan_for(tmp_path, voice(usd_per_1k_chars=1000, fail_ids=["p1"]))
    spending = make(plan, store_of(tmp_path))
    assert spending.spent_usd == sum(len(row["text"]) for row in ROWS)
    again = make(plan, store_of(tmp_path))
    assert again.spent_usd == len(ROWS[0]["text"])


def test_judges_are_paid_from_the_same_purse(tmp_path: Path) -> None:
    plan, store = plan_for(tmp_path, judges=[listener(usd_per_call=1.0)]), store_of(tmp_path)
    make(plan, store)
    spending = judge(plan, store, max_usd=2.0)
    assert (spending.spent_usd, spending.stopped_by, len(store.judgments)) == (2.0, "budget", 2)


def test_systems_side_by_side_do_not_overspend_together(tmp_path: Path) -> None:
    voices = [voice(name, usd_per_1k_chars=1000, slip_rate=rate) for name, rate in (("a", 0.1), ("b", 0.2), ("c", 0.3))]
    plan, store = plan_for(tmp_path, *voices, max_parallel_systems=3), store_of(tmp_path)
    spending = make(plan, store, max_usd=30.0)
    assert spending.spent_usd <= 30.0
    assert spending.spent_usd == sum(clip.outcome.cost_usd or 0.0 for clip in clips_of(plan, store))
    assert spending.stopped_by == "budget"


def test_sound_is_recorded_as_it_is(tmp_path: Path) -> None:
    plan, store = plan_for(tmp_path), store_of(tmp_path)
    make(plan, store)
    for clip in clips_of(plan, store):
        assert clip.status is Status.OK
        assert (clip.sample_rate_hz, clip.channels, clip.truncated) == (8000, 1, False)
        assert clip.duration_s is not None
        assert clip.path == f"clips/{clip.clip_id[:2]}/{clip.clip_id}.wav"
        assert store.audio_path(clip).is_file()
        assert clip.created_at is not None


def test_a_file_of_a_vendor_is_kept_byte_for_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, store = plan_for(tmp_path, rows=ROWS[:1]), store_of(tmp_path)
    flac = encoded(tone(0.5, 0.5), "FLAC", "PCM_16")
    speaks(monkeypatch, lambda request: Speech(request.clip_id, encoded=flac, suffix=".flac"))
    make(plan, store)
    [clip] = clips_of(plan, store)
    assert store.audio_path(clip).read_bytes() == flac
    assert (clip.path or "").endswith(".flac")
    assert clip.duration_s == pytest.approx(0.5)


@pytest.mark.parametrize("name", invalid_files())
def test_what_is_no_sound_is_a_row_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    content, reason = invalid_files()[name]
    plan, store = plan_for(tmp_path, rows=ROWS[:1]), store_of(tmp_path)
    speaks(monkeypatch, lambda request: Speech(request.clip_id, encoded=content))
    make(plan, store)
    [clip] = clips_of(plan, store)
    assert (clip.status, clip.outcome.reason) == (Status.AUDIO_INVALID, reason)
    judge(plan, store)
    assert len(store.judgments) == 0  # the recogniser is not asked


def test_a_truncated_file_is_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, store = plan_for(tmp_path, rows=ROWS[:1]), store_of(tmp_path)
    cut = wav(P[:50_001], riff_size=72_036, data_size=72_000)  # case audio-06
    speaks(monkeypatch, lambda request: Speech(request.clip_id, encoded=cut))
    make(plan, store)
    [clip] = clips_of(plan, store)
    assert clip.truncated


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_samples_that_are_no_numbers_are_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: float) -> None:
    plan, store = plan_for(tmp_path, rows=ROWS[:1]), store_of(tmp_path)
    samples = np.array([0.0, bad] * 4000, np.float32)
    speaks(monkeypatch, lambda request: Speech(request.clip_id, Outcome(cost_usd=1.0), samples, 8000))
    spending = make(plan, store)
    [clip] = clips_of(plan, store)
    assert (clip.status, clip.outcome.reason, clip.path) == (Status.AUDIO_INVALID, "not_a_number", None)
    assert (clip.outcome.cost_usd, spending.spent_usd) == (1.0, 1.0)


def test_a_clip_that_was_changed_after_it_was_recorded_is_made_anew_and_not_heard(tmp_path: Path) -> None:
    plan, store = plan_for(tmp_path), store_of(tmp_path)
    make(plan, store)
    path = store.audio_path(clips_of(plan, store)[1])
    recorded = path.read_bytes()
    path.write_bytes(recorded[:-2])
    judge(plan, store)
    assert len(store.judgments) == 2
    assert statuses(plan, store) == [Status.OK, Status.NOT_RUN, Status.OK]
    make(plan, store)
    assert path.read_bytes() == recorded
    judge(plan, store)
    assert statuses(plan, store) == [Status.OK] * 3


def test_a_clip_that_goes_away_before_it_is_heard_costs_its_own_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, store = plan_for(tmp_path), store_of(tmp_path)
    make(plan, store)
    gone = store.audio_path(clips_of(plan, store)[1])
    verified = judging._verified

    def verified_and_gone(tasks: Sequence[JudgeTask]) -> list[JudgeTask]:
        found = verified(tasks)
        gone.unlink()
        return found

    monkeypatch.setattr(judging, "_verified", verified_and_gone)
    judge(plan, store)
    statuses = [judgment.status for name in store.judgments if (judgment := store.judgments.get(name)) is not None]
    assert statuses == [Status.OK, Status.JUDGE_FAILED, Status.OK]


def test_what_a_judge_says_is_recorded(tmp_path: Path) -> None:
    plan, store = plan_for(tmp_path, judges=[listener(fail_words=["one"])]), store_of(tmp_path)
    make(plan, store)
    judge(plan, store)
    judgments = [store.judgments.get(name) for name in store.judgments]
    by_text: dict[Any, Any] = {judgment.transcript: judgment for judgment in judgments if judgment is not None}
    assert set(by_text) == {None, ROWS[1]["text"], ROWS[2]["text"]}
    assert (by_text[None].status, by_text[None].outcome.retryable) == (Status.JUDGE_FAILED, True)
    assert all(judgment.judge_revision.startswith("fake-1") for judgment in by_text.values())
    judge(plan, store)
    assert len(store.judgments) == 3


def test_an_answer_with_a_hole_is_recorded_as_the_failure_that_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, store = plan_for(tmp_path, rows=ROWS[:2]), store_of(tmp_path)
    make(plan, store)
    nan = {"": {"mos": float("nan")}}
    replies = iter([Answer("", raw="hm"), Answer("", transcript="x", scores=nan)])
    monkeypatch.setattr(FakeJudge, "answer", lambda _self, task: replace(next(replies), judgment_id=task.judgment_id))
    judge(plan, store)
    judgments = [judgment for name in store.judgments if (judgment := store.judgments.get(name)) is not None]
    assert {judgment.status for judgment in judgments} == {Status.JUDGE_INVALID}
    assert {judgment.outcome.reason for judgment in judgments} == {"no_answer", "not_a_number"}


def test_a_clip_that_two_takes_share_is_made_once(tmp_path: Path) -> None:
    same = [{**ROWS[0], "id": name} for name in "abc"]
    plan, store = plan_for(tmp_path, rows=same), store_of(tmp_path)
    spending = make(plan, store)
    assert (len(store.clips), spending.stopped_by) == (1, None)
    before = store.clips.path.read_bytes()
    make(plan, store)
    assert store.clips.path.read_bytes() == before


def test_nothing_is_left_to_do_when_all_is_there(tmp_path: Path) -> None:
    plan, store = plan_for(tmp_path), store_of(tmp_path)
    for take in plan.takes:
        put_clip(store, take)
    assert make(plan, store).spent_usd == 0.0
    assert len(store.clips.path.read_bytes().splitlines()) == 3
