"""Rows of the tables of a run folder that are not `per_sample.tsv`: clips, marks, words, levels.

There may be a million of each, so they have slots. The order of the fields is that of the columns.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Protocol

from kasauti.records import Status

Key = tuple[str, str, int, str, int]
"""Prompt, system, repeat, judge, rejudge: what tells one row of a run from another."""


class Keyed(Protocol):
    """A row of one hearing."""

    @property
    def prompt_id(self) -> str: ...
    @property
    def system(self) -> str: ...
    @property
    def repeat(self) -> int: ...
    @property
    def judge(self) -> str: ...
    @property
    def rejudge(self) -> int: ...


def key_of(row: Keyed) -> Key:
    """The key of a row."""
    return row.prompt_id, row.system, row.repeat, row.judge, row.rejudge


@dataclass(frozen=True, slots=True)
class HearingRow:
    """What tells one hearing of one clip from another; the first columns of every table about hearings."""

    run_id: str
    prompt_id: str
    system: str
    repeat: int
    judge: str
    rejudge: int


@dataclass(frozen=True, slots=True)
class ClipRow:
    """One row of `clips.tsv`: one take of one prompt by one system, with what it took to make it.

    Attributes:
        path: Audio file relative to the store; None where there is no sound.
        end: Why the model stopped, where the system says (`token_cap`).
        cap_s: The longest clip that the limit of new tokens allows, where the system states its tokens per second.
        chars: Characters of the prompt's text, code points.
        wall_s: Seconds of the call that made the clip, be it in an earlier run.
        error: The message of a failed call, scrubbed of secrets.
    """

    clip_id: str | None
    system: str
    prompt_id: str
    lang: str
    repeat: int
    status: Status
    reason: str | None = None
    path: str | None = None
    duration_s: float | None = None
    sample_rate_hz: int | None = None
    channels: int | None = None
    rms_dbfs: float | None = None
    clipped_fraction: float | None = None
    truncated: bool | None = None
    leading_silence_s: float | None = None
    trailing_silence_s: float | None = None
    end: str | None = None
    cap_s: float | None = None
    chars: int | None = None
    wall_s: float | None = None
    ttfb_s: float | None = None
    cost_usd: float | None = None
    created_at: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class MarkRow(HearingRow):
    """One row of `scores.tsv`: one mark that a judge gave to one clip.

    Attributes:
        label: Blind label under which the judge heard the clip; None for a judge of single clips.
        note: What the judge said of it, where it said anything.
    """

    judgment_id: str | None
    label: str | None
    mark: str
    value: float | None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class WordRow(HearingRow):
    """One row of `words.tsv`: where a judge placed one word of a prompt in a clip.

    Attributes:
        place: Its place in the text, from 0.
        start_s, end_s, score: As in `kasauti.metrics.timing.TimedWord`. odd: What `odd_words` says of it.
    """

    place: int
    word: str
    start_s: float | None
    end_s: float | None
    score: float | None
    odd: str | None


@dataclass(frozen=True, slots=True)
class LevelRow(HearingRow):
    """One row of `levels.tsv`: the counts and rates of one sample at one level of normalisation."""

    level: str
    char_edits: int
    ref_chars: int
    nospace_edits: int
    ref_nospace: int
    grapheme_edits: int
    ref_graphemes: int
    word_edits: int
    ref_words: int
    phonetic_edits: int
    ref_phonetic: int
    cer: float
    cer_nospace: float
    gcer: float
    wer: float
    pcer: float


CLIP_COLUMNS = tuple(entry.name for entry in fields(ClipRow))

LEVEL_COLUMNS = tuple(entry.name for entry in fields(LevelRow))
