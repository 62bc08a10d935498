"""What may leave this machine: texts and settings without secrets and without paths of the machine."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

SECRET = "***"

_SHORTEST_SECRET = 8
"""A shorter value is a word that may stand anywhere, as in `USE_TOKENS=true`."""

_NAMES_OF_SECRETS = re.compile(r"key|token|secret|passw|credential", re.IGNORECASE)

_START = r"(?:file://|~[\w.-]*)?/(?![/\s]|\Z)"
_QUOTED = re.compile(rf"""(?P<quote>["']){_START}.*?(?P=quote)""")
_BARE = re.compile(rf"""(?<![\w./~…-]){_START}[^\s,;:"'\[\](){{}}]+""")
_OVERRIDE = re.compile(r"[+~]*[A-Za-z_][\w./@-]*=")


def shareable(value: Any) -> Any:
    """A copy of plain nested values in which texts hold no secret and no absolute path.

    A secret is the value of an environment variable whose name says so. Of a path its last name stays, behind `…/`.
    """
    if isinstance(value, str):
        return _without_paths(_without_secrets(value))
    if isinstance(value, Mapping):
        return {shareable(str(key)): shareable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [shareable(inner) for inner in value]
    return value


def _without_secrets(text: str) -> str:
    named = (value for name, value in os.environ.items() if _NAMES_OF_SECRETS.search(name))
    # The longest first: one may be the beginning of another.
    for secret in sorted((value for value in named if len(value) >= _SHORTEST_SECRET), key=len, reverse=True):
        text = text.replace(secret, SECRET)
    return text


def _without_paths(text: str) -> str:
    override = _OVERRIDE.match(text)
    if override is not None:
        value = text[override.end() :]
        return override[0] + (_with_paths_in_it(value) if "," in value else _without_paths(value))
    if re.match(_START, text) and not re.search(r": |\n", text):
        return _named(text)
    return _with_paths_in_it(text)


def _with_paths_in_it(text: str) -> str:
    quoted = _QUOTED.sub(lambda found: f"{found['quote']}{_named(found[0][1:-1])}{found['quote']}", text)
    return _BARE.sub(lambda found: _named(found[0]), quoted)


def _named(path: str) -> str:
    return f"…/{path.rstrip('/').rpartition('/')[2]}"
