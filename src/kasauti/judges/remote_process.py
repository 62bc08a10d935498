"""The process behind a remote judge: no wait for it is without end, and none is left behind.

Conventions: it was started in a session of its own (`start_new_session`), input and output as pipes. What is said to it
is in `remote`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_GRACE_S = 10.0
"""How long a process may take to end once its input has ended."""


@contextmanager
def watched(process: subprocess.Popen[str], timeout_s: float) -> Iterator[threading.Event]:
    """Kills a process that keeps the block waiting longer, so that its output ends, or that the block gives up on.

    Yields:
        Whether it was killed for keeping us waiting.
    """
    overdue = threading.Event()

    def give_up() -> None:
        overdue.set()
        _kill(process)

    timer = threading.Timer(timeout_s, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield overdue
    except BaseException:  # a second Ctrl-C among them
        stop(process)
        raise
    finally:
        timer.cancel()
        timer.join()


def end(process: subprocess.Popen[str]) -> None:
    """Ends its input, and the process if it does not end by itself."""
    try:
        process.communicate(timeout=_GRACE_S)
    except subprocess.TimeoutExpired:
        pass
    finally:  # a Ctrl-C while we wait leaves nothing behind either
        stop(process)


def stop(process: subprocess.Popen[str]) -> None:
    """Ends it at once."""
    _kill(process)
    process.communicate()


def _kill(process: subprocess.Popen[str]) -> None:
    """Kills it and what it has started: a wrapper (`conda run`, a shell script) is not the judge itself."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
