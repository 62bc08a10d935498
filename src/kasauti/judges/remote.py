"""A judge in another interpreter: JSON lines on its standard input and output (`kasauti.judges.protocol`).

The other side is any program; `docs/add-a-judge.md` shows how to write one. For a judge of this package in an
environment of its own it is `python -m kasauti.judges.serve`.

A program that dies, or talks nonsense, is started again, and what it had in hand is asked once more, each task alone;
what then fails again is a failed row. One that was killed for keeping us waiting has had its time and is not asked
again. After `restarts` ends in a row without an answer between them, the rest of the tasks fails unheard.
"""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from kasauti.errors import JudgeError
from kasauti.judges.base import Answer, Judge, JudgeFacts, JudgeOptions, JudgeTask
from kasauti.judges.protocol import PROTOCOL, decode_answer, encode_batch
from kasauti.judges.remote_process import Talk, TalkEnded
from kasauti.paths import source_path
from kasauti.records import Finding, Outcome, Prompt, Status

MOST_AT_ONCE = 64
"""More tasks are not sent at once, whatever the judge says: they would be lost together."""


@dataclass
class RemoteOptions(JudgeOptions):
    """Options of a judge in another interpreter.

    Attributes:
        command: Program and arguments.
        revision: What it must say that it is; a mismatch is refused, and the refusal shows what it said. A served judge
            says its revision and a hash of its settings, so that other settings are another judge.
        langs: Languages it has; null = any.
        told: Prompt fields it is told. `compares`: whether it hears a whole line-up at once.
        timeout_s: Longest silence while it loads or works; a sign of life starts it anew. Then it is killed.
        limit_s: Longest wait in all for its greeting, and for the next answer.
        restarts: After so many ends in a row without an answer it is given up.
    """

    command: list[str] = field(default_factory=list)
    revision: str | None = None
    langs: list[str] | None = None
    told: list[str] = field(default_factory=list)
    compares: bool = False
    timeout_s: float = 600.0
    limit_s: float = 3600.0
    restarts: int = 6


class Remote(Judge):
    """Talks to the other process, as many tasks at a time as it says that it takes."""

    options_type: type[JudgeOptions] = RemoteOptions

    def __init__(self, options: RemoteOptions) -> None:
        subject = f"judge {options.id}"
        if not options.command:
            raise JudgeError(f"{subject}: command is empty; give the program and its arguments")
        if not options.revision:
            raise JudgeError(
                f"{subject}: revision is not set; give what the program says that it is: judge.revision=... "
                "(python -m kasauti check-judge -- COMMAND shows it)"
            )
        for name in ("timeout_s", "limit_s"):
            if not 0 < getattr(options, name) <= threading.TIMEOUT_MAX:
                raise JudgeError(f"{subject}: {name}={getattr(options, name)}: wanted more than 0")
        if options.restarts < 0:
            raise JudgeError(f"{subject}: restarts={options.restarts}: wanted 0 or more")
        self._options = options
        self._session = _Session(options)
        self.facts = JudgeFacts(
            revision=options.revision,
            languages=None if options.langs is None else frozenset(options.langs),
            told=tuple(options.told),
            compares=options.compares,
        )

    def check(self, prompts: Sequence[Prompt]) -> list[Finding]:
        return _lacking_program(f"judge {self._options.id}", self._options.command[0], "the first of judge.command")

    def judge(self, tasks: Iterable[JudgeTask]) -> Iterator[Answer]:
        """Starts the process with the first task, and again after it had to be stopped; `close` ends it."""
        waiting = iter(tasks)
        self._session.begin()
        try:
            for first in waiting:
                yield from self._session.answers([first, *islice(waiting, self._session.batch() - 1)])
        except BaseException:  # a stream that is given up, too: an answer on its way would meet other tasks
            self.close()
            raise

    def close(self) -> None:
        self._session.end()


def server_command(python: str | None, name: str, options: Mapping[str, Any]) -> list[str]:
    """The command of one of our servers (`judges/servers/NAME.py`) in an interpreter where kasauti is not installed."""
    file = Path(__file__).with_name("servers") / f"{name}.py"
    return [
        str(source_path(python)) if python and "/" in python else python or "python",
        str(file),
        json.dumps(options),
    ]


def lacking_python(subject: str, python: str | None, package: str) -> list[Finding]:
    """What preflight has to say about the interpreter that a judge needs of its own."""
    if python is None:
        message = f"it runs in an environment of its own, and judge.python does not say where {package} is installed."
        name = subject.removeprefix("judge ")
        remedy = (
            "Make one, and name its interpreter: judge.python=/envs/judge/bin/python "
            f"(behind a router: +judge.router.members.{name}.python=...)"
        )
        return [Finding("error", subject, message, remedy)]
    return _lacking_program(subject, server_command(python, "", {})[0], "judge.python")


def _lacking_program(subject: str, program: str, key: str) -> list[Finding]:
    if shutil.which(program) is not None:
        return []
    return [Finding("error", subject, f"there is no program {program}, or it may not be run.", f"It is {key}.")]


_Ended = TalkEnded | None
"""Why not all were answered; None when they were."""


class _Session:
    """The process that tasks are asked of, through its restarts."""

    def __init__(self, options: RemoteOptions) -> None:
        self._options = options
        self._talk: Talk | None = None
        self._batch = 1
        self._greeted = False
        self._ends_in_a_row = 0
        self._last_end = TalkEnded("judge_died", "")

    def begin(self) -> None:
        """A new stream has all its restarts."""
        self._ends_in_a_row = 0

    def batch(self) -> int:
        """How many tasks it takes at once; it is started for the first."""
        if not self._greeted:
            self._running()
        return self._batch

    def answers(self, tasks: Sequence[JudgeTask]) -> Iterator[Answer]:
        """One answer to each task."""
        left = {task.judgment_id: task for task in tasks}
        ended = yield from self._replies(left)
        if ended is None:
            return
        once_more = len(tasks) > 1 or ended.reason != "judge_overdue"
        for task in left.values():
            again = (yield from self._replies({task.judgment_id: task})) if once_more else ended
            if again is not None:
                outcome = Outcome(Status.JUDGE_FAILED, again.reason, str(again), retryable=True)
                yield Answer(task.judgment_id, outcome)

    def end(self) -> None:
        """Ends the process with its input."""
        talk, self._talk = self._talk, None
        if talk is not None:
            talk.end()

    def _replies(self, left: dict[str, JudgeTask]) -> Generator[Answer, None, _Ended]:
        """Asks once; what was answered is taken out of `left`."""
        if self._ends_in_a_row > self._options.restarts:
            told = f"not asked: it ended {self._ends_in_a_row} times in a row without an answer; last: {self._last_end}"
            return TalkEnded(self._last_end.reason, told)
        try:
            talk = self._running()
            began, count = time.perf_counter(), len(left)
            talk.say(encode_batch(list(left.values()), self._batch))
            while left:
                answer = _answer(talk, left)
                wall_s = (time.perf_counter() - began) / count
                self._ends_in_a_row = 0
                del left[answer.judgment_id]
                yield replace(answer, outcome=replace(answer.outcome, wall_s=wall_s))
        except TalkEnded as ended:
            self._talk = None
            self._ends_in_a_row += 1
            self._last_end = ended
            return ended
        return None

    def _running(self) -> Talk:
        """The process, started and greeted if it does not run."""
        if self._talk is not None:
            return self._talk
        options = self._options
        try:
            talk = Talk(options.command, options.timeout_s, options.limit_s)
        except OSError as error:
            raise JudgeError(f"judge {options.id}: can't start {options.command}: {error}") from error
        try:
            hello = talk.hear()
        except TalkEnded as ended:
            if self._greeted:
                raise  # it could be set up before: this costs the task
            raise JudgeError(f"judge {options.id}: no greeting from {options.command[0]}: it {ended}") from ended
        try:
            self._batch = _greeted_batch(hello, options)
        except JudgeError:
            talk.stop()
            raise
        self._greeted = True
        self._talk = talk
        return talk


def _greeted_batch(hello: dict[str, Any], options: RemoteOptions) -> int:
    """How many tasks it takes at once, if its greeting is what was expected."""
    subject = f"judge {options.id}"
    if "error" in hello:
        raise JudgeError(f"{subject}: it can't be set up: {hello['error']}")
    if hello.get("protocol") != PROTOCOL:
        raise JudgeError(
            f"{subject}: expected a greeting of protocol {PROTOCOL}, got {hello}; update the program, or kasauti if "
            "the program's is higher (docs/add-a-judge.md)"
        )
    if hello.get("revision") != options.revision:
        raise JudgeError(
            f"{subject}: it says that it is {hello.get('revision')!r}, but judge.revision is {options.revision!r}, and "
            "scores would stand under a wrong name; if this judge is meant, give the revision that it says"
        )
    batch = hello.get("batch", 1)
    if type(batch) is not int or batch < 1:
        raise JudgeError(f"{subject}: its greeting says batch {batch!r}; wanted a whole number from 1")
    return min(batch, MOST_AT_ONCE)


def _answer(talk: Talk, left: dict[str, JudgeTask]) -> Answer:
    """The next answer; one that can't be one of the tasks' stops the process."""
    reply = talk.hear()
    try:
        if reply.get("id") not in [*left]:  # an id may be anything, also what no table can look up
            raise ValueError(f"expected an answer to {' or '.join(left)}, got {str(reply)[:200]}")
        return decode_answer(reply)
    except ValueError as error:
        talk.stop()
        raise TalkEnded("bad_reply", str(error)) from error
