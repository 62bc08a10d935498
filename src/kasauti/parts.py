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
        ConfigError: it lies outside this package, or there is no such class.
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
    found = getattr(module, class_name, None)
    if not isinstance(found, type):
        classes = [name for name, value in vars(module).items() if isinstance(value, type)]
        raise ConfigError(f"_target_: {target}: no such class; {near_matches(class_name, classes)}")
    return found


def build(options: Any) -> Any:
    """Builds a part from its options (a dataclass with `_target_`)."""
    return part_class(options._target_)(options)
