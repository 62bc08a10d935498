"""What a composed config must hold beyond the types of its keys: ids, ranges, and what goes with what.

Nothing here knows Hydra, reads a file or builds a part.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, get_args

from kasauti.errors import ConfigError, near_matches
from kasauti.parts import class_of
from kasauti.records import Role
from kasauti.settings import RunSettings
from kasauti.text.levels import DEFAULT_STEPS


def check_settings(settings: RunSettings) -> None:
    """Refuses settings that can't be meant.

    Raises:
        ConfigError: the key, what it holds, and what it may hold.
    """
    if not settings.judges:
        raise ConfigError("judge: no judge is chosen; add judge=whisper, or a panel judge=[whisper,transcripts]")
    for kind, parts in (("system", settings.systems), ("judge", settings.judges)):
        _check_ids(kind, [part.id for part in parts])
    for options in (*settings.systems, *settings.judges, settings.executor, settings.tracking):
        class_of(options)
    for key, folder in vars(settings.paths).items():
        if not folder.strip():
            raise ConfigError(f"paths.{key} is empty; give a folder, or leave the key out")
    for system in settings.systems:
        if system.role not in get_args(Role):
            raise ConfigError(f"{system.id}.role: no role {system.role!r}; {near_matches(system.role, get_args(Role))}")
    for level in dict.fromkeys([settings.scoring.level, *settings.scoring.levels]):
        if level not in DEFAULT_STEPS:
            raise ConfigError(f"scoring.level: no level {level!r}; {near_matches(level, DEFAULT_STEPS)}")
    _check_finite(settings.config, "")
    for key, number, low, high in _numbers(settings):
        if number is not None and not low <= number <= high:
            wanted = f"at least {low}" if math.isinf(high) else f"{low} to {high}"
            raise ConfigError(f"{key}={number}: must be {wanted} (or null where it may be unset)")


def _check_ids(kind: str, ids: Sequence[str]) -> None:
    for name in ids:
        if ids.count(name) > 1:
            raise ConfigError(
                f"two {kind}s have the id {name!r}; ids name rows in every table: give one of them another "
                "({use: NAME, id: OTHER} in system.members, or judge.NAME.id=OTHER)"
            )
        if not name.strip() or any(char == "|" or unicodedata.category(char) == "Cc" for char in name):
            raise ConfigError(f"{kind} id {name!r}: an id is non-empty text without control characters and without |")


def _numbers(settings: RunSettings) -> Iterator[tuple[str, float | None, float, float]]:
    """Numbers that have a range: key, value, lowest, highest."""
    promptset, scoring, decoding = settings.promptset, settings.scoring, settings.decoding
    yield "repeats", settings.repeats, 1, math.inf
    yield "rejudges", settings.rejudges, 1, math.inf
    yield "max_parallel_systems", settings.max_parallel_systems, 1, math.inf
    yield "promptset.limit", promptset.limit, 1, math.inf
    yield "promptset.per_delivery", promptset.per_delivery, 1, math.inf
    yield "decoding.temperature", decoding.temperature, 0, math.inf
    yield "decoding.top_k", decoding.top_k, 1, math.inf
    yield "decoding.min_new_tokens", decoding.min_new_tokens, 0, math.inf
    yield "decoding.max_new_tokens", decoding.max_new_tokens, 1, math.inf
    yield "executor.workers", settings.executor.workers, 0, math.inf
    yield "executor.gpus_per_actor", getattr(settings.executor, "gpus_per_actor", None), 0, math.inf
    yield "executor.shard", getattr(settings.executor, "shard", None), 1, math.inf
    yield "budget.max_usd", settings.budget.max_usd, 0, math.inf
    yield "scoring.draws", scoring.draws, 1, math.inf
    yield "scoring.min_ok_share", scoring.min_ok_share, 0, 1
    for system in settings.systems:
        yield f"{system.id}.repeats", system.repeats, 1, math.inf


def _check_finite(value: Any, key: str) -> None:
    """Refuses `nan` and `inf` anywhere: no id can be made of them, and no budget is kept with them."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ConfigError(f"{key}={value}: no number to work with; null means not set")
    if isinstance(value, dict):
        for name, inner in value.items():
            _check_finite(inner, f"{key}.{name}" if key else str(name))
