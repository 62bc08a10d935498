"""The parts that all other tests stand on: what the fakes write, what they read back, and how they misbehave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.audio import probe_audio, read_audio, write_wav
from kasauti.errors import JudgeError, SpeechSystemError
from kasauti.fakes import RATE_HZ, read_text, write_text
from kasauti.judges.base import Answer, Heard, JudgeTask
from kasauti.judges.fake import FakeJudge, FakeJudgeOptions, FakePanel
from kasauti.records import Outcome, Prompt, Status
from kasauti.systems.base import Speech, SpeechRequest
from kasauti.systems.fake import Fake, FakeOptions

TEXT = "नमस्ते, दुनिया"


def system(**options: Any) -> Fake:
    return Fake(FakeOptions("kasauti.systems.fake.Fake", "fake", **options))


def request(identity: str = "p1", seed: int = 1, text: str = TEXT) -> SpeechRequest:
    return SpeechRequest("ab12", Prompt(identity, "hi", text, "Deva"), 0, seed)


def speak(request: SpeechRequest, **options: Any) -> Speech:
    [speech] = system(**options).synthesise([request])
    return speech


def said(speech: Speech) -> str | None:
    assert speech.samples is not None
    return read_text(speech.samples)


@given(st.text(max_size=40))
def test_property_samples_hold_the_text(text: str) -> None:
    samples = write_text(text)
    assert samples.dtype == np.float32
    assert np.abs(samples).max() <= 1.0
    assert read_text(samples) == text


@given(st.text(max_size=40))
def test_property_the_text_survives_a_file(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("fakes") / "a.wav"
    write_wav(path, write_text(text), RATE_HZ)
    assert read_text(read_audio(path).samples) == text


def test_a_fake_clip_is_sound_and_a_silent_one_is_not(tmp_path: Path) -> None:
    for name, options, status in (("a", {}, "ok"), ("b", {"silent_ids": ["p1"]}, "failed")):
        speech = speak(request(), **options)
        assert speech.samples is not None
        write_wav(tmp_path / name, speech.samples, RATE_HZ)
        facts = probe_audio(tmp_path / name)
        assert (facts.status == "ok") == (status == "ok")
        assert facts.reason == (None if status == "ok" else "silent")


def test_it_says_what_it_is_told_the_same_each_time() -> None:
    assert said(speak(request())) == TEXT
    slipped = said(speak(request(seed=1), slip_rate=0.5))
    assert slipped == said(speak(request(seed=2), slip_rate=0.5)) != TEXT
    assert len(slipped) == len(TEXT)
    assert said(speak(request(), slip_rate=1.0)) == "".join(c if c.isspace() else "x" for c in TEXT)


def test_a_stochastic_voice_draws_from_its_seed_and_from_nothing_else() -> None:
    takes = [said(speak(request(seed=seed), slip_rate=0.5, stochastic=True)) for seed in (1, 1, 2)]
    assert takes[0] == takes[1] != takes[2]


def test_its_failures() -> None:
    outcomes = {
        "fail": speak(request("fail"), fail_ids=["fail"], usd_per_1k_chars=1000).outcome,
        "refuse": speak(request("refuse"), refuse_ids=["refuse"]).outcome,
    }
    assert (outcomes["fail"].status, outcomes["fail"].retryable) == (Status.SYNTHESIS_FAILED, True)
    assert outcomes["fail"].cost_usd == len(TEXT)  # a failed call costs too
    assert (outcomes["refuse"].status, outcomes["refuse"].retryable) == (Status.REFUSED, False)
    assert all(outcome.wall_s is not None for outcome in outcomes.values())


def test_it_bills_and_streams() -> None:
    outcome = speak(request(), usd_per_1k_chars=50, ttfb_s=0.25).outcome
    assert (outcome.cost_usd, outcome.ttfb_s) == (50 * len(TEXT) / 1000, 0.25)


def test_its_facts() -> None:
    assert system(langs=["hi"]).refuse(request().prompt) is None
    refusal = system(langs=["ta"]).refuse(request().prompt)
    assert refusal == Outcome(Status.UNSUPPORTED_LANGUAGE, "system")
    assert system().facts.decoding_fields == ()
    assert set(system(stochastic=True).facts.decoding_fields) == {"temperature", "seed"}
    # What makes it fail is no part of what it sounds like, so a test can mend it and keep the clips.
    assert system(fail_ids=["a"], usd_per_1k_chars=5, workers=3).facts.settings == system().facts.settings


def test_an_error_that_nobody_planned_for_is_one_failed_row(monkeypatch: pytest.MonkeyPatch) -> None:
    voice = system()
    real = voice.speak
    monkeypatch.setattr(voice, "speak", lambda r: real(r) if r.prompt.id == "p1" else 1 / 0)
    good, bad, also_good = voice.synthesise([request(), request("p2"), request()])
    assert (said(good), said(also_good)) == (TEXT, TEXT)
    assert bad.outcome.status is Status.SYNTHESIS_FAILED
    assert (bad.outcome.reason, bad.outcome.retryable) == ("exception", True)
    assert bad.outcome.error == "ZeroDivisionError: division by zero"


# --- judges


def heard(path: Path, text: str, label: str = "") -> Heard:
    write_wav(path, write_text(text), RATE_HZ)
    return Heard(path, "0" * 64, 1.0, label)


def answers(judge: FakeJudge | FakePanel, *tasks: JudgeTask) -> list[Answer]:
    return [replace(answer, outcome=replace(answer.outcome, wall_s=None)) for answer in judge.judge(tasks)]


def judge(**options: Any) -> FakeJudge:
    return FakeJudge(FakeJudgeOptions("kasauti.judges.fake.FakeJudge", "fake", **options))


def test_the_judge_hears_what_was_written(tmp_path: Path) -> None:
    task = JudgeTask("ab12", "hi", 0, (heard(tmp_path / "a.wav", TEXT),))
    [answer] = answers(judge(usd_per_call=0.5), task)
    assert answer == Answer("ab12", Outcome(cost_usd=0.5), raw=TEXT, transcript=TEXT)
    [once], [again], [other] = (
        answers(judge(slip_rate=0.5), replace(task, judgment_id=i)) for i in ("ab12" * 6, "ab12" * 6, "cd34" * 6)
    )
    assert once == again
    assert once.transcript not in (TEXT, other.transcript)


def test_the_judge_fails_on_request_and_goes_on(tmp_path: Path) -> None:
    texts = ["one", "please fail", "three"]
    tasks = [JudgeTask(f"0{n}", "hi", 0, (heard(tmp_path / f"{n}.wav", text),)) for n, text in enumerate(texts)]
    statuses = [answer.outcome.status for answer in answers(judge(fail_words=["fail"]), *tasks)]
    assert statuses == [Status.OK, Status.JUDGE_FAILED, Status.OK]


def test_what_another_voice_said_is_a_failure_and_no_nonsense(tmp_path: Path) -> None:
    tone = (0.25 * np.sin(np.arange(8000))).astype(np.float32)
    short = write_text(TEXT)[:1000]
    clips = []
    for name, samples in (("tone", tone), ("short", short)):
        write_wav(tmp_path / f"{name}.wav", samples, RATE_HZ)
        clips.append(Heard(tmp_path / f"{name}.wav", "0" * 64, 1.0, "A"))
    for clip in clips:
        for one in (judge(), FakePanel(FakeJudgeOptions("kasauti.judges.fake.FakePanel", "panel"))):
            [answer] = answers(one, JudgeTask("ab", "hi", 0, (clip,), {"text": TEXT}))
            outcome = answer.outcome
            assert (outcome.status, outcome.reason, outcome.retryable) == (
                Status.JUDGE_FAILED,
                "not_written_by_fake",
                False,
            )
            assert (answer.transcript, answer.raw, answer.scores) == (None, None, {})


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_a_share_is_between_nothing_and_all(share: float) -> None:
    with pytest.raises(JudgeError, match=r"judge fake: slip_rate=-?\d\.1: wanted a share, 0 to 1"):
        judge(slip_rate=share)
    with pytest.raises(SpeechSystemError, match=r"system fake: slip_rate=-?\d\.1: wanted a share, 0 to 1"):
        system(slip_rate=share)


@pytest.mark.parametrize("content", [None, b"", b"junk" * 100])
def test_a_file_that_is_gone_or_damaged_is_one_failed_row(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "bad.wav").write_bytes(content)
    bad = JudgeTask("ff", "hi", 0, (Heard(tmp_path / "bad.wav", "0" * 64, 1.0),))
    good = JudgeTask("ab", "hi", 0, (heard(tmp_path / "a.wav", TEXT),))
    failed, fine = answers(judge(), bad, good)
    assert (failed.outcome.status, failed.outcome.retryable) == (Status.JUDGE_FAILED, True)
    assert "bad.wav" in (failed.outcome.error or "")
    assert fine.transcript == TEXT


def panel(tmp_path: Path, texts: Sequence[str], text: str = "abcd") -> Answer:
    clips = tuple(heard(tmp_path / f"{n}.wav", said, chr(65 + n)) for n, said in enumerate(texts))
    options = FakeJudgeOptions("kasauti.judges.fake.FakePanel", "panel")
    return answers(FakePanel(options), JudgeTask("ab", "en", 0, clips, {"text": text}))[0]


def test_the_panel_marks_every_label_by_what_was_said(tmp_path: Path) -> None:
    answer = panel(tmp_path, ["abcd", "abcx", "xxxx"])
    assert answer.scores == {"A": {"quality": 5.0}, "B": {"quality": 4.0}, "C": {"quality": 1.0}}
    assert panel(tmp_path, []).outcome.status is Status.JUDGE_INVALID
