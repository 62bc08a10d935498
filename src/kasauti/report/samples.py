"""The sample list of the page as plain JSON values: one item per (prompt, system), its takes, and what was heard.

Keys are short because there may be tens of thousands of items; `templates/page.js` is the only reader and lists them.
Everything is text or numbers; the page puts it in as text and never as markup.
"""

from __future__ import annotations

import base64
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from kasauti.audio import mono, read_audio
from kasauti.errors import AudioError, TextError
from kasauti.metrics.rubric import PARTS, RubricSettings, rubric_terms
from kasauti.records import Prompt, SampleRow, Status
from kasauti.report.differences import differences
from kasauti.report.listing import Badness
from kasauti.report.loading import RunTables
from kasauti.report.table_rows import ClipRow, Key, MarkRow, WordRow, key_of
from kasauti.report.wording import language_name, metric_name
from kasauti.text.levels import DEFAULT_LADDER, Ladder, normalize_pair

RIGHT_TO_LEFT = frozenset({"Arab", "Hebr", "Nkoo", "Thaa"})
"""Scripts that run from right to left."""

_TYPES = {".wav": "audio/wav", ".flac": "audio/flac", ".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".opus": "audio/ogg"}

_OUTLINE_STEPS = 300
"""Points of the outline of a sound: enough to see words and pauses."""


@dataclass(frozen=True)
class Payload:
    """What the page carries: the list, and the sounds by key where they are embedded."""

    data: dict[str, Any]
    sounds: dict[str, str] | None


def payload(tables: RunTables, folder: Path, *, embed_audio: bool) -> Payload:
    """Makes the page's data.

    Args:
        tables: One run, or several merged.
        folder: Where the page will lie; links to audio are relative to it.
        embed_audio: Carry the sound itself instead of links.
    """
    sounds: dict[str, str] | None = {} if embed_audio else None
    maker = _Maker(tables, folder, sounds)
    data = {
        "systems": list(tables.systems),
        "judges": list(tables.judges),
        "statuses": [str(status) for status in Status],
        "level": tables.scoring.level,
        "rubric": _rubric(tables.scoring.rubric),
        "languages": {code: language_name(code) for code in tables.languages},
        "prompts": [_prompt(prompt) for prompt in tables.prompts],
        "items": maker.items(),
    }
    return Payload(data, sounds)


def _rubric(settings: RubricSettings) -> dict[str, Any]:
    """What every row's rubric is made of: name, formula and share of each part, and what failed gates leave."""
    total = sum(settings.weights.values())
    parts = [[name, PARTS[name][0], weight / total] for name, weight in settings.weights.items() if weight]
    return {"parts": parts, "factors": settings.failed_gates}


def audio_url(path: Path, folder: Path) -> str:
    """A link from a page in `folder` to a file, relative where it can be, every odd character percent-encoded."""
    try:
        relative = os.path.relpath(path, folder)
    except ValueError:  # another drive
        return path.as_uri()
    return "/".join(quote(part, safe="") for part in Path(relative).parts)


def _prompt(prompt: Prompt) -> dict[str, Any]:
    value: dict[str, Any] = {"id": prompt.id, "lang": prompt.lang, "text": prompt.text, "tags": list(prompt.tags)}
    if prompt.script in RIGHT_TO_LEFT:
        value["rtl"] = 1
    if prompt.control:
        value["control"] = dict(prompt.control)
    return value


class _Maker:
    """Holds the look-ups that rows are joined by."""

    def __init__(self, tables: RunTables, folder: Path, sounds: dict[str, str] | None) -> None:
        self.tables = tables
        self.folder = folder
        self.sounds = sounds
        self.systems = {name: place for place, name in enumerate(tables.systems)}
        self.judges = {name: place for place, name in enumerate(tables.judges)}
        self.statuses = {status: place for place, status in enumerate(Status)}
        self.clips = {(clip.prompt_id, clip.system, clip.repeat): clip for clip in tables.clips}
        self.marks: dict[Key, list[MarkRow]] = defaultdict(list)
        for mark in tables.marks:
            self.marks[key_of(mark)].append(mark)
        self.words: dict[Key, list[WordRow]] = defaultdict(list)
        for word in tables.words:
            self.words[key_of(word)].append(word)
        self.badness = Badness(tables.marks)
        try:
            self.ladder = tables.scoring.ladder()
        except TextError:  # tables of another version may hold a step that this one lacks
            self.ladder = DEFAULT_LADDER

    def items(self) -> list[dict[str, Any]]:
        """All items, in the order of prompts and systems."""
        groups: dict[tuple[str, str], dict[int, list[SampleRow]]] = defaultdict(lambda: defaultdict(list))
        for row in self.tables.samples:
            groups[row.prompt_id, row.system][row.repeat].append(row)
        return [
            {
                "p": place,
                "s": self.systems[system],
                "t": [self._take(prompt, rows) for _, rows in sorted(groups[prompt.id, system].items())],
            }
            for place, prompt in enumerate(self.tables.prompts)
            for system in self.tables.systems
            if (prompt.id, system) in groups
        ]

    def _take(self, prompt: Prompt, rows: Sequence[SampleRow]) -> dict[str, Any]:
        first = rows[0]
        clip = self.clips.get((first.prompt_id, first.system, first.repeat))
        take: dict[str, Any] = {"r": first.repeat, "q": [self._row(prompt, row) for row in rows]}
        if clip is not None:
            take |= _present(
                {"u": self._sound(clip), "d": clip.duration_s, "x": clip.error, "cut": 1 if clip.truncated else None}
            )
            if clip.path is not None and "u" not in take:
                take["gone"] = 1
            if any("a" in row for row in take["q"]) and (path := self._file(clip)) is not None:
                take |= _present({"n": _outline(path)})
        return take

    def _sound(self, clip: ClipRow) -> str | None:
        """Link to a clip's sound, or the key of its bytes; None where there is no file."""
        path = self._file(clip)
        if path is None:
            return None
        if self.sounds is None:
            return audio_url(path, self.folder)
        key = str(clip.clip_id)
        if key not in self.sounds:
            kind = _TYPES.get(path.suffix.lower(), "application/octet-stream")
            self.sounds[key] = f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode('ascii')}"
        return key

    def _file(self, clip: ClipRow) -> Path | None:
        path = self.tables.audio.get(clip.clip_id or "")
        return path if path is not None and path.is_file() else None

    def _row(self, prompt: Prompt, row: SampleRow) -> dict[str, Any]:
        key = key_of(row)
        marks, words = self.marks.get(key, []), self.words.get(key, [])
        value: dict[str, Any] = {
            "j": self.judges[row.judge],
            "k": row.rejudge or None,
            "s": self.statuses[row.status],
            "w": round(self.badness(row, marks), 4),
            "e": row.reason,
            "m": [_mark(mark) for mark in marks] or None,
            "g": (row.gates or "").split() or None,
            "a": [[word.word, word.start_s, word.end_s, word.odd or ""] for word in words] or None,
        }
        rubric = rubric_terms(row, self.tables.scoring.rubric)
        if rubric is not None:
            value["q"] = [round(part.value, 4) for part in rubric.parts]
        if row.hypothesis is not None:
            value["h"] = row.hypothesis
            if row.status is Status.OK:
                value["f"] = _pieces(prompt, row.hypothesis, self.tables.scoring.level, self.ladder)
                value["c"] = [row.char_edits, row.ref_chars]
                value["v"] = [row.word_edits, row.ref_words]
        return _present(value)


def _mark(mark: MarkRow) -> list[Any]:
    return [metric_name(mark.mark), mark.value, mark.label or "", mark.note or ""]


def _outline(path: Path) -> list[int] | None:
    """Loudest sample of each of `_OUTLINE_STEPS` stretches of equal length, 0 to 99; None for a file without sound."""
    try:
        samples = np.abs(mono(read_audio(path)))
    except AudioError:
        return None
    if not samples.size:
        return None
    edges = np.linspace(0, samples.size, _OUTLINE_STEPS, endpoint=False).astype(int)
    peaks = np.maximum.reduceat(samples, np.unique(edges))
    return [int(peak) for peak in np.clip(99 * peaks / max(float(peaks.max()), 1e-9), 0, 99)]


def _pieces(prompt: Prompt, hypothesis: str, level: str, ladder: Ladder) -> list[str | list[str]]:
    """The differences as they were counted: equal pieces as text, others as [said, heard]."""
    try:
        said, heard = normalize_pair(prompt.text, hypothesis, prompt.lang, level, ladder=ladder)
    except TextError:
        # Tables of another version may hold a level that this one lacks; the raw texts still tell something.
        said, heard = prompt.text, hypothesis
    return [
        piece.said if piece.said == piece.heard else [piece.said, piece.heard] for piece in differences(said, heard)
    ]


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
