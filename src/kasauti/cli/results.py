"""Committed results: every table of `results/` is recomputed, and whatever differs is named cell by cell.

A study of runs is scored again from its raw transcripts. The tables of a panel are recomputed where the published
judgments are at hand, which are never part of the tree; elsewhere they are held against their checksums.
"""

from __future__ import annotations

import csv
import json
import math
import tempfile
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

from kasauti.errors import KasautiError
from kasauti.identity import file_sha256

FILE_LIMIT_BYTES, STUDY_LIMIT_BYTES = 2_000_000, 8_000_000

PROVENANCE = "provenance.json"

_NOT_LISTED = {PROVENANCE, "README.md"}
_FIGURES = "figures"
_AT_MOST = 5
"""So many cells of one table are named; the others are counted."""

Fault = tuple[str, int, str]
"""File within `results/`, line (0 = as a whole), what is wrong."""

_REL_TOLERANCE, _ABS_TOLERANCE = 1e-9, 1e-12
"""Far above what the order of sums changes, and far below what a table is read for."""


def file_names(folder: Path) -> list[str]:
    """Files of a study that its record lists: tables and the records of runs; figures are made from them."""
    found = (path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file())
    return [path.as_posix() for path in found if path.parts[0] != _FIGURES and path.as_posix() not in _NOT_LISTED]


class Results:
    """The studies of one tree."""

    def __init__(self, root: Path, bundle: Path | None = None) -> None:
        """
        Args:
            root: Top of the tree.
            bundle: Folder of the published judgments, if they are at hand.
        """
        self.folder = root / "results"
        self._bundle = bundle

    def studies(self) -> list[Path]:
        """Folders of `results/`."""
        return sorted(path for path in self.folder.glob("*/") if not path.name.startswith("."))

    def told(self, study: Path) -> str:
        """How a study is checked, in one line."""
        facts = _provenance(study)
        if not isinstance(facts, dict) or facts.get("kind") != "panel":
            return f"results/{study.name}: scored again from its transcripts"
        if self._bundle is None:
            return f"results/{study.name}: held against its checksums; --mirror DIR recomputes it"
        return f"results/{study.name}: recomputed from the published judgments"

    def faults(self, study: Path) -> Iterator[Fault]:
        """Whatever is wrong with a study; nothing where every file is as it was and every table comes out."""
        facts = _provenance(study)
        if not isinstance(facts, dict) or not isinstance(facts.get("files"), dict):
            yield f"{study.name}/{PROVENANCE}", 0, "no record of where these tables come from"
            return
        yield from _changed(study, facts["files"])
        try:
            with tempfile.TemporaryDirectory() as beside:
                yield from self._recomputed(study, facts, Path(beside))
        except KasautiError as error:
            yield study.name, 0, f"can't be recomputed: {error}"
        except (KeyError, TypeError) as error:
            yield f"{study.name}/{PROVENANCE}", 0, f"not the record of a study: {type(error).__name__} {error}"

    def _recomputed(self, study: Path, facts: Mapping[str, Any], beside: Path) -> Iterator[Fault]:
        if facts.get("kind") == "runs":
            from kasauti.pipeline.rescoring import RESCORED, rescore

            for folder in sorted(path.parent for path in study.glob("*/run.json")):
                rescore(folder, beside / folder.name)
                for name in RESCORED:
                    if (folder / name).is_file():
                        yield from _differing(study, folder / name, beside / folder.name / name)
        elif facts.get("kind") == "panel":
            if self._bundle is not None:
                from kasauti.panel.bundle import mirrored
                from kasauti.panel.explore import write_tables
                from kasauti.panel.intervals import Draws

                draws = Draws(facts["draws"], facts["seed"])
                bundle = mirrored(str(self._bundle), "--mirror")
                write_tables(bundle, facts["checksums_sha256"], draws, beside)
                for path in sorted({*study.glob("*.tsv"), *(study / made.name for made in beside.glob("*.tsv"))}):
                    yield from _differing(study, path, beside / path.name)
        else:
            yield f"{study.name}/{PROVENANCE}", 0, f"unknown kind of study {facts.get('kind')!r}"


def _provenance(study: Path) -> Any:
    try:
        return json.loads((study / PROVENANCE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _changed(study: Path, files: Mapping[str, str]) -> Iterator[Fault]:
    present = file_names(study)
    for name in sorted({*present, *files}):
        where = f"{study.name}/{name}"
        if name not in present:
            yield where, 0, "a file that the study's record lists is missing"
        elif name not in files:
            yield where, 0, "a file that the study's record does not list"
        elif file_sha256(study / name) != files[name]:
            yield where, 0, "not the file that was kept: its SHA-256 is another"
        if name in present and (study / name).stat().st_size > FILE_LIMIT_BYTES:
            yield where, 0, f"larger than {FILE_LIMIT_BYTES / 1e6:g} MB"
    if sum((study / name).stat().st_size for name in present) > STUDY_LIMIT_BYTES:
        yield study.name, 0, f"larger than {STUDY_LIMIT_BYTES / 1e6:g} MB in all"


def _differing(study: Path, kept: Path, made: Path) -> Iterator[Fault]:
    """Cells of a kept table that come out otherwise."""
    where = f"{study.name}/{kept.relative_to(study).as_posix()}"
    if not (kept.is_file() and made.is_file()):
        yield where, 0, "a table that is no longer made" if kept.is_file() else "a table that is made is missing"
        return
    if kept.read_bytes() == made.read_bytes():
        return
    found = list(_cells(kept, made))
    yield from ((where, line, what) for line, what in found[:_AT_MOST])
    if len(found) > _AT_MOST:
        yield where, 0, f"{len(found) - _AT_MOST} more cells come out otherwise"
    if not found and list(_lines(kept)) == list(_lines(made)):
        yield where, 0, "the same cells, written in other bytes"


def _cells(kept: Path, made: Path) -> Iterator[tuple[int, str]]:
    header: list[str] = []
    for line, (old, new) in enumerate(zip_longest(_lines(kept), _lines(made)), start=1):
        header = header or list(old or new or ())
        if old is None or new is None:
            yield line, "a row that does not come out" if new is None else "a row is missing"
            continue
        for column, (was, now) in enumerate(zip_longest(old, new)):
            if was != now and not _is_same_number(was, now):
                name = header[column] if column < len(header) else f"column {column + 1}"
                yield line, f"{name} is {was!r}, recomputed {now!r}"


def _is_same_number(was: str | None, now: str | None) -> bool:
    """Whether two texts are one fraction but for the last digits, in which machines differ that solve equations."""
    try:
        numbers = [float(text) for text in (was or "", now or "") if "." in text or "e" in text]
    except ValueError:
        return False
    return len(numbers) == 2 and math.isclose(*numbers, rel_tol=_REL_TOLERANCE, abs_tol=_ABS_TOLERANCE)


def _lines(path: Path) -> Iterator[list[str]]:
    with path.open(encoding="utf-8", newline="" if path.suffix == ".csv" else "\n") as file:
        yield from csv.reader(file) if path.suffix == ".csv" else (line.rstrip("\n").split("\t") for line in file)
