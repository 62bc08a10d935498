"""Assembly: the store's records become the tables of a run, one row for every (prompt, system, repeat, judge, rejudge).

Text is normalised and scored when the tables are made (`pipeline.scoring`) and nowhere earlier, so that changed rules
rescore everything without a call. The tables depend on the plan and on what the store holds, not on when or in what
order it came there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from kasauti.judges.base import Judge
from kasauti.metrics.gates import Sound
from kasauti.metrics.timing import odd_words, timed_words
from kasauti.pipeline.judging import hearings, lacks_a_member
from kasauti.pipeline.plan import Plan, Take, decoding_of
from kasauti.pipeline.scoring import KEY, score_row
from kasauti.records import ROUTED, TAG_SEPARATOR, Clip, Judgment, Outcome, Prompt, SampleRow, Status
from kasauti.report.table_rows import ClipRow, LevelRow
from kasauti.store.library import Store

SWITCH_COLUMNS = [*KEY, "script", "words", "right", "other_script", "wrong", "missing"]

WORD_COLUMNS = [*KEY, "place", "word", "start_s", "end_s", "score", "odd"]

SCORE_COLUMNS = [*KEY, "judgment_id", "label", "mark", "value"]

_OF_THE_SOUND = (
    "path duration_s sample_rate_hz channels rms_dbfs clipped_fraction truncated leading_silence_s trailing_silence_s"
).split()

_OF_THE_CALL = "status reason wall_s ttfb_s cost_usd error".split()


@dataclass
class Tables:
    """The tables of a run, as rows in their final order."""

    samples: list[SampleRow] = field(default_factory=list)
    levels: list[LevelRow] = field(default_factory=list)
    switching: list[dict[str, Any]] = field(default_factory=list)
    words: list[dict[str, Any]] = field(default_factory=list)
    scores: list[dict[str, Any]] = field(default_factory=list)
    clips: list[ClipRow] = field(default_factory=list)


def assemble(plan: Plan, store: Store, left_because: str) -> Tables:
    """Makes the tables of a run.

    Args:
        plan: The run.
        store: What has been made so far.
        left_because: Reason of rows whose work was not done (`budget`, `interrupted`, `not_reached`).
    """
    tables = Tables()
    judged = {judge_id: _judged(plan, judge_id, store) for judge_id in plan.judges}
    for take in plan.takes:
        clip = store.clips.get(take.clip_id) if take.clip_id is not None else None
        if take.clip_id is not None and clip is not None:
            tables.clips.append(_clip_row(plan, take, clip))
        for judge_id in plan.judges:
            for rejudge in range(plan.settings.rejudges):
                key = (take.prompt.id, take.system, take.repeat, rejudge)
                judgment_id, label = judged[judge_id].get(key, ("", ""))
                judgment = store.judgments.get(judgment_id)
                _add_rows(tables, plan, _Place(take, clip, judge_id, rejudge, judgment, label), left_because)
    expected = len(plan.takes) * len(plan.judges) * plan.settings.rejudges
    assert len(tables.samples) == expected, f"{len(tables.samples)} rows, expected {expected}: a hole in the table"
    return tables


_Key = tuple[str, str, int, int]


def _judged(plan: Plan, judge_id: str, store: Store) -> dict[_Key, tuple[str, str]]:
    """(prompt, system, repeat, rejudge) -> id of the judgment about it, and the label under which it was heard."""
    return {
        (take.prompt.id, take.system, take.repeat, hearing.task.rejudge): (hearing.task.judgment_id, label)
        for hearing in hearings(plan, judge_id, store)
        for label, take in hearing.takes.items()
    }


@dataclass(frozen=True)
class _Place:
    """One cell of the design: a take before one judge, once."""

    take: Take
    clip: Clip | None
    judge_id: str
    rejudge: int
    judgment: Judgment | None
    label: str


def _status(plan: Plan, place: _Place, left_because: str) -> Outcome:
    """What became of a place, by the first thing that went wrong on the way."""
    take, clip = place.take, place.clip
    if take.refusal is not None:
        return take.refusal
    if clip is not None and clip.status is not Status.OK:
        return clip.outcome
    refusal = plan.judges[place.judge_id].refuse(take.prompt)
    if refusal is not None:
        return refusal
    if place.judgment is not None:
        return place.judgment.outcome
    if clip is None and take.clip_id is None and plan.judges[place.judge_id].facts.needs_audio:
        return Outcome(Status.MISSING, "no_audio")
    if plan.judges[place.judge_id].facts.compares and lacks_a_member(plan, take.prompt):
        return Outcome(Status.UNSUPPORTED_LANGUAGE, "line_up")
    line_up_broken = clip is not None and plan.judges[place.judge_id].facts.compares
    return Outcome(Status.NOT_RUN, "incomplete_line_up" if line_up_broken else left_because)


def _add_rows(tables: Tables, plan: Plan, place: _Place, left_because: str) -> None:
    outcome = _status(plan, place, left_because)
    judgment, answered = place.judgment, outcome.status is Status.OK
    hypothesis = judgment.transcript if judgment is not None and answered else None
    row = _bare_row(plan, place, outcome, hypothesis)
    scored = score_row(row, place.take.prompt, _sound(plan, place), plan.settings.scoring, plan.ladder)
    tables.levels += scored.levels
    tables.switching += scored.switching
    if judgment is not None and scored.row.status is Status.OK:
        marks = _marks_and_words(tables, judgment, place.label, {name: getattr(row, name) for name in KEY})
        scored.row = replace(scored.row, marks=marks)
    tables.samples.append(scored.row)


def _marks_and_words(
    tables: Tables, judgment: Judgment, label: str, key: Mapping[str, Any]
) -> Mapping[str, float] | None:
    """Notes what a judge said of a clip besides a transcript; the marks come back."""
    marks = judgment.scores.get(label)
    for mark, value in (marks or {}).items():
        row = {"judgment_id": judgment.judgment_id, "label": label, "mark": mark, "value": value}
        tables.scores.append({**key, **row})
    words = timed_words(judgment.outcome.facts.get("words", []))
    for place, (word, odd) in enumerate(zip(words, odd_words(words), strict=True)):
        tables.words.append({**key, "place": place, **asdict(word), "odd": odd})
    return marks or None


def _sound(plan: Plan, place: _Place) -> Sound | None:
    """What the gates look at; None where there is no clip."""
    clip = place.clip
    if clip is None or clip.status is not Status.OK or clip.duration_s is None:
        return None
    return Sound(
        duration_s=clip.duration_s,
        leading_silence_s=clip.leading_silence_s,
        trailing_silence_s=clip.trailing_silence_s,
        clipped_fraction=clip.clipped_fraction,
        **_ending(plan, place.take, clip),
    )


def _ending(plan: Plan, take: Take, clip: Clip) -> dict[str, Any]:
    """Why the model stopped, and the longest clip that its limit of new tokens allows, as far as the system says."""
    facts = clip.outcome.facts
    tokens = decoding_of(plan.settings, plan.systems[take.system]).get("max_new_tokens")
    rate = facts.get("tokens_per_second")
    return {"end": facts.get("end"), "cap_s": tokens / rate if tokens and rate else None}


def _bare_row(plan: Plan, place: _Place, outcome: Outcome, hypothesis: str | None) -> SampleRow:
    """The row of a place without its numbers."""
    prompt, clip = place.take.prompt, place.clip
    return SampleRow(
        run_id=plan.run_id,
        prompt_id=prompt.id,
        lang=prompt.lang,
        script=prompt.script,
        tags=TAG_SEPARATOR.join(prompt.tags),
        system=place.take.system,
        repeat=place.take.repeat,
        judge=place.judge_id,
        judge_revision=_revision(plan.judges[place.judge_id], prompt),
        rejudge=place.rejudge,
        status=outcome.status,
        reason=outcome.reason,
        clip_id=place.take.clip_id,
        audio_sha256=clip.audio_sha256 if clip is not None else None,
        judgment_id=place.judgment.judgment_id if place.judgment is not None else None,
        duration_s=clip.duration_s if clip is not None else None,
        hypothesis=hypothesis,
    )


def _revision(judge: Judge, prompt: Prompt) -> str:
    """The judge as a row names it: for a row that a router sent on, the router and who heard it."""
    if judge.refuse(prompt) is not None:
        return judge.facts.signature
    asked = judge.asks(prompt)
    return ROUTED.join([judge.facts.signature, *([asked.facts.signature] if asked.member else [])])


def _clip_row(plan: Plan, take: Take, clip: Clip) -> ClipRow:
    return ClipRow(
        clip_id=clip.clip_id,
        system=take.system,
        prompt_id=take.prompt.id,
        lang=clip.lang,
        repeat=take.repeat,
        chars=len(take.prompt.text),
        created_at=clip.created_at,
        **{name: getattr(clip, name) for name in _OF_THE_SOUND},
        **{name: getattr(clip.outcome, name) for name in _OF_THE_CALL},
        **_ending(plan, take, clip),
    )
