"""Hydra's side: schemas are registered from the classes that the YAML files name, and a composed config is checked.

A file in `conf/system` or `conf/judge` names its class under `_target_`; the class names its options dataclass, and
that is the schema. There is no other registry. Everything below this module receives plain dataclasses.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import MissingConfigException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import InterpolationToMissingValueError, OmegaConfBaseException

from kasauti.errors import ConfigError, near_matches
from kasauti.judges.base import JudgeOptions
from kasauti.parts import part_class
from kasauti.paths import ROOT
from kasauti.settings import Config, LineupOptions, RunSettings, TaskOptions
from kasauti.systems.base import SystemOptions
from kasauti.text.levels import DEFAULT_STEPS

CONF = ROOT / "conf"

_TARGET = re.compile(r"^\s*_target_:\s*(\S+)", re.MULTILINE)


def register() -> None:
    """Puts every schema into Hydra's ConfigStore: `kasauti_schema`, `schema/system/NAME`, `schema/judge/NAME`.

    A study of its own kind (`task._target_` in `conf/experiment`) has its schema under `schema/experiment/NAME`.
    """
    OmegaConf.register_new_resolver("kasauti_root", lambda: str(ROOT), replace=True)
    OmegaConf.register_new_resolver("kasauti_pid", lambda: str(os.getpid()), replace=True)
    store = ConfigStore.instance()
    store.store(name="kasauti_schema", node=Config)
    store.store(group="schema/system", name="lineup", node=LineupOptions)
    for group in ("system", "judge", "experiment"):
        for path in sorted((CONF / group).glob("*.yaml")):
            target = _TARGET.search(path.read_text(encoding="utf-8"))
            if target is not None:
                store.store(group=f"schema/{group}", name=path.stem, node=part_class(target[1]).options_type)


def task_options(cfg: DictConfig) -> TaskOptions | None:
    """Options of the study that takes the place of a run; None for a run.

    Raises:
        ConfigError: an option is missing or has the wrong type.
    """
    if cfg.task is None:
        return None
    try:
        options = OmegaConf.to_object(cfg.task)
    except OmegaConfBaseException as error:
        raise ConfigError(f"task: {_first_line(error)}") from error
    assert isinstance(options, TaskOptions)
    return options


def run_settings(cfg: DictConfig, overrides: Sequence[str] = ()) -> RunSettings:
    """Checks a composed config and turns it into dataclasses.

    Args:
        cfg: What Hydra composed (without its own `hydra` node).
        overrides: The command line, to catch values that change type on the way.

    Raises:
        ConfigError: a key is missing, has the wrong type, or doesn't go with another.
    """
    _check_literal(cfg, overrides)
    _check_missing(cfg)
    try:
        plain = OmegaConf.to_object(cfg)
    except InterpolationToMissingValueError as error:
        pointed_at = re.search(r"\$\{([^}]+)\}|'([\w.]+)'", str(error))
        key = (pointed_at[1] or pointed_at[2]) if pointed_at else error.full_key
        raise ConfigError(f"no value for {key}: add {key}=VALUE to the command") from error
    except OmegaConfBaseException as error:
        raise ConfigError(f"{getattr(error, 'full_key', None) or 'config'}: {_first_line(error)}") from error
    assert isinstance(plain, Config)
    systems = _systems(plain.system)
    judges = [node for node in plain.judge.values() if isinstance(node, JudgeOptions)]
    settings = RunSettings(
        systems=systems,
        judges=judges,
        config={},
        **{name: value for name, value in vars(plain).items() if name not in ("system", "judge", "task")},
    )
    _check_together(settings)
    settings.config = {
        **{name: value for name, value in asdict(settings).items() if name != "config"},
        "systems": {system.id: asdict(system) for system in systems},
        "judges": {judge.id: asdict(judge) for judge in judges},
    }
    return settings


def _systems(node: Any) -> list[SystemOptions]:
    if isinstance(node, LineupOptions):
        if not node.members:
            raise ConfigError("system.members is empty; give names of systems: system.members=[espeak,kokoro]")
        return [_member(member) for member in node.members]
    assert isinstance(node, SystemOptions)
    return [node]


def _member(member: Any) -> SystemOptions:
    """Reads one member of a line-up from its file in `conf/system`, with its own differences on top."""
    changes = dict(member) if isinstance(member, dict) else {"use": str(member)}
    name = changes.pop("use", None)
    names = [path.stem for path in (CONF / "system").glob("*.yaml") if not path.stem.startswith("lineup")]
    if name not in names:
        raise ConfigError(f"system.members: no system {name!r} in conf/system; {near_matches(str(name), names)}")
    file = OmegaConf.load(CONF / "system" / f"{name}.yaml")
    assert isinstance(file, DictConfig)
    file.pop("defaults", None)
    try:
        options = OmegaConf.to_object(
            OmegaConf.merge(OmegaConf.structured(part_class(file["_target_"]).options_type), file, changes)
        )
    except OmegaConfBaseException as error:
        raise ConfigError(f"system.members: {name}: {_first_line(error)}") from error
    assert isinstance(options, SystemOptions)
    return options


def _check_missing(cfg: DictConfig) -> None:
    # A flat key of a judge may stay open when the judge's own node was given the value directly.
    missing = sorted(key for key in OmegaConf.missing_keys(cfg) if not key.startswith("judge."))
    if missing:
        example = " ".join(f"{key}=VALUE" for key in missing)
        raise ConfigError(f"no value for {', '.join(missing)}: add {example} to the command")


def _check_literal(cfg: DictConfig, overrides: Sequence[str]) -> None:
    """Refuses text that Hydra's grammar read as a number: `ids=[1_1_1]` is the integer 111, `id=1e3` is 1000.0."""
    for override in OverridesParser.create().parse_overrides(list(overrides)):
        raw = (override.input_line or "").partition("=")[2]
        node = OmegaConf.select(cfg, override.key_or_group, default=None, throw_on_missing=False)
        for value in node if OmegaConf.is_list(node) else [node]:
            changed = isinstance(value, str) and value not in raw and _looks_converted(value)
            if changed and not isinstance(override.value(), str):
                raise ConfigError(
                    f"{override.input_line}: read as the number {value}, but {override.key_or_group} is text. "
                    f"Put the value in double quotes inside single ones: '{override.key_or_group}=\"...\"'"
                )


def _looks_converted(text: str) -> bool:
    return re.fullmatch(r"-?(\d+(\.\d+)?(e[+-]?\d+)?|nan|inf)|True|False", text) is not None


def _check_together(settings: RunSettings) -> None:
    for kind, parts in (("system", settings.systems), ("judge", settings.judges)):
        ids = [part.id for part in parts]
        for part in parts:
            if ids.count(part.id) > 1:
                raise ConfigError(
                    f"two {kind}s have the id {part.id!r}; ids name rows in every table: give one of them another "
                    f"({{use: {part.id}, id: OTHER}} in system.members, or judge.NAME.id=OTHER)"
                )
            if re.search(r"[\x00-\x1f\x7f]", part.id) or not part.id.strip():
                raise ConfigError(f"{kind} id {part.id!r}: an id is text without control characters")
    for level in dict.fromkeys([settings.scoring.level, *settings.scoring.levels]):
        if level not in DEFAULT_STEPS:
            raise ConfigError(f"scoring.level: no level {level!r}; {near_matches(level, DEFAULT_STEPS)}")
    if not settings.judges:
        raise ConfigError("judge: no judge is chosen; add judge=whisper, or a panel judge=[whisper,transcripts]")
    positive = {
        "repeats": settings.repeats,
        "rejudges": settings.rejudges,
        "max_parallel_systems": settings.max_parallel_systems,
        "promptset.limit": settings.promptset.limit,
        "promptset.per_delivery": settings.promptset.per_delivery,
        **{f"{system.id}.repeats": system.repeats for system in settings.systems},
    }
    for key, number in positive.items():
        if number is not None and number < 1:
            raise ConfigError(f"{key}={number}: must be at least 1 (or null where it may be unset)")


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def explain(error: Exception) -> str:
    """An error of Hydra or OmegaConf in words that say what to do."""
    text = str(error.__cause__ or error)
    if "LexerNoViableAlt" in text or "ambiguous value" in text.lower() or "mismatched input" in text:
        return (
            f"{_first_line(error)}; text with commas, equals signs, brackets or letters other than Latin ones needs "
            "quotes inside the shell's: 'KEY=\"VALUE\"'"
        )
    if isinstance(error, MissingConfigException) and error.missing_cfg_file and error.options is not None:
        group, _, wanted = error.missing_cfg_file.rpartition("/")
        return f"no {group} called {wanted!r}; {near_matches(wanted, error.options)}"
    unknown = re.search(r"Key '([^']+)' is not in struct|Key '([^']+)' not in '", text)
    if unknown is not None:
        key = unknown[1] or unknown[2]
        full = re.search(r"full_key: (\S+)", text)
        return f"no key {full[1] if full else key!r}; {near_matches(key, _known_keys())}"
    first = re.match(r"Could not override '[^']+'\.?\s*(.*)", str(error).strip().splitlines()[0])
    full = re.search(r"full_key: (\S+)", text)
    lines = [line for line in (first[1] if first else "", _first_line(error.__cause__ or error)) if line]
    hint = ""
    if "is not a ListConfig" in text or "to a List" in text:
        hint = "; a list is written in brackets: KEY=[hi,ta]"
    return f"{full[1] + ': ' if full else ''}{lines[-1] if lines else text}{hint}"


def _known_keys() -> set[str]:
    # What follows `hydra:` in the primary file is Hydra's own.
    text = "\n".join(path.read_text(encoding="utf-8").partition("\nhydra:")[0] for path in CONF.rglob("*.yaml"))
    return set(re.findall(r"^\s*([a-z_]+):", text, re.MULTILINE)) | {field.name for field in fields(Config)}
