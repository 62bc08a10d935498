"""What a person sees while a run works: bars with rate and time left on a terminal, plain lines in a log."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

_LOG_EVERY_S = 15.0


class Stage:
    """The progress of one stage; safe to use from several threads."""

    def __init__(self, console: Console, bars: Progress | None, label: str, total: int) -> None:
        self._console = console
        self._bars = bars
        self._label = label
        self._total = total
        self._done = 0
        self._started = self._said = time.monotonic()
        self._bar: TaskID | None = bars.add_task(label, total=total, rate="") if bars else None

    def advance(self, count: int = 1) -> None:
        """Counts finished tasks."""
        self._done += count
        elapsed = max(time.monotonic() - self._started, 1e-6)
        rate = f"{self._done / elapsed:.1f}/s"
        if self._bars is not None and self._bar is not None:
            self._bars.update(self._bar, completed=self._done, rate=rate)
        elif time.monotonic() - self._said > _LOG_EVERY_S or self._done == self._total:
            self._said = time.monotonic()
            left_s = (self._total - self._done) * elapsed / max(self._done, 1)
            self._console.print(
                f"{self._label}: {self._done}/{self._total}, {rate}, {duration(left_s)} left",
                highlight=False,
                markup=False,
            )

    def say(self, message: str) -> None:
        """Prints a line beside the bars."""
        self._console.print(f"{self._label}: {message}", highlight=False, markup=False)


class Progresses:
    """Makes a `Stage` for each piece of work; bars of stages that run side by side stand together."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._bars: Progress | None = None

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Draws bars while the block runs, if there is a terminal to draw on."""
        if not self.console.is_terminal:
            yield
            return
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=self.console) as self._bars:
            try:
                yield
            finally:
                self._bars = None

    def stage(self, label: str, total: int) -> Stage:
        """Begins a stage of `total` tasks."""
        return Stage(self.console, self._bars, label, total)


def duration(seconds: float) -> str:
    """Seconds as a person says them: `8 s`, `3 min 20 s`, `2 h 05 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
