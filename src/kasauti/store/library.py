"""The store on disk: `clips.jsonl`, `judgments.jsonl`, and audio files named by `clip_id`.

Whatever a run pays for goes here first, keyed by identity; run folders are made from it and can be made again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any

from kasauti.records import Clip, Judgment, Outcome, Status
from kasauti.store.claims import Claims
from kasauti.store.files import write_bytes
from kasauti.store.jsonl import JsonlLog


def _encode(record: Clip | Judgment) -> dict[str, Any]:
    """A record as a JSON object, its id first, fields at their default left out."""
    value = asdict(record)
    value["outcome"] = _trim(record.outcome, value["outcome"])
    return _trim(record, value)


def _trim(record: Any, value: dict[str, Any]) -> dict[str, Any]:
    kept = {}
    for field in fields(record):
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        if value[field.name] != default:
            kept[field.name] = value[field.name]
    return kept


def _outcome(value: Mapping[str, Any]) -> Outcome:
    return Outcome(**{**value, "status": Status(value.get("status", Status.OK))})


def _clip(value: Mapping[str, Any]) -> Clip:
    return Clip(**{**value, "outcome": _outcome(value["outcome"])})


def _judgment(value: Mapping[str, Any]) -> Judgment:
    return Judgment(**{**value, "outcome": _outcome(value["outcome"])})


class Store:
    """Clips and judgments of all runs.

    Args:
        root: The store's folder. Nothing is made in it before the first write.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.clips: JsonlLog[Clip] = JsonlLog(root / "clips.jsonl", _encode, _clip)
        self.judgments: JsonlLog[Judgment] = JsonlLog(root / "judgments.jsonl", _encode, _judgment)
        self.claims = Claims(root / "locks")

    def save_audio(self, clip_id: str, content: bytes, suffix: str) -> str:
        """Writes a clip's audio file, atomically.

        Returns:
            Its path relative to the store.
        """
        relative = f"clips/{clip_id[:2]}/{clip_id}{suffix}"
        write_bytes(self.root / relative, content)
        return relative

    def audio_path(self, clip: Clip) -> Path:
        """Where a clip's audio lies."""
        assert clip.path is not None, "only clips with audio have a path"
        return self.root / clip.path

    def usable(self, clip: Clip) -> bool:
        """Whether a clip's record still tells the truth: a failure always does, a sound only with its file."""
        return clip.path is None or self.audio_path(clip).is_file()
