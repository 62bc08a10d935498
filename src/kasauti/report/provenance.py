"""What `run.json` says: where a run comes from and what was in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal

from kasauti.errors import StoreError
from kasauti.records import Role
from kasauti.settings import ScoringSettings


@dataclass(frozen=True)
class SystemInfo:
    """What `run.json` says of a system. `languages` is None where it speaks any; `settings` change the sound.

    `decoding` holds the decoding fields that it uses, as they were set.
    `recorded`: `rates` where its rates by sample were made elsewhere and taken as they are, since there were no
    transcripts to score; `figures` where there are only summaries of such rates.
    """

    role: Role = "machine"
    fingerprint: str = ""
    languages: Mapping[str, str] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    decoding: Mapping[str, Any] = field(default_factory=dict)
    usd_per_1k_chars: float | None = None
    recorded: Literal["", "rates", "figures"] = ""


@dataclass(frozen=True)
class PromptsetInfo:
    """The prompts of a run: name of the set, hash of what was selected from it, how many."""

    name: str = ""
    sha256: str = ""
    count: int = 0


@dataclass(frozen=True)
class RunInfo:
    """Provenance of one run, from `run.json`.

    Attributes:
        folder: The run folder.
        store: Where its audio lies.
        judges: Judge id -> model id and revision.
        signatures: Judge id -> score signature of its numbers.
        options: System id -> options that were asked for. judge_options: Judge id -> the same.
        rejudges: Hearings of each take.
        git: Commit of the code, `+changes` where the tree differed from it.
    """

    run_id: str
    folder: Path
    store: Path
    study: str | None = None
    started_at: str | None = None
    finished_at: str | None = None
    systems: Mapping[str, SystemInfo] = field(default_factory=dict)
    judges: Mapping[str, str] = field(default_factory=dict)
    signatures: Mapping[str, str] = field(default_factory=dict)
    scoring: ScoringSettings = field(default_factory=ScoringSettings)
    promptset: PromptsetInfo = field(default_factory=PromptsetInfo)
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    judge_options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    rejudges: int = 1
    versions: Mapping[str, Any] = field(default_factory=dict)
    git: str | None = None
    timings_s: Mapping[str, float] = field(default_factory=dict)
    cost_usd: float | None = None

    def repeats(self, system: str) -> int:
        """Takes of each prompt that were asked of a system."""
        return int(self.options.get(system, {}).get("repeats", 1))


def load_info(folder: Path) -> RunInfo:
    """Reads the provenance of a run.

    Raises:
        StoreError: the record is missing or torn.
    """
    folder = Path(folder).resolve()
    path = folder / "run.json"
    raw = _json(path)
    try:
        asked = raw.get("config") or {}
        return RunInfo(
            run_id=raw["run_id"],
            folder=folder,
            store=Path(raw["store"]),
            study=raw.get("study"),
            started_at=raw.get("started_at"),
            finished_at=raw.get("finished_at"),
            systems={name: SystemInfo(**_known(facts, SystemInfo)) for name, facts in raw["systems"].items()},
            judges={name: facts["revision"] for name, facts in raw["judges"].items()},
            signatures=raw.get("signature") or {},
            scoring=ScoringSettings(**_known(raw.get("scoring") or {}, ScoringSettings)),
            promptset=PromptsetInfo(**_known(raw.get("promptset") or {}, PromptsetInfo)),
            options=asked.get("systems") or {},
            judge_options=asked.get("judges") or {},
            rejudges=asked.get("rejudges", 1),
            versions=raw.get("versions") or {},
            git=raw.get("git"),
            timings_s=raw.get("timings_s") or {},
            cost_usd=raw.get("cost_usd"),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{path}: not the record of a run: {type(error).__name__} {error}") from error


def _known(values: Mapping[str, Any], kind: type[Any]) -> dict[str, Any]:
    """The values that this version knows, sections as dataclasses, so that other versions' records can be read."""
    known = {}
    for entry in fields(kind):
        if entry.name in values:
            value, section = values[entry.name], entry.default_factory
            known[entry.name] = section(**_known(value, section)) if is_dataclass(section) else value
    return known


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(
            f"{path}: can't read this record: {error}. Name a run folder (runs/<run_id>) of a run that ended"
        ) from error
