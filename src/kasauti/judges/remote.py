"""A judge in another interpreter: JSON lines on its standard input and output (`kasauti.judges.protocol`).

The other side is any program. For a judge of this package in an environment of its own it is `python -m
kasauti.judges.serve`.
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from kasauti.errors import JudgeError
from kasauti.judges.base import Answer, Judge, JudgeFacts, JudgeOptions, JudgeTask
from kasauti.judges.protocol import PROTOCOL, decode_answer, encode_task, line_of, object_of
from kasauti.judges.remote_process import end, stop, watched
from kasauti.records import Outcome, Status


@dataclass
class RemoteOptions(JudgeOptions):
    """Options of a judge in another interpreter.

    Attributes:
        command: Program and arguments.
        revision: What it must say that it is; a mismatch is refused, and the refusal shows what it said. A served judge
            says its revision and a hash of its settings, so that other settings are another judge.
        langs: Languages it has; null = any.
        told: Prompt fields it is told. `compares`: whether it hears a whole line-up at once.
        timeout_s: Longest wait for its greeting and for each answer, loading a model among them; then it is killed.
    """

    command: list[str] = field(default_factory=list)
    revision: str = "???"
    langs: list[str] | None = None
    told: list[str] = field(default_factory=list)
    compares: bool = False
    timeout_s: float = 600.0


class Remote(Judge):
    """Talks to the other process, one task at a time."""

    options_type = RemoteOptions

    def __init__(self, options: RemoteOptions) -> None:
        if not options.command:
            raise JudgeError(f"judge {options.id}: command is empty; give the program and its arguments")
        if not 0 < options.timeout_s <= threading.TIMEOUT_MAX:
            raise JudgeError(f"judge {options.id}: timeout_s={options.timeout_s}: wanted more than 0")
        self._options = options
        self.facts = JudgeFacts(
            revision=options.revision,
            languages=None if options.langs is None else frozenset(options.langs),
            told=tuple(options.told),
            compares=options.compares,
        )

    def judge(self, tasks: Iterable[JudgeTask]) -> Iterator[Answer]:
        """Starts the process with the first task, again after it had to be stopped, and ends it with the last."""
        process: subprocess.Popen[str] | None = None
        try:
            for task in tasks:
                if process is None or process.returncode is not None:
                    process = self._start()
                yield _ask(process, task, self._options.timeout_s)
        finally:
            if process is not None:
                end(process)

    def _start(self) -> subprocess.Popen[str]:
        try:
            process = subprocess.Popen(
                self._options.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="backslashreplace",  # other bytes make a line nonsense; they don't end the run
                start_new_session=True,  # Ctrl-C is for us alone: what is in hand gets finished
            )
        except OSError as error:
            raise JudgeError(f"judge {self._options.id}: can't start {self._options.command}: {error}") from error
        wanted = {"protocol": PROTOCOL, "revision": self._options.revision}
        with watched(process, self._options.timeout_s):
            hello = object_of(_line_of(process))
            if hello is None or {name: hello.get(name) for name in wanted} != wanted:
                raise JudgeError(f"judge {self._options.id}: expected the greeting {wanted}, got {hello or 'none'}")
        return process


def _ask(process: subprocess.Popen[str], task: JudgeTask, timeout_s: float) -> Answer:
    """The answer to one task; a process that has died, hangs or talks nonsense is stopped and costs this task."""
    assert process.stdin is not None
    with watched(process, timeout_s) as overdue:
        with suppress(OSError):  # it has died: its output has ended too
            process.stdin.write(line_of(encode_task(task)))
            process.stdin.flush()
        line = _line_of(process)
    reply = object_of(line)
    error = f"expected an answer to {task.judgment_id}, got {line[:200]!r}" if line else None
    if reply is not None and reply.get("id") == task.judgment_id:
        try:
            return decode_answer(reply)
        except ValueError as bad:
            error = str(bad)
    stop(process)
    reason = "judge_died" if error is None else "bad_reply"
    if error is None and overdue.is_set():
        error = f"killed: no answer within {timeout_s:g} s"
    return Answer(task.judgment_id, Outcome(Status.JUDGE_FAILED, reason, error, retryable=True))


def _line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()
