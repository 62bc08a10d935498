"""The documented reader of a run folder: every table as typed rows.

`load` reads what `pipeline` writes and checks that it hangs together; it computes nothing. Paths of audio come out
absolute, and only those that lie inside the run's store: a table is untrusted and can't point at other files.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from kasauti.errors import StoreError
from kasauti.records import AggregateRow, Prompt, SampleRow, VerdictRow
from kasauti.report.formats import csv_text
from kasauti.report.provenance import RunInfo, SystemInfo, load_info
from kasauti.report.table_rows import ClipRow, Key, LevelRow, MarkRow, WordRow, key_of
from kasauti.report.tables import cell_value, field_types, read_records
from kasauti.settings import ScoringSettings
from kasauti.stats.noise import StoredNoise

Record = TypeVar("Record")


class Sounds(Mapping[str, Path]):
    """`clip_id` -> absolute path of its sound; a path that leaves the store is none.

    Paths are made when they are asked for: one takes more memory than the row that it is of.
    """

    def __init__(self, clips: Iterable[ClipRow], store: Path) -> None:
        self._root = store.resolve()
        self._places = {clip.clip_id: clip.path for clip in clips if clip.clip_id and clip.path and _stays(clip.path)}

    def __getitem__(self, clip_id: str) -> Path:
        return Path(f"{self._root}/{self._places[clip_id]}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _stays(place: str) -> bool:
    return ".." not in place or ".." not in Path(place).parts


@dataclass(frozen=True)
class RunTables:
    """One run, or several merged, ready to be shown.

    Attributes:
        runs: Where the rows come from; one entry unless merged.
        systems: System id -> facts, in the order of the line-up.
        judges: Judge id -> revision.
        prompts: In the order of the prompt file.
        samples: `per_sample.tsv`.
        clips: `clips.tsv`.
        marks: `scores.tsv`; empty where no judge gives marks.
        words: `words.tsv`; empty where no judge places words in time.
        aggregates: `aggregate.csv`.
        verdicts: `verdicts.csv`; empty for a run of a version that made none.
        audio: `clip_id` -> absolute path of its sound, which may have been removed since.
        noise: Noise of these systems that other runs measured, found by `kasauti.report.floor_history`; `load` finds
            none.
    """

    runs: tuple[RunInfo, ...]
    systems: Mapping[str, SystemInfo]
    judges: Mapping[str, str]
    signatures: Mapping[str, str]
    prompts: Sequence[Prompt]
    samples: Sequence[SampleRow]
    clips: Sequence[ClipRow]
    marks: Sequence[MarkRow]
    words: Sequence[WordRow]
    aggregates: Sequence[AggregateRow]
    verdicts: Sequence[VerdictRow]
    audio: Mapping[str, Path]
    noise: Sequence[StoredNoise] = ()

    @property
    def scoring(self) -> ScoringSettings:
        """How the answers became numbers; the same for all runs but those whose rates were made elsewhere."""
        own = (run for run in self.runs if not all(facts.recorded for facts in run.systems.values()))
        return next(own, self.runs[0]).scoring

    @property
    def languages(self) -> list[str]:
        """Languages in the order of the prompts."""
        return list(dict.fromkeys(prompt.lang for prompt in self.prompts))


def load(folder: Path) -> RunTables:
    """Reads a run folder.

    Args:
        folder: `runs/<run_id>`, written by a run that ended (complete or not).

    Raises:
        StoreError: a table is missing or torn, or names a prompt that `prompts.jsonl` has not.
    """
    folder = Path(folder).resolve()
    run = load_info(folder)
    prompts = list(_prompts(folder / "prompts.jsonl"))
    samples = read_records(folder / "per_sample.tsv", SampleRow)
    marks = read_records(scores, MarkRow) if (scores := folder / "scores.tsv").is_file() else []
    clips = read_records(folder / "clips.tsv", ClipRow)
    verdicts, words = folder / "verdicts.csv", folder / "words.tsv"
    unknown = {row.prompt_id for row in samples} - {prompt.id for prompt in prompts}
    if unknown:
        raise StoreError(
            f"{folder / 'per_sample.tsv'}: prompt {sorted(unknown)[0]!r} is not in prompts.jsonl, so the two files "
            "are of different runs; start the run again, it writes both anew from the store"
        )
    return RunTables(
        runs=(run,),
        systems=run.systems,
        judges=run.judges,
        signatures=run.signatures,
        prompts=prompts,
        samples=_with_marks(samples, marks),
        clips=clips,
        marks=marks,
        words=read_records(words, WordRow) if words.is_file() else [],
        aggregates=load_aggregates(folder),
        verdicts=list(_csv_records(verdicts, VerdictRow)) if verdicts.is_file() else [],
        audio=Sounds(clips, run.store),
    )


def _with_marks(samples: Sequence[SampleRow], marks: Sequence[MarkRow]) -> list[SampleRow]:
    """The rows, each with the marks that were given to it."""
    given: dict[Key, dict[str, float]] = {}
    for mark in marks:
        if mark.value is not None:
            given.setdefault(key_of(mark), {})[mark.mark] = mark.value
    if not given:
        return list(samples)
    return [replace(row, marks=given[key]) if (key := key_of(row)) in given else row for row in samples]


def load_aggregates(folder: Path) -> list[AggregateRow]:
    """Reads `aggregate.csv` alone; for searches through many runs.

    Raises:
        StoreError: the table is missing or torn.
    """
    return list(_csv_records(Path(folder) / "aggregate.csv", AggregateRow))


def load_levels(folder: Path) -> list[LevelRow]:
    """Reads `levels.tsv`, the scores at all levels; apart from `load`, since reports show the headline level only.

    Raises:
        StoreError: the table is missing or torn.
    """
    return read_records(Path(folder) / "levels.tsv", LevelRow)


def _prompts(path: Path) -> Iterator[Prompt]:
    try:
        lines = path.read_bytes().decode("utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise StoreError(f"{path}: can't read the prompts of this run: {error}") from error
    for number, line in enumerate(lines, start=1):
        if line:
            try:
                row = json.loads(line)
                tags, control = tuple(row.get("tags") or ()), row.get("control") or {}
                yield Prompt(row["id"], row["lang"], row["text"], row["script"], tags, control)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise StoreError(f"{path}:{number}: not a prompt: {type(error).__name__} {error}") from error


def _csv_records(path: Path, kind: type[Record]) -> Iterator[Record]:
    """Rows of a CSV table; an empty cell has the default of its field."""
    kinds = field_types(kind)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                yield kind(**{k: cell_value(kinds[k], csv_text(v)) for k, v in row.items() if k in kinds and v})
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(f"{path}: can't read this table: {error}") from error
