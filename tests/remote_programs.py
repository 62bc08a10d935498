"""Programs for tests of remote judges, run for real: a few lines of Python behind a prelude."""

from __future__ import annotations

import sys

_PRELUDE = (
    "import json, os, sys\n"
    "def say(value): sys.stdout.buffer.write(json.dumps(value).encode() + b'\\n'); sys.stdout.flush()\n"
    "def hear(): return json.loads(sys.stdin.buffer.readline())\n"
)

GREETING = "say({'protocol': 1, 'revision': 'r1'})\n"


def program(code: str) -> list[str]:
    """The command of a judge in a few lines: `say(object)` and `hear()` are there."""
    return [sys.executable, "-c", _PRELUDE + code]


def indented(code: str) -> str:
    """Code as the body of a loop."""
    return "".join(f"    {line}\n" for line in code.splitlines())
