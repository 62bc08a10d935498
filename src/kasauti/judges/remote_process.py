"""The process behind a remote judge: no wait for it is without end, and none is left behind.

A wait has two limits: how long it may be silent (a sign of life starts that anew), and how long it may take in all. A
process that oversteps one is killed, with all that it has started.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from kasauti.judges.protocol import is_sign_of_life, line_of, object_of

_GRACE_S = 10.0
"""How long a process may take to end once its input has ended."""


class TalkEnded(Exception):  # noqa: N818 - caught where tasks are asked, and told in their rows
    """The process said no further line that can be used; it has been stopped.

    Attributes:
        reason: `judge_died`, `judge_overdue` (killed for keeping us waiting) or `bad_reply`.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Talk:
    """A running process, and what is said to it and by it.

    Args:
        command: Program and arguments.
        timeout_s: Longest silence while we wait for a line.
        limit_s: Longest wait for a line that says more than that it is alive.

    Raises:
        OSError: it can't be started.
    """

    def __init__(self, command: Sequence[str], timeout_s: float, limit_s: float) -> None:
        self._timeout_s = timeout_s
        self._limit_s = limit_s
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="backslashreplace",  # other bytes make a line nonsense; they don't end the run
            start_new_session=True,  # Ctrl-C is for us alone: what is in hand gets finished
        )

    def say(self, value: Mapping[str, Any]) -> None:
        """Sends a line; one that has died is found out by `hear`."""
        assert self._process.stdin is not None
        with self._watched(self._timeout_s), suppress(OSError):
            self._process.stdin.write(line_of(value))
            self._process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        """The next line that says something.

        Raises:
            TalkEnded: there is none, or it is no JSON object.
        """
        until = time.monotonic() + self._limit_s
        while True:
            left_s = max(until - time.monotonic(), 0.0)
            with self._watched(min(self._timeout_s, left_s)) as overdue:
                line = self._line()
            value = object_of(line)
            if value is None:
                self.stop()
                if overdue.is_set():
                    silent = self._timeout_s < left_s
                    why = (
                        f"silent for {self._timeout_s:g}"
                        if silent
                        else f"nothing but signs of life for {self._limit_s:g}"
                    )
                    raise TalkEnded("judge_overdue", f"was killed: {why} s")
                raise self._ended(line)
            if not is_sign_of_life(value):
                return value

    def rest(self) -> str:
        """Ends its input, waits for its end, and gives what it said meanwhile.

        Raises:
            TalkEnded: it did not end by itself.
        """
        try:
            said, _ = self._process.communicate(timeout=_GRACE_S)
        except subprocess.TimeoutExpired:
            raise TalkEnded("judge_overdue", f"still runs {_GRACE_S:g} s after its input ended") from None
        finally:  # a Ctrl-C while we wait leaves nothing behind either
            self.stop()
        return said

    def end(self) -> None:
        """Ends its input, and the process if it does not end by itself."""
        with suppress(TalkEnded):
            self.rest()

    def stop(self) -> None:
        """Ends it at once."""
        self._kill()
        self._process.communicate()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def _ended(self, line: str) -> TalkEnded:
        if line:
            return TalkEnded("bad_reply", f"said {line[:200]!r}, which is no line of the protocol")
        code = self._process.returncode
        how = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
        return TalkEnded("judge_died", f"ended without an answer ({how}); what it printed tells why")

    @contextmanager
    def _watched(self, timeout_s: float) -> Iterator[threading.Event]:
        """Kills the process if it keeps the block waiting longer, so that its output ends, or if the block gives up.

        Yields:
            Whether it was killed for keeping us waiting.
        """
        overdue = threading.Event()

        def give_up() -> None:
            overdue.set()
            self._kill()

        timer = threading.Timer(timeout_s, give_up)
        timer.daemon = True
        timer.start()
        try:
            yield overdue
        except BaseException:  # a second Ctrl-C among them
            self.stop()
            raise
        finally:
            timer.cancel()
            timer.join()

    def _kill(self) -> None:
        """Kills it and what it has started: a wrapper (`conda run`, a shell script) is not the judge itself."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
