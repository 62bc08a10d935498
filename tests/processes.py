"""Other processes for tests: Python snippets run for real, and the few system facilities that go with them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1"}

_DEADLINE_S = 60.0


def start(code: str, *arguments: object, before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """Starts Python on a snippet, its input and output as text.

    Args:
        code: The snippet; `sys.argv[1:]` are the arguments.
        arguments: Made into texts.
        before: Words before the interpreter's name (`unshare -m`, …).
    """
    return subprocess.Popen(
        [*before, sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=ENVIRONMENT,
    )


def output(code: str, *arguments: object, before: tuple[str, ...] = ()) -> str:
    """What a snippet prints; it must end well."""
    with start(code, *arguments, before=before) as process:
        said, complaints = process.communicate(timeout=_DEADLINE_S)
    assert process.returncode == 0, complaints
    return said


def until(condition: Callable[[], bool], what: str) -> None:
    """Waits for a condition; a test that waits in vain says for what."""
    deadline = time.monotonic() + _DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"never happened: {what}"
        time.sleep(0.005)


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not yet waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
