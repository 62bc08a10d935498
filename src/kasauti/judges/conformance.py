"""Does a program keep the protocol of a remote judge? One check after another, each with what was found.

For authors of such programs: `python -m kasauti check-judge -- COMMAND`. The clips are made here (a tone, silence, a
click), so nothing is said about how well the judge hears; only that it answers, and with nothing but answers.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kasauti.audio import write_wav
from kasauti.errors import JudgeError
from kasauti.identity import file_sha256
from kasauti.judges.base import Heard, JudgeTask
from kasauti.judges.protocol import FAILURES, PROTOCOL, decode_answer, encode_task
from kasauti.judges.remote_process import Talk, TalkEnded
from kasauti.records import Status

RATE_HZ = 16_000

_LENGTHS_S = {"tone": 1.5, "silence": 1.5, "click": 0.01}


@dataclass(frozen=True)
class Checked:
    """One check: its name, whether it was passed, and what was found."""

    name: str
    passed: bool
    found: str


@dataclass(frozen=True)
class How:
    """How a program is checked.

    Attributes:
        command: Program and arguments.
        lang: Language that it is asked in.
        timeout_s, limit_s: As for a remote judge.
    """

    command: Sequence[str]
    lang: str = "hi"
    timeout_s: float = 600.0
    limit_s: float = 3600.0


class _NotKept(Exception):  # noqa: N818 - a check that was not passed
    pass


def check(how: How) -> Iterator[Checked]:
    """Runs every check; each that stops the program costs a new start.

    Raises:
        JudgeError: the program can't be started.
    """
    with tempfile.TemporaryDirectory() as folder:
        asked = _Asked(how, _clips(Path(folder)))
        try:
            greeting = asked.tried("greeting", asked.greeting)
            yield greeting
            if not greeting.passed:
                return
            for name, step in _STEPS.items():
                yield asked.tried(name, partial(step, asked))
            yield asked.tried("end of input", asked.ending)
        finally:
            asked.stop()


@dataclass
class _Asked:
    """The program under test, started again when a check has stopped it."""

    how: How
    clips: dict[str, Heard]
    batch: int = 1
    talk: Talk | None = None
    count: int = 0
    status: Status = Status.OK
    """Of its last answer."""

    def tried(self, name: str, step: Callable[[], str]) -> Checked:
        try:
            return Checked(name, True, step())
        except (_NotKept, TalkEnded) as error:
            self.stop()
            return Checked(name, False, str(error))

    def stop(self) -> None:
        if self.talk is not None:
            self.talk.stop()
            self.talk = None

    def greeting(self) -> str:
        """Starts the program; what it says that it is."""
        try:
            self.talk = Talk(self.how.command, self.how.timeout_s, self.how.limit_s)
        except OSError as error:
            raise JudgeError(f"can't start {list(self.how.command)}: {error}") from error
        hello = self.talk.hear()
        if "error" in hello:
            raise _NotKept(f"it can't be set up: {hello['error']}")
        if hello.get("protocol") != PROTOCOL:
            raise _NotKept(f"wanted protocol {PROTOCOL}, got {hello}")
        revision, batch = hello.get("revision"), hello.get("batch", 1)
        if not isinstance(revision, str) or not revision.strip() or "|" in revision:
            raise _NotKept(f"wanted as revision a text without |, got {revision!r}")
        if type(batch) is not int or batch < 1:
            raise _NotKept(f"wanted as batch a whole number from 1, got {batch!r}")
        self.batch = batch
        return f"judge.revision={revision}" + (f", {batch} tasks at once" if batch > 1 else "")

    def answers(self, tasks: Sequence[dict[str, Any]]) -> str:
        """Sends tasks (as many as it takes at once) and reads one answer to each."""
        if self.talk is None:
            self.greeting()
        assert self.talk is not None
        self.talk.say(tasks[0] if self.batch == 1 else {"tasks": list(tasks)})
        left = {task["id"] for task in tasks}
        said = ""
        while left:
            reply = self.talk.hear()
            if reply.get("id") not in [*left]:
                raise _NotKept(f"wanted an answer with the id {' or '.join(sorted(left))}, got {str(reply)[:200]}")
            left.discard(reply["id"])
            try:
                answer = decode_answer(reply)
            except ValueError as error:
                raise _NotKept(f"a field is not what it must be: {error}") from error
            self.status = status = answer.outcome.status
            if status is Status.OK and answer.transcript is None and not answer.scores:
                raise _NotKept("an answer that is ok has a transcript (which may be empty) or scores; this has neither")
            heard = f"transcript {(answer.transcript or '')[:60]!r}" if answer.transcript is not None else "scores"
            said = heard if status is Status.OK else f"{status} ({answer.outcome.reason or 'no reason'})"
        return said

    def task(self, clip: str, told: Mapping[str, Any] | None = None, **others: Any) -> dict[str, Any]:
        """A task about one of the clips, with differences of that clip."""
        self.count += 1
        task = encode_task(JudgeTask(f"{self.count:024x}", self.how.lang, 0, (self.clips[clip],), told or {}))
        [sent] = task["clips"]
        return {**task, "clips": [{**sent, "path": str(sent["path"]), **others}]}

    def as_before(self, task: dict[str, Any]) -> str:
        """Sends a task that must end as the last one did."""
        wanted = self.status
        said = self.answers([task])
        if self.status is not wanted:
            self.status = wanted
            raise _NotKept(f"the same clip ended as {wanted} without this, now: {said}")
        return said

    def ending(self) -> str:
        """Ends the input; the program must end, and say nothing more."""
        if self.talk is None:
            self.greeting()
        assert self.talk is not None
        said = self.talk.rest()
        self.talk = None
        if said.strip():
            raise _NotKept(f"said more than its answers: {said[:200]!r}")
        return "it ended, with nothing but answers on its standard output"


def _hear(clip: str, asked: _Asked) -> str:
    return asked.answers([asked.task(clip)])


def _unknown_fields(asked: _Asked) -> str:
    return asked.as_before({**asked.task("tone", later={"a": [1]}), "later": None})


def _letters(asked: _Asked) -> str:
    told = {"text": 'नमस्ते, "दुनिया"\n\u2028👩🏽‍🚀 \\ ', "prompt_id": "क/ख", "control": {"description": "धीरे"}}
    return asked.as_before(asked.task("tone", told))


def _no_file(asked: _Asked) -> str:
    found = asked.answers([asked.task("tone", path="/no/such/file.wav")])
    if asked.status not in FAILURES:
        raise _NotKept(f"wanted a failure (status judge_failed with a reason), got {found}")
    return found


def _several(asked: _Asked) -> str:
    if asked.batch == 1:
        return "it takes one task at a time"
    names = list(_LENGTHS_S)
    asked.answers([asked.task(names[place % len(names)]) for place in range(asked.batch)])
    return f"{asked.batch} tasks, each answered once"


_STEPS: dict[str, Callable[[_Asked], str]] = {
    "a click of 0.01 s": partial(_hear, "click"),
    "silence of 1.5 s": partial(_hear, "silence"),
    "a tone of 1.5 s": partial(_hear, "tone"),
    "fields it does not know": _unknown_fields,
    "letters of all kinds": _letters,
    "a file that is gone": _no_file,
    "several tasks at once": _several,
}


def _clips(folder: Path) -> dict[str, Heard]:
    """The clips, mono, 16 kHz, 16 bits, in files whose names are not all ASCII."""
    clips = {}
    for name, length_s in _LENGTHS_S.items():
        times = np.arange(round(length_s * RATE_HZ)) / RATE_HZ
        samples = np.zeros(times.size) if name == "silence" else 0.3 * np.sin(2 * np.pi * 220 * times)
        path = folder / f"ध्वनि {name}.wav"
        write_wav(path, samples.astype(np.float32), RATE_HZ)
        clips[name] = Heard(path, file_sha256(path), length_s)
    return clips
