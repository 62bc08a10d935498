"""A finished run scored again from its own tables: raw transcripts and measured clips in, every number out.

Needs neither store nor models. With the rules that the run was scored with, each table comes out byte for byte.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from kasauti.errors import StoreError
from kasauti.metrics.gates import Sound
from kasauti.pipeline.assembly import SWITCH_COLUMNS
from kasauti.pipeline.folder import RunFolder
from kasauti.pipeline.products import write_summary
from kasauti.pipeline.scoring import Scored, score_row, unscored
from kasauti.prompts import prompts_sha256
from kasauti.records import SampleRow, Status
from kasauti.report import ClipRow, RunTables, load
from kasauti.report.summarising import summarise
from kasauti.report.table_rows import LEVEL_COLUMNS
from kasauti.report.tables import write_records, write_table
from kasauti.stats.humans import HumanFloor
from kasauti.stats.noise import StoredNoise

RESCORED = ("per_sample.tsv", "levels.tsv", "switching.tsv", "aggregate.csv", "verdicts.csv", "noise.tsv")
"""Tables that hold computed numbers."""

ANSWERS = ("scores.tsv", "words.tsv")
"""Tables of what judges said that is no transcript; taken as they are."""

_Kind = TypeVar("_Kind")


def rescore(source: Path, target: Path) -> None:
    """Writes the tables of a run anew, by today's rules.

    Args:
        source: A folder that `kasauti.report.load` reads.
        target: Where `RESCORED`, `ANSWERS` and `prompts.jsonl` go.

    Raises:
        StoreError: the run can't be read, or its prompts are not those that `run.json` names.
    """
    run = load(source)
    _check_prompts(run)
    record = json.loads((source / "run.json").read_text(encoding="utf-8"))
    scored = _score(run)
    samples = [one.row for one in scored]
    summary = summarise(
        samples,
        run.scoring,
        run.systems,
        run.runs[0].promptset.sha256,
        [_known(HumanFloor, facts) for facts in record.get("human_floors") or ()],
        [_known(StoredNoise, facts) for facts in record.get("noise") or ()],
    )
    folder = RunFolder(target.parent, target.name)
    write_summary(folder, run.prompts, samples, summary)
    write_records(target / "levels.tsv", LEVEL_COLUMNS, (row for one in scored for row in one.levels))
    write_table(target / "switching.tsv", SWITCH_COLUMNS, (row for one in scored for row in one.switching))
    for name in ANSWERS:
        if (source / name).is_file() and source.resolve() != target.resolve():
            shutil.copyfile(source / name, target / name)


def _score(run: RunTables) -> list[Scored]:
    scoring, ladder = run.scoring, run.scoring.ladder()
    prompts = {prompt.id: prompt for prompt in run.prompts}
    clips = {(clip.prompt_id, clip.system, clip.repeat): clip for clip in run.clips}
    made = []
    for row in run.samples:
        if run.systems[row.system].recorded:  # rates that somebody else made, without a transcript
            made.append(Scored(row))
            continue
        sound = _sound(clips.get((row.prompt_id, row.system, row.repeat)), row)
        scored = score_row(replace(unscored(row), marks=None), prompts[row.prompt_id], sound, scoring, ladder)
        scored.row = replace(scored.row, marks=row.marks)
        made.append(scored)
    return made


def _sound(clip: ClipRow | None, row: SampleRow) -> Sound | None:
    if clip is None or clip.status is not Status.OK or clip.duration_s is None or clip.clip_id != row.clip_id:
        return None
    return Sound(
        duration_s=clip.duration_s,
        leading_silence_s=clip.leading_silence_s,
        trailing_silence_s=clip.trailing_silence_s,
        clipped_fraction=clip.clipped_fraction,
        end=clip.end,
        cap_s=clip.cap_s,
    )


def _check_prompts(run: RunTables) -> None:
    [info] = run.runs
    found = prompts_sha256(run.prompts)
    if found != info.promptset.sha256 and not all(facts.recorded for facts in run.systems.values()):
        raise StoreError(
            f"{info.folder / 'prompts.jsonl'}: hash {found[:12]}, but the run was made with prompts of hash "
            f"{info.promptset.sha256[:12]}; a prompt was changed after the run"
        )


def _known(kind: type[_Kind], facts: Mapping[str, Any]) -> _Kind:
    names = {entry.name for entry in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in facts.items() if name in names})
