"""Judging: which clips a judge hears together, under which blind labels, and the stage that asks it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from typing import Any

from kasauti import identity
from kasauti.judges.base import Answer, Asked, Heard, Judge, JudgeFacts, JudgeTask
from kasauti.metrics.timing import timed_words
from kasauti.pipeline.executors import Executor, Job
from kasauti.pipeline.plan import Plan, Take, judgment_needed
from kasauti.pipeline.progress import Stage
from kasauti.pipeline.spending import Spending, with_cost_so_far
from kasauti.pipeline.stage import Work, run_stage
from kasauti.records import Clip, Judgment, Outcome, Prompt, Status
from kasauti.store.files import folder_errors
from kasauti.store.library import Store

_LARGEST_MARK = 1e9
"""No scale goes further, and beyond it sums of marks lose digits; a larger one is a time stamp or a fault."""


@dataclass(frozen=True)
class Hearing:
    """One judgment to be had: the task, which take stands behind each label (`""` for a single clip), who is asked."""

    task: JudgeTask
    takes: dict[str, Take]
    facts: JudgeFacts


def hears(judge: Judge, take: Take) -> bool:
    """Whether a take goes to this judge at all, once its clip is made."""
    spoken = take.clip_id is not None or not judge.facts.needs_audio
    return take.refusal is None and spoken and judge.refuse(take.prompt) is None


def hearings(plan: Plan, judge_id: str, store: Store) -> Iterator[Hearing]:
    """Everything a judge has to hear, as far as the clips are there; the same judgment may serve several hearings."""
    judge = plan.judges[judge_id]
    group = _line_ups if judge.facts.compares else _singles
    for labelled in group(plan, judge):
        clips = {label: _sound(store, take) for label, take in labelled.items() if take.clip_id is not None}
        if None in clips.values():
            continue
        for rejudge in range(plan.settings.rejudges):
            asked = judge.asks(next(iter(labelled.values())).prompt)
            yield Hearing(_task(plan, judge_id, store, asked, labelled, clips, rejudge), labelled, asked.facts)


def hearings_once(plan: Plan, judge_id: str, store: Store) -> list[Hearing]:
    """What a judge has to hear, each judgment once; what a router sends to one member stands together."""
    once = {hearing.task.judgment_id: hearing for hearing in hearings(plan, judge_id, store)}
    return sorted(once.values(), key=lambda hearing: hearing.task.member)


def tasks_of(plan: Plan, judge_id: str, store: Store) -> list[JudgeTask]:
    """The tasks of a judge, each once."""
    return [hearing.task for hearing in hearings_once(plan, judge_id, store)]


def judge_clips(
    plan: Plan, judge_id: str, store: Store, executor: Executor, spending: Spending, progress: Stage
) -> None:
    """Asks a judge whatever the store has no answer to.

    Raises:
        StoreError: a clip's file can't be read.
    """
    judge = plan.judges[judge_id]
    options = next(o for o in plan.settings.judges if o.id == judge_id)
    needed = [h for h in hearings_once(plan, judge_id, store) if judgment_needed(store, h.task.judgment_id)]
    facts = {hearing.task.judgment_id: hearing.facts for hearing in needed}
    tasks = _verified([hearing.task for hearing in needed])
    job = Job(options, "judge", judge.facts.workers, _lost)
    work: Work[JudgeTask, Answer] = Work(
        tasks=tasks,
        task_id=lambda task: task.judgment_id,
        reply_id=lambda answer: answer.judgment_id,
        needed=lambda task: judgment_needed(store, task.judgment_id),
        may_begin=lambda task: spending.begin(facts[task.judgment_id].usd_per_call),
        give_up=spending.interrupted,
        execute=partial(executor.run, job),
        keep=lambda task, answer: _keep(judge_id, facts[task.judgment_id], store, spending, task, answer),
    )
    run_stage(work, store.judgments, store.claims, progress)


def _verified(tasks: Sequence[JudgeTask]) -> list[JudgeTask]:
    """The tasks whose clips are what was recorded; an altered clip is removed, so that the next run makes it anew."""
    clips = {clip.path: clip.sha256 for task in tasks for clip in task.clips}
    lost = set()
    for path, sha256 in clips.items():
        with folder_errors(path.parent, f"check {path.name}"):
            if path.is_file() and identity.file_sha256(path) != sha256:
                path.unlink()
            if not path.is_file():
                lost.add(path)
    return [task for task in tasks if lost.isdisjoint(clip.path for clip in task.clips)]


def _keep(judge_id: str, facts: JudgeFacts, store: Store, spending: Spending, task: JudgeTask, answer: Answer) -> None:
    spending.end(facts.usd_per_call, answer.outcome.cost_usd)
    answer = _checked(task, answer)
    outcome = with_cost_so_far(answer.outcome, store.judgments.get(task.judgment_id))
    store.judgments.put(
        Judgment(
            judgment_id=task.judgment_id,
            judge=task.member or judge_id,
            judge_revision=facts.signature,
            lang=task.lang,
            rejudge=task.rejudge,
            outcome=outcome,
            labels={clip.label: clip.sha256 for clip in task.clips if clip.label},
            raw=answer.raw,
            transcript=answer.transcript,
            scores=answer.scores,
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )
    )


def _checked(task: JudgeTask, answer: Answer) -> Answer:
    """The answer, or the failure that it is: `ok` with no transcript and no mark for some clip would be a hole.

    Of a line-up there is no transcript: it would count as that of each clip.
    """
    if answer.outcome.status is not Status.OK:
        return answer
    if any(clip.label for clip in task.clips):
        answer = replace(answer, transcript=None)
    try:
        timed_words(answer.outcome.facts.get("words", []))
    except ValueError as error:
        facts = {name: value for name, value in answer.outcome.facts.items() if name != "words"}
        invalid = replace(
            answer.outcome, status=Status.JUDGE_INVALID, reason="bad_words", error=str(error), facts=facts
        )
        return replace(answer, outcome=invalid, scores={})
    marks = [mark for given in answer.scores.values() for mark in given.values()]
    if not all(map(math.isfinite, marks)):
        reason = "not_a_number"
    elif any(abs(mark) > _LARGEST_MARK for mark in marks):
        reason = "out_of_range"
    elif answer.transcript is None and not all(answer.scores.get(clip.label) for clip in task.clips):
        reason = "no_answer"
    else:
        return answer
    return replace(answer, outcome=replace(answer.outcome, status=Status.JUDGE_INVALID, reason=reason), scores={})


def _lost(task: JudgeTask) -> Answer:
    return Answer(task.judgment_id, Outcome(Status.JUDGE_FAILED, "worker_died", retryable=True))


def _singles(plan: Plan, judge: Judge) -> Iterator[dict[str, Take]]:
    for take in plan.takes:
        if hears(judge, take):
            yield {"": take}


def _line_ups(plan: Plan, judge: Judge) -> Iterator[dict[str, Take]]:
    """All systems' takes of one prompt under labels A, B, …; a prompt that a system can't speak has no line-up."""
    names = list(plan.systems)
    by_prompt = groupby(plan.takes, key=lambda take: take.prompt.id)
    for prompt_id, group in by_prompt:
        takes = list(group)
        for repeat in sorted({take.repeat for take in takes}):
            of_system = {take.system: take for take in takes if take.repeat == repeat and hears(judge, take)}
            if len(of_system) == len(names):
                order = rotated(sorted(names), plan.places[prompt_id] + judge.facts.label_offset)
                yield {chr(ord("A") + place): of_system[name] for place, name in enumerate(order)}


def lacks_a_member(plan: Plan, prompt: Prompt) -> bool:
    """Whether some system can't speak a prompt at all, so that there is no line-up to compare for it."""
    refusals = (system.refuse(prompt) for system in plan.systems.values())
    return any(refusal is not None and refusal.status is Status.UNSUPPORTED_LANGUAGE for refusal in refusals)


def rotated(names: Sequence[str], shift: int) -> list[str]:
    """`names` moved round by `shift` places; over as many prompts as names, each stands once in every place."""
    start = shift % len(names)
    return [*names[start:], *names[:start]]


def _sound(store: Store, take: Take) -> Clip | None:
    assert take.clip_id is not None
    clip = store.clips.get(take.clip_id)
    return clip if clip is not None and clip.status is Status.OK and store.usable(clip) else None


def _task(
    plan: Plan,
    judge_id: str,
    store: Store,
    asked: Asked,
    labelled: dict[str, Take],
    clips: dict[str, Clip | None],
    rejudge: int,
) -> JudgeTask:
    options = next(o for o in plan.settings.judges if o.id == judge_id)
    facts, told = asked.facts, _told(asked.facts, next(iter(labelled.values())).prompt)
    heard = tuple(
        Heard(store.audio_path(clip), clip.audio_sha256 or "", clip.duration_s or 0.0, label)
        for label, clip in clips.items()
        if clip is not None
    )
    judgment_id = identity.judgment_id(
        audio=[clip.sha256 for clip in heard],
        lang=asked.lang,
        told=told,
        settings={**facts.settings, **({"answers": facts.answers} if facts.answers else {})},
        judge=asked.target or options._target_,
        revision=facts.revision,
        rejudge=rejudge,
    )
    return JudgeTask(judgment_id, asked.lang, rejudge, heard, told, asked.member)


def _told(facts: JudgeFacts, prompt: Prompt) -> dict[str, Any]:
    fields = {"text": prompt.text, "control": dict(prompt.control), "prompt_id": prompt.id}
    return {name: fields[name] for name in facts.told}
