"""Judges that hear in batches: every task gets its answer, whatever a batch does; like lengths go together."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kasauti import audio, devices
from kasauti.errors import JudgeError
from kasauti.judges.base import Answer, Heard, JudgeFacts, JudgeFailed, JudgeOptions, JudgeTask
from kasauti.judges.batching import BatchJudge, Samples, Transcript
from kasauti.records import Status

RATE_HZ = 8000


class Counting(BatchJudge):
    """Hears how many samples there are; `fault` may raise for a batch."""

    options_type = JudgeOptions
    rate_hz = RATE_HZ

    def __init__(self, batch_clips: int = 4, fault: Callable[[Sequence[Samples]], None] = lambda clips: None) -> None:
        self.facts = JudgeFacts(revision="counting-1")
        self.batch_clips = batch_clips
        self.batches: list[list[int]] = []
        self.langs: list[set[str]] = []
        self.loads = 0
        self._fault = fault

    def load(self) -> None:
        self.loads += 1

    def hear(self, clips: Sequence[Samples], tasks: Sequence[JudgeTask]) -> list[Transcript]:
        self.batches.append([clip.size for clip in clips])
        self.langs.append({task.lang for task in tasks})
        self._fault(clips)
        return [Transcript(str(clip.size), {"samples": clip.size}) for clip in clips]


@pytest.fixture(scope="module")
def sounds(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    folder = tmp_path_factory.mktemp("clips")

    def of(samples: int) -> Path:
        path = folder / f"{samples}.wav"
        if not path.exists():
            audio.write_wav(path, np.full(samples, 0.1, np.float32), RATE_HZ)
        return path

    return of


def tasks(sounds: Callable[[int], Path], sizes: Sequence[int], langs: str = "h") -> list[JudgeTask]:
    return [
        JudgeTask(f"{number}-{size}", langs[number % len(langs)], 0, (Heard(sounds(size), "0" * 64, size / RATE_HZ),))
        for number, size in enumerate(sizes)
    ]


def heard(answers: Sequence[Answer]) -> dict[str, str | None]:
    assert len({answer.judgment_id for answer in answers}) == len(answers)
    return {answer.judgment_id: answer.transcript for answer in answers}


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from([10, 80, 400, 800, 1600]), max_size=40), st.integers(1, 7), st.sampled_from(["h", "ht"])
)
def test_every_task_is_answered_once_and_no_batch_mixes_languages(
    sounds: Callable[[int], Path], sizes: list[int], batch_clips: int, langs: str
) -> None:
    judge = Counting(batch_clips)
    asked = tasks(sounds, sizes, langs)
    found = heard(list(judge.judge(asked)))
    assert found == {task.judgment_id: task.judgment_id.split("-")[1] for task in asked}
    assert all(len(batch) <= batch_clips and batch == sorted(batch, reverse=True) for batch in judge.batches)
    assert all(len(group) == 1 for group in judge.langs)
    assert judge.loads == bool(asked)


def test_padding_counts_against_the_seconds_of_a_batch(sounds: Callable[[int], Path]) -> None:
    judge = Counting(8)
    judge.batch_s = 0.2  # 1,600 samples
    list(judge.judge(tasks(sounds, [1600, 800, 400, 400, 400, 80])))
    assert judge.batches == [[1600], [800, 400], [400, 400, 80]]


def test_a_batch_that_fills_memory_is_halved_and_so_are_those_after_it(sounds: Callable[[int], Path]) -> None:
    def full(clips: Sequence[Samples]) -> None:
        if len(clips) > 2:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")

    judge = Counting(8, full)
    asked = tasks(sounds, [800] * 20)
    assert heard(list(judge.judge(asked))) == {task.judgment_id: "800" for task in asked}
    assert [len(batch) for batch in judge.batches[:4]] == [8, 4, 2, 2]
    assert max(len(batch) for batch in judge.batches[2:]) == 2  # nothing runs into the same wall again


def test_a_clip_that_fills_memory_alone_is_a_named_failure(sounds: Callable[[int], Path]) -> None:
    def full(clips: Sequence[Samples]) -> None:
        if clips[0].size > 800:
            raise MemoryError

    answers = {answer.judgment_id: answer.outcome for answer in Counting(4, full).judge(tasks(sounds, [1600, 800]))}
    assert (answers["0-1600"].status, answers["0-1600"].reason) == (Status.JUDGE_FAILED, "out_of_memory")
    assert answers["0-1600"].retryable
    assert answers["1-800"].status is Status.OK


def test_what_a_batch_held_is_let_go_before_its_halves_are_heard(sounds: Callable[[int], Path]) -> None:
    """A device that is full stays full as long as the error's tracebacks hold the tensors of the batch."""
    held: list[weakref.ref[Samples]] = []

    def full(clips: Sequence[Samples]) -> None:
        assert not any(one() is not None for one in held)
        tensor = np.zeros(8, np.float32)
        held.append(weakref.ref(tensor))
        if len(clips) > 1:
            try:
                raise MemoryError
            except MemoryError as error:
                raise RuntimeError("CUDA out of memory") from error

    asked = tasks(sounds, [800] * 4)
    assert heard(list(Counting(4, full).judge(asked))) == {task.judgment_id: "800" for task in asked}
    assert len(held) == 6  # 4, 2, and each alone: the second two are halved unheard


def test_one_bad_clip_costs_no_other(sounds: Callable[[int], Path]) -> None:
    def bad(clips: Sequence[Samples]) -> None:
        if any(clip.size == 400 for clip in clips):
            raise ValueError("odd")

    answers = {answer.judgment_id: answer.outcome for answer in Counting(4, bad).judge(tasks(sounds, [800, 400, 80]))}
    assert [outcome.status for outcome in answers.values()].count(Status.OK) == 2
    assert (answers["1-400"].reason, answers["1-400"].error) == ("engine_error", "ValueError: odd")


def test_a_refused_clip_keeps_its_reason(sounds: Callable[[int], Path]) -> None:
    def refuse(clips: Sequence[Samples]) -> None:
        raise JudgeFailed("no frame", reason="too_short", status=Status.JUDGE_INVALID)

    (answer,) = Counting(4, refuse).judge(tasks(sounds, [10]))
    assert (answer.outcome.status, answer.outcome.reason) == (Status.JUDGE_INVALID, "too_short")


def test_a_judge_that_cannot_be_set_up_ends_the_stream(sounds: Callable[[int], Path]) -> None:
    def broken(clips: Sequence[Samples]) -> None:
        raise JudgeError("no such model")

    with pytest.raises(JudgeError, match="no such model"):
        list(Counting(4, broken).judge(tasks(sounds, [80])))


def test_files_that_cannot_be_heard_are_answered_too(sounds: Callable[[int], Path], tmp_path: Path) -> None:
    (tmp_path / "bad.wav").write_bytes(b"RIFF")
    lost = JudgeTask("lost", "h", 0, (Heard(tmp_path / "gone.wav", "0" * 64, 1.0),))
    torn = JudgeTask("torn", "h", 0, (Heard(tmp_path / "bad.wav", "0" * 64, 1.0),))
    answers = {a.judgment_id: a.outcome.status for a in Counting().judge([lost, *tasks(sounds, [80]), torn])}
    assert answers == {"lost": Status.JUDGE_FAILED, "torn": Status.JUDGE_FAILED, "0-80": Status.OK}


def test_tasks_are_read_ahead_no_further_than_a_few_batches(sounds: Callable[[int], Path]) -> None:
    pulled = 0

    def counted() -> object:
        nonlocal pulled
        for task in tasks(sounds, [80] * 100):
            pulled += 1
            yield task

    next(iter(Counting(3).judge(counted())))  # type: ignore[arg-type]
    assert pulled == 12


def reading_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("reading")]


def test_tasks_are_pulled_by_the_thread_that_asks(sounds: Callable[[int], Path]) -> None:
    """Whoever pulls a task claims it, and looks at locks that belong to its thread."""
    pulled: set[int] = set()

    def stream() -> Iterator[JudgeTask]:
        for task in tasks(sounds, [80] * 30):
            pulled.add(threading.get_ident())
            yield task

    assert len(list(Counting(3).judge(stream()))) == 30
    assert pulled == {threading.get_ident()}
    assert reading_threads() == []


def test_a_stream_that_is_given_up_leaves_no_thread(sounds: Callable[[int], Path]) -> None:
    answers = Counting(3).judge(tasks(sounds, [80] * 30))
    next(iter(answers))
    assert reading_threads()
    answers.close()  # type: ignore[attr-defined]
    assert reading_threads() == []


def test_a_fault_of_the_reader_comes_after_the_answers_of_what_was_read(
    sounds: Callable[[int], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Counting._samples

    def second_fails(self: Counting, window: Sequence[JudgeTask]) -> object:
        if window and window[0].judgment_id.startswith("4-"):
            raise JudgeError("the disk is gone")
        return read(self, window)

    monkeypatch.setattr(Counting, "_samples", second_fails)
    found: list[Answer] = []
    with pytest.raises(JudgeError, match="the disk is gone"):
        found.extend(Counting(2).judge(tasks(sounds, [80] * 9)))
    assert len(found) == 4
    assert reading_threads() == []


@pytest.mark.parametrize(("batch_clips", "named"), [(1, ["1-80"]), (4, [])])
def test_a_broken_gpu_ends_the_run_and_a_clip_that_was_alone_gets_its_row(
    sounds: Callable[[int], Path], monkeypatch: pytest.MonkeyPatch, batch_clips: int, named: list[str]
) -> None:
    """Of a batch no clip can be blamed."""

    def broken(error: BaseException | None = None) -> None:
        raise devices.DeviceBrokenError("the GPU can't be used any more")

    judge = Counting(batch_clips)

    def assertion(clips: Sequence[Samples]) -> None:
        if len(judge.batches) > 1 or len(clips) > 1:
            raise RuntimeError("CUDA error: device-side assert triggered")

    judge._fault = assertion
    monkeypatch.setattr(devices, "release", broken)
    found: list[Answer] = []
    with pytest.raises(devices.DeviceBrokenError):
        found.extend(judge.judge(tasks(sounds, [80] * 4)))
    failed = [answer for answer in found if answer.outcome.status is not Status.OK]
    assert [answer.judgment_id for answer in failed] == named
    assert not any(answer.outcome.retryable for answer in failed)
