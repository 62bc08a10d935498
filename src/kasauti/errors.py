"""Errors and exit codes.

Every error that a user can cause derives from `KasautiError`; one base class per layer. A message says what was
wrong, where, what was expected and what to do next. Anything else that escapes is a fault of the program and keeps
its traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from enum import IntEnum


class ExitCode(IntEnum):
    """What the process hands back to the shell."""

    COMPLETE = 0
    INCOMPLETE = 1
    """Rows failed or are missing, or a check said FAIL."""
    USAGE = 2
    """The configuration was wrong, or preflight refused it."""
    INTERRUPTED = 130


class KasautiError(Exception):
    """Base of every error whose message is meant for the user."""

    exit_code: ExitCode = ExitCode.USAGE


class ConfigError(KasautiError):
    """A key, an option or a combination of them is wrong."""


class PromptError(KasautiError):
    """A prompt file or a selection from it is wrong; carries file and line."""


class PreflightError(KasautiError):
    """Something that the run needs is not there; raised before the first clip is made."""


class AudioError(KasautiError):
    """An audio file can't be read or written."""


class TextError(KasautiError):
    """Text can't be treated as asked (unknown language, level or metric)."""


class StatsError(KasautiError):
    """Numbers can't be summarised as asked."""


class StoreError(KasautiError):
    """The store or a run folder can't be read or written."""

    exit_code = ExitCode.INCOMPLETE


class SpeechSystemError(KasautiError):
    """A speech system can't be set up."""


class JudgeError(KasautiError):
    """A judge can't be set up."""


_MOST_NAMES = 30


def near_matches(name: str, known: Iterable[str], limit: int = 3) -> str:
    """Words a "did you mean" hint.

    Args:
        name: What was asked for.
        known: What exists.
        limit: At most so many suggestions.

    Returns:
        `"did you mean 'piper'?"`, or the list of known names (the first of many) when none is near.
    """
    names = {name.lower(): name for name in sorted(set(known))}
    near = difflib.get_close_matches(name.lower(), names, n=limit, cutoff=0.5)
    if near:
        return "did you mean " + " or ".join(repr(names[n]) for n in near) + "?"
    shown = list(names.values())[:_MOST_NAMES]
    return f"known: {', '.join(shown) or 'none'}" + (f", … ({len(names)} in all)" if len(names) > len(shown) else "")
