"""One stage of work over the store: claim, do, record, release; several processes may share it.

A task is done by exactly one of the processes that want it. Each claims a task when a worker is free for it, looks once
more whether another has recorded it meanwhile, and puts off what another is doing; what was put off is looked at again
at the end.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, Generic, TypeVar

from kasauti.pipeline.progress import Stage
from kasauti.store.claims import Claims
from kasauti.store.jsonl import JsonlLog

Task = TypeVar("Task")
Reply = TypeVar("Reply")

_WAIT_S = 5.0


@dataclass
class Work(Generic[Task, Reply]):
    """What a stage does.

    Attributes:
        tasks: Tasks with different ids.
        task_id: Id of a task. `reply_id`: id of the task that a reply answers.
        needed: Whether a task must still be done, after the log was refreshed.
        may_begin: Asked right before each task is done; False ends the stage there (budget spent, interrupted).
        give_up: Whether to stop waiting for what another process is doing (interrupted).
        execute: Turns a stream of tasks into a stream of replies.
        keep: Writes the record of a reply.
    """

    tasks: Sequence[Task]
    task_id: Callable[[Task], str]
    reply_id: Callable[[Reply], str]
    needed: Callable[[Task], bool]
    may_begin: Callable[[Task], bool]
    give_up: Callable[[], bool]
    execute: Callable[[Iterator[Task]], Iterator[Reply]]
    keep: Callable[[Task, Reply], None]


def run_stage(work: Work[Task, Reply], log: JsonlLog[Any], claims: Claims, progress: Stage) -> None:
    """Does every task of a stage that nobody has done yet."""
    pending: Sequence[Task] = work.tasks
    while pending:
        put_off: list[Task] = []
        claimed: dict[str, Task] = {}
        try:
            for reply in work.execute(_claimed(work, pending, put_off, claimed, log, claims, progress)):
                identity = work.reply_id(reply)
                work.keep(claimed[identity], reply)
                del claimed[identity]
                claims.release(identity)
                progress.advance()
        finally:
            for identity in claimed:
                claims.release(identity)
        if put_off:
            first = work.task_id(put_off[0])
            progress.say(f"waiting for another process that works on {len(put_off)} of these")
            while not claims.wait(first, _WAIT_S):
                if work.give_up():
                    return
        pending = put_off


def _claimed(
    work: Work[Task, Reply],
    pending: Sequence[Task],
    put_off: list[Task],
    claimed: dict[str, Task],
    log: JsonlLog[Any],
    claims: Claims,
    progress: Stage,
) -> Iterator[Task]:
    for task in pending:
        identity = work.task_id(task)
        if not claims.try_claim(identity):
            put_off.append(task)
            continue
        log.refresh()
        if not work.needed(task):
            claims.release(identity)
            progress.advance()
        elif work.may_begin(task):
            claimed[identity] = task
            yield task
        else:
            claims.release(identity)
            put_off.clear()
            return


class Interrupt:
    """Ctrl-C, the first time: finish what is in hand and stop. The second time it stops at once."""

    def __init__(self) -> None:
        self.requested = False

    @contextmanager
    def watched(self, say: Callable[[str], None]) -> Iterator[None]:
        """Watches for Ctrl-C while the block runs; only the main thread of a process can."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def on_signal(_signal: int, _frame: FrameType | None) -> None:
            if self.requested:
                raise KeyboardInterrupt
            self.requested = True
            say("Interrupted: finishing what is in hand. Press Ctrl-C again to stop at once; nothing recorded is lost.")

        before = signal.signal(signal.SIGINT, on_signal)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
