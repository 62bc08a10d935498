"""`docs/add-a-judge.md`: what stands on the page is run."""

from __future__ import annotations

import ast
import re
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from audio_files import tone
from kasauti.audio import write_wav
from kasauti.identity import file_sha256
from kasauti.judges.base import Answer, Heard, JudgeFailed, JudgeTask
from kasauti.judges.conformance import How, check
from kasauti.judges.protocol import _FIELDS, PROTOCOL, encode_task
from kasauti.judges.remote import Remote, RemoteOptions
from kasauti.records import Status
from processes import ROOT

PAGE = (ROOT / "docs" / "add-a-judge.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


IN_PACKAGE, PROGRAM = blocks("python")


def task(folder: Path, name: str, length_s: float, amplitude: float = 0.5) -> JudgeTask:
    path = folder / f"{name}.wav"
    write_wav(path, tone(length_s, amplitude, 16_000), 16_000)
    return JudgeTask(name, "hi", 0, (Heard(path, file_sha256(path), length_s),))


@pytest.fixture
def loudness(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of the page, where it says that it lies."""
    module = types.ModuleType("kasauti.judges.loudness")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(IN_PACKAGE, "loudness.py", "exec"), module.__dict__)
    return module


def test_the_judge_of_the_package_hears(tmp_path: Path, loudness: Any) -> None:
    tasks = [task(tmp_path, "second", 1.0), task(tmp_path, "quiet", 1.0, 1e-4), task(tmp_path, "short", 0.05)]
    found: dict[str, Answer] = {
        one.judgment_id: one for one in loudness.Loudness(loudness.LoudnessOptions()).judge(tasks)
    }
    assert found["second"].transcript == "na na na na"
    assert found["second"].outcome.facts == {"level_dbfs": pytest.approx(-9.0)}  # 20 log10(0.5 / sqrt 2)
    assert found["quiet"].transcript == ""
    assert (found["short"].outcome.status, found["short"].outcome.reason) == (Status.JUDGE_FAILED, "too_short")
    assert issubclass(JudgeFailed, Exception)


def test_the_yaml_file_of_the_page_is_for_that_judge(loudness: Any) -> None:
    [text] = blocks("yaml")
    written = OmegaConf.create({"judge": OmegaConf.create(text)})
    node = OmegaConf.to_container(written.judge.loudness, resolve=True)
    assert isinstance(node, dict)
    assert loudness.LoudnessOptions(**{str(key): value for key, value in node.items()}) == loudness.LoudnessOptions()
    assert written.judge.defaults == ["/schema/judge/loudness@loudness", "_self_"]


def test_the_program_of_the_page_passes_the_check(tmp_path: Path) -> None:
    path = tmp_path / "my_judge.py"
    path.write_text(PROGRAM, encoding="utf-8")
    found = list(check(How([sys.executable, str(path)])))
    assert [f"{one.name}: {one.found}" for one in found if not one.passed] == []
    assert len(PROGRAM.splitlines()) <= 32


def test_the_program_of_the_page_is_a_remote_judge(tmp_path: Path) -> None:
    path = tmp_path / "my_judge.py"
    path.write_text(PROGRAM, encoding="utf-8")
    [revision] = re.findall(r'revision="([^"]+)"', PROGRAM)
    assert f"judge.revision={revision} " in PAGE
    judge = Remote(RemoteOptions("x", "mine", [sys.executable, str(path)], revision))
    [answer] = judge.judge([task(tmp_path, "half", 0.5)])
    judge.close()
    assert answer.transcript == "na na"


def test_the_protocol_of_the_page_is_the_one_that_is_spoken(tmp_path: Path) -> None:
    rows = re.findall(r"^\| (judge|kasauti) \| (`.*`) \| ", PAGE, re.MULTILINE)
    said = {who + re.sub(r"\W.*", "", text[3:]): set(re.findall(r'"(\w+)"', text)) for who, text in rows}
    assert said["judgeprotocol"] == {"protocol", "revision", "batch"}
    assert f'"protocol": {PROTOCOL}' in PAGE
    sent = encode_task(task(tmp_path, "a", 0.1))
    assert said["kasautiid"] == {*sent, *sent["clips"][0]}
    assert said["judgeid"] == {"id", *_FIELDS}
    defaults = RemoteOptions()
    for words in (
        f"`timeout_s` ({defaults.timeout_s:g} s)",
        "`limit_s` (an hour)",
        f"`restarts` ({defaults.restarts})",
    ):
        assert words in PAGE
    assert defaults.limit_s == 3600


def test_files_and_names_of_the_page_are_there() -> None:
    for name in re.findall(r"`((?:src|conf|servers)/[\w/.]+)`", PAGE):
        if "loudness" not in name:
            assert (ROOT / name).is_file() or (ROOT / "src/kasauti/judges" / name).is_file(), name
    for source in (IN_PACKAGE, PROGRAM):
        ast.parse(source)
