"""Parts are classes of this package and nothing else, whatever a config file or a command line says."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from kasauti.errors import ConfigError
from kasauti.judges.fake import FakeJudge, FakeJudgeOptions
from kasauti.parts import build, part_class
from kasauti.pipeline.executors import LocalExecutor
from kasauti.settings import ExecutorSettings, TrackingSettings
from kasauti.systems.fake import Fake, FakeOptions
from kasauti.tracking.base import NoTracker


def test_a_part_is_found_by_its_name() -> None:
    assert part_class("kasauti.systems.fake.Fake") is Fake
    assert isinstance(build(FakeOptions("kasauti.systems.fake.Fake", "fake")), Fake)
    assert isinstance(build(FakeJudgeOptions("kasauti.judges.fake.FakeJudge", "fake")), FakeJudge)
    assert isinstance(build(ExecutorSettings("kasauti.pipeline.executors.LocalExecutor")), LocalExecutor)
    assert isinstance(build(TrackingSettings("kasauti.tracking.base.NoTracker")), NoTracker)


@pytest.mark.parametrize(
    "target",
    [
        "os.system",
        "subprocess.Popen",
        "builtins.eval",
        "",
        "???",
        "Fake",
        "kasauti",
        "kasauti_of_mine.Fake",
        "Kasauti.systems.fake.Fake",
        " kasauti.systems.fake.Fake",
        ".kasauti.systems.fake.Fake",
    ],
)
def test_nothing_outside_the_package_is_named(target: str) -> None:
    with pytest.raises(ConfigError, match=r"only classes of kasauti may be named"):
        part_class(target)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("kasauti.systems.fak.Fake", "there is no module kasauti.systems.fak"),
        ("kasauti.nothing.at.all.Fake", "there is no module kasauti.nothing"),
        ("kasauti.systems.fake.os.system", "there is no module kasauti.systems.fake.os"),
        ("kasauti.systems.fake.Fakes", r"no such class; did you mean 'Fake'\?"),
        ("kasauti.systems.fake.", "no such class"),
        ("kasauti.Fake", "no such class"),
        # A module also holds what it imports, and functions, and classes that are no parts.
        ("kasauti.systems.fake.os", "no such class"),
        ("kasauti.systems.fake.write_text", "no such class"),
        ("kasauti.systems.fake.FakeOptions", "no such class"),
        ("kasauti.store.files.Path", "no such class"),
        ("kasauti.pipeline.executors.ProcessPoolExecutor", "no such class"),
        ("kasauti.store.claims.FileLock", "no such class"),
        ("kasauti.errors.ConfigError", "no such class"),
    ],
)
def test_only_parts_are_named(target: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        part_class(target)


def test_a_part_is_not_built_from_the_options_of_another() -> None:
    with pytest.raises(ConfigError, match="wanted its own options, FakeJudgeOptions, got FakeOptions"):
        build(FakeOptions("kasauti.judges.fake.FakeJudge", "fake"))

    @dataclass
    class Stranger:
        _target_: str = "kasauti.systems.fake.Fake"

    with pytest.raises(ConfigError, match="got Stranger"):
        build(Stranger())


def test_a_missing_library_is_not_taken_for_a_missing_module(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_name: str) -> None:
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr("importlib.import_module", fails)
    with pytest.raises(ModuleNotFoundError, match="torch"):
        part_class("kasauti.systems.fake.Fake")
