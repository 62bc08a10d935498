"""Other processes for tests: Python snippets run for real, and the few system facilities that go with them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1"}

_DEADLINE_S = 60.0


_DRIVER = """
import contextlib, io, json, runpy, sys
from hydra.core.global_hydra import GlobalHydra
from kasauti import hooks
ended = []
for words in json.load(sys.stdin):
    GlobalHydra.instance().clear()
    hooks.exit_code = hooks.ExitCode.COMPLETE
    said, complaints, code = io.StringIO(), io.StringIO(), None
    sys.argv = [RUN_PY, *words]
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complaints):
        try:
            runpy.run_path(sys.argv[0], run_name="__main__")
        except SystemExit as end:
            code = int(end.code)
    ended.append([code, said.getvalue(), complaints.getvalue()])
print(json.dumps(ended))
"""


@dataclass
class Ended:
    """How a command ended."""

    code: int
    said: str
    complaints: str


def run_all(commands: Sequence[Sequence[str]]) -> list[Ended]:
    """Runs commands of `run.py` one after the other in one process."""
    done = subprocess.run(
        [sys.executable, "-c", _DRIVER.replace("RUN_PY", repr(str(ROOT / "run.py")))],
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=ENVIRONMENT,
        check=True,
    )
    return [Ended(*ended) for ended in json.loads(done.stdout)]


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


def held(lock: Any) -> bool:
    """Whether another thread would have to wait for a lock."""

    def taken() -> bool:
        free = bool(lock.acquire(blocking=False))
        if free:
            lock.release()
        return not free

    with ThreadPoolExecutor(1) as other:
        return other.submit(taken).result()
