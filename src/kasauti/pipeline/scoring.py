"""From an answer to numbers: one row of a run with its rates, gates, penalty and rubric.

The one place where text is normalised and scored, so that a new run and an old one that is scored again agree in every
digit. Knows nothing of stores, plans and calls.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from kasauti.metrics.gates import Gate, Sound, Transcript, sound_gates, transcript_gates
from kasauti.metrics.length import TEXT_LEVEL, expected_length, length_penalty
from kasauti.metrics.rubric import rubric_terms
from kasauti.metrics.score import COUNTS, RATES, row_values, score_pair
from kasauti.metrics.switching import switch_counts
from kasauti.records import Prompt, SampleRow, Status
from kasauti.report.table_rows import LevelRow
from kasauti.settings import ScoringSettings
from kasauti.text.levels import Ladder, normalize, normalize_pair
from kasauti.text.scripts import script_counts

KEY = ["run_id", "prompt_id", "system", "repeat", "judge", "rejudge"]
"""What tells one row of a run from another."""

SCORES = (*COUNTS, *RATES, "gates", "length_penalty", "rubric", "switch_words", "switch_edits", "switch_share")
"""Columns of `per_sample.tsv` that are computed here."""


@dataclass
class Scored:
    """One row with its numbers, and its lines in `levels.tsv` and `switching.tsv`."""

    row: SampleRow
    levels: list[LevelRow] = field(default_factory=list)
    switching: list[dict[str, Any]] = field(default_factory=list)


def unscored(row: SampleRow) -> SampleRow:
    """A row as it was before it was scored."""
    status = Status.OK if row.status is Status.WRONG_SCRIPT else row.status
    return replace(row, status=status, **dict.fromkeys(SCORES))  # type: ignore[arg-type]


def score_row(row: SampleRow, prompt: Prompt, sound: Sound | None, scoring: ScoringSettings, ladder: Ladder) -> Scored:
    """Scores one row.

    Args:
        row: Without numbers; `hypothesis` is None where there is no transcript to score.
        prompt: What was to be said.
        sound: What was measured of a clip that is `ok`, `expected_s` left out; None without one.
        scoring: How answers become numbers.
        ladder: Its levels.
    """
    made = Scored(row)
    values: dict[str, Any] = {}
    transcript = None
    if row.hypothesis is not None:
        by_level = {
            level: score_pair(prompt.text, row.hypothesis, prompt.lang, level, ladder=ladder)
            for level in dict.fromkeys([scoring.level, *scoring.levels])
        }
        score = by_level[scoring.level]
        values = row_values(score) | _switching(made, prompt, scoring, ladder)
        if score.status == "wrong_script":
            values["status"] = Status.WRONG_SCRIPT
        made.levels = [LevelRow(**_key(row), level=level, **row_values(by_level[level])) for level in scoring.levels]
        texts = normalize_pair(prompt.text, row.hypothesis, prompt.lang, TEXT_LEVEL, ladder=ladder)
        transcript = Transcript(*texts, score.status)
    values |= _structure(prompt, sound, transcript, scoring, ladder)
    made.row = replace(row, **values)
    rubric = rubric_terms(made.row, scoring.rubric)
    if rubric is not None:
        made.row = replace(made.row, rubric=rubric.score)
    return made


def _key(row: SampleRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in KEY}


def _switching(made: Scored, prompt: Prompt, scoring: ScoringSettings, ladder: Ladder) -> dict[str, Any]:
    """What became of the words of each script, for a prompt that is written in more than one."""
    if len(script_counts(prompt.text)) < 2:
        return {}
    found = switch_counts(prompt.text, made.row.hypothesis or "", prompt.lang, scoring.level, ladder=ladder)
    for script, heard in found.by_script.items():
        made.switching.append({**_key(made.row), "script": script, "words": heard.n, **asdict(heard)})
    if not found.switch_words:
        return {}
    return {
        "switch_words": found.switch_words,
        "switch_edits": found.switch_edits,
        "switch_share": found.switch_share,
    }


def _structure(
    prompt: Prompt, sound: Sound | None, transcript: Transcript | None, scoring: ScoringSettings, ladder: Ladder
) -> dict[str, Any]:
    """Failed gates and length penalty, as far as there is a clip or a transcript to measure."""
    gates: list[Gate] = []
    penalty = None
    if sound is not None:
        text = normalize(prompt.text, prompt.lang, TEXT_LEVEL, ladder=ladder)
        length = expected_length(text, prompt.lang, scoring.length)
        expected_s = None if length is None else length.expected_s
        gates += sound_gates(replace(sound, expected_s=expected_s), scoring.gates)
        penalty = None if expected_s is None else length_penalty(sound.duration_s, expected_s)
    if transcript is not None:
        gates += transcript_gates(transcript, scoring.gates)
    failed = " ".join(gate.name for gate in gates if not gate.passed) if gates else None
    return {"gates": failed, "length_penalty": penalty}
