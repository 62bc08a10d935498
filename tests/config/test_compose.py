"""Every file in `conf` composes with the others, has a schema, and says what its class says."""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from kasauti.config import CONF, explain, register, run_settings
from kasauti.errors import ConfigError, KasautiError
from kasauti.identity import run_id
from kasauti.judges.base import JudgeOptions
from kasauti.parts import part_class
from kasauti.settings import (
    CANNOT_CHANGE_A_RESULT,
    BudgetSettings,
    Config,
    ExecutorSettings,
    PathsSettings,
    RunSettings,
    ScoringSettings,
)
from kasauti.settings_checks import check_settings
from kasauti.systems.base import SystemOptions

GROUPS = {
    folder.name: sorted(path.stem for path in folder.glob("*.yaml"))
    for folder in sorted(CONF.iterdir())
    if folder.is_dir()
}
TABLES = "codes/"
NEEDED = {
    "system=audio_dir": ["system.path=recordings"],
    "system=lineup": ["system.members=[fake,{use: espeak, id: fast, rate_wpm: 200}]"],
    "judge=ai4bharat_nemo": ["judge.checkpoint=hi.nemo"],
    "judge=transcripts": ["judge.path=hyps.tsv"],
    "promptset=file": ["promptset.path=prompts.csv"],
}
"""Keys that must be given, by choice."""


@pytest.fixture(autouse=True, scope="module")
def hydra() -> Iterator[None]:
    register()
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        yield
    GlobalHydra.instance().clear()


def composed(*overrides: str) -> DictConfig:
    return compose("config", list(overrides))


@cache
def checked(*overrides: str) -> RunSettings:
    """Settings that several tests look at and none may change."""
    return run_settings(composed(*overrides), overrides)


def words_for(*choices: str) -> list[str]:
    return [*choices, *(word for choice in choices for word in NEEDED.get(choice, []))]


def load(path: Path) -> dict[str, Any]:
    value = OmegaConf.to_container(OmegaConf.load(path))
    assert isinstance(value, dict)
    return {str(key): item for key, item in value.items()}


def is_table(entry: str) -> bool:
    """Whether an entry of a judge's defaults is a table that several judges share (`codes/mms@codes`)."""
    return entry.startswith(TABLES)


def files(group: str) -> list[Path]:
    return [CONF / group / f"{name}.yaml" for name in GROUPS[group]]


# --- everything composes


# Neither group knows the other: each file of one with some file of the other is enough.
SOME = range(max(len(GROUPS["system"]), len(GROUPS["judge"])))
PAIRS = [(GROUPS["system"][n % len(GROUPS["system"])], GROUPS["judge"][n % len(GROUPS["judge"])]) for n in SOME]


@pytest.mark.parametrize(("system", "judge"), PAIRS)
def test_every_system_goes_with_every_judge(system: str, judge: str) -> None:
    settings = checked(*words_for(f"system={system}", f"judge={judge}"))
    assert [options.id for options in settings.judges] == [judge]
    assert [options.id for options in settings.systems] == (["fake", "fast"] if system == "lineup" else [system])
    assert all(isinstance(options, SystemOptions) for options in settings.systems)
    json.dumps(settings.config, allow_nan=False)


OTHERS = [
    (group, name) for group, names in GROUPS.items() if group not in ("system", "judge", "experiment") for name in names
]


@pytest.mark.parametrize(("group", "name"), OTHERS)
@pytest.mark.parametrize("base", [["system=fake", "judge=fake"], ["system=lineup", "judge=[whisper,fake]"]], ids=str)
def test_every_other_option_goes_with_the_rest(group: str, name: str, base: list[str]) -> None:
    settings = checked(*words_for(*base, f"{group}={name}"))
    value = settings.config[group]
    given = {k: v for k, v in load(CONF / group / f"{name}.yaml").items() if k != "defaults" and v != "???"}
    assert {key: value[key] for key in given} == given


@pytest.mark.parametrize("name", GROUPS.get("experiment", []))
def test_every_study_composes_and_has_its_command_in_its_header(name: str) -> None:
    header = (CONF / "experiment" / f"{name}.yaml").read_text(encoding="utf-8").partition("\ndefaults")[0]
    assert f"+experiment={name}" in header
    assert "# @package _global_" in header
    assert set(composed(f"+experiment={name}")) >= {"system", "judge", "promptset"}


def test_without_an_argument() -> None:
    settings = checked()
    assert [options.id for options in settings.systems] == ["espeak"]
    assert [options.id for options in settings.judges] == ["whisper"]
    assert (settings.promptset.name, settings.rejudges, settings.repeats, settings.dry_run) == ("smoke", 1, None, False)
    assert settings.budget == BudgetSettings()
    assert settings.paths == PathsSettings()


def test_files_and_classes_have_the_same_defaults() -> None:
    # Who uses the package from Python gets what the command line gives.
    settings = checked("system=fake", "judge=fake")
    in_files = {"length", "steps"}  # the pace of each language and the ladder are data at home in the file
    given, default = (asdict(scoring) for scoring in (settings.scoring, ScoringSettings()))
    assert {k: v for k, v in given.items() if k not in in_files} == {
        k: v for k, v in default.items() if k not in in_files
    }
    assert settings.executor == ExecutorSettings(settings.executor._target_)
    for group in ("system", "judge"):
        for path in files(group):
            if path.stem == "lineup":
                continue
            options: Any = next(iter(getattr(checked(*words_for(f"{group}={path.stem}")), f"{group}s")))
            plain = part_class(options._target_).options_type(options._target_, options.id)
            written = load(path)
            written = written.get(path.stem, written)
            for field in fields(options):
                if field.name not in written:
                    assert getattr(options, field.name) == getattr(plain, field.name), (path.name, field.name)


# --- the files


@pytest.mark.parametrize(
    "path", [*files("system"), *files("judge")], ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_every_part_has_a_schema_and_its_own_name(path: Path) -> None:
    group, name = path.parent.name, path.stem
    text, value = path.read_text(encoding="utf-8"), load(path)
    assert text.startswith("# ")
    assert ConfigStore.instance().load(f"schema/{group}/{name}.yaml") is not None
    if name == "lineup":
        return
    node = value if group == "system" else value[name]
    assert node["id"] == name
    found = part_class(node["_target_"])
    assert set(node) - {"defaults"} <= {field.name for field in fields(found.options_type)}
    schema = f"/schema/{group}/{name}@{'_here_' if group == 'system' else name}"
    assert [entry for entry in value["defaults"] if not is_table(entry)] == [schema, "_self_"]


def test_every_key_of_the_primary_file_is_documented_in_the_schema() -> None:
    primary = load(CONF / "config.yaml")
    assert set(primary) - {"defaults", "hydra"} <= {field.name for field in fields(Config)}
    chosen = [next(iter(entry)) for entry in primary["defaults"] if isinstance(entry, dict)]
    assert set(GROUPS) - {"experiment", "hydra"} <= set(chosen)
    assert "experiment" not in chosen
    # What stands in the file itself is overridden by groups, and they by a study.
    assert primary["defaults"][:2] == ["kasauti_schema", "_self_"]


def test_every_judge_has_its_flat_keys_and_one_node_of_its_own() -> None:
    flat: dict[str, dict[str, Any]] = {}
    for path in files("judge"):
        value = load(path)
        own = value.pop(path.stem)
        value |= {entry.partition("@")[2]: entry for entry in value.pop("defaults") if is_table(entry)}
        pointed_at = {str(item) for item in own.values() if str(item).startswith("${")}
        assert pointed_at == {f"${{judge.{key}}}" for key in value}, path.name
        for key, item in value.items():
            flat.setdefault(key, {})[path.stem] = item
    names = {path.stem for path in files("judge")}
    assert not names & set(flat), "a flat key would hide a judge's node"
    for key, by_judge in flat.items():
        assert len(set(map(repr, by_judge.values()))) == 1, f"judge.{key} would mean one thing in a panel: {by_judge}"


# --- panels and line-ups


@cache
def judge_alone(name: str) -> JudgeOptions:
    [options] = checked("system=fake", *words_for(f"judge={name}")).judges
    return options


# Each pair once, every second one the other way round: what stands later is merged over what stands before.
PANELS = [pair[:: 1 - 2 * (n % 2)] for n, pair in enumerate(itertools.combinations(GROUPS["judge"], 2))]


@pytest.mark.parametrize("panel", PANELS, ids="-".join)
def test_judges_of_a_panel_do_not_overwrite_one_another(panel: tuple[str, str]) -> None:
    # Each is given what it needs under its own name: a flat key would be for both.
    needed = [word.replace("judge.", f"judge.{name}.", 1) for name in panel for word in NEEDED.get(f"judge={name}", [])]
    settings = checked("system=fake", f"judge=[{','.join(panel)}]", *needed)
    assert sorted(options.id for options in settings.judges) == sorted(panel)
    for options in settings.judges:
        assert options == judge_alone(options.id)


def test_a_panel_of_fake_and_transcripts_keeps_the_options_of_both() -> None:
    settings = checked("system=fake", "judge=[fake,transcripts]", "judge.path=hyps.tsv", "judge.slip_rate=0.25")
    values = {options.id: asdict(options) for options in settings.judges}
    assert values["fake"]["slip_rate"] == 0.25
    assert values["transcripts"]["path"] == "hyps.tsv"
    assert settings.config["judges"] == values


def test_a_judge_alone_takes_its_options_flat_or_by_its_name() -> None:
    for word in ("judge.path=a.tsv", "judge.transcripts.path=a.tsv"):
        [options] = checked("system=fake", "judge=transcripts", word).judges
        assert asdict(options)["path"] == "a.tsv"
    [options] = checked("system=fake", "judge=fake", "judge.slip_rate=0.1", "judge.fake.slip_rate=0.2").judges
    assert asdict(options)["slip_rate"] == 0.2
    [renamed] = checked("system=fake", "judge=fake", "judge.fake.id=mine").judges
    assert isinstance(renamed, JudgeOptions)
    assert renamed.id == "mine"


def test_members_of_a_line_up_are_their_files_with_their_own_differences() -> None:
    members = "system.members=[espeak,{use: espeak, id: quick, rate_wpm: 300, repeats: 2},{use: audio_dir, path: x}]"
    plain, quick, recordings = checked("system=lineup", members, "judge=fake").systems
    [alone] = checked("system=espeak", "judge=fake").systems
    assert plain == alone
    assert asdict(quick) == {**asdict(alone), "id": "quick", "rate_wpm": 300, "repeats": 2}
    assert asdict(recordings)["path"] == "x"


def test_repeats_of_the_command_line_win_over_a_system_s_own() -> None:
    members = "system.members=[fake,{use: fake, id: b, repeats: 3}]"
    assert [options.repeats for options in checked("system=lineup", members, "judge=fake").systems] == [1, 3]
    assert [options.repeats for options in checked("system=lineup", members, "judge=fake", "repeats=2").systems] == [
        2,
        2,
    ]
    assert checked("system=fake", "judge=fake", "system.repeats=4").systems[0].repeats == 4


# --- values


@pytest.mark.parametrize(
    ("key", "value", "arrives"),
    [
        # Cases hydra-07 to hydra-14: what is written is what arrives, or an error.
        ("promptset.ids", '["1_1_1"]', ["1_1_1"]),
        ("promptset.ids", "['1e3',\"1.10\",007,a_1]", ["1e3", "1.10", "007", "a_1"]),
        ("promptset.ids", "[111,5,1.5]", ["111", "5", "1.5"]),
        ("promptset.ids", "[nan,none,inf]", ["nan", "none", "inf"]),
        ("promptset.ids", '["True","null"]', ["True", "null"]),
        ("promptset.lang", "nan", "nan"),
        ("promptset.lang", "none", "none"),
        ("promptset.lang", "null", None),
        ("promptset.name", '"ek,do"', "ek,do"),
        ("promptset.name", "'नमस्ते दुनिया'", "नमस्ते दुनिया"),
        ("promptset.name", '"₹500"', "₹500"),
        ("promptset.name", '"a=b: {c} [d] \\"e\\""', 'a=b: {c} [d] "e"'),
        ("study", "2024_v1", "2024_v1"),
        ("study", '"1e3"', "1e3"),
    ],
)
def test_text_arrives_as_it_was_written(key: str, value: str, arrives: Any) -> None:
    settings = checked("system=fake", "judge=fake", f"{key}={value}")
    node: Any = settings
    for name in key.split("."):
        node = getattr(node, name)
    assert node == arrives


@pytest.mark.parametrize(
    ("key", "value", "read"),
    [
        ("promptset.ids", "[1_1_1]", "111"),
        ("promptset.ids", "[1e3]", "1000.0"),
        ("promptset.ids", "[1.10,1.1]", "1.1"),
        ("promptset.ids", "[1_0,10]", "10"),
        ("promptset.ids", '["10",1_0]', "10"),
        ("promptset.ids", "[+5]", "5"),
        ("promptset.ids", "[true]", "True"),
        ("promptset.ids", "[a,NaN]", "nan"),
        ("promptset.tags", "[1_0]", "10"),
        ("promptset.name", "1_1_1", "111"),
        ("promptset.path", "1e3", "1000.0"),
        ("study", "1_000", "1000"),
        ("system.id", "1e3", "1000.0"),
        ("judge.fake.id", "1_1", "11"),
        ("paths.runs", "2024_12_01", "20241201"),
    ],
)
def test_text_that_was_read_as_a_number_is_refused(key: str, value: str, read: str) -> None:
    with pytest.raises(
        ConfigError, match=rf"{re.escape(f'{key}={value}')}: read as {re.escape(read)}, but {key} is text"
    ):
        checked("system=fake", "judge=fake", f"{key}={value}")


def test_numbers_are_read_as_numbers() -> None:
    settings = checked(
        "system=fake", "judge=fake", "decoding.temperature=1", "promptset.limit=1_0", "system.slip_rate=1e-1"
    )
    assert (settings.decoding.temperature, settings.promptset.limit) == (1.0, 10)
    assert isinstance(settings.decoding.temperature, float)
    assert settings.config["systems"]["fake"]["slip_rate"] == 0.1


def test_the_same_setting_is_the_same_run_however_it_is_written() -> None:
    def identity(*overrides: str) -> str:
        return run_id(
            checked("system=fake", "judge=fake", *overrides).config,
            excluded=CANNOT_CHANGE_A_RESULT,
            prompts_sha256="",
            fingerprints={},
            revisions={},
        )

    plain = identity()
    for same in (
        ["decoding.temperature=0.80", "dry_run=true"],
        [
            "decoding.temperature=0.81",
            "repeats=1",
            "promptset.name=other",
        ],  # the fields that a system uses are hashed apart
        [
            "paths.runs=x",
            "paths.store=y",
            "executor.workers=3",
            "budget.max_usd=5",
            "max_parallel_systems=9",
            "study=x",
        ],
        ["promptset.limit=2", "promptset.langs=[hi]", "promptset.tags=[digits]", "promptset.ids=[a]"],
        ["system.workers=2", "judge.fake.workers=2"],
    ):
        assert identity(*same) == plain, same
    for other in (
        "repeats=2",
        "system.slip_rate=0.1",
        "judge.slip_rate=0.1",
        "rejudges=2",
        "system.id=b",
    ):
        assert identity(other) != plain, other


# --- what is refused (the rest of the table, with exit codes and through a process: test_command_line.py)


def refusal(*overrides: str) -> str:
    """What `run.py` would print."""
    try:
        checked("system=fake", "judge=fake", *overrides)
    except KasautiError as error:
        return str(error)
    except (HydraException, OmegaConfBaseException) as error:
        return explain(error)
    return "it was taken"


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["judge=wisper"], r"no judge called 'wisper'; did you mean 'whisper'\?"),
        (["promptset=smok"], r"no promptset called 'smok'; did you mean 'smoke'\?"),
        (["decoding=greddy"], r"no decoding called 'greddy'; did you mean 'greedy'\?"),
        (["executor=x"], r"no executor called 'x'; known: .*local"),
        (["+experiment=nothing_like_it"], r"no experiment called 'nothing_like_it'"),
        (["repeat=2"], r"no key 'repeat'; did you mean 'repeats'"),
        (["decoding.temprature=1"], r"no key 'decoding.temprature'; did you mean 'temperature'\?"),
        (["system.slip=1"], r"no key 'system.slip'"),
        (["judge.slp_rate=1"], r"no key 'judge.slp_rate'; did you mean 'slip_rate'"),
        (["+promptset.limt=2"], r"no key promptset.limt; did you mean 'limit' or 'split'\?"),
        (["+judge.fake.slp_rate=1"], r"no key judge.fake.slp_rate; did you mean 'slip_rate'"),
        (["promptset.limit=1.5"], r"promptset.limit: Value '1.5' .* could not be converted to Integer"),
        (["dry_run=maybe"], r"dry_run: Value 'maybe' is not a valid bool"),
        (["judge.slip_rate=high"], r"judge.fake.slip_rate: .*'high' .* could not be converted to Float"),
        (["~judge"], r"no value for judge"),
        (["system.slip_rate=high"], r"system.slip_rate: Value 'high' .* could not be converted to Float"),
        (["rejudges=null"], r"rejudges: .*not Optional"),
        (["judge=[fake,whisper,fake]"], r"judge=\[fake,whisper,fake\]: fake is named twice .* rejudges=2"),
        (["judge=[fake,transcripts]"], r"no value for judge.path: add judge.path=VALUE"),
        (["judge=[fake,transcripts]", "judge.path=x", "judge.transcripts.id=fake"], r"two judges have the id 'fake'"),
        (["system=lineup"], r"system.members is empty"),
        (["system=lineup", "system.members=fake"], r"a list is written in brackets"),
    ],
    ids=str,
)
def test_refused_at_composition(overrides: list[str], message: str) -> None:
    assert re.search(message, refusal(*overrides)), refusal(*overrides)


@pytest.mark.parametrize(
    ("member", "message"),
    [
        ("5", r"no system '5' in conf/system; known: audio_dir, "),
        ("lineup", r"no system 'lineup'"),
        ({"id": "a"}, r"no system None"),
        ({"use": "fake", "idd": "a"}, r"system.members: fake: Key 'idd' not in"),
        ({"use": "fake", "slip_rate": "x"}, r"system.members: fake: Value 'x'"),
        ({"use": "fake", "id": 10}, r"system.members: fake: id is read as 10; put text in double quotes"),
        ({"use": "espeak", "voice": 1.5}, r"system.members: espeak: voice is read as 1.5"),
        ("audio_dir", r"system.members: audio_dir: .*missing mandatory value: path"),
    ],
    ids=str,
)
def test_refused_members(member: Any, message: str) -> None:
    cfg = composed("system=lineup", "judge=fake")
    cfg.system.members = [member]
    with pytest.raises(ConfigError, match=message):
        run_settings(cfg)


@pytest.fixture(scope="module")
def plain(hydra: None) -> RunSettings:
    return checked("system=fake", "judge=fake")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("repeats", 0, "repeats=0: must be at least 1"),
        ("rejudges", 0, "rejudges=0: must be at least 1"),
        ("systems.0.repeats", 0, "fake.repeats=0: must be at least 1"),
        ("promptset.limit", 0, "promptset.limit=0: must be at least 1"),
        ("promptset.limit", -1, "promptset.limit=-1: must be at least 1"),
        ("promptset.per_delivery", 0, "promptset.per_delivery=0: must be at least 1"),
        ("max_parallel_systems", 0, "max_parallel_systems=0: must be at least 1"),
        ("decoding.temperature", -0.1, "decoding.temperature=-0.1: must be at least 0"),
        ("decoding.top_k", 0, "decoding.top_k=0: must be at least 1"),
        ("decoding.min_new_tokens", -1, "decoding.min_new_tokens=-1: must be at least 0"),
        ("decoding.max_new_tokens", 0, "decoding.max_new_tokens=0: must be at least 1"),
        ("executor.workers", -1, "executor.workers=-1: must be at least 0"),
        ("scoring.draws", 0, "scoring.draws=0: must be at least 1"),
        ("scoring.min_ok_share", 95, "scoring.min_ok_share=95: must be 0 to 1"),
        ("scoring.min_ok_share", -0.1, "scoring.min_ok_share=-0.1: must be 0 to 1"),
        ("budget.max_usd", -0.01, "budget.max_usd=-0.01: must be at least 0"),
        ("scoring.level", "strit", r"scoring.level: no level 'strit'; did you mean 'strict'"),
        ("scoring.levels", ["raw", "strit"], r"scoring.level: no level 'strit'; did you mean 'strict'"),
        ("judges", [], "judge: no judge is chosen; add judge=whisper"),
        ("systems.0.id", "", "system id '': an id is non-empty text"),
        ("systems.0.id", " ", "system id ' ': an id is non-empty text"),
        ("systems.0.id", "a\tb", r"system id 'a\\tb': an id is non-empty text without control characters"),
        ("systems.0.id", "a\x85b", "an id is non-empty text without control characters"),
        ("judges.0.id", "a|b", r"judge id 'a\|b': .* without \|"),
        ("systems.0._target_", "os.system", "only classes of kasauti may be named"),
        ("judges.0._target_", "subprocess.Popen", "only classes of kasauti may be named"),
        ("executor._target_", "os.system", "only classes of kasauti may be named"),
        ("tracking._target_", "x.y", "only classes of kasauti may be named"),
        ("systems.0._target_", "kasauti.systems.fake.Fak", r"no such class; did you mean 'Fake'\?"),
        (
            "systems.0._target_",
            "kasauti.judges.fake.FakeJudge",
            "wanted its own options, FakeJudgeOptions, got FakeOptions",
        ),
        ("tracking._target_", "kasauti.pipeline.executors.LocalExecutor", "wanted its own options"),
        ("config.a", {"b": float("nan")}, "a.b=nan: no number to work with"),
        ("config.a", float("-inf"), "a=-inf: no number to work with"),
    ],
)
def test_settings_that_can_not_be_meant(plain: RunSettings, key: str, value: Any, message: str) -> None:
    settings = copy.deepcopy(plain)
    node: Any = settings
    *parents, last = key.split(".")
    for name in parents:
        node = node[int(name)] if name.isdigit() else getattr(node, name)
    if isinstance(node, dict):
        node[last] = value
    else:
        setattr(node, last, value)
    with pytest.raises(ConfigError, match=message):
        check_settings(settings)


@pytest.mark.parametrize("name", ["a", "espeak-1.2", "शब्द", "क\u200dष", "a b", "[/x]", "../x", "é", "=1"])
def test_ids_that_are_taken(plain: RunSettings, name: str) -> None:
    settings = copy.deepcopy(plain)
    settings.systems[0].id = settings.judges[0].id = name
    check_settings(settings)
