"""Runs for tests: composed by Hydra as on the command line, in this process or in one of their own."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from rich.console import Console

from kasauti.config import CONF, register, run_settings
from kasauti.paths import ROOT
from kasauti.pipeline.products import RESULT_TABLES
from kasauti.pipeline.run import RunResult, run
from kasauti.records import SampleRow
from kasauti.report.tables import read_records, read_table
from kasauti.settings import RunSettings

LINES = [
    ("p1", "en", "the train leaves at seven"),
    ("p2", "en", "please bring some water"),
    ("p3", "hi", "आज मौसम अच्छा है"),
    ("p4", "hi", "मुझे पानी चाहिए"),
    ("p5", "ta", "நாளை மழை வரும்"),
    ("p6", "ur", "آج موسم اچھا ہے"),
]


def prompt_file(folder: Path, lines: list[tuple[str, str, str]] = LINES, name: str = "prompts.jsonl") -> Path:
    """A prompt file of (id, lang, text)."""
    path = folder / name
    rows = (json.dumps({"id": i, "lang": lang, "text": text}, ensure_ascii=False) for i, lang, text in lines)
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def words(folder: Path, *overrides: str, system: str = "fake", judge: str = "fake") -> list[str]:
    """The command line of a run whose products, store and prompts lie in `folder`."""
    prompts = folder / "prompts.jsonl"
    if not prompts.exists():
        prompt_file(folder)
    given = [f"paths.runs={folder}/runs", f"paths.store={folder}/store"]
    if not any(word.startswith("promptset=") for word in overrides):
        given += ["promptset=file", f"promptset.path={prompts}"]
    return [f"system={system}", f"judge={judge}", *given, *overrides]


def settings(folder: Path, *overrides: str, **groups: str) -> RunSettings:
    """A checked config."""
    register()
    command = words(folder, *overrides, **groups)
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return run_settings(compose("config", command), command)


@dataclass
class Ran:
    """What a run left behind."""

    result: RunResult
    said: str

    @property
    def rows(self) -> list[SampleRow]:
        return read_records(self.result.folder / "per_sample.tsv", SampleRow)

    def table(self, name: str) -> list[dict[str, Any]]:
        return read_table(self.result.folder / name)

    def tables(self) -> dict[str, bytes]:
        return result_tables(self.result.folder)


def result_tables(folder: Path) -> dict[str, bytes]:
    """The tables that must not depend on how a run went."""
    return {name: (folder / name).read_bytes() for name in RESULT_TABLES}


def run_here(folder: Path, *overrides: str, **groups: str) -> Ran:
    """Runs in this process."""
    said = io.StringIO()
    result = run(settings(folder, *overrides, **groups), Console(file=said, width=140))
    return Ran(result, said.getvalue())


def command(*arguments: str) -> list[str]:
    """`python run.py` with arguments, as a process."""
    return [sys.executable, str(ROOT / "run.py"), *arguments]


def run_apart(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Runs `python run.py` in a process of its own."""
    return subprocess.run(command(*arguments), capture_output=True, text=True, encoding="utf-8", cwd=cwd, check=False)


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Records of a JSONL file."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line] if path.exists() else []
