"""On a Ray cluster the same comes out as here, bit for bit, whoever is killed on the way.

A real cluster of two nodes on this machine, started once for the module, with its files in a folder of its own.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import ray

from kasauti.devices import DeviceBrokenError
from kasauti.errors import SpeechSystemError
from kasauti.judges.base import Heard, JudgeTask
from kasauti.judges.fake import FakeJudgeOptions
from kasauti.judges.router import RouterOptions
from kasauti.judges.transcripts import TranscriptsOptions
from kasauti.judges.whisper import WhisperOptions
from kasauti.pipeline import judging, ray_executor, ray_shards
from kasauti.pipeline.executors import Job, LocalExecutor
from kasauti.pipeline.ray_executor import RayExecutor, RayOptions
from kasauti.pipeline.ray_shards import ClusterError
from kasauti.pipeline.ray_worker import Said, Worker
from kasauti.records import Outcome, Prompt, Status
from kasauti.settings import ExecutorSettings
from kasauti.systems.base import Speech, SpeechRequest
from kasauti.systems.espeak import EspeakOptions
from kasauti.systems.fake import FakeOptions
from processes import ROOT, alive, until
from runs import command, lines_of, prompt_file, result_tables, words

pytestmark = pytest.mark.filterwarnings(
    # Ray leaves files and sockets of its own processes to the garbage collector, and announces its next defaults.
    "ignore::ResourceWarning",
    "ignore:Tip. In future versions of Ray:FutureWarning",
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes of two cores each; its address."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(prefix="ray") as folder:
        patch.setenv("RAY_TMPDIR", folder)  # short: the paths of sockets may have 107 bytes
        patch.setenv("RAY_AUTH_MODE", "disabled")  # or a token is written to the user's home
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("PYTHONPATH", str(ROOT / "src"))  # of this tree, in the workers too
        patch.setenv("KASAUTI_CACHE", f"{folder}/cache")
        node = {"num_cpus": 2, "object_store_memory": 80_000_000}
        nodes = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
        nodes.add_node(**node)
        nodes.wait_for_nodes()
        yield nodes
        nodes.shutdown()


@pytest.fixture
def executor(cluster: Any) -> Iterator[RayExecutor]:
    made = RayExecutor(RayOptions(workers=2, address=cluster.address, shard=2))
    yield made
    made.close()
    assert not ray.is_initialized()


def requests(*ids: str) -> list[SpeechRequest]:
    return [SpeechRequest(i, Prompt(i, "en", f"text of {i}", "Latn"), 0, n) for n, i in enumerate(ids)]


def lost(request: SpeechRequest) -> Speech:
    return Speech(request.clip_id, Outcome(Status.SYNTHESIS_FAILED, "worker_died", retryable=True))


def job(copies: int = 0, **options: Any) -> Job:
    return Job(FakeOptions("kasauti.systems.fake.Fake", "fake", **options), "synthesise", copies, lost)


def here(job: Job, tasks: Iterable[Any]) -> Iterator[Any]:
    return LocalExecutor(ExecutorSettings("x")).run(replace(job, copies=1), tasks)


def heard(replies: Iterable[Speech]) -> dict[str, tuple[Status, bytes | None]]:
    """Replies by id; none may come twice."""
    found: dict[str, tuple[Status, bytes | None]] = {}
    for reply in replies:
        assert reply.clip_id not in found
        found[reply.clip_id] = (reply.outcome.status, None if reply.samples is None else reply.samples.tobytes())
    return found


IDS = [f"p{n}" for n in range(12)]


def test_here_and_on_a_cluster_the_replies_are_the_same(executor: RayExecutor) -> None:
    work = job(slip_rate=0.3, stochastic=True, fail_ids=["p3"], refuse_ids=["p5"])
    assert heard(executor.run(work, requests(*IDS))) == heard(here(work, requests(*IDS)))


@pytest.mark.parametrize("deadly", [["p0"], ["p2", "p3"], IDS[:3]])
def test_an_actor_that_dies_costs_the_deadly_task_only(executor: RayExecutor, deadly: list[str]) -> None:
    replies = heard(executor.run(job(kill_ids=deadly), requests(*IDS)))
    assert sorted(replies) == sorted(IDS)
    assert {i for i, (status, _) in replies.items() if status is not Status.OK} == set(deadly)


class Counted:
    """A stream that knows how much was taken from it."""

    def __init__(self, tasks: list[SpeechRequest]) -> None:
        self.tasks, self.taken = tasks, 0

    def __iter__(self) -> Iterator[SpeechRequest]:
        for task in self.tasks:
            self.taken += 1
            yield task


def test_two_shards_an_actor_are_taken_ahead_and_no_more(executor: RayExecutor) -> None:
    stream = Counted(requests(*[f"q{n}" for n in range(40)]))
    for done, _ in enumerate(executor.run(job(), stream)):
        assert stream.taken <= done - done % 2 + 2 * 2 * 2
    assert stream.taken == 40


def test_no_more_actors_than_shards_than_copies_and_none_without_a_task(
    executor: RayExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled: list[Any] = []
    fill = ray_shards.Shards._fill
    monkeypatch.setattr(ray_shards.Shards, "_fill", lambda office, seat: (filled.append(seat), fill(office, seat))[1])
    assert list(executor.run(job(), [])) == []
    assert filled == []
    assert len(list(executor.run(job(), requests("p0")))) == 1
    assert len(filled) == 1
    executor.options.workers = 0  # as many as there are cores
    assert len(list(executor.run(job(copies=3), requests(*IDS)))) == len(IDS)
    assert len(filled) == 1 + 3
    assert len(list(executor.run(job(), requests(*IDS)))) == len(IDS)
    assert len(filled) == 1 + 3 + 4
    assert len(list(executor.run(job(), requests(*IDS), share=2))) == len(IDS)
    assert len(filled) == 1 + 3 + 4 + 2


def test_what_keeps_a_part_from_working_at_all_ends_the_run_in_its_own_words(executor: RayExecutor) -> None:
    with pytest.raises(SpeechSystemError, match=r"^system espeak: rate_wpm=1: wanted 80 to 450"):
        list(executor.run(Job(EspeakOptions(rate_wpm=1), "synthesise", 0, lost), requests("p0")))


def test_a_part_that_can_not_be_built_is_told_in_every_row(executor: RayExecutor) -> None:
    replies = list(executor.run(job(langs=5), requests(*IDS)))
    assert sorted(reply.clip_id for reply in replies) == sorted(IDS)
    error = "TypeError: 'int' object is not iterable"
    assert all(
        reply.outcome == Outcome(Status.SYNTHESIS_FAILED, "exception", error, retryable=True) for reply in replies
    )


def test_another_model_on_the_cluster_is_refused(executor: RayExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_shards, "identity_of", lambda _part: "fake-2")  # in this process only
    with pytest.raises(
        ClusterError, match=r"fake is another one on .*: there it is fake-1, here fake-2\. Put the same"
    ):
        list(executor.run(job(), requests("p0")))


def test_a_cluster_without_room_is_told(executor: RayExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_shards, "_START_S", 0.1)
    executor.options.gpus_per_actor = 1
    ears = Job(WhisperOptions(device="auto"), "judge", 1, judging._lost)
    with pytest.raises(
        ClusterError, match=r"no actor has come up in 0 s\. One asks for 1 CPU and 1 GPU; the cluster has"
    ):
        list(executor.run(ears, [JudgeTask("a", "en", 0)]))


def test_actors_that_die_before_they_begin_end_the_run(executor: RayExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stillborn:
        def __init__(self, _options: Any) -> None:
            pass

        def begin(self) -> None:
            os._exit(9)

    monkeypatch.setattr(ray_shards, "Worker", Stillborn)
    with pytest.raises(ClusterError, match=r"^4 actors in a row died while they set up fake\."):
        list(executor.run(job(), requests(*IDS)))


def test_an_actor_whose_gpu_is_broken_ends_and_the_run_goes_on(
    executor: RayExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Breaks(Worker):
        def begin(self) -> Said:
            said, speak = super().begin(), self._part.speak

            def broken(request: SpeechRequest) -> Speech:
                if request.prompt.id == "p2":
                    raise DeviceBrokenError("the GPU can't be used any more by this process")
                found: Speech = speak(request)
                return found

            self._part.speak = broken
            return said

    monkeypatch.setattr(ray_shards, "Worker", Breaks)
    replies = heard(executor.run(job(), requests(*IDS)))
    assert {i for i, (status, _) in replies.items() if status is not Status.OK} == {"p2"}
    assert sorted(replies) == sorted(IDS)


def test_a_judge_on_another_machine_hears_the_clips_and_what_is_gone_fails_as_it_does_here(
    executor: RayExecutor, tmp_path: Path
) -> None:
    from kasauti.audio import wav_bytes
    from kasauti.fakes import RATE_HZ, write_text

    tasks = []
    for n in range(5):
        path = tmp_path / f"{n}.wav"
        if n != 3:
            path.write_bytes(wav_bytes(write_text(f"text {n}"), RATE_HZ))
        tasks.append(JudgeTask(f"j{n}", "en", 0, (Heard(path, "0" * 64, 1.0),)))
    ears = Job(FakeJudgeOptions("kasauti.judges.fake.FakeJudge", "fake", slip_rate=0.2), "judge", 0, judging._lost)
    tasks = [replace(task, judgment_id=f"{n:024x}") for n, task in enumerate(tasks)]
    there = {a.judgment_id: (a.transcript, a.outcome.status, a.outcome.reason) for a in executor.run(ears, tasks)}
    assert there == {a.judgment_id: (a.transcript, a.outcome.status, a.outcome.reason) for a in here(ears, tasks)}
    assert [status for _, status, _ in there.values()].count(Status.JUDGE_FAILED) == 1


# --- without a cluster


def test_a_part_that_is_one_of_its_kind_works_in_this_process() -> None:
    nowhere = RayExecutor(RayOptions(address="127.0.0.1:1"))
    assert len(list(nowhere.run(job(copies=1), requests("p0")))) == 1


def test_preflight_finds_an_address_where_nobody_answers_and_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as bound:  # and not listening
        bound.bind(("127.0.0.1", 0))
        (found,) = RayExecutor(RayOptions(address=f"127.0.0.1:{bound.getsockname()[1]}")).check()
    assert found.level == "error"
    assert found.message.startswith("nobody answers at 127.0.0.1:")
    assert "`ray start --head`" in found.remedy
    with socket.create_server(("127.0.0.1", 0)) as answering:
        assert RayExecutor(RayOptions(address=f"127.0.0.1:{answering.getsockname()[1]}")).check() == []
    assert RayExecutor(RayOptions()).check() == []
    monkeypatch.setattr(ray_executor, "find_spec", lambda _name: None)
    (found,) = RayExecutor(RayOptions()).check()
    assert (found.message, found.remedy) == ("Ray is not installed.", "pip install -e '.[cluster]'")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (FakeOptions("x", "fake", workers=4), False),
        (WhisperOptions(), True),
        (RouterOptions(members={"hi": WhisperOptions(), "transcripts": TranscriptsOptions()}), True),
        (RouterOptions(members={"transcripts": TranscriptsOptions()}), False),
    ],
)
def test_a_part_has_a_device_if_it_or_whom_it_sends_to_has_the_option(options: Any, expected: bool) -> None:
    assert ray_executor.has_device(options) is expected


# --- whole runs, in processes of their own


LINES = [(f"p{n}", "bn", f"এটি বাক্য নম্বর {n}") for n in range(120)]
PARTS = ["system.workers=2", "system.stochastic=true", "system.slip_rate=0.2", "repeats=2"]
EARS = ["judge.slip_rate=0.1", "judge.fake.workers=0", "rejudges=2"]


def run_words(folder: Path, *overrides: str, **groups: str) -> list[str]:
    folder.mkdir()
    prompt_file(folder, LINES)
    return command(*words(folder, *PARTS, *EARS, *overrides, **groups))


def on(cluster: Any) -> list[str]:
    return ["executor=ray", f"executor.address={cluster.address}", "executor.workers=3", "executor.shard=4"]


def products(folder: Path) -> dict[str, bytes]:
    (run,) = (path.parent for path in (folder / "runs").glob("*/status.json"))
    return result_tables(run)


def sounds(folder: Path) -> dict[str, str]:
    return {clip["clip_id"]: clip["audio_sha256"] for clip in lines_of(folder / "store" / "clips.jsonl")}


def finished(process: subprocess.Popen[str]) -> str:
    said, _ = process.communicate(timeout=240)
    assert process.returncode == 0, said
    return said


def begin(arguments: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", start_new_session=True
    )


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same run by `executor=local`."""
    folder = tmp_path_factory.mktemp("here") / "run"
    finished(begin(run_words(folder)))
    return folder


def actors() -> list[int]:
    """Processes that hold a part."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            title = entry.read_bytes()
        except OSError:
            continue
        if title.startswith(b"ray::Worker"):
            found.append(int(entry.parent.name))
    return found


def n_clips(folder: Path) -> int:
    path = folder / "store" / "clips.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_a_worker_killed_in_mid_run_costs_nothing_that_is_seen(cluster: Any, local: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with begin(run_words(folder, *on(cluster))) as process:
        until(lambda: n_clips(folder) > 20, "some clips have come back")
        victims = actors()[:1]
        os.kill(victims[0], signal.SIGKILL)
        assert n_clips(folder) < 2 * len(LINES)
        finished(process)
    assert products(folder) == products(local)
    assert sounds(folder) == sounds(local)
    assert not any(clip["outcome"].get("reason") for clip in lines_of(folder / "store" / "clips.jsonl"))
    assert actors() == []


def test_a_killed_run_goes_on_with_the_same_command(cluster: Any, local: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    arguments = run_words(folder, *on(cluster))
    with begin(arguments) as process:
        until(lambda: n_clips(folder) > 20, "some clips have come back")
        process.kill()
    made = n_clips(folder)
    assert 0 < made < 2 * len(LINES)
    until(lambda: actors() == [], "the actors of a killed run have ended")
    with begin(arguments) as process:
        finished(process)
    assert products(folder) == products(local)
    assert n_clips(folder) == 2 * len(LINES)  # none was made twice


def test_ray_of_this_machine_alone_ends_with_the_run(local: Path, tmp_path: Path, cluster: Any) -> None:
    folder = tmp_path / "run"
    arguments = run_words(folder, "executor=ray", "executor.workers=2")
    with begin(arguments) as process:
        until(lambda: n_clips(folder) > 4, "some clips have come back")
        process.kill()
    until(lambda: actors() == [], "the actors of a killed run have ended")
    for pid in session_of(process):  # two helpers of Ray notice only after a minute that it is gone
        os.kill(pid, signal.SIGKILL)
    with begin(arguments) as process:
        finished(process)
    assert products(folder) == products(local)
    until(lambda: session_of(process) == [], "nothing of it runs any longer")


def test_jobs_of_a_sweep_and_the_work_inside_them_on_one_cluster(cluster: Any, local: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    launcher = ["hydra/launcher=ray_cluster", f"hydra.launcher.ray.init.address={cluster.address}"]
    launcher.append(f"hydra.sweep.dir={folder}/sweep")
    wanted = run_words(folder, *launcher, *on(cluster))
    changed = {"rejudges=2": "rejudges=1,2", "executor.workers=3": "executor.workers=1"}
    arguments = [changed.get(word, word) for word in wanted]
    arguments.insert(2, "-m")
    with begin(arguments) as process:
        said = finished(process)
    assert "sweep: 2 of 2 jobs have results" in said
    (run,) = (path.parent.name for path in (local / "runs").glob("*/status.json"))
    assert result_tables(folder / "runs" / run) == products(local)
    assert actors() == []


def test_a_real_voice_and_a_real_recogniser(cluster: Any, tmp_path: Path) -> None:
    """Each actor holds a Whisper of its own, which for one machine says that it is the only one."""
    lines = [
        ("k1", "en", "The last bus to the village leaves at nine."),
        ("k2", "en", "Krishnamurthy bought twelve ripe mangoes."),
        ("k3", "en", "It rained all night in Shillong."),
    ]
    folders = [tmp_path / "here", tmp_path / "there"]
    for folder, where in zip(folders, (["executor=local"], [*on(cluster), "executor.shard=1"]), strict=True):
        folder.mkdir()
        prompt_file(folder, lines)
        arguments = words(folder, "repeats=2", *where, system="piper", judge="whisper")
        with begin(command(*dict.fromkeys(word for word in arguments if word != "executor.shard=4"))) as process:
            finished(process)
    assert products(folders[1]) == products(folders[0])
    assert sounds(folders[1]) == sounds(folders[0])


def session_of(process: subprocess.Popen[str]) -> list[int]:
    """Processes that it started, and theirs."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(entry.parent.name)
        if int(fields[3]) == process.pid and alive(pid):
            found.append(pid)
    return found
