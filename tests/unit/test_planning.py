"""Planning: what a run has to do, what the store already has of it, and who hears what under which label."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio_files import encoded, tone
from kasauti.errors import KasautiError, PromptError
from kasauti.identity import seed_of
from kasauti.judges.base import Answer, Heard, JudgeTask
from kasauti.judges.transcripts import TranscriptsOptions
from kasauti.pipeline.judging import _checked, hearings, rotated, tasks_of
from kasauti.pipeline.plan import Take, clip_needed, judgment_needed, make_plan
from kasauti.records import Judgment, Outcome, Status
from kasauti.settings import DecodingSettings
from kasauti.systems.audio_dir import AudioDirOptions
from plans import ROWS, listener, panel, plan_for, put_clip, settings_for, store_of, voice

FAILED = Outcome(Status.SYNTHESIS_FAILED, "timeout", retryable=True)
REFUSED = Outcome(Status.REFUSED, "declined")


def summary(takes: list[Take]) -> list[tuple[str, str, int]]:
    return [(take.prompt.id, take.system, take.repeat) for take in takes]


def test_every_prompt_by_every_system_as_often_as_it_is_to_be_taken(tmp_path: Path) -> None:
    plan = plan_for(tmp_path, voice("a"), voice("b", repeats=2))
    assert summary(plan.takes) == [
        (prompt, system, repeat) for prompt in ("p1", "p2", "p3") for system, repeat in (("a", 0), ("b", 0), ("b", 1))
    ]
    assert all(take.refusal is None and take.clip_id for take in plan.takes)


def test_planning_makes_nothing(tmp_path: Path) -> None:
    plan = plan_for(tmp_path)
    assert plan.clips_to_make(store_of(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["prompts.jsonl"]


def test_a_prompt_that_a_system_can_not_speak_is_a_take_without_a_clip(tmp_path: Path) -> None:
    plan = plan_for(tmp_path, voice("all"), voice("few", langs=["hi"], slip_rate=0.5))
    refused = [take for take in plan.takes if take.refusal is not None]
    assert summary(refused) == [("p1", "few", 0), ("p3", "few", 0)]
    assert all(
        take.clip_id is None and take.refusal.status is Status.UNSUPPORTED_LANGUAGE for take in refused if take.refusal
    )
    assert len(plan.clips_to_make(store_of(tmp_path))["few"]) == 1


def test_a_place_holder_has_rows_and_no_clips(tmp_path: Path) -> None:
    plan = plan_for(tmp_path, AudioDirOptions("kasauti.systems.audio_dir.AudioDir", "none", path=None))
    assert [(take.clip_id, take.refusal) for take in plan.takes] == [(None, None)] * 3
    assert plan.clips_to_make(store_of(tmp_path)) == {"none": []}


def test_systems_that_would_make_the_same_clip_make_it_once(tmp_path: Path) -> None:
    plan = plan_for(tmp_path, voice("a"), voice("b"), voice("c", slip_rate=0.5))
    to_make = plan.clips_to_make(store_of(tmp_path))
    assert {name: len(takes) for name, takes in to_make.items()} == {"a": 3, "b": 0, "c": 3}


def ids_of(folder: Path, *systems: Any, **changes: Any) -> list[str | None]:
    return [take.clip_id for take in plan_for(folder, *(systems or (voice(),)), **changes).takes]


def test_what_makes_another_clip_and_what_does_not(tmp_path: Path) -> None:
    plain = ids_of(tmp_path)
    assert len(set(plain)) == 3
    hot = {"decoding": DecodingSettings(temperature=1.5)}
    assert ids_of(tmp_path, **hot) == plain  # the voice declares no decoding field
    assert ids_of(tmp_path, voice("other name", usd_per_1k_chars=5, workers=3, fail_ids=["p1"])) == plain
    assert not set(ids_of(tmp_path, voice(slip_rate=0.1))) & set(plain)
    drawn = ids_of(tmp_path, voice(stochastic=True))
    assert not set(drawn) & set(plain)
    assert not set(ids_of(tmp_path, voice(stochastic=True), **hot)) & set(drawn)
    assert not set(ids_of(tmp_path, voice(stochastic=True), decoding=DecodingSettings(seed=1))) & set(drawn)
    assert ids_of(tmp_path, voice(stochastic=True), decoding=DecodingSettings(top_k=5)) == drawn
    takes = ids_of(tmp_path, voice(repeats=2))
    assert takes[::2] == plain
    assert not set(takes[1::2]) & set(plain)
    # The id and the tags of a prompt are not heard; its text, language and control are.
    renamed = [{**row, "id": f"x{row['id']}", "tags": ["t"]} for row in ROWS]
    assert ids_of(tmp_path, rows=renamed) == plain
    for change in ({"text": "one  two"}, {"lang": "hi"}, {"control": "calm"}):
        other = ids_of(tmp_path, rows=[{**ROWS[0], **change}, *ROWS[1:]])
        assert (other[0] != plain[0], other[1:]) == (True, plain[1:])


def test_a_request_holds_what_the_system_declares_and_a_seed_of_its_own(tmp_path: Path) -> None:
    decoding = DecodingSettings(temperature=0.5, top_k=9, seed=3)
    for options, fields in ((voice(), {}), (voice(stochastic=True), {"temperature": 0.5, "seed": 3})):
        plan = plan_for(tmp_path, options, decoding=decoding)
        requests = [plan.request(take) for take in plan.takes]
        assert [request.decoding for request in requests] == [fields] * 3
        assert [request.seed for request in requests] == [seed_of(request.clip_id) for request in requests]
        assert len({request.seed for request in requests}) == 3


def test_places_count_over_the_whole_file_so_that_a_trial_run_grows(tmp_path: Path) -> None:
    deliveries = ["joy", "anger", "joy", "joy", "anger"]
    rows = [{"id": f"p{n}", "lang": "hi", "text": "x", "control": {"delivery": d}} for n, d in enumerate(deliveries)]
    full = settings_for(tmp_path, rows=rows)
    few = replace(full, promptset=replace(full.promptset, ids=["p3", "p4"]))
    assert make_plan(full).places == make_plan(few).places == {"p0": 0, "p1": 0, "p2": 1, "p3": 2, "p4": 1}
    assert [prompt.id for prompt in make_plan(few).prompts] == ["p3", "p4"]


def test_what_makes_another_run(tmp_path: Path) -> None:
    plain = plan_for(tmp_path).run_id
    assert plan_for(tmp_path).run_id == plain
    edited = [*ROWS[:2], {**ROWS[2], "text": "ஏழு"}]
    assert plan_for(tmp_path, rows=edited).run_id != plain
    assert plan_for(tmp_path, rows=ROWS[:2]).run_id != plain
    assert plan_for(tmp_path, config={"systems": {"fake": {"slip_rate": 0.1}}}).run_id != plain
    assert plan_for(tmp_path, config={"executor": {"workers": 9}, "paths": {"runs": "x"}}).run_id == plain


def test_bad_prompts_and_parts_are_told_when_planning(tmp_path: Path) -> None:
    with pytest.raises(PromptError, match=r"prompts.jsonl:1: no field 'text'"):
        plan_for(tmp_path, rows=[{"id": "a", "lang": "hi"}])
    with pytest.raises(KasautiError, match="is not a folder"):
        plan_for(tmp_path, AudioDirOptions("kasauti.systems.audio_dir.AudioDir", "x", path=str(tmp_path / "gone")))


# --- what is needed


def test_which_clips_are_needed(tmp_path: Path) -> None:
    store, plan = store_of(tmp_path), plan_for(tmp_path)
    made, failed, refused = plan.takes
    assert all(clip_needed(store, take.clip_id or "") for take in plan.takes)
    clip = put_clip(store, made)
    put_clip(store, failed, FAILED)
    put_clip(store, refused, REFUSED)
    assert [clip_needed(store, take.clip_id or "") for take in plan.takes] == [False, True, False]
    assert summary(plan.clips_to_make(store)["fake"]) == [("p2", "fake", 0)]
    store.audio_path(clip).unlink()
    assert clip_needed(store, clip.clip_id)
    put_clip(store, failed)
    assert not clip_needed(store, failed.clip_id or "")


@pytest.mark.parametrize(
    ("outcome", "needed"),
    [
        (Outcome(), False),
        (Outcome(Status.JUDGE_FAILED, "timeout", retryable=True), True),
        (Outcome(Status.JUDGE_FAILED, "told_to"), False),
        (Outcome(Status.JUDGE_INVALID, "no_answer"), False),
        (Outcome(Status.MISSING, "no_transcript"), False),
    ],
)
def test_which_judgments_are_needed(tmp_path: Path, outcome: Outcome, needed: bool) -> None:
    store = store_of(tmp_path)
    assert judgment_needed(store, "ab")
    store.judgments.put(Judgment("ab", "j", "r", "hi", 0, outcome))
    assert judgment_needed(store, "ab") == needed


# --- who hears what


def test_a_judge_hears_the_clips_that_are_there(tmp_path: Path) -> None:
    store, plan = store_of(tmp_path), plan_for(tmp_path, rejudges=2)
    assert list(hearings(plan, "fake", store)) == []
    clip = put_clip(store, plan.takes[0])
    put_clip(store, plan.takes[1], FAILED)
    gone = put_clip(store, plan.takes[2])
    store.audio_path(gone).unlink()
    tasks = tasks_of(plan, "fake", store)
    assert [(task.lang, task.rejudge) for task in tasks] == [("en", 0), ("en", 1)]
    assert len({task.judgment_id for task in tasks}) == 2
    [heard] = tasks[0].clips
    assert (heard.path, heard.sha256, heard.label) == (store.audio_path(clip), clip.audio_sha256, "")
    assert tasks[0].told == {}


def test_a_judge_does_not_hear_a_language_that_it_lacks(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    plan = plan_for(tmp_path, judges=[listener("hindi", langs=["hi"]), listener("all")])
    for take in plan.takes:
        put_clip(store, take)
    assert [task.lang for task in tasks_of(plan, "hindi", store)] == ["hi"]
    assert [task.lang for task in tasks_of(plan, "all", store)] == ["en", "hi", "ta"]


def test_takes_that_sound_the_same_are_judged_once_and_each_has_its_row(tmp_path: Path) -> None:
    store, plan = store_of(tmp_path), plan_for(tmp_path, voice(repeats=3), rows=ROWS[:1])
    for take in plan.takes:
        put_clip(store, take)
    found = list(hearings(plan, "fake", store))
    assert [hearing.takes[""].repeat for hearing in found] == [0, 1, 2]
    assert len(tasks_of(plan, "fake", store)) == 1
    put_clip(store, plan.takes[1], text="another sound")
    assert len(tasks_of(plan, "fake", store)) == 2


def test_judges_that_differ_in_name_only_share_their_judgments(tmp_path: Path) -> None:
    judges = [listener("a"), listener("b"), listener("c", slip_rate=0.5)]
    store, plan = store_of(tmp_path), plan_for(tmp_path, judges=judges, rows=ROWS[:1])
    put_clip(store, plan.takes[0])
    [a], [b], [c] = (tasks_of(plan, name, store) for name in "abc")
    assert a.judgment_id == b.judgment_id != c.judgment_id


def test_a_judge_that_needs_no_audio_is_asked_without_any(tmp_path: Path) -> None:
    (tmp_path / "h.tsv").write_text("id\thypothesis\np1\tx\n")
    judge = TranscriptsOptions("kasauti.judges.transcripts.Transcripts", "mine", str(tmp_path / "h.tsv"))
    nothing = AudioDirOptions("kasauti.systems.audio_dir.AudioDir", "none", path=None)
    tasks = tasks_of(plan_for(tmp_path, nothing, judges=[judge]), "mine", store_of(tmp_path))
    assert [(task.told, task.clips) for task in tasks] == [({"prompt_id": row["id"]}, ()) for row in ROWS]
    assert tasks_of(plan_for(tmp_path, nothing, judges=[listener()]), "fake", store_of(tmp_path)) == []


def test_recordings_with_transcripts_wait_for_their_clips(tmp_path: Path) -> None:
    (tmp_path / "h.tsv").write_text("id\thypothesis\np1\tx\n")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "p1.wav").write_bytes(encoded(tone(0.3, 0.5), "WAV", "PCM_16"))
    judge = TranscriptsOptions("kasauti.judges.transcripts.Transcripts", "mine", str(tmp_path / "h.tsv"))
    recordings = AudioDirOptions("kasauti.systems.audio_dir.AudioDir", "rec", path=str(tmp_path / "mine"))
    store, plan = store_of(tmp_path), plan_for(tmp_path, recordings, judges=[judge])
    assert [take.refusal and take.refusal.status for take in plan.takes] == [None, Status.MISSING, Status.MISSING]
    assert tasks_of(plan, "mine", store) == []
    put_clip(store, plan.takes[0])
    assert [task.told["prompt_id"] for task in tasks_of(plan, "mine", store)] == ["p1"]


def test_a_line_up_stands_once_in_every_place_and_is_heard_whole_or_not_at_all(tmp_path: Path) -> None:
    voices = [voice(name, slip_rate=rate) for name, rate in (("a", 0.0), ("b", 0.4), ("c", 0.8))]
    store, plan = store_of(tmp_path), plan_for(tmp_path, *voices, judges=[panel()])
    for take in plan.takes[:-1]:
        put_clip(store, take, text=f"{take.system} says {take.prompt.id}")
    put_clip(store, plan.takes[-1], FAILED)
    found = list(hearings(plan, "panel", store))
    assert [[take.system for take in hearing.takes.values()] for hearing in found] == [["a", "b", "c"], ["b", "c", "a"]]
    for hearing in found:
        assert list(hearing.takes) == [clip.label for clip in hearing.task.clips] == ["A", "B", "C"]
        assert hearing.task.told == {"text": hearing.takes["A"].prompt.text}
        for clip in hearing.task.clips:
            stored = store.clips.get(hearing.takes[clip.label].clip_id or "")
            assert stored is not None
            assert stored.audio_sha256 == clip.sha256
    assert "a" not in str(found[0].task.clips[0].label)


def test_a_prompt_that_a_member_can_not_speak_has_no_line_up(tmp_path: Path) -> None:
    voices = [voice("a"), voice("b", slip_rate=0.4, langs=["hi"])]
    store, plan = store_of(tmp_path), plan_for(tmp_path, *voices, judges=[panel()])
    for take in plan.takes:
        if take.clip_id:
            put_clip(store, take)
    assert [task.lang for task in tasks_of(plan, "panel", store)] == ["hi"]


@given(st.lists(st.text(max_size=3), min_size=1, max_size=8, unique=True), st.integers(0, 100))
def test_property_over_as_many_prompts_as_systems_each_stands_once_in_each_place(names: list[str], first: int) -> None:
    orders = [rotated(names, first + place) for place in range(len(names))]
    assert all(sorted(order) == sorted(names) for order in orders)
    for place in range(len(names)):
        assert Counter(order[place] for order in orders) == Counter(names)


# --- answers with holes


def answer_to(task_labels: str, **fields: Any) -> Answer:
    """What becomes of an answer about clips under labels."""
    clips = tuple(Heard(Path("x"), "ff", 1.0, "" if label == "-" else label) for label in task_labels)
    return _checked(JudgeTask("ab", "hi", 0, clips), Answer("ab", **fields))


@pytest.mark.parametrize(
    ("labels", "fields"),
    [
        ("-", {"transcript": "x"}),
        ("-", {"transcript": ""}),
        ("", {"transcript": "x"}),
        ("-", {"scores": {"": {"mos": 4.0}}}),
        ("AB", {"scores": {"A": {"q": 1}, "B": {"q": 5.0}}}),
        ("-", {"outcome": Outcome(Status.JUDGE_FAILED, "timeout", retryable=True)}),
        ("AB", {"outcome": Outcome(Status.REFUSED)}),
    ],
)
def test_whole_answers_are_kept_as_they_are(labels: str, fields: dict[str, Any]) -> None:
    assert answer_to(labels, **fields) == Answer("ab", **fields)


@pytest.mark.parametrize(
    ("labels", "fields", "reason"),
    [
        ("-", {}, "no_answer"),
        ("-", {"raw": "I can't tell."}, "no_answer"),
        ("-", {"scores": {"": {}}}, "no_answer"),
        ("AB", {"scores": {"A": {"q": 1.0}}}, "no_answer"),
        ("AB", {"scores": {"a": {"q": 1.0}, "b": {"q": 1.0}}}, "no_answer"),
        ("AB", {"transcript": "one text for both"}, "no_answer"),
        ("-", {"scores": {"": {"mos": float("nan")}}}, "not_a_number"),
        ("-", {"scores": {"": {"mos": 1.8e18}}}, "out_of_range"),
        ("-", {"scores": {"": {"mos": -1e10}}}, "out_of_range"),
        ("-", {"transcript": "x", "scores": {"": {"mos": float("inf")}}}, "not_a_number"),
    ],
)
def test_an_answer_with_a_hole_is_invalid_and_keeps_its_words(labels: str, fields: dict[str, Any], reason: str) -> None:
    checked = answer_to(labels, outcome=Outcome(cost_usd=0.5), **fields)
    assert (checked.outcome.status, checked.outcome.reason) == (Status.JUDGE_INVALID, reason)
    assert (checked.outcome.cost_usd, checked.raw, checked.scores) == (0.5, fields.get("raw"), {})
