"""A judge in another interpreter: JSON lines on its standard input and output, a handshake first.

The other side is any program. For a judge of this package in an environment of its own it is `python -m
kasauti.judges.serve`. Protocol 1, one object a line, UTF-8:

- it says first `{"protocol": 1, "revision": "..."}`;
- we send `{"id", "lang", "rejudge", "told", "clips": [{"path", "sha256", "duration_s", "label"}]}`;
- it answers `{"id", "status", "reason", "error", "retryable", "cost_usd", "facts", "raw", "transcript", "scores"}`;
  fields at their default may be left out, and `ok` is the default status;
- it ends when its input ends.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from kasauti.errors import JudgeError
from kasauti.judges.base import Answer, Judge, JudgeFacts, JudgeOptions, JudgeTask
from kasauti.records import Outcome, Status

PROTOCOL = 1
_OUTCOME_FIELDS = ("reason", "error", "retryable", "cost_usd", "facts")


@dataclass
class RemoteOptions(JudgeOptions):
    """Options of a judge in another interpreter.

    Attributes:
        command: Program and arguments.
        revision: What it must say that it is; a mismatch is refused.
        langs: Languages it has; null = any.
        told: Prompt fields it is told. `compares`: whether it hears a whole line-up at once.
    """

    command: list[str] = field(default_factory=list)
    revision: str = "???"
    langs: list[str] | None = None
    told: list[str] = field(default_factory=list)
    compares: bool = False


class Remote(Judge):
    """Talks to the other process, one task at a time."""

    options_type = RemoteOptions

    def __init__(self, options: RemoteOptions) -> None:
        self._options = options
        self.facts = JudgeFacts(
            revision=options.revision,
            languages=None if options.langs is None else frozenset(options.langs),
            told=tuple(options.told),
            compares=options.compares,
        )

    def judge(self, tasks: Iterable[JudgeTask]) -> Iterator[Answer]:
        """Starts the process with the first task and ends it with the last."""
        process: subprocess.Popen[str] | None = None
        try:
            for task in tasks:
                if process is None:
                    process = self._start()
                answer = self._ask(process, task)
                if answer is None:
                    process.kill()
                    process = None
                    answer = Answer(task.judgment_id, Outcome(Status.JUDGE_FAILED, "judge_died", retryable=True))
                yield answer
        finally:
            if process is not None:
                process.communicate()

    def _start(self) -> subprocess.Popen[str]:
        try:
            process = subprocess.Popen(
                self._options.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                start_new_session=True,  # Ctrl-C is for us alone: what is in hand gets finished
            )
        except OSError as error:
            raise JudgeError(f"judge {self._options.id}: can't start {self._options.command}: {error}") from error
        assert process.stdout is not None
        hello = _object(process.stdout.readline())
        wanted = {"protocol": PROTOCOL, "revision": self._options.revision}
        if hello is None or {name: hello.get(name) for name in wanted} != wanted:
            process.kill()
            process.communicate()
            raise JudgeError(f"judge {self._options.id}: expected the greeting {wanted}, got {hello}")
        return process

    def _ask(self, process: subprocess.Popen[str], task: JudgeTask) -> Answer | None:
        """The answer to one task; None if the process has died or talks nonsense."""
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(encode_task(task) + "\n")
            process.stdin.flush()
            reply = _object(process.stdout.readline())
        except OSError:
            return None
        if reply is None or reply.get("id") != task.judgment_id:
            return None
        return decode_answer(reply)


def encode_task(task: JudgeTask) -> str:
    """A task as one line."""
    value = asdict(task)
    value["id"] = value.pop("judgment_id")
    return json.dumps(value, ensure_ascii=False, default=str)


def decode_answer(value: Mapping[str, Any]) -> Answer:
    """An answer from its object."""
    outcome = {name: value[name] for name in _OUTCOME_FIELDS if name in value}
    return Answer(
        judgment_id=value["id"],
        outcome=Outcome(status=Status(value.get("status", "ok")), **outcome),
        raw=value.get("raw"),
        transcript=value.get("transcript"),
        scores=value.get("scores", {}),
    )


def _object(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
