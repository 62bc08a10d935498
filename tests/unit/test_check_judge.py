"""The check for authors of remote judges: good programs pass it, and each fault is named by the check that finds it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from kasauti.__main__ import main
from kasauti.judges import remote_process
from kasauti.judges.conformance import Checked, How, check
from remote_programs import indented, program

ROOT = Path(__file__).parents[2]

GREETING = "say({'protocol': 1, 'revision': 'r1'})\n"
LOOP = "while line := sys.stdin.readline():\n    task = json.loads(line)\n    path = task['clips'][0]['path']\n"
ANSWER = (
    "if not os.path.exists(path): say({'id': task['id'], 'status': 'judge_failed', 'reason': 'unreadable'})\n"
    "else: say({'id': task['id'], 'transcript': ''})\n"
)


def judge(answer: str = ANSWER, greeting: str = GREETING, end: str = "") -> list[str]:
    """A program that answers each task with `answer`; `task` and `path` are there."""
    return program(greeting + LOOP + indented(answer) + end)


def checked(command: list[str], **how: float) -> dict[str, Checked]:
    return {one.name: one for one in check(How(command, timeout_s=how.pop("timeout_s", 60.0), **how))}


def failed(command: list[str], **how: float) -> dict[str, str]:
    return {name: one.found for name, one in checked(command, **how).items() if not one.passed}


def test_a_good_program_passes_every_check() -> None:
    found = checked(judge())
    assert {name: one.passed for name, one in found.items()} == dict.fromkeys(found, True)
    assert list(found) == [
        "greeting",
        "a click of 0.01 s",
        "silence of 1.5 s",
        "a tone of 1.5 s",
        "fields it does not know",
        "letters of all kinds",
        "a file that is gone",
        "several tasks at once",
        "end of input",
    ]
    assert found["greeting"].found == "judge.revision=r1"
    assert found["a tone of 1.5 s"].found == "transcript ''"
    assert found["a file that is gone"].found == "judge_failed (unreadable)"
    assert found["several tasks at once"].found == "it takes one task at a time"


def test_a_good_program_that_takes_several_at_once_and_gives_signs_of_life() -> None:
    greeting = "say({'loading': 'w'})\nsay({'protocol': 1, 'revision': 'r1', 'batch': 3})\n"
    loop = "while line := sys.stdin.readline():\n    for task in reversed(json.loads(line)['tasks']):\n"
    answer = "        say({'alive': True}); path = task['clips'][0]['path']\n" + indented(indented(ANSWER))
    found = checked(program(greeting + loop + answer))
    assert all(one.passed for one in found.values())
    assert found["several tasks at once"].found == "3 tasks, each answered once"


@pytest.mark.parametrize(
    ("greeting", "told"),
    [
        ("say({'protocol': 3, 'revision': 'r1'})", "wanted protocol 1, got {'protocol': 3, 'revision': 'r1'}"),
        ("say({'protocol': 1})", "wanted as revision a text without |, got None"),
        ("say({'protocol': 1, 'revision': 'a|b'})", "wanted as revision a text without |, got 'a|b'"),
        ("say({'protocol': 1, 'revision': 'r', 'batch': '2'})", "wanted as batch a whole number from 1, got '2'"),
        ("say({'error': 'no GPU'})", "it can't be set up: no GPU"),
        ("print('Loading...', flush=True)", "said 'Loading...\\n', which is no line of the protocol"),
        ("sys.exit(2)", "ended without an answer (exit code 2); what it printed tells why"),
    ],
)
def test_a_wrong_greeting_ends_the_check(greeting: str, told: str) -> None:
    assert list(checked(judge(greeting=greeting + "\n")).items()) == [("greeting", Checked("greeting", False, told))]


SHORT, TONE = "a click of 0.01 s", "a tone of 1.5 s"
PLAIN = "if 'tone' in path and 'later' not in task and not task['told']: "
"""The first of the tasks about the tone."""


@pytest.mark.parametrize(
    ("answer", "check_name", "told"),
    [
        ("if 'click' in path: os._exit(9)\n", SHORT, "ended without an answer (exit code 9)"),
        (
            "if 'silence' in path: os.write(1, b'no speech\\n')\n",
            "silence of 1.5 s",
            "said 'no speech\\n', which is no",
        ),
        (PLAIN + "os.write(1, b'\\xff\\xfe\\n')\n", TONE, "which is no line of the protocol"),
        (PLAIN + "task['id'] = 'mine'\n", TONE, "wanted an answer with the id 0"),
        (
            PLAIN + "say({'id': task['id'], 'transcript': 5})\n",
            TONE,
            "a field is not what it must be: trans",
        ),
        (PLAIN + "say({'id': task['id'], 'raw': 'x'})\n", TONE, "has a transcript (which may be empty) or"),
        (PLAIN + "os.read(os.pipe()[0], 1)\n", TONE, "was killed: silent for 2 s"),
        ("if 'later' in task: raise KeyError\n", "fields it does not know", "ended without an answer (exit code 1)"),
        (
            "if 'later' in task: say({'id': task['id'], 'status': 'judge_failed'}); continue\n",
            "fields it does not know",
            "the same clip ended as ok without this, now: judge_failed (no reason)",
        ),
        ("if task['told']: task['told']['text'].encode('ascii')\n", "letters of all kinds", "ended without an answer"),
        ("path = '/'\n", "a file that is gone", "wanted a failure (status judge_failed with a reason), got transcript"),
    ],
)
def test_a_fault_is_found_by_its_check(answer: str, check_name: str, told: str) -> None:
    found = failed(judge(answer + ANSWER), timeout_s=2.0)
    assert told in found.pop(check_name)
    assert not found, "one fault, one failed check: the program was started again"


def test_more_lines_than_answers_are_found() -> None:
    found = failed(judge(ANSWER + "if task['told']: print('done', flush=True)\n"))
    assert found == {"a file that is gone": "said 'done\\n', which is no line of the protocol"}
    assert failed(judge(end="print('bye')\n")) == {"end of input": "said more than its answers: 'bye\\n'"}


def test_a_program_that_answers_one_of_several_twice_is_found() -> None:
    greeting = "say({'protocol': 1, 'revision': 'r1', 'batch': 2})\n"
    loop = "while line := sys.stdin.readline():\n    tasks = json.loads(line)['tasks']\n    task = tasks[0]\n"
    once = "    path = task['clips'][0]['path']\n" + indented(ANSWER)
    found = failed(program(greeting + loop + once + "    if tasks[1:]:\n" + indented(once)))
    assert "wanted an answer with the id 0" in found.pop("several tasks at once")
    assert not found


def test_a_program_that_stays_after_its_input_ended_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_process, "_GRACE_S", 0.05)
    found = failed(judge(end="os.read(os.pipe()[0], 1)\n"))
    assert found == {"end of input": "still runs 0.05 s after its input ended"}


def test_the_command_says_one_line_a_check_and_its_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-judge", "--timeout", "60", "--lang", "ta", "--", *judge()]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "ok   greeting: judge.revision=r1"
    assert [line[:5] for line in lines] == ["ok   "] * 9
    assert main(["check-judge", "--", *judge(end="print('bye')\n")]) == 1
    assert "FAIL end of input: said more than its answers: 'bye\\n'" in capsys.readouterr().out
    assert main(["check-judge", "--", "/no/such/program"]) == 2
    assert "can't start ['/no/such/program']" in capsys.readouterr().err


def test_it_asks_in_the_language_that_was_chosen() -> None:
    only = "if task['lang'] != 'ta': say({'id': task['id'], 'status': 'unsupported_language'}); continue\n"
    said = {lang: {one.name: one.found for one in check(How(judge(only + ANSWER), lang))} for lang in ("hi", "ta")}
    assert said["hi"][TONE] == "unsupported_language (no reason)"
    assert said["ta"][TONE] == "transcript ''"


def test_a_served_judge_of_this_package_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    options = json.dumps({"_target_": "kasauti.judges.fake.FakeJudge", "id": "x"})
    assert failed([sys.executable, "-m", "kasauti.judges.serve", options]) == {}
