"""Runs before they are run, for tests below the command line: settings, plans, and stores with records in them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from kasauti.audio import wav_bytes
from kasauti.fakes import RATE_HZ, write_text
from kasauti.identity import file_sha256
from kasauti.judges.base import JudgeOptions
from kasauti.judges.fake import FakeJudgeOptions
from kasauti.pipeline.plan import Plan, Take, make_plan
from kasauti.records import Clip, Outcome, Status
from kasauti.settings import Config, ExecutorSettings, PromptsetSettings, RunSettings, TrackingSettings
from kasauti.store.library import Store
from kasauti.systems.base import SystemOptions
from kasauti.systems.fake import FakeOptions

ROWS = [
    {"id": "p1", "lang": "en", "text": "one two"},
    {"id": "p2", "lang": "hi", "text": "तीन चार"},
    {"id": "p3", "lang": "ta", "text": "ஐந்து ஆறு"},
]


def voice(name: str = "fake", **options: Any) -> FakeOptions:
    """Options of a fake system."""
    return FakeOptions("kasauti.systems.fake.Fake", name, **options)


def listener(name: str = "fake", **options: Any) -> FakeJudgeOptions:
    """Options of a fake judge."""
    return FakeJudgeOptions("kasauti.judges.fake.FakeJudge", name, **options)


def panel(name: str = "panel") -> FakeJudgeOptions:
    """Options of a fake judge that compares."""
    return FakeJudgeOptions("kasauti.judges.fake.FakePanel", name)


def settings_for(
    folder: Path,
    systems: Sequence[SystemOptions] = (),
    judges: Sequence[JudgeOptions] = (),
    rows: Iterable[dict[str, Any]] = ROWS,
    **changes: Any,
) -> RunSettings:
    """Settings of a run over `rows`, everything else at its default or as in `changes`."""
    path = folder / "prompts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    default = Config()
    values = {field.name: getattr(default, field.name) for field in fields(RunSettings) if hasattr(default, field.name)}
    values |= {
        "systems": list(systems) or [voice()],
        "judges": list(judges) or [listener()],
        "promptset": PromptsetSettings("mine", str(path)),
        "executor": ExecutorSettings("kasauti.pipeline.executors.LocalExecutor", 1),
        "tracking": TrackingSettings("kasauti.tracking.base.NoTracker"),
        "config": {},
    }
    return RunSettings(**{**values, **changes})


def plan_for(folder: Path, *systems: SystemOptions, **changes: Any) -> Plan:
    """A plan; see `settings_for`."""
    return make_plan(settings_for(folder, systems, **changes))


def store_of(folder: Path) -> Store:
    """The store of a test's folder."""
    return Store(folder / "store")


def put_clip(store: Store, take: Take, outcome: Outcome | None = None, text: str | None = None) -> Clip:
    """Records a take's clip as made (saying `text`), or as ended otherwise."""
    assert take.clip_id is not None
    clip = Clip(take.clip_id, take.system, take.fingerprint, take.prompt.lang, take.prompt.text, take.repeat, Outcome())
    if outcome is not None and outcome.status is not Status.OK:
        clip = Clip(**{**vars(clip), "outcome": outcome})
    else:
        samples = write_text(take.prompt.text if text is None else text)
        path = store.save_audio(take.clip_id, wav_bytes(samples, RATE_HZ), ".wav")
        sound = {"path": path, "audio_sha256": file_sha256(store.root / path), "duration_s": len(samples) / RATE_HZ}
        clip = Clip(**{**vars(clip), **sound})
    store.clips.put(clip)
    return clip
