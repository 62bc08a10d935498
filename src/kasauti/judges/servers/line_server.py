"""The judge's side of the protocol, for programs that run where kasauti is not installed.

It needs Python 3.8 and nothing else: copy the file beside your program, or import it. `docs/add-a-judge.md` says what
is spoken. A program is a function that loads the model, and one call:

    from line_server import Ready, serve

    def load():
        model = ...
        def hear(tasks):
            return [{"transcript": model(task["clips"][0]["path"])} for task in tasks]
        return Ready("my-model@1a2b3c", hear)

    serve(load)
"""

from __future__ import annotations

import json
import os
import select
import sys
import threading
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, TextIO  # noqa: UP035 - Python 3.8 runs it

PROTOCOL = 1
BEAT_S = 10.0
"""How often a busy program says that it is alive."""

Fields = Dict[str, Any]  # noqa: UP006


class Ready(NamedTuple):
    """A judge that can hear.

    Attributes:
        revision: What it is: model, its revision, and whatever else would change its answers.
        hear: Tasks -> one answer each, in their order: `{"transcript": ...}`, or `{"status": "judge_failed",
            "reason": ..., "error": ...}`. What it raises becomes a failed answer.
        batch: It is given at most so many tasks at once.
    """

    revision: str
    hear: Callable[[List[Fields]], List[Fields]]  # noqa: UP006
    batch: int = 1


def serve(load: Callable[[], Ready]) -> None:
    """Loads, greets, and answers until the input ends. What is printed meanwhile goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
    os.dup2(2, 1)
    threading.Thread(target=_end_unheard, args=(answers.fileno(),), daemon=True).start()
    voice = _Voice(answers)
    with open(0, encoding="utf-8", closefd=False) as lines, answers:
        try:
            with voice.busy({"loading": "the model"}):
                ready = load()
        except Exception as error:
            voice.say({"error": f"{type(error).__name__}: {error}"})
            sys.exit(1)
        voice.say({"protocol": PROTOCOL, "revision": ready.revision, "batch": ready.batch})
        for line in lines:
            said = json.loads(line)
            with voice.busy({"alive": True}):
                for answer in _answers(ready.hear, said.get("tasks") or [said]):
                    voice.say(answer)


class _Voice:
    """Standard output, for one thread at a time."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._lock = threading.Lock()

    def say(self, value: Fields) -> None:
        line = json.dumps(value, ensure_ascii=False, allow_nan=False, default=str)
        with self._lock:
            self._file.write(line + "\n")
            self._file.flush()

    @contextmanager
    def busy(self, sign: Fields) -> Iterator[None]:
        """Gives a sign of life now and then while the block runs."""
        done = threading.Event()

        def beat() -> None:
            while not done.wait(BEAT_S):
                self.say(sign)

        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


def _answers(hear: Callable[[List[Fields]], List[Fields]], tasks: List[Fields]) -> Iterator[Fields]:  # noqa: UP006
    """One answer a task; where several fail together, each is heard alone, so that one bad clip costs no other."""
    try:
        heard = hear(tasks)
        if len(heard) != len(tasks):
            raise AssertionError(f"{len(heard)} answers to {len(tasks)} tasks")
        for answer in heard:
            json.dumps(answer, allow_nan=False, default=str)
    except Exception as error:
        if "CUDA error" in str(error):  # which every later call meets; a new process may be spared
            raise SystemExit(f"{type(error).__name__}: {error}") from error
        if len(tasks) > 1:
            for task in tasks:
                yield from _answers(hear, [task])
            return
        told = f"{type(error).__name__}: {error}"
        heard = [{"status": "judge_failed", "reason": "engine_error", "error": told, "retryable": True}]
    for task, answer in zip(tasks, heard):  # noqa: B905 - `strict` is of Python 3.10
        yield {**answer, "id": task["id"]}


def _end_unheard(answers: int) -> None:
    """Ends this program once nobody can read its answers: a run that was killed can't tell it to stop."""
    watch = select.poll()
    watch.register(answers, 0)  # errors only: the other end of the pipe was closed
    watch.poll()
    os._exit(1)
