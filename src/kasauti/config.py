"""Hydra's side: schemas are registered from the classes that the YAML files name, and a composed config is checked.

A file in `conf/system` or `conf/judge` names its class under `_target_`; the class names its options dataclass, and
that is the schema. There is no other registry. Everything below this module receives plain dataclasses.
"""

from __future__ import annotations

import os
import re
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, fields, is_dataclass, replace
from typing import Any, get_type_hints

from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import InterpolationToMissingValueError, OmegaConfBaseException

from kasauti.errors import ConfigError, near_matches
from kasauti.judges.base import JudgeOptions
from kasauti.judges.router import RANKS, RouterOptions, members_of
from kasauti.parts import part_class
from kasauti.paths import ROOT
from kasauti.settings import Config, LineupOptions, RunSettings, TaskOptions
from kasauti.systems.base import SystemOptions

CONF = ROOT / "conf"

_SEVERAL = ("lineup", "router")
"""Beginnings of the names of files that stand for several parts; they are no members."""

_LAUNCHERS = "joblib, ray, submitit_local and submitit_slurm"

_TARGET = re.compile(r"^\s*_target_:\s*(\S+)", re.MULTILINE)


def register() -> None:
    """Puts every schema into Hydra's ConfigStore: `kasauti_schema`, `schema/GROUP/NAME`.

    A study of its own kind (`task._target_` in `conf/experiment`) has its schema under `schema/experiment/NAME`.
    """
    OmegaConf.register_new_resolver("kasauti_root", lambda: str(ROOT), replace=True)
    # Cached: a job in another process must find the folder of its sweep, which the process that sent it has named.
    OmegaConf.register_new_resolver("kasauti_pid", lambda: str(os.getpid()), use_cache=True, replace=True)
    store = ConfigStore.instance()
    store.store(name="kasauti_schema", node=Config)
    store.store(group="schema/system", name="lineup", node=LineupOptions)
    for group in ("system", "judge", "executor", "tracking", "experiment"):
        for path in sorted((CONF / group).glob("*.yaml")):
            target = _TARGET.search(path.read_text(encoding="utf-8"))
            if target is not None:
                store.store(group=f"schema/{group}", name=path.stem, node=part_class(target[1]).options_type)


def help_text() -> str:
    """What `--help` prints. Hydra's own help lists all groups twice before it prints, which takes most of a second."""
    folders = sorted(path for path in CONF.iterdir() if path.is_dir())
    named = ((folder.name, sorted(path.stem for path in folder.glob("*.yaml"))) for folder in folders)
    rows = (f"  {group:<10} {', '.join(options)}" for group, options in named if options)
    groups = "\n".join(textwrap.fill(row, 80, subsequent_indent=" " * 13, break_on_hyphens=False) for row in rows)
    return (CONF / "help.txt").read_text(encoding="utf-8").replace("$GROUPS", groups)


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
    from kasauti.settings_checks import check_settings  # knows languages and levels: too much for `--help`

    _check_once(overrides)
    _check_literal(cfg, overrides)
    try:
        _check_missing(cfg)
        plain = OmegaConf.to_object(_resolved(cfg))
    except InterpolationToMissingValueError as error:
        pointed_at = re.search(r"Missing mandatory value: (\S+)", str(error))
        key = pointed_at[1] if pointed_at else error.full_key
        raise ConfigError(f"no value for {key}: add {key}=VALUE to the command") from error
    except OmegaConfBaseException as error:
        raise ConfigError(f"{getattr(error, 'full_key', None) or 'config'}: {_first_line(error)}") from error
    assert isinstance(plain, Config)
    _check_extra(plain)
    systems = _systems(plain.system)
    for system in systems:
        system.repeats = plain.repeats or system.repeats
    judges = [judge for node in plain.judge.values() if isinstance(node, JudgeOptions) for judge in _judges(node)]
    settings = RunSettings(
        systems=systems,
        judges=judges,
        overrides=list(overrides),
        **{name: value for name, value in vars(plain).items() if name not in ("system", "judge", "task")},
    )
    settings.config = {
        **{name: value for name, value in asdict(settings).items() if name not in ("config", "overrides")},
        "systems": {system.id: asdict(system) for system in systems},
        "judges": {judge.id: asdict(judge) for judge in judges},
    }
    check_settings(settings)
    return settings


def _systems(node: Any) -> list[SystemOptions]:
    if isinstance(node, LineupOptions):
        if not node.members:
            raise ConfigError("system.members is empty; give names of systems: system.members=[espeak,kokoro]")
        return [_spoken_by(member) for member in node.members]
    assert isinstance(node, SystemOptions)
    return [node]


def _spoken_by(member: Any) -> SystemOptions:
    """Reads one member of a line-up."""
    options = _member("system", "system.members", member)
    assert isinstance(options, SystemOptions)
    return options


def _judges(node: JudgeOptions) -> list[JudgeOptions]:
    """The judges of one node: a router may stand for two, and its members are read from their own files."""
    if not isinstance(node, RouterOptions):
        return [node]
    if node.rank != "both" and node.rank not in RANKS:
        raise ConfigError(f"judge.rank: no rank {node.rank!r}; {near_matches(node.rank, [*RANKS, 'both'])}")
    found: list[JudgeOptions] = []
    for rank in RANKS if node.rank == "both" else [node.rank]:
        router = replace(node, id=node.id if rank in ("first", node.rank) else f"{node.id}_{rank}", rank=rank)
        router.members = {name: _routed_to(name, node.members.get(name)) for name in members_of(router)}
        found.append(router)
    return found


def _routed_to(name: str, changes: Any) -> JudgeOptions:
    """Reads a judge that a router sends to, under its name in the table."""
    options = _member("judge", "judge.router.members", {"use": name, "id": name, **(changes or {})})
    assert isinstance(options, JudgeOptions)
    return options


def _member(group: str, key: str, member: Any) -> SystemOptions | JudgeOptions:
    """Reads one of several parts from its file in `conf/GROUP`, with its own differences on top.

    Args:
        group: `system` or `judge`.
        key: Where the member is named, for errors.
        member: Name of its file, or a mapping with the name under `use` and what differs.
    """
    changes = dict(member) if isinstance(member, dict) else {"use": str(member)}
    name = changes.pop("use", None)
    names = [path.stem for path in (CONF / group).glob("*.yaml") if not path.stem.startswith(_SEVERAL)]
    if name not in names:
        raise ConfigError(f"{key}: no {group} {name!r} in conf/{group}; {near_matches(str(name), names)}")
    file = OmegaConf.load(CONF / group / f"{name}.yaml")
    assert isinstance(file, DictConfig)
    for entry in file.pop("defaults", ()):
        # What a file takes over from another one, `codes/mms@codes`; the schema is merged below.
        path, at, place = str(entry).partition("@")
        if at and not path.startswith("/"):
            file[place] = OmegaConf.merge(OmegaConf.load(CONF / group / f"{path}.yaml"), file.get(place) or {})
    written = file if group == "system" else file[name]
    schema = part_class(written["_target_"]).options_type
    kinds = get_type_hints(schema)
    for option, value in changes.items():
        if kinds.get(option) in (str, str | None) and not isinstance(value, str | None):
            raise ConfigError(f"{key}: {name}: {option} is read as {value}; put text in double quotes")
    try:
        # A judge's own node points at the flat keys of its file, by their names in a whole config.
        whole = OmegaConf.create({group: file})
        whole[group]["here"] = OmegaConf.merge(written, changes)
        OmegaConf.resolve(whole[group]["here"])
        options = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(schema), whole[group]["here"]))
    except OmegaConfBaseException as error:
        raise ConfigError(f"{key}: {name}: {_first_line(error)}") from error
    assert isinstance(options, SystemOptions | JudgeOptions)
    return options


def _check_missing(cfg: DictConfig) -> None:
    missing = sorted(key for key in OmegaConf.missing_keys(cfg) if not key.startswith("judge."))
    if missing:
        example = " ".join(f"{key}=VALUE" for key in missing)
        raise ConfigError(f"no value for {', '.join(missing)}: add {example} to the command")


def _resolved(cfg: DictConfig) -> DictConfig:
    """A copy with the values in the places of what points at them, and without the judge's flat keys that stayed open.

    A flat key may stay open when the judge's own node was given the value: `judge.transcripts.path=...`.
    """
    copy = cfg.copy()
    OmegaConf.resolve(copy)
    OmegaConf.set_struct(copy.judge, False)
    for key in [key for key in copy.judge if OmegaConf.is_missing(copy.judge, key)]:
        del copy.judge[key]
    return copy


def _check_once(overrides: Sequence[str]) -> None:
    """Refuses a panel that names a judge twice: its file would be read twice into one place."""
    for override in OverridesParser.create().parse_overrides(list(overrides)):
        chosen = override.value()
        if override.key_or_group == "judge" and isinstance(chosen, list):
            for name in {name for name in chosen if chosen.count(name) > 1}:
                raise ConfigError(
                    f"{override.input_line}: {name} is named twice and would be one judge; to hear every clip twice: "
                    "rejudges=2"
                )


def _check_literal(cfg: DictConfig, overrides: Sequence[str]) -> None:
    """Refuses text that Hydra's grammar read as a number: `ids=[1_1_1]` is the integer 111, `id=1e3` is 1000.0."""
    for override in OverridesParser.create().parse_overrides(list(overrides)):
        key, line, read = override.key_or_group, override.input_line or "", override.value()
        node = OmegaConf.select(cfg, key, default=None, throw_on_missing=False)
        listed = OmegaConf.is_list(node)
        pairs: list[Any] = [*zip(read, node, strict=False)] if isinstance(read, list) and listed else [(read, node)]
        converted = Counter(text for value, text in pairs if isinstance(text, str) and isinstance(value, int | float))
        written = Counter(re.split(r"[\[\],\s'\"]+", line.partition("=")[2]))
        written -= Counter(value for value, _ in pairs if isinstance(value, str))
        for text in converted - written:
            quoted = '["..."]' if listed else '"..."'
            raise ConfigError(
                f"{line}: read as {text}, but {key} is text. Put the value in double quotes inside single ones: "
                f"'{key}={quoted}'"
            )


def _check_extra(node: Any, path: str = "") -> None:
    """Refuses keys that nobody reads: `+KEY=VALUE` adds them in spite of the schema."""
    if not is_dataclass(node) and not isinstance(node, dict):
        return
    values = node if isinstance(node, dict) else vars(node)
    known = set(values) if isinstance(node, dict) else {field.name for field in fields(node)}
    if path == "judge.":
        known = _keys_in_files("judge")
    for name, value in values.items():
        if name not in known:
            raise ConfigError(f"no key {path}{name}; {near_matches(str(name), known)}")
        _check_extra(value, f"{path}{name}.")


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def explain(error: Exception) -> str:
    """An error of Hydra or OmegaConf in words that say what to do."""
    text = str(error.__cause__ or error)
    if "LexerNoViableAlt" in text or "ambiguous value" in text.lower() or "mismatched input" in text:
        said = _first_line(error).removeprefix("LexerNoViableAltException: ")
        return (
            f"{said}; text with commas, equals signs, brackets or letters other than Latin ones needs "
            "quotes inside the shell's: 'KEY=\"VALUE\"'"
        )
    missing = re.search(r"Could not load '([\w/]+)/([^']+)'|Could not find '([\w/]+)/([^']+)'", str(error))
    if missing is not None:
        group, wanted = missing[1] or missing[3], missing[2] or missing[4]
        if group == "hydra/launcher":
            return f"no launcher called {wanted!r}: {_LAUNCHERS} are there after pip install -e '.[cluster]'"
        return f"no {group} called {wanted!r}; {near_matches(wanted, [p.stem for p in (CONF / group).glob('*.yaml')])}"
    if "Config group override must be" in text:
        return "a group needs the name of one of its options (system=espeak), and not null"
    unlisted = re.match(r"Could not override '([\w/]+)'\. No match in the defaults list", str(error))
    if unlisted is not None and (CONF / unlisted[1]).is_dir():
        return f"{unlisted[1]}: none is chosen that another could replace; add one with +{unlisted[1]}=NAME"
    if "schema/system/" in text or "schema/system/" in str(error):
        return "system: one at a time; several go side by side with system=lineup 'system.members=[A,B]'"
    full = re.search(r"full_key: (\S+)", text)
    unknown = re.search(r"Key '([^']+)' is not in struct|Key '([^']+)' not in '", text)
    if unknown is not None:
        name = unknown[1] or unknown[2]
        key = full[1] if full else name
        if key == "system.members":
            return f"no key {key!r} in a single system; several go side by side with system=lineup '{key}=[A,B]'"
        return f"no key {key!r}; {near_matches(name, _known_keys(key.rpartition('.')[0]))}"
    first = re.match(r"Could not override '[^']+'\.?\s*(.*)", str(error).strip().splitlines()[0])
    lines = [line for line in (first[1] if first else "", _first_line(error.__cause__ or error)) if line]
    hint = ""
    if "is not a ListConfig" in text or "to a List" in text:
        hint = "; a list is written in brackets: KEY=[hi,ta]"
    return f"{full[1] + ': ' if full else ''}{lines[-1] if lines else text}{hint}"


def _known_keys(parent: str) -> set[str]:
    """Names of the keys under a dotted one: from the files of its group, or from the schema where it is no group."""
    group = parent.partition(".")[0]
    if (CONF / group).is_dir() and group:
        return _keys_in_files(group)
    kind = get_type_hints(Config)[group] if group else Config
    return {field.name for field in fields(kind)}


def _keys_in_files(group: str) -> set[str]:
    text = "\n".join(path.read_text(encoding="utf-8") for path in (CONF / group).glob("*.yaml"))
    return set(re.findall(r"^\s*([a-z]\w*):", text, re.MULTILINE)) - {"defaults"}
