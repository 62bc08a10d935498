"""Systems, judges, executors and trackers are built here, by the dotted name in their options, wherever they run.

Only classes of this package may be named: a config file is data, and data must not choose what code runs.
"""

from __future__ import annotations

import importlib
from typing import Any

from kasauti.errors import ConfigError, near_matches

_PACKAGE = "kasauti."


def part_class(target: str) -> Any:
    """The class that a `_target_` names.

    Raises:
        ConfigError: it lies outside this package, there is no such class, or it is no part of a run.
    """
    module_name, _, class_name = target.rpartition(".")
    if not target.startswith(_PACKAGE):
        raise ConfigError(f"_target_: {target}: only classes of kasauti may be named (kasauti.systems.piper.Piper)")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and not error.name.startswith("kasauti"):
            raise
        raise ConfigError(f"_target_: {target}: there is no module {error.name}") from error
    parts = {name: value for name, value in vars(module).items() if _is_part(value)}
    if class_name not in parts:
        raise ConfigError(f"_target_: {target}: no such class; {near_matches(class_name, parts)}")
    return parts[class_name]


def _is_part(value: Any) -> bool:
    """Whether it is a class of ours that says what its options are; a module also holds what it imports."""
    return isinstance(value, type) and value.__module__.startswith(_PACKAGE) and hasattr(value, "options_type")


def class_of(options: Any) -> Any:
    """The class that options are for.

    Raises:
        ConfigError: as `part_class`, or the options are those of another class.
    """
    found = part_class(options._target_)
    if not isinstance(options, found.options_type):
        kinds = f"{found.options_type.__name__}, got {type(options).__name__}"
        raise ConfigError(f"_target_: {options._target_}: wanted its own options, {kinds}; choose it by its group")
    return found


def build(options: Any) -> Any:
    """Builds a part from its options (a dataclass with `_target_`); raises as `class_of`."""
    return class_of(options)(options)
