"""A judge in another process: what it is sent, what it may answer, and what becomes of one that does not."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.audio import write_wav
from kasauti.errors import JudgeError
from kasauti.fakes import RATE_HZ, write_text
from kasauti.identity import file_sha256
from kasauti.judges import remote as remote_module
from kasauti.judges import remote_process
from kasauti.judges.base import Answer, Heard, JudgeTask
from kasauti.judges.fake import FakeJudge, FakeJudgeOptions
from kasauti.judges.protocol import decode_answer, decode_task, encode_answer, encode_task, line_of, object_of
from kasauti.judges.remote import Remote, RemoteOptions
from kasauti.records import Outcome, Status
from processes import alive, start, until

TARGET = "kasauti.judges.remote.Remote"


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The served judge runs this tree, and ours has another encoding than UTF-8 if it goes by its surroundings."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")


def task(identity: str = "ab", *clips: Heard, **told: Any) -> JudgeTask:
    return JudgeTask(identity, "hi", 0, clips, told)


def program(code: str) -> list[str]:
    """A judge in a few lines: `say(object)` and `hear()` are there."""
    head = (
        "import json, os, sys\n"
        "def say(value): sys.stdout.buffer.write(json.dumps(value).encode() + b'\\n'); sys.stdout.flush()\n"
        "def hear(): return json.loads(sys.stdin.buffer.readline())\n"
    )
    return [sys.executable, "-c", head + code]


def remote(command: list[str], **options: Any) -> Remote:
    return Remote(RemoteOptions(TARGET, "remote", command, **{"revision": "r1", **options}))


GREETING = "say({'protocol': 1, 'revision': 'r1'})\n"


# --- the same judge here and there


def clip(path: Path, text: str) -> Heard:
    samples = write_text(text)
    write_wav(path, samples, RATE_HZ)
    return Heard(path, file_sha256(path), len(samples) / RATE_HZ)


def said(_target_: str = "x", id: str = "x", **options: Any) -> str:
    """What a served fake judge says that it is."""
    return FakeJudge(FakeJudgeOptions(_target_, id, **options)).facts.signature


def test_a_served_judge_answers_as_it_does_here(tmp_path: Path) -> None:
    options = {
        "_target_": "kasauti.judges.fake.FakeJudge",
        "id": "x",
        "slip_rate": 0.3,
        "fail_words": ["fail"],
        "usd_per_call": 0.25,
    }
    texts = ["नमस्ते दुनिया", "please fail here", 'ek, "do"\n\u2028तीन', "👩🏽‍🚀", "x" * 3000]
    tasks = [task(f"{n:02x}", clip(tmp_path / f"नाम {n}.wav", text)) for n, text in enumerate(texts)]
    tasks.append(task("ff", Heard(tmp_path / "gone.wav", "0" * 64, 1.0)))
    served = remote([sys.executable, "-m", "kasauti.judges.serve", json.dumps(options)], revision=said(**options))
    here = FakeJudge(FakeJudgeOptions(**options)).judge(tasks)

    def timeless(answers: Iterable[Answer]) -> list[Answer]:
        return [replace(answer, outcome=replace(answer.outcome, wall_s=None)) for answer in answers]

    there = timeless(served.judge(tasks))
    assert there == timeless(here)
    assert [answer.outcome.status for answer in there] == [
        Status.OK,
        Status.JUDGE_FAILED,
        *[Status.OK] * 3,
        Status.JUDGE_FAILED,
    ]
    assert there[1].outcome == Outcome(Status.JUDGE_FAILED, "told_to", "told to fail", retryable=True)
    assert there[0].outcome.cost_usd == 0.25


def test_a_served_judge_with_other_settings_is_another_judge(tmp_path: Path) -> None:
    # Its answers would be found under the same ids otherwise: the revision is all that is hashed of it here.
    options = {"_target_": "kasauti.judges.fake.FakeJudge", "id": "x", "slip_rate": 0.5}
    served = [sys.executable, "-m", "kasauti.judges.serve", json.dumps(options)]
    heard = clip(tmp_path / "a.wav", "one two")
    with pytest.raises(JudgeError, match=f"got .*'revision': '{re.escape(said(slip_rate=0.5))}'"):
        list(remote(served, revision=said()).judge([task("ab", heard)]))
    [answer] = remote(served, revision=said(slip_rate=0.5)).judge([task("ab", heard)])
    assert answer.outcome.status is Status.OK


def patched(folder: Path, code: str) -> Remote:
    """The fake judge, served by an interpreter that runs `code` on it (as `fake`) before anything else."""
    (folder / "sitecustomize.py").write_text(f"import kasauti.judges.fake as fake, os, time\n{code}")
    options = json.dumps({"_target_": "kasauti.judges.fake.FakeJudge", "id": "x"})
    path = f"{folder}{os.pathsep}{os.environ['PYTHONPATH']}"
    command = ["env", f"PYTHONPATH={path}", sys.executable, "-m", "kasauti.judges.serve", options]
    return remote(command, revision=said())


def test_a_served_judge_that_prints_still_answers(tmp_path: Path) -> None:
    # Recognisers greet the world on standard output; the output of a served judge is for answers alone.
    served = patched(
        tmp_path,
        "def answer(self, task):\n"
        "    print('loading model'); os.write(1, b'from C')\n"
        "    return real(self, task)\n"
        "real, fake.FakeJudge.answer = fake.FakeJudge.answer, answer\n",
    )
    [answer] = served.judge([task("ab", clip(tmp_path / "a.wav", "एक दो"))])
    assert answer.transcript == "एक दो"


def test_a_served_judge_that_reads_ahead_answers_each_task_as_it_is_asked(tmp_path: Path) -> None:
    # One that works on several clips at once takes tasks before it answers the first.
    served = patched(
        tmp_path,
        "def judge(self, tasks):\n    yield from real(self, list(tasks))\n"
        "real, fake.FakeJudge.judge = fake.FakeJudge.judge, judge\n",
    )
    tasks = [task(f"{n:02x}", clip(tmp_path / f"{n}.wav", f"text {n}")) for n in range(6)]
    assert [answer.transcript for answer in served.judge(tasks)] == [f"text {n}" for n in range(6)]


# --- what goes over the wire


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=8)


@given(
    st.builds(
        Answer,
        st.text("0123456789abcdef", min_size=2),
        st.builds(
            Outcome,
            st.sampled_from(Status),
            st.none() | ANY_TEXT,
            st.none() | ANY_TEXT,
            st.booleans(),
            cost_usd=st.none() | st.floats(allow_nan=False, allow_infinity=False),
            facts=st.dictionaries(ANY_TEXT, ANY_TEXT | st.integers(), max_size=2),
        ),
        st.none() | ANY_TEXT,
        st.none() | ANY_TEXT,
        st.dictionaries(ANY_TEXT, st.dictionaries(ANY_TEXT, st.integers() | st.floats(-9, 9), max_size=2), max_size=2),
    )
)
def test_property_an_answer_comes_back(answer: Answer) -> None:
    line = line_of(encode_answer(answer))
    assert line.count("\n") == 1
    value = object_of(line)
    assert value is not None
    assert decode_answer(value) == answer


@given(st.dictionaries(st.sampled_from(["text", "prompt_id"]), ANY_TEXT), st.floats(0, 9))
def test_property_a_task_comes_back(told: dict[str, str], duration_s: float) -> None:
    sent = task("ab", Heard(Path("/a b/नाम.wav"), "ff", duration_s, "A"), Heard(Path("c.wav"), "ee", 0.0, "B"), **told)
    value = object_of(line_of(encode_task(sent)))
    assert value is not None
    assert decode_task(value) == sent


def test_the_fields_of_the_protocol_are_frozen() -> None:
    # Other people's programs speak it; a change is protocol 2.
    sent = encode_task(task("ab", Heard(Path("/x.wav"), "ff", 1.5, "A"), text="नमस्ते"))
    assert json.loads(line_of(sent)) == {
        "id": "ab",
        "lang": "hi",
        "rejudge": 0,
        "clips": [{"path": "/x.wav", "sha256": "ff", "duration_s": 1.5, "label": "A"}],
        "told": {"text": "नमस्ते"},
    }
    full = {
        "id": "ab",
        "status": "refused",
        "reason": "r",
        "error": "e",
        "retryable": True,
        "cost_usd": 1,
        "raw": "x",
        "facts": {"a": 1},
        "transcript": "t",
        "scores": {"A": {"quality": 4}},
    }
    outcome = Outcome(Status.REFUSED, "r", "e", True, cost_usd=1, facts={"a": 1})
    assert decode_answer(full) == Answer("ab", outcome, "x", "t", {"A": {"quality": 4}})
    assert decode_answer({"id": "ab", "transcript": ""}) == Answer("ab", transcript="")
    assert decode_answer({**dict.fromkeys(full), "id": "ab", "later": 5}) == Answer("ab")


@pytest.mark.parametrize(
    "field",
    [
        {"status": "splendid"},
        {"status": 5},
        {"transcript": 5},
        {"transcript": ["a"]},
        {"raw": {"text": "a"}},
        {"reason": 5},
        {"retryable": "no"},
        {"cost_usd": "1"},
        {"cost_usd": True},
        {"facts": []},
        {"scores": [4]},
        {"scores": {"A": 4}},
        {"scores": {"A": {"quality": "4"}}},
        {"scores": {"A": {"quality": True}}},
        {"scores": {"A": {"quality": None}}},
    ],
    ids=json.dumps,
)
def test_an_answer_of_the_wrong_kind_is_refused(field: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"(is|are) "):
        decode_answer({"id": "ab", **field})


@pytest.mark.parametrize(
    "line", ["", "\n", "hello", "[1]", "5", '{"id":', '{"id": NaN}', '{"x": -Infinity}', "[" * 100_000]
)
def test_a_line_that_is_no_object(line: str) -> None:
    assert object_of(line) is None


# --- processes that misbehave


def test_a_program_that_does_not_exist_is_named() -> None:
    with pytest.raises(JudgeError, match=r"judge remote: can't start \['/no/such/program'\]: .*No such file"):
        list(remote(["/no/such/program"]).judge([task()]))
    with pytest.raises(JudgeError, match=r"judge remote: command is empty"):
        remote([])


def test_nothing_is_started_without_a_task() -> None:
    assert list(remote(["/no/such/program"]).judge([])) == []


@pytest.mark.parametrize(
    ("code", "got"),
    [
        ("say({'protocol': 1, 'revision': 'r2'})", "'revision': 'r2'"),
        ("say({'protocol': 2, 'revision': 'r1'})", "'protocol': 2"),
        ("say({'revision': 'r1'})", "got {'revision': 'r1'}"),
        ("say([1])", "got none"),
        ("print('Welcome!', flush=True)", "got none"),
        ("os.write(1, bytes(range(128, 256)) + b'\\n')", "got none"),
        ("sys.exit(3)", "got none"),
    ],
)
def test_another_greeting_is_refused(code: str, got: str) -> None:
    with pytest.raises(JudgeError, match=r"expected the greeting .*'protocol': 1, 'revision': 'r1'") as told:
        list(remote(program(code + "\nsys.stdin.read()")).judge([task()]))
    assert got in str(told.value)


def answers_of(code: str, count: int = 3) -> list[Answer]:
    """Answers of a program that runs `code` for each task, `n` the how many-th of this process."""
    body = (
        GREETING + "for n in range(99):\n    task = hear()\n" + "".join(f"    {line}\n" for line in code.splitlines())
    )
    return list(remote(program(body)).judge(task(f"{n:02x}") for n in range(count)))


OK_ANSWER = "say({'id': task['id'], 'transcript': 'x'})"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("os._exit(1)", "judge_died"),
        ("os.kill(os.getpid(), 9)", "judge_died"),
        ("os.close(1); os._exit(0)", "judge_died"),
        ("print('hm', flush=True)", "bad_reply"),
        ("os.write(1, b'\\xff\\xfe\\x00\\n')", "bad_reply"),
        ('os.write(1, b\'{"id": "01", "transcript": "caf\\xe9"}\\n\')', "bad_reply"),
        ("say([1])", "bad_reply"),
        ("say({'id': 'ff', 'transcript': 'x'})", "bad_reply"),
        ("say({'transcript': 'x'})", "bad_reply"),
        ("say({'id': task['id'], 'status': 'splendid'})", "bad_reply"),
        ("say({'id': task['id'], 'transcript': 5})", "bad_reply"),
        ("say({'id': task['id'], 'scores': {'': {'mos': float('nan')}}})", "bad_reply"),
    ],
)
def test_a_bad_reply_costs_its_own_task_and_the_process_is_started_anew(bad: str, reason: str) -> None:
    answers = answers_of(f"if task['id'] == '01':\n    {bad}\nelse:\n    {OK_ANSWER}")
    assert [answer.judgment_id for answer in answers] == ["00", "01", "02"]
    assert [answer.transcript for answer in answers] == ["x", None, "x"]
    outcome = answers[1].outcome
    assert (outcome.status, outcome.reason, outcome.retryable) == (Status.JUDGE_FAILED, reason, True)


def test_a_program_that_dies_between_two_tasks_is_noticed() -> None:
    answers = answers_of(f"{OK_ANSWER}\nsys.exit()", count=4)
    assert [answer.outcome.reason for answer in answers] == [None, "judge_died", None, "judge_died"]


def test_the_process_ends_with_the_last_task_and_with_us() -> None:
    body = (
        GREETING
        + "while task := sys.stdin.readline():\n    say({'id': json.loads(task)['id'], 'raw': str(os.getpid())})\n"
    )
    judge = remote(program(body))
    pids = {int(answer.raw or 0) for answer in judge.judge(task(f"{n:02x}") for n in range(3))}
    assert len(pids) == 1
    assert not alive(pids.pop())
    answers: Iterator[Answer] = judge.judge(task(f"{n:02x}") for n in range(3))
    pid = int(next(answers).raw or 0)
    assert alive(pid)
    answers.close()  # type: ignore[attr-defined]
    assert not alive(pid)


def test_a_program_that_was_told_to_go_and_does_not_listen_is_not_left_behind() -> None:
    body = (
        "import signal\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "say({'protocol': 1, 'revision': str(os.getpid())})\n"
        "sys.stdin.read()\n"
    )
    with pytest.raises(JudgeError) as told:
        list(remote(program(body)).judge([task()]))
    pid = int(str(told.value).rpartition("'revision': '")[2].partition("'")[0])
    until(lambda: not alive(pid), "the refused process has ended")


def test_a_program_that_does_not_answer_in_time_costs_its_task(tmp_path: Path) -> None:
    # The program is behind a wrapper, as with `conda run`: what hangs is not the process that was started.
    hang = f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); os.read(os.pipe()[0], 1)"
    body = (
        GREETING
        + f"for n in range(9):\n    task = hear()\n    if task['id'] == '01':\n        {hang}\n    {OK_ANSWER}\n"
    )
    wrapper = "import subprocess, sys; subprocess.run(sys.argv[1:])"
    judge = remote([sys.executable, "-c", wrapper, *program(body)], timeout_s=5)
    answers = list(judge.judge(task(f"{n:02x}") for n in range(3)))
    assert [answer.transcript for answer in answers] == ["x", None, "x"]
    failed = Outcome(Status.JUDGE_FAILED, "judge_died", "killed: no answer within 5 s", retryable=True)
    assert answers[1].outcome == failed
    assert not alive(int((tmp_path / "pid").read_text()))


def test_a_program_that_never_greets_is_refused() -> None:
    with pytest.raises(JudgeError, match=r"expected the greeting .*got none"):
        list(remote(program("os.read(os.pipe()[0], 1)"), timeout_s=0.5).judge([task()]))
    with pytest.raises(JudgeError, match=r"timeout_s=0: wanted more than 0"):
        remote(["x"], timeout_s=0)


def test_a_program_that_stays_when_its_input_ends_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_process, "_GRACE_S", 0.05)
    body = GREETING + "task = hear()\nsay({'id': task['id'], 'raw': str(os.getpid())})\nos.read(os.pipe()[0], 1)\n"
    [answer] = remote(program(body)).judge([task()])
    assert not alive(int(answer.raw or 0))


def test_a_second_interrupt_leaves_no_busy_program_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []

    def interrupted(process: subprocess.Popen[str]) -> str:
        started.append(process.pid)
        raise KeyboardInterrupt

    monkeypatch.setattr(remote_module, "_line_of", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(remote(program("os.read(os.pipe()[0], 1)")).judge([task()]))
    assert not alive(started[0])


def test_a_busy_served_judge_ends_with_the_run_that_was_killed(tmp_path: Path) -> None:
    served = patched(
        tmp_path,
        f"def answer(self, task):\n    open({str(tmp_path / 'pid')!r}, 'w').write(f'{{os.getpid()}}.')\n"
        "    time.sleep(600)\nfake.FakeJudge.answer = answer\n",
    )
    run = (
        "import json, sys\n"
        "from kasauti.judges.base import JudgeTask\n"
        "from kasauti.judges.remote import Remote, RemoteOptions\n"
        "options = RemoteOptions('x', 'x', json.loads(sys.argv[1]), sys.argv[2])\n"
        "list(Remote(options).judge([JudgeTask('ab', 'hi', 0)]))\n"
    )
    pid = tmp_path / "pid"
    with start(run, json.dumps(served._options.command), said()) as parent:
        until(lambda: pid.exists() and pid.read_text().endswith("."), "the served judge is busy")
        child = int(pid.read_text().rstrip("."))
        assert alive(child)
        parent.kill()
    until(lambda: not alive(child), "the judge of a killed run has ended")


def test_facts_come_from_the_options() -> None:
    facts = remote(["x"], langs=["hi"], told=["text"], compares=True).facts
    assert (facts.revision, facts.languages, facts.told, facts.compares) == ("r1", frozenset({"hi"}), ("text",), True)
    assert asdict(remote(["x"]).facts)["languages"] is None
