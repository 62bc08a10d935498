"""Judges that hear many clips at once: batches of like length, and what happens when a batch does not go through.

A window of tasks is read ahead, sorted by group (what a batch must share, mostly the language) and length, and cut into
batches that hold at most so many clips and so many seconds with their padding. The next window is read from disk while
one is heard. A batch that fills the device's memory is halved, and so are those after it; one that fails otherwise is
heard clip by clip, so that one bad clip costs no other. What a clip is heard as must not depend on its batch: padding
is masked by the engine or cut off.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kasauti import devices
from kasauti.errors import KasautiError
from kasauti.judges.base import Answer, Judge, JudgeFailed, JudgeTask
from kasauti.judges.sound import samples_of
from kasauti.records import Outcome, Status

_WINDOW_BATCHES = 2
"""Batches in a window; one window is heard while the next is read. Enough to sort, few enough that a stop ends soon."""

Samples = NDArray[np.float32]


@dataclass(frozen=True)
class Transcript:
    """What was heard in one clip.

    Attributes:
        text: None of a judge that gives marks instead.
        facts: For the record (JSON values).
        marks: Name -> value, the higher the better.
    """

    text: str | None
    facts: dict[str, Any] = field(default_factory=dict)
    marks: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class _Loaded:
    task: JudgeTask
    samples: Samples


class BatchJudge(Judge):
    """Base of recognisers that hear several clips at once. A subclass sets the three attributes and writes `hear`.

    Attributes:
        rate_hz: Sample rate that it hears.
        batch_clips: At most so many clips at once.
        batch_s: At most so many seconds at once, padding included; a longer clip is heard alone.
    """

    rate_hz: int = 16_000
    batch_clips: int = 1
    batch_s: float = 240.0

    @abstractmethod
    def hear(self, clips: Sequence[Samples], tasks: Sequence[JudgeTask]) -> list[Transcript]:
        """Hears the clips of one group, longest first.

        Args:
            clips: Mono [frames] at `rate_hz`, none of them empty.
            tasks: The task of each.

        Raises:
            JudgeFailed: for a single clip, why it can't be heard.
        """

    def load(self) -> None:
        """Loads the model before the first batch; called once a stream.

        Raises:
            KasautiError: it can't be set up, which ends the run.
        """

    def group(self, task: JudgeTask) -> str:
        """What the clips of a batch must share."""
        return task.lang

    def judge(self, tasks: Iterable[JudgeTask]) -> Iterator[Answer]:
        waiting = iter(tasks)
        window = self._window(waiting)
        if not window:
            return
        self.load()
        with ThreadPoolExecutor(1, thread_name_prefix="reading") as reader:
            reading = reader.submit(self._samples, window)
            while window:
                heard, failed = reading.result()
                window = self._window(waiting)  # tasks are claimed as they are pulled: not in another thread
                reading = reader.submit(self._samples, window)
                yield from failed
                for batch in self._batches(heard):
                    yield from self._answers(batch)

    def _window(self, waiting: Iterator[JudgeTask]) -> list[JudgeTask]:
        return list(islice(waiting, _WINDOW_BATCHES * self.batch_clips))

    def _samples(self, tasks: Sequence[JudgeTask]) -> tuple[list[_Loaded], list[Answer]]:
        heard, failed = [], []
        for task in tasks:
            try:
                heard.append(_Loaded(task, samples_of(task.clips[0], self.rate_hz)))
            except JudgeFailed as failure:
                failed.append(Answer(task.judgment_id, failure.outcome))
        return heard, failed

    def _batches(self, heard: Sequence[_Loaded]) -> Iterator[list[_Loaded]]:
        """Batches of one group each, longest clip first, so that memory runs out at once or not at all."""
        by_group = sorted(heard, key=lambda one: (self.group(one.task), -one.samples.size))
        for _, members in groupby(by_group, key=lambda one: self.group(one.task)):
            batch: list[_Loaded] = []
            for one in members:
                longest = (batch or [one])[0].samples.size
                padded_s = longest * (len(batch) + 1) / self.rate_hz
                if batch and (len(batch) >= self.batch_clips or padded_s > self.batch_s):
                    yield batch
                    batch = []
                batch.append(one)
            yield batch

    def _answers(self, batch: Sequence[_Loaded]) -> Iterator[Answer]:
        if len(batch) > self.batch_clips:  # memory ended under an earlier batch
            yield from self._halves(batch)
            return
        started = time.perf_counter()
        try:
            transcripts = self.hear([one.samples for one in batch], [one.task for one in batch])
            if len(transcripts) != len(batch):
                raise AssertionError(f"{len(transcripts)} transcripts for {len(batch)} clips")
        except KasautiError:
            raise  # the judge can't be set up at all
        except Exception as error:  # whatever the engine throws at one clip is that clip's
            failure = error
        else:
            yield from self._answered(batch, transcripts, time.perf_counter() - started)
            return
        try:
            devices.release(failure)
        except devices.DeviceBrokenError:
            if len(batch) == 1:  # this clip does it; a later run leaves it out
                answer = _failed(batch[0].task, failure)
                yield replace(answer, outcome=replace(answer.outcome, retryable=False))
            raise
        if len(batch) == 1:
            yield _failed(batch[0].task, failure)
        elif devices.is_full(failure):
            self.batch_clips = max(1, len(batch) // 2)
            yield from self._halves(batch)
        else:
            for one in batch:
                yield from self._answers([one])

    def _halves(self, batch: Sequence[_Loaded]) -> Iterator[Answer]:
        middle = (len(batch) + 1) // 2
        yield from self._answers(batch[:middle])
        yield from self._answers(batch[middle:])

    def _answered(
        self, batch: Sequence[_Loaded], transcripts: Sequence[Transcript], batch_s: float
    ) -> Iterator[Answer]:
        wall_s = batch_s / len(batch)
        for one, heard in zip(batch, transcripts, strict=True):
            outcome = Outcome(wall_s=wall_s, facts=heard.facts)
            scores = {one.task.clips[0].label: heard.marks} if heard.marks else {}
            yield Answer(one.task.judgment_id, outcome, raw=heard.text, transcript=heard.text, scores=scores)


def _failed(task: JudgeTask, error: Exception) -> Answer:
    if isinstance(error, JudgeFailed):
        return Answer(task.judgment_id, error.outcome)
    reason = "out_of_memory" if devices.is_full(error) else "engine_error"
    told = f"{type(error).__name__}: {error}"
    return Answer(task.judgment_id, Outcome(Status.JUDGE_FAILED, reason, told, retryable=True))
