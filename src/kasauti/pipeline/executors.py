"""Where parts work: in this process, or in worker processes that each hold one copy of the part.

An executor gets a part's options, never the part: it builds the part where the work is done. Tasks are pulled as
workers become free, so a task that is claimed when it is pulled is claimed just in time.
"""

from __future__ import annotations

import os
import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing import connection, get_context, parent_process
from typing import Any

from kasauti.errors import KasautiError
from kasauti.parts import build
from kasauti.records import Finding
from kasauti.settings import ExecutorSettings


def available_cores() -> int:
    """Cores that this process may use."""
    # Only Linux tells what a process may use; elsewhere it is what the machine has.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Job:
    """Work for one part.

    Attributes:
        options: The part's options.
        method: `synthesise` or `judge`: takes a stream of tasks, gives a stream of replies.
        copies: At most so many copies of the part; 1 = it must be the only one, 0 = as many as there are cores.
        lost: Makes the reply for a task whose worker died twice under it, or could not build the part.
    """

    options: Any
    method: str
    copies: int
    lost: Callable[[Any], Any]


class Executor(ABC):
    """Runs a part over a stream of tasks."""

    options_type: type[ExecutorSettings] = ExecutorSettings

    def __init__(self, options: ExecutorSettings) -> None:
        self.options = options

    @abstractmethod
    def run(self, job: Job, tasks: Iterable[Any], share: int = 1) -> Iterator[Any]:
        """Yields one reply for every task, in any order.

        Args:
            job: The work.
            tasks: Pulled lazily, from the calling thread.
            share: How many jobs run side by side; the executor divides its workers among them.
        """

    def check(self) -> list[Finding]:
        """What is missing before the first task."""
        return []

    def close(self) -> None:  # noqa: B027 - most hold nothing between jobs
        """Gives back what is held between jobs."""


def run_here(job: Job, tasks: Iterable[Any]) -> Iterator[Any]:
    """The replies of a part that is built, used and closed in this process."""
    part = build(job.options)
    try:
        yield from getattr(part, job.method)(tasks)
    finally:
        part.close()


def not_built(job: Job, task: Any, error: str) -> Any:
    """The reply to a task whose part could not be built, in the words of the error."""
    reply = job.lost(task)
    return replace(reply, outcome=replace(reply.outcome, reason="exception", error=error))


class LocalExecutor(Executor):
    """This machine: a part that can be copied gets one process per core, any other works in this process."""

    def run(self, job: Job, tasks: Iterable[Any], share: int = 1) -> Iterator[Any]:
        if job.copies == 1:
            yield from run_here(job, tasks)
            return
        workers = max(1, (self.options.workers or available_cores()) // share)
        yield from _Pool(job, min(workers, job.copies or workers)).run(tasks)


class _Pool:
    """Worker processes for one job; a worker that dies costs the tasks in flight one more try."""

    def __init__(self, job: Job, workers: int) -> None:
        self._job = job
        self._workers = workers

    def run(self, tasks: Iterable[Any]) -> Iterator[Any]:
        waiting = iter(tasks)
        in_flight: dict[Future[list[Any]], Any] = {}
        again: list[Any] = []
        pool = self._start()
        try:
            while True:
                # Two tasks a worker keep it busy while a reply is being stored, and little is lost when it dies.
                while not again and len(in_flight) < 2 * self._workers and (task := next(waiting, None)) is not None:
                    try:
                        in_flight[pool.submit(_work, self._job.method, task)] = task
                    except BrokenProcessPool:
                        again.append(task)
                if not in_flight and not again:
                    return
                for future in wait(in_flight, return_when=FIRST_COMPLETED).done:
                    task = in_flight.pop(future)
                    try:
                        yield from self._replies(future, task)
                    except BrokenProcessPool:
                        again.append(task)
                if again:
                    again += in_flight.values()
                    in_flight.clear()
                    pool.shutdown(wait=False, cancel_futures=True)
                    yield from self._one_by_one(again)
                    again = []
                    pool = self._start()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _one_by_one(self, tasks: list[Any]) -> Iterator[Any]:
        """Tries each task that was in flight when a worker died alone, so that the deadly one is found out."""
        for task in tasks:
            with self._start(1) as pool:
                try:
                    yield from self._replies(pool.submit(_work, self._job.method, task), task)
                except BrokenProcessPool:
                    yield self._job.lost(task)

    def _replies(self, future: Future[list[Any]], task: Any) -> list[Any]:
        """What came of a task; where its worker can't build the part, the reply says why."""
        try:
            return future.result()
        except _NotBuilt as error:
            return [not_built(self._job, task, str(error))]

    def _start(self, workers: int | None = None) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            workers or self._workers,
            mp_context=get_context("spawn"),
            initializer=_start_worker,
            initargs=(self._job.options,),
        )


class _NotBuilt(Exception):  # noqa: N818 - told in the rows, not to the user
    """A part's class raised something unplanned; only its words travel, as not every exception can be pickled."""


_options: Any = None
_part: Any = None


def _start_worker(options: Any) -> None:
    global _options
    # Ctrl-C goes to the whole process group; the parent alone decides what is finished and what is left.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _options = options


def _end_with_parent() -> None:
    """A killed parent can't tell its workers to stop, and they would wait for work forever."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _work(method: str, task: Any) -> list[Any]:
    global _part
    if _part is None:
        # Built here and not when the worker starts: an exception there could not be told from a worker that died.
        try:
            _part = build(_options)
        except KasautiError:
            raise
        except Exception as error:
            raise _NotBuilt(f"{type(error).__name__}: {error}") from None
    return list(getattr(_part, method)([task]))
