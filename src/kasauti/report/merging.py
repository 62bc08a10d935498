"""One set of tables from several runs, so that one leaderboard stands over all of them.

Rows are put together and the aggregates computed anew, since intervals and common prompts depend on who is compared.
A row that two runs have is taken from the one that ended last. A name that means different things in different runs (a
voice at another speed, a judge of another revision) is split, see `kasauti.report.labels`.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Hashable, Iterable, MutableMapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar, cast

from kasauti.errors import StoreError
from kasauti.identity import signature_parts
from kasauti.prompts import prompts_sha256
from kasauti.records import AggregateRow, Prompt, Status
from kasauti.report.labels import told_apart
from kasauti.report.loading import RunTables
from kasauti.report.summarising import summarise
from kasauti.report.table_rows import key_of
from kasauti.stats.humans import HumanFloor
from kasauti.stats.scores import METRICS

Row = TypeVar("Row")

_RULES = ("level", "normaliser", "numbers", "segmentation")
"""Parts of a signature that say how a transcript became a number."""


def merge(parts: Sequence[RunTables], floors: Sequence[HumanFloor] = ()) -> RunTables:
    """Puts runs together.

    Args:
        parts: One or more runs, in the order in which their systems are to be listed.
        floors: What other runs found of human recordings.

    Raises:
        StoreError: nothing to merge, runs scored at different levels, or a prompt id that stands for different texts.
    """
    if not parts:
        raise StoreError("no run to merge: wanted at least one run folder")
    if len(parts) == 1:
        return parts[0]
    _check_comparable(parts)
    named = told_apart(parts)
    by_age = sorted(named, key=lambda part: part.runs[-1].finished_at or "")
    samples = _latest(
        (row for part in by_age for row in part.samples),
        key=key_of,
        gives_way=lambda row: row.status is Status.NOT_RUN,
    )
    clips = _latest(
        (row for part in by_age for row in part.clips), key=lambda row: (row.prompt_id, row.system, row.repeat)
    )
    marks = _latest(
        (row for part in by_age for row in part.marks),
        key=lambda row: (*key_of(row), row.mark),
    )
    words = _latest(
        (row for part in by_age for row in part.words),
        key=lambda row: (*key_of(row), row.place),
    )
    merged = replace(
        named[0],
        runs=tuple(run for part in named for run in part.runs),
        systems={name: facts for part in named for name, facts in part.systems.items()},
        judges={name: revision for part in named for name, revision in part.judges.items()},
        signatures={},
        prompts=_latest(
            (prompt for part in named for prompt in part.prompts),
            key=lambda prompt: prompt.id,
            gives_way=lambda prompt: not prompt.text,
        ),
        samples=samples,
        clips=clips,
        marks=marks,
        words=words,
        audio=ChainMap(*cast(list[MutableMapping[str, Path]], [part.audio for part in reversed(by_age)])),
        noise=[one for part in named for one in part.noise],
    )
    sha256 = prompts_sha256(merged.prompts)
    summary = summarise(merged.samples, merged.scoring, merged.systems, sha256, floors, merged.noise)
    published = [row for part in named for row in part.aggregates if row.system in _only_published(part)]
    return replace(
        merged,
        aggregates=[*summary.aggregates, *published],
        verdicts=summary.verdicts,
        signatures=_signatures([*summary.aggregates, *published]),
    )


def _only_published(part: RunTables) -> set[str]:
    """Systems of which a run has summaries and no rows; these can't be computed anew."""
    return set(part.systems) - {row.system for row in part.samples}


def _check_comparable(parts: Sequence[RunTables]) -> None:
    for name in _RULES:
        runs = {value: part.runs[0].run_id for part in parts for value in _recorded_part(part, name)}
        if len(runs) > 1:
            told = ", ".join(f"{run} at {value!r}" for value, run in sorted(runs.items()))
            raise StoreError(
                f"these runs are scored with a different {name} ({told}), so their numbers can't stand in one table; "
                "run the older command again with the same scoring: it scores anew from the store, without a call. "
                "python -m kasauti compare scores two runs anew by itself"
            )
    texts: dict[str, tuple[Prompt, str]] = {}
    for part in parts:
        for prompt in part.prompts:
            if not prompt.text:  # an import of rates without texts
                continue
            known, run = texts.setdefault(prompt.id, (prompt, part.runs[0].run_id))
            if (known.text, known.lang) != (prompt.text, prompt.lang):
                raise StoreError(
                    f"prompt {prompt.id!r} is {known.text!r} in run {run} but {prompt.text!r} in run "
                    f"{part.runs[0].run_id}; runs over different prompts can't stand in one table"
                )


def _recorded_part(part: RunTables, name: str) -> set[str]:
    """Values of one part of the signatures that a run recorded; rates made elsewhere are told apart by system."""
    if all(facts.recorded for facts in part.systems.values()):
        return set()
    signatures = [signature_parts(line) for text in part.signatures.values() for line in text.split("\n")]
    return {parts[name] for parts in signatures if name in parts}


def _latest(
    rows: Iterable[Row], key: Callable[[Row], Hashable], gives_way: Callable[[Row], bool] = lambda _: False
) -> list[Row]:
    """The last row of each key; one that gives way replaces nothing."""
    kept: dict[Hashable, Row] = {}
    for row in rows:
        place = key(row)
        if place not in kept or not gives_way(row):
            kept[place] = row
    return list(kept.values())


def _signatures(rows: Sequence[AggregateRow]) -> dict[str, str]:
    """Judge -> signature of its headline numbers; all of them where systems differ in it."""
    found: dict[str, dict[str, None]] = {}
    for row in rows:
        if row.scope == "macro":
            found.setdefault(row.judge, {})
            if row.metric == METRICS[0]:
                found[row.judge][row.signature] = None
    return {judge: "\n".join(several) for judge, several in found.items() if several}
