"""A judge in another process: what it is sent, what it may answer, and what becomes of one that does not."""

from __future__ import annotations

import json
import os
import re
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
from kasauti.judges import remote_process
from kasauti.judges.base import Answer, Heard, JudgeTask
from kasauti.judges.fake import FakeJudge, FakeJudgeOptions
from kasauti.judges.protocol import FAILURES, decode_answer, decode_task, encode_answer, encode_task, line_of, object_of
from kasauti.judges.remote import Remote, RemoteOptions
from kasauti.records import Outcome, Status
from processes import alive, start, until
from remote_programs import GREETING, indented, program

TARGET = "kasauti.judges.remote.Remote"


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The served judge runs this tree, and ours has another encoding than UTF-8 if it goes by its surroundings."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")


def task(identity: str = "ab", *clips: Heard, **told: Any) -> JudgeTask:
    return JudgeTask(identity, "hi", 0, clips, told)


BEGUN: list[Remote] = []


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    """No judge outlives its test."""
    yield
    while BEGUN:
        BEGUN.pop().close()


def remote(command: list[str], **options: Any) -> Remote:
    BEGUN.append(Remote(RemoteOptions(TARGET, "remote", command, **{"revision": "r1", **options})))
    return BEGUN[-1]


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
    with pytest.raises(JudgeError, match=f"says that it is '{re.escape(said(slip_rate=0.5))}', but"):
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
            st.sampled_from([Status.OK, *sorted(FAILURES)]),
            st.none() | ANY_TEXT,
            st.none() | ANY_TEXT,
            st.booleans(),
            cost_usd=st.none() | st.floats(0, allow_nan=False, allow_infinity=False),
            facts=st.dictionaries(ANY_TEXT, ANY_TEXT | st.integers(), max_size=2),
        ),
        st.none() | ANY_TEXT,
        st.none() | ANY_TEXT,
        st.dictionaries(
            ANY_TEXT,
            st.dictionaries(st.sampled_from(["mos", "dnsmos_p808", "गुण"]), st.integers() | st.floats(-9, 9)),
            max_size=2,
        ),
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
        {"scores": {"A": {"quality": 10**400}}},
        {"scores": {"A": {"quality": float("inf")}}},
        {"scores": {"A": {"cer": 0.1}}},
        {"scores": {"A": {"a\tb": 0.1}}},
        {"scores": {"A": {"": 0.1}}},
        {"cost_usd": -1},
        {"cost_usd": 10**400},
        {"cost_usd": float("inf")},
        {"status": "not_run"},
        {"status": "synthesis_failed"},
        {"status": "wrong_script"},
        {"transcript": "क" * 100_001},
    ],
    ids=json.dumps,
)
def test_an_answer_of_the_wrong_kind_is_refused(field: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"(is|are|not) "):
        decode_answer({"id": "ab", **field})


def deep(levels: int) -> str:
    """An answer whose facts lie so many levels deep."""
    return '{"id": "ab", "facts": {"a": ' + "[" * levels + "]" * levels + "}}"


@pytest.mark.parametrize(
    "line",
    ["", "\n", "hello", "[1]", "5", '{"id":', '{"id": NaN}', '{"x": -Infinity}', "[" * 100_000, deep(40), deep(2000)],
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
    ("code", "told"),
    [
        ("say({'protocol': 1, 'revision': 'r2'})", r"it says that it is 'r2', but judge.revision is 'r1'"),
        ("say({'protocol': 1})", r"it says that it is None, but judge.revision is 'r1'"),
        (
            "say({'protocol': 2, 'revision': 'r1'})",
            r"expected a greeting of protocol 1, got {'protocol': 2.*update the",
        ),
        ("say({'revision': 'r1'})", r"expected a greeting of protocol 1, got {'revision': 'r1'}"),
        ("say({'error': 'no weights in /models'})", r"it can't be set up: no weights in /models"),
        ("say({'protocol': 1, 'revision': 'r1', 'batch': 0})", r"its greeting says batch 0; wanted a whole number"),
        ("say({'protocol': 1, 'revision': 'r1', 'batch': True})", r"its greeting says batch True"),
        ("say([1])", r"no greeting from .*: it said '\[1\]\\n', which is no line of the protocol"),
        ("print('Welcome!', flush=True)", r"no greeting .*'Welcome!\\n', which is no line"),
        ("os.write(1, bytes(range(128, 256)) + b'\\n')", r"no greeting .*which is no line"),
        ("sys.exit(3)", r"no greeting .*ended without an answer \(exit code 3\)"),
        ("os.kill(os.getpid(), 11)", r"no greeting .*ended without an answer \(killed by signal 11\)"),
    ],
)
def test_another_greeting_is_refused(code: str, told: str) -> None:
    with pytest.raises(JudgeError, match=f"judge remote: {told}"):
        list(remote(program(code + "\nsys.stdin.read()")).judge([task()]))


def answers_of(code: str, count: int = 3) -> list[Answer]:
    """Answers of a program that runs `code` for each task, `n` the how many-th of this process."""
    body = GREETING + "for n in range(99):\n    task = hear()\n" + indented(code)
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
        ("say({'id': ['01'], 'transcript': 'x'})", "bad_reply"),
        ("say({'id': {'01': 1}, 'transcript': 'x'})", "bad_reply"),
        ("say({'id': task['id'], 'scores': {'': {'mos': 10 ** 400}}})", "bad_reply"),
        ("say({'id': task['id'], 'status': 'not_run'})", "bad_reply"),
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


def test_a_program_that_dies_between_two_tasks_is_started_again() -> None:
    answers = answers_of(f"{OK_ANSWER}\nsys.exit()", count=4)
    assert [answer.transcript for answer in answers] == ["x"] * 4


def test_a_task_that_a_program_died_under_is_asked_once_more(tmp_path: Path) -> None:
    # It dies at the first task of all, once: a GPU that was full for a moment.
    once = f"died = {str(tmp_path / 'died')!r}\nif not os.path.exists(died):\n    open(died, 'w'); os._exit(1)\n"
    assert [answer.transcript for answer in answers_of(once + OK_ANSWER)] == ["x"] * 3


def test_a_program_that_dies_under_every_task_is_given_up(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    body = f"open({str(starts)!r}, 'a').write('.')\n{GREETING}hear()\nos._exit(1)\n"
    answers = list(remote(program(body), restarts=2).judge(task(f"{n:02x}") for n in range(20)))
    assert starts.read_text() == "..."  # the first time and two restarts
    assert [answer.judgment_id for answer in answers] == [f"{n:02x}" for n in range(20)]
    assert {(answer.outcome.status, answer.outcome.reason) for answer in answers} == {
        (Status.JUDGE_FAILED, "judge_died")
    }
    assert answers[0].outcome.error == "ended without an answer (exit code 1); what it printed tells why"
    assert answers[-1].outcome.error == (
        "not asked: it ended 3 times in a row without an answer; last: ended without an answer (exit code 1); what it "
        "printed tells why"
    )
    assert answers[-1].outcome.retryable


def test_a_program_that_can_not_be_set_up_again_costs_its_task(tmp_path: Path) -> None:
    body = (
        f"started = {str(tmp_path / 'started')!r}\nif os.path.exists(started): sys.exit(3)\n"
        f"open(started, 'w')\n{GREETING}hear()\nos._exit(1)\n"
    )
    [answer] = remote(program(body)).judge([task()])
    assert (answer.outcome.reason, answer.outcome.error) == (
        "judge_died",
        "ended without an answer (exit code 3); what it printed tells why",
    )


def test_another_judge_after_a_restart_is_refused(tmp_path: Path) -> None:
    body = (
        f"started = {str(tmp_path / 'started')!r}\n"
        "say({'protocol': 1, 'revision': 'r2' if os.path.exists(started) else 'r1'})\n"
        "open(started, 'w')\nhear()\nos._exit(1)\n"
    )
    with pytest.raises(JudgeError, match="it says that it is 'r2'"):
        list(remote(program(body)).judge([task()]))


# --- several tasks at once


def batches_of(code: str, batch: int, count: int, **options: Any) -> list[Answer]:
    """Answers of a program that runs `code` for each line it is sent; `tasks` are what it holds."""
    body = (
        f"say({{'protocol': 1, 'revision': 'r1', 'batch': {batch}}})\n"
        "while line := sys.stdin.readline():\n    tasks = json.loads(line)['tasks']\n"
    ) + indented(code)
    return list(remote(program(body), **options).judge(task(f"{n:02x}") for n in range(count)))


def test_a_program_that_takes_several_is_sent_so_many_and_answers_in_any_order() -> None:
    code = "for task in reversed(tasks): say({'id': task['id'], 'raw': ','.join(t['id'] for t in tasks)})"
    answers = batches_of(code, batch=3, count=7)
    assert [(answer.judgment_id, answer.raw) for answer in answers] == [
        ("02", "00,01,02"),
        ("01", "00,01,02"),
        ("00", "00,01,02"),
        ("05", "03,04,05"),
        ("04", "03,04,05"),
        ("03", "03,04,05"),
        ("06", "06"),
    ]
    assert len(batches_of("for task in tasks: say({'id': task['id'], 'raw': str(len(tasks))})", 10**9, 65)) == 65


def test_a_deadly_clip_costs_none_of_those_it_was_sent_with() -> None:
    code = "for task in tasks:\n    if task['id'] == '02': os._exit(1)\n    say({'id': task['id'], 'transcript': 'x'})"
    answers = batches_of(code, batch=4, count=6)
    assert {answer.judgment_id: answer.outcome.reason for answer in answers} == {
        **dict.fromkeys(["00", "01", "03", "04", "05"]),
        "02": "judge_died",
    }


def test_an_answer_given_twice_is_no_answer_to_another_task() -> None:
    code = "say({'id': tasks[0]['id'], 'transcript': 'x'})\n" * 2
    answers = batches_of(code, batch=2, count=2)
    assert [(answer.judgment_id, answer.outcome.reason) for answer in answers] == [("00", None), ("01", None)]


# --- signs of life


def test_signs_of_life_are_no_answers_and_start_the_wait_anew() -> None:
    # The judge is alive for longer than its silence may last: each wait is for the next line alone.
    signs = "[(say({'alive': True}), say({'loading': 'weights'})) for _ in range(50)]\n"
    body = f"{signs}{GREETING}while line := sys.stdin.readline():\n"
    body += f"    {signs}    say({{'id': json.loads(line)['id'], 'transcript': 'x', 'alive': True}})\n"
    assert [answer.transcript for answer in remote(program(body)).judge([task("00"), task("01")])] == ["x", "x"]


def test_every_line_may_take_the_whole_silence_within_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    watched = remote_process.Talk._watched
    monkeypatch.setattr(
        remote_process.Talk, "_watched", lambda talk, wait_s: (waits.append(wait_s), watched(talk, wait_s))[1]
    )
    body = f"say({{'loading': 'w'}})\n{GREETING}task = hear()\nsay({{'alive': True}})\nsay({{'id': task['id']}})\n"
    list(remote(program(body), timeout_s=500).judge([task()]))
    assert waits == [500] * 5  # two lines up to the greeting, one said, two up to the answer
    waits.clear()
    list(remote(program(body), timeout_s=500, limit_s=400).judge([task()]))
    heard = [waits[0:2], waits[3:5]]
    assert all(0 < later < first <= 400 for first, later in heard)


def test_signs_of_life_do_not_go_on_forever() -> None:
    body = f"{GREETING}hear()\nwhile True: say({{'alive': True}})\n"
    [answer] = remote(program(body), limit_s=0.3).judge([task()])
    assert answer.outcome == replace(
        Outcome(Status.JUDGE_FAILED, "judge_overdue", "was killed: nothing but signs of life for 0.3 s"), retryable=True
    )
    with pytest.raises(JudgeError, match=r"no greeting from .*: it was killed: nothing but signs of life for 0.3 s"):
        list(remote(program("while True: say({'loading': 'w'})"), limit_s=0.3).judge([task()]))


def test_a_served_judge_gives_signs_of_life_while_it_is_at_work(tmp_path: Path) -> None:
    # It answers once a sign of life was written, so that none was lost and none came in between a line.
    served = patched(
        tmp_path,
        "import kasauti.judges.servers.line_server as server, threading\n"
        "server.BEAT_S, beaten = 0.01, threading.Event()\n"
        "def say(self, value):\n"
        "    real(self, value)\n"
        "    if 'alive' in value: beaten.set()\n"
        "real, server._Voice.say = server._Voice.say, say\n"
        "def answer(self, task):\n    beaten.wait(60); return answered(self, task)\n"
        "answered, fake.FakeJudge.answer = fake.FakeJudge.answer, answer\n",
    )
    [answer] = served.judge([task("ab", clip(tmp_path / "a.wav", "एक दो"))])
    assert answer.transcript == "एक दो"


def test_a_served_judge_that_can_not_be_built_says_why() -> None:
    options = json.dumps({"_target_": "kasauti.judges.transcripts.Transcripts", "id": "x", "path": "/no/such.tsv"})
    with pytest.raises(JudgeError, match=r"it can't be set up: .*/no/such.tsv"):
        list(remote([sys.executable, "-m", "kasauti.judges.serve", options]).judge([task()]))


NAMED_BY_PROCESS = (
    GREETING + "while task := sys.stdin.readline():\n    say({'id': json.loads(task)['id'], 'raw': str(os.getpid())})\n"
)


def test_one_process_serves_all_streams_until_the_judge_is_closed() -> None:
    judge = remote(program(NAMED_BY_PROCESS))
    pids = {int(answer.raw or 0) for start in (0, 3) for answer in judge.judge(task(f"{start + n}") for n in range(3))}
    [pid] = pids
    assert alive(pid)
    judge.close()
    assert not alive(pid)
    [again] = judge.judge([task("6")])
    assert again.outcome.status is Status.OK
    assert int(again.raw or 0) != pid


def test_every_stream_has_all_its_restarts(tmp_path: Path) -> None:
    """A program that dies at its first three starts is given up in the first stream, and asked again in the next."""
    starts = tmp_path / "starts"
    starts.touch()
    body = (
        GREETING + f"open({str(starts)!r}, 'a').write('x')\n"
        f"if len(open({str(starts)!r}).read()) <= 3: sys.exit(1)\n"
        "while task := sys.stdin.readline(): say({'id': json.loads(task)['id'], 'raw': 'x'})\n"
    )
    judge = remote(program(body), restarts=2)
    for first, status in ((0, Status.JUDGE_FAILED), (5, Status.OK)):
        answers = list(judge.judge(task(f"{first + n}") for n in range(5)))
        assert {answer.outcome.status for answer in answers} == {status}


def test_a_stream_that_is_given_up_leaves_no_answer_for_the_next() -> None:
    body = (
        "say({'protocol': 1, 'revision': 'r1', 'batch': 3})\n"
        "while line := sys.stdin.readline():\n"
        "    for task in json.loads(line)['tasks']: say({'id': task['id'], 'raw': str(os.getpid())})\n"
    )
    judge = remote(program(body))
    answers: Iterator[Answer] = judge.judge(task(f"{n:02x}") for n in range(3))
    pid = int(next(answers).raw or 0)
    assert alive(pid)
    answers.close()  # type: ignore[attr-defined]
    assert not alive(pid)
    assert [answer.outcome.status for answer in judge.judge([task("03")])] == [Status.OK]


def test_a_program_that_was_told_to_go_and_does_not_listen_is_not_left_behind() -> None:
    body = (
        "import signal\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "say({'protocol': 1, 'revision': str(os.getpid())})\n"
        "sys.stdin.read()\n"
    )
    with pytest.raises(JudgeError) as told:
        list(remote(program(body)).judge([task()]))
    pid = int(str(told.value).partition("says that it is '")[2].partition("'")[0])
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
    failed = Outcome(Status.JUDGE_FAILED, "judge_overdue", "was killed: silent for 5 s", retryable=True)
    assert answers[1].outcome == failed
    assert not alive(int((tmp_path / "pid").read_text()))


def test_a_program_that_never_greets_is_refused() -> None:
    with pytest.raises(JudgeError, match=r"no greeting from .*: it was killed: silent for 0.5 s"):
        list(remote(program("os.read(os.pipe()[0], 1)"), timeout_s=0.5).judge([task()]))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"timeout_s": 0}, "timeout_s=0: wanted more than 0"),
        ({"limit_s": -1}, "limit_s=-1: wanted more than 0"),
        ({"restarts": -1}, "restarts=-1: wanted 0 or more"),
        ({"revision": None}, r"revision is not set; .*judge.revision=\.\.\. .*check-judge"),
    ],
)
def test_options_that_can_not_be_meant(options: dict[str, Any], told: str) -> None:
    with pytest.raises(JudgeError, match=f"judge remote: {told}"):
        remote(["x"], **options)


def test_a_program_that_is_not_there_is_found_out_before_the_run() -> None:
    [finding] = remote(["/no/such/program"]).check([])
    assert (finding.level, finding.subject) == ("error", "judge remote")
    assert finding.message == "there is no program /no/such/program, or it may not be run."
    assert remote([sys.executable]).check([]) == []


def test_a_program_that_stays_when_its_input_ends_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_process, "_GRACE_S", 0.05)
    body = GREETING + "task = hear()\nsay({'id': task['id'], 'raw': str(os.getpid())})\nos.read(os.pipe()[0], 1)\n"
    judge = remote(program(body))
    [answer] = judge.judge([task()])
    judge.close()
    assert not alive(int(answer.raw or 0))


def test_a_second_interrupt_leaves_no_busy_program_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []

    def interrupted(talk: remote_process.Talk) -> str:
        started.append(talk._process.pid)
        raise KeyboardInterrupt

    monkeypatch.setattr(remote_process.Talk, "_line", interrupted)
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
