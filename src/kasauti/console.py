"""The terminal: one console, with plain lines where the output is not a terminal."""

from __future__ import annotations

import os

from rich.console import Console

_LOG_WIDTH = 140


def console() -> Console:
    """A console on standard output; in a log or a pipe, lines don't wrap at 80 columns."""
    found = Console(soft_wrap=False)
    if not found.is_terminal and "COLUMNS" not in os.environ:
        found.width = _LOG_WIDTH
    return found
