"""The terminal: one console, with plain lines where the output is not a terminal."""

from __future__ import annotations

import io
import os
import sys

from rich.console import Console

_LOG_WIDTH = 140


class _Terminal(Console):
    """A console that outlives its reader: a run goes on when whoever read its output has gone (`| head`)."""

    def on_broken_pipe(self) -> None:
        """Sends what follows nowhere."""
        self.quiet = True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def tolerate_any_encoding() -> None:
    """Lets a terminal that lacks a letter show a question mark in its place, on output and in errors."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def console() -> Console:
    """A console on standard output; in a log or a pipe, lines don't wrap at 80 columns."""
    found = _Terminal(soft_wrap=False)
    if not found.is_terminal and "COLUMNS" not in os.environ:
        found.width = _LOG_WIDTH
    return found
