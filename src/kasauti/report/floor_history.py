"""Noise floors that earlier runs measured: for runs with a single take a prompt, and for how a floor moves in time.

A floor is found by its score signature, which names the prompts, the rules and the judge's revision: floors that were
made in different ways are never mixed. It counts for the same system, as `Voice` says. A run that took its floor over
from another measured nothing and is no source.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kasauti.errors import StoreError
from kasauti.identity import canonical_json
from kasauti.records import AggregateRow
from kasauti.report.loading import RunTables, load_aggregates
from kasauti.report.provenance import SystemInfo, load_info
from kasauti.report.summarising import rules_of_scoring, signature_of
from kasauti.runs import ended_runs
from kasauti.settings import ScoringSettings
from kasauti.stats.noise import StoredNoise

Place = tuple[str, str, str, str, str]
"""System, judge, scope, key, metric, as in `AggregateRow`."""


@dataclass(frozen=True)
class Voice:
    """What must be equal for two runs to have one system.

    Attributes:
        fingerprint: What speaks.
        settings: What changes the sound.
        decoding: The decoding fields that it uses; the seed, which moves every draw and no variance, does not count.
    """

    fingerprint: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    decoding: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, facts: SystemInfo) -> Voice:
        """The voice of a system in `run.json`."""
        return cls(facts.fingerprint, facts.settings, facts.decoding)

    def is_like(self, other: Voice) -> bool:
        """Whether the other has the same settings and draws in the same way, be it from another checkpoint.

        What draws nothing (recordings, a deterministic voice) is another voice with every other fingerprint.
        """
        same = self.fingerprint == other.fingerprint or bool(self.decoding)
        return same and self._how == other._how

    @property
    def _how(self) -> str:
        decoding = {name: value for name, value in self.decoding.items() if name != "seed"}
        return canonical_json([dict(self.settings), decoding])


@dataclass(frozen=True)
class PastFloor:
    """A noise floor that a run measured.

    Attributes:
        row: Its line in `aggregate.csv`: means, `floor95`, `var_synthesis`, `var_judge`, `n_prompts`, signature.
        voice: The system.
        repeats, rejudges: Takes a prompt, and hearings a take.
        run: Which run.
        at: When it ended, ISO 8601, UTC.
    """

    row: AggregateRow
    voice: Voice
    repeats: int
    rejudges: int
    run: str
    at: str

    @property
    def place(self) -> Place:
        """What it is the floor of."""
        return place_of(self.row)


def place_of(row: AggregateRow) -> Place:
    """What the floor of a row of `aggregate.csv` is the floor of."""
    return (row.system, row.judge, row.scope, row.key, row.metric)


def past_floors(runs: Path, systems: Collection[str], without: Collection[str] = ()) -> Iterator[PastFloor]:
    """Measured floors of finished runs, newest first; those of one run as they stand in its table.

    Args:
        runs: The folder of all runs.
        systems: Names of systems that are wanted, whatever speaks under them.
        without: Ids of runs that are not looked at.
    """
    for folder in ended_runs(runs, without):
        try:
            info = load_info(folder)
            rows = load_aggregates(folder) if set(info.systems) & set(systems) else []
        except StoreError:  # another run's damage must not stop this one
            continue
        for row in rows:
            if row.floor_kind == "measured" and row.system in systems and row.system in info.systems:
                voice, repeats = Voice.of(info.systems[row.system]), info.repeats(row.system)
                yield PastFloor(row, voice, repeats, info.rejudges, info.run_id, info.finished_at or "")


def history_of(runs: Path, rows: Iterable[AggregateRow], without: Collection[str] = ()) -> dict[Place, list[PastFloor]]:
    """What earlier runs measured for each of some rows: same system by name, judge, language, metric, signature.

    Checkpoints under one name are one history, which is what a trend is for; `PastFloor.voice` tells them apart.

    Args:
        runs: The folder of all runs.
        rows: Of `aggregate.csv`.
        without: Ids of runs that are not looked at.

    Returns:
        Place -> floors, newest first; every row has its place.
    """
    signatures = {place_of(row): row.signature for row in rows}
    found: dict[Place, list[PastFloor]] = {place: [] for place in signatures}
    for past in past_floors(runs, {place[0] for place in signatures}, without):
        if signatures.get(past.place) == past.row.signature:
            found[past.place].append(past)
    return found


def find_noise(
    runs: Path, voices: Mapping[str, Voice], judges: Mapping[str, str], scoring: ScoringSettings, prompts_sha256: str
) -> list[StoredNoise]:
    """The noise of some systems that the newest fitting run measured, by judge, metric and language.

    A run of the same voice goes before a newer one of another checkpoint.

    Args:
        runs: The folder of all runs.
        voices: System -> what it is.
        judges: Judge -> revision.
        scoring: How scores are made.
        prompts_sha256: Hash of the prompts.
    """
    rules = rules_of_scoring(scoring)
    best: dict[Place, tuple[bool, PastFloor]] = {}
    for past in past_floors(runs, voices):
        row, voice = past.row, voices[past.row.system]
        heard_by = f"{row.judge}@{judges.get(row.judge)}"
        fits = row.signature == signature_of(row.metric, "lang", rules, heard_by, prompts_sha256)
        if row.scope != "lang" or not fits or not voice.is_like(past.voice):
            continue
        same = past.voice.fingerprint == voice.fingerprint
        if past.place not in best or (same and not best[past.place][0]):
            best[past.place] = (same, past)
    return [_stored(past, same) for same, past in best.values()]


def with_noise(tables: RunTables, level: str | None = None) -> RunTables:
    """A run with what the runs in the same folder measured of its systems, where it has a single take a prompt.

    Args:
        tables: One run.
        level: Of normalisation, where it is another than the run's.
    """
    [info] = tables.runs
    scoring = replace(tables.scoring, level=level or tables.scoring.level)
    voices = {
        name: Voice.of(facts)
        for name, facts in tables.systems.items()
        if not facts.recorded and info.repeats(name) == 1
    }
    noise = find_noise(info.folder.parent, voices, tables.judges, scoring, info.promptset.sha256)
    return replace(tables, noise=noise)


def _stored(past: PastFloor, same: bool) -> StoredNoise:
    row = past.row
    source = f"from run {past.run}" + ("" if same else ", another checkpoint")
    assert row.var_synthesis is not None
    return StoredNoise(row.system, row.judge, row.metric, row.key, row.var_synthesis, row.var_judge, source)
