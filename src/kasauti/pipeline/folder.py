"""The run folder: its lock, its state, and the products in it."""

from __future__ import annotations

import json
import os
import platform
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from kasauti.errors import StoreError
from kasauti.pipeline.executors import available_cores
from kasauti.records import Prompt
from kasauti.report.formats import csv_table
from kasauti.store.files import folder_errors, write_text


class RunFolder:
    """`runs/<run_id>`. Every file in it is written whole or not at all."""

    def __init__(self, runs: Path, run_id: str) -> None:
        self.run_id = run_id
        self.path = runs / run_id

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the folder against a second writer.

        Raises:
            StoreError: another process writes this run; the message names it.
        """
        with folder_errors(self.path, "make the run folder"):
            self.path.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.path / ".lock")
            try:
                lock.acquire(blocking=False)
            except Timeout:
                writer = self.read_json(".writer.json") or {}
                raise StoreError(
                    f"run {self.run_id} is being written by process {writer.get('pid', '?')} on "
                    f"{writer.get('host', '?')} since {writer.get('since', '?')}. Wait for it, or stop it, and run the "
                    "same command again: it goes on where that one ended."
                ) from None
        try:
            self.write_json(
                ".writer.json",
                {"pid": os.getpid(), "host": socket.gethostname(), "since": now()},
            )
            yield
        finally:
            (self.path / ".writer.json").unlink(missing_ok=True)
            lock.release()

    def read_json(self, name: str) -> dict[str, Any] | None:
        """A JSON file of the folder; None if it is not there or not whole."""
        try:
            value = json.loads((self.path / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return value if isinstance(value, dict) else None

    def write_json(self, name: str, value: Mapping[str, Any]) -> None:
        """Writes a JSON file, keys in the given order."""
        write_text(self.path / name, json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")

    def write_prompts(self, prompts: Iterable[Prompt]) -> None:
        """Writes the prompts of the run as JSONL, so that the folder can be read without the prompt file."""
        lines = (json.dumps(asdict(prompt), ensure_ascii=False) for prompt in prompts)
        write_text(self.path / "prompts.jsonl", "".join(f"{line}\n" for line in lines))

    def write_csv(self, name: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
        """Writes a table as CSV."""
        write_text(self.path / name, csv_table(columns, ([row[column] for column in columns] for row in rows)))


def now() -> str:
    """The time as ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def environment() -> dict[str, Any]:
    """What the run ran on: versions that may matter, and the revision of the code. Recorded, no part of identity."""
    from importlib.metadata import PackageNotFoundError, version

    names = [
        "kasauti",
        "numpy",
        "regex",
        "rapidfuzz",
        "jiwer",
        "soundfile",
        "soxr",
        "hydra-core",
        "omegaconf",
        "onnxruntime",
        "faster-whisper",
        "ctranslate2",
        "piper-tts",
        "espeakng-loader",
        "torch",
        "transformers",
        "nemo-toolkit",
    ]
    versions = {}
    for name in names:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": available_cores(),
        "versions": versions,
        "git": _git_revision(),
    }


def _git_revision() -> str | None:
    """Commit of the repository, with `+changes` where the tree differs from it; None outside a repository."""
    import subprocess

    from kasauti.paths import ROOT

    def git(*words: str) -> str | None:
        try:
            done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        return done.stdout.strip()

    revision = git("rev-parse", "HEAD")
    if revision is None:
        return None
    return revision + ("+changes" if git("status", "--porcelain", "--untracked-files=no") else "")
