"""Where work is done makes no difference to what comes out, and a worker's death costs the work that killed it."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kasauti.errors import SpeechSystemError
from kasauti.pipeline import executors
from kasauti.pipeline.executors import Job, LocalExecutor, available_cores
from kasauti.records import Outcome, Prompt, Status
from kasauti.settings import ExecutorSettings
from kasauti.systems.audio_dir import AudioDirOptions
from kasauti.systems.base import Speech, SpeechRequest
from kasauti.systems.espeak import EspeakOptions
from kasauti.systems.fake import FakeOptions
from processes import alive, start, until


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers run this tree."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))


def requests(*ids: str) -> list[SpeechRequest]:
    return [SpeechRequest(i, Prompt(i, "en", f"text of {i}", "Latn"), 0, n) for n, i in enumerate(ids)]


def lost(request: SpeechRequest) -> Speech:
    return Speech(request.clip_id, Outcome(Status.SYNTHESIS_FAILED, "worker_died", retryable=True))


def job(copies: int, **options: Any) -> Job:
    return Job(FakeOptions("kasauti.systems.fake.Fake", "fake", **options), "synthesise", copies, lost)


def run(job: Job, tasks: Iterable[SpeechRequest], workers: int = 2, share: int = 1) -> Iterator[Speech]:
    return LocalExecutor(ExecutorSettings("x", workers)).run(job, tasks, share)


def heard(replies: Iterable[Speech]) -> dict[str, tuple[Status, bytes | None]]:
    """Replies by id; none may come twice."""
    found: dict[str, tuple[Status, bytes | None]] = {}
    for reply in replies:
        assert reply.clip_id not in found
        found[reply.clip_id] = (reply.outcome.status, None if reply.samples is None else reply.samples.tobytes())
    return found


IDS = [f"p{n}" for n in range(12)]


def test_here_and_in_workers_the_replies_are_the_same() -> None:
    options: dict[str, Any] = {"slip_rate": 0.3, "stochastic": True, "fail_ids": ["p3"], "refuse_ids": ["p5"]}
    here = heard(run(job(1, **options), requests(*IDS)))
    there = heard(run(job(0, **options), requests(*IDS), workers=2))
    assert list(here) == IDS
    assert there == here
    assert [here[i][0] for i in ("p2", "p3", "p5")] == [Status.OK, Status.SYNTHESIS_FAILED, Status.REFUSED]


@pytest.mark.parametrize("deadly", [["p0"], ["p2", "p3"], ["p5"]])
def test_a_worker_that_is_killed_costs_the_deadly_task_only(deadly: list[str]) -> None:
    replies = heard(run(job(0, kill_ids=deadly), requests(*IDS[:6]), workers=2))
    assert sorted(replies) == IDS[:6]
    assert {i for i, (status, _) in replies.items() if status is not Status.OK} == set(deadly)
    assert all(replies[i][0] is Status.SYNTHESIS_FAILED for i in deadly)


def test_a_worker_that_dies_while_a_reply_is_being_stored_costs_nothing_else() -> None:
    replies = run(job(0, kill_ids=["p1"]), requests("p0", "p1", "p2", "p3"), workers=1)
    first = next(replies)
    assert first.clip_id == "p0"
    until(lambda: not multiprocessing.active_children(), "the only worker has died of p1")
    rest = heard(replies)
    assert {i: status for i, (status, _) in rest.items()} == {
        "p1": Status.SYNTHESIS_FAILED,
        "p2": Status.OK,
        "p3": Status.OK,
    }


class Counted:
    """A stream that knows how much was taken from it."""

    def __init__(self, tasks: list[SpeechRequest]) -> None:
        self.tasks, self.taken = tasks, 0

    def __iter__(self) -> Iterator[SpeechRequest]:
        for task in self.tasks:
            self.taken += 1
            yield task


@pytest.mark.parametrize(("copies", "ahead"), [(1, 0), (0, 4)])
def test_tasks_are_pulled_when_somebody_is_free_for_them(copies: int, ahead: int) -> None:
    stream = Counted(requests(*IDS))
    for done, _ in enumerate(run(job(copies), stream, workers=2), start=1):
        assert stream.taken <= done + ahead
    assert stream.taken == len(IDS)


def test_nothing_is_started_without_a_task() -> None:
    before = multiprocessing.active_children()
    assert list(run(job(0), [])) == []
    assert list(run(job(1), [])) == []
    assert multiprocessing.active_children() == before


@pytest.mark.parametrize(
    ("copies", "workers", "share", "expected"),
    [(0, 8, 1, 8), (0, 8, 2, 4), (0, 8, 3, 2), (0, 2, 5, 1), (3, 8, 1, 3), (3, 8, 4, 2), (4, 1, 1, 1)],
)
def test_workers_are_shared_among_the_jobs_side_by_side(
    monkeypatch: pytest.MonkeyPatch, copies: int, workers: int, share: int, expected: int
) -> None:
    asked = []

    class Pool:
        def __init__(self, _job: Job, count: int) -> None:
            asked.append(count)

        def run(self, tasks: Iterable[Any]) -> Iterator[Any]:
            return iter(tasks)

    monkeypatch.setattr(executors, "_Pool", Pool)
    assert list(run(job(copies), [], workers, share)) == []
    assert asked == [expected]


def test_a_part_in_this_process_is_closed_however_the_work_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = []

    class Part:
        def __init__(self, name: str) -> None:
            self.name = name

        def synthesise(self, tasks: Iterable[str]) -> Iterator[str]:
            for task in tasks:
                if task == "raise":
                    raise ValueError(task)
                yield task

        def close(self) -> None:
            closed.append(self.name)

    monkeypatch.setattr(executors, "build", Part)

    def begin(name: str, *tasks: str) -> Iterator[Any]:
        return LocalExecutor(ExecutorSettings("x")).run(Job(name, "synthesise", 1, lost), tasks)

    assert list(begin("to the end", "a", "b")) == ["a", "b"]
    with pytest.raises(ValueError, match="raise"):
        list(begin("raised", "a", "raise"))
    left = begin("left early", "a", "b")
    assert next(left) == "a"
    left.close()  # type: ignore[attr-defined]
    assert closed == ["to the end", "raised", "left early"]


def test_what_keeps_a_part_from_working_at_all_is_told_from_workers_too(tmp_path: Path) -> None:
    options = AudioDirOptions("kasauti.systems.audio_dir.AudioDir", "mine", path=str(tmp_path / "gone"))
    for copies in (1, 2):
        with pytest.raises(SpeechSystemError, match="gone is not a folder"):
            list(run(Job(options, "synthesise", copies, lost), requests("p0")))


def test_a_part_that_can_not_be_built_in_a_worker_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    # An error for the user ends the run; anything else is in the row, and no worker has died of it.
    impossible = EspeakOptions(rate_wpm=1)
    with pytest.raises(SpeechSystemError, match="rate_wpm=1: wanted 80 to 450"):
        list(run(Job(impossible, "synthesise", 2, lost), requests("p0", "p1")))
    started = []
    start = executors._Pool._start
    monkeypatch.setattr(executors._Pool, "_start", lambda *given: started.append(given) or start(*given))
    replies = list(run(job(2, langs=5), requests(*IDS)))
    assert sorted(reply.clip_id for reply in replies) == sorted(IDS)
    error = "TypeError: 'int' object is not iterable"
    assert {reply.outcome.error for reply in replies} == {error}
    assert replies[0].outcome == Outcome(Status.SYNTHESIS_FAILED, "exception", error, retryable=True)
    assert len(started) == 1


PARENT = """
import multiprocessing, sys
from kasauti.pipeline.executors import Job, LocalExecutor
from kasauti.records import Prompt
from kasauti.settings import ExecutorSettings
from kasauti.systems.base import SpeechRequest
from kasauti.systems.fake import FakeOptions
def tasks():
    for n in range(100):
        yield SpeechRequest(f"{n:02x}", Prompt(str(n), "en", "text", "Latn"), 0, 0)
if __name__ == "__main__":
    job = Job(FakeOptions("kasauti.systems.fake.Fake", "fake"), "synthesise", 0, None)
    replies = LocalExecutor(ExecutorSettings("x", 2)).run(job, tasks())
    pids = set()
    while len(pids) < 2:
        next(replies)
        pids = {child.pid for child in multiprocessing.active_children()}
    print(*pids, flush=True)
    for line in sys.stdin:
        print(next(replies).outcome.status, flush=True)
"""


def test_workers_do_not_hear_ctrl_c_and_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    # `python -c` has no main module that a worker could import, so the parent is a file.
    (tmp_path / "parent.py").write_text(PARENT)
    with start(
        "import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')",
        tmp_path / "parent.py",
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        pids = [int(word) for word in parent.stdout.readline().split()]
        assert len(pids) == 2
        for pid in pids:
            os.kill(pid, signal.SIGINT)
        for _ in range(8):  # more than were in flight
            parent.stdin.write("next\n")
            parent.stdin.flush()
            assert parent.stdout.readline() == "ok\n"
        assert all(alive(pid) for pid in pids)
        parent.kill()
        until(lambda: not any(alive(pid) for pid in pids), "the workers of a killed parent have ended")


def test_cores_are_at_least_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert available_cores() >= 1
    monkeypatch.delattr(os, "sched_getaffinity")
    assert available_cores() >= 1
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert available_cores() == 1
