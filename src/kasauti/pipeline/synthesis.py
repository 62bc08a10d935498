"""Synthesis: the stage that asks systems for the clips the store lacks, side by side where there are several."""

from __future__ import annotations

from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np

from kasauti.audio import probe_audio, wav_bytes
from kasauti.errors import AudioError
from kasauti.identity import file_sha256
from kasauti.pipeline.executors import Executor, Job
from kasauti.pipeline.plan import Plan, Take, clip_needed
from kasauti.pipeline.progress import Progresses, Stage
from kasauti.pipeline.spending import Spending, with_cost_so_far
from kasauti.pipeline.stage import Work, run_stage
from kasauti.records import Clip, Outcome, Status
from kasauti.store.library import Store
from kasauti.systems.base import Speech, SpeechRequest


def make_clips(plan: Plan, store: Store, executor: Executor, spending: Spending, progresses: Progresses) -> None:
    """Makes every clip that the store lacks.

    Raises:
        KasautiError: a system can't be set up, or the store can't be written to.
    """
    to_make = {name: takes for name, takes in plan.clips_to_make(store).items() if takes}
    if not to_make:
        return
    share = min(len(to_make), plan.settings.max_parallel_systems)
    threads = ThreadPoolExecutor(share)
    try:
        stages = []
        for name, takes in to_make.items():
            progress = progresses.stage(f"{name} speaks", len(takes))
            stages.append(threads.submit(_system_stage, plan, name, takes, store, executor, spending, progress, share))
        wait(stages, return_when=FIRST_EXCEPTION)
        if any(stage.done() and stage.exception() for stage in stages):
            spending.stop()  # a system that can't be set up ends the run; what the others have in hand is kept
        wait(stages)
        for stage in stages:
            stage.result()
    finally:
        # After a second Ctrl-C nobody waits for what is in hand.
        threads.shutdown(wait=False, cancel_futures=True)


def _system_stage(
    plan: Plan,
    name: str,
    takes: list[Take],
    store: Store,
    executor: Executor,
    spending: Spending,
    progress: Stage,
    share: int,
) -> None:
    system = plan.systems[name]
    options = next(o for o in plan.settings.systems if o.id == name)
    fingerprints = {take.clip_id: take.fingerprint for take in takes}

    def price(request: SpeechRequest) -> float | None:
        each = system.facts.usd_per_1k_chars
        return None if each is None else each * len(request.prompt.text) / 1000

    def keep(request: SpeechRequest, speech: Speech) -> None:
        spending.end(price(request), speech.outcome.cost_usd)
        clip = _record(store, name, fingerprints[request.clip_id], request, speech)
        store.clips.put(replace(clip, outcome=with_cost_so_far(clip.outcome, store.clips.get(request.clip_id))))

    job = Job(options, "synthesise", system.facts.workers, _lost)
    work: Work[SpeechRequest, Speech] = Work(
        tasks=[plan.request(take) for take in takes],
        task_id=lambda request: request.clip_id,
        reply_id=lambda speech: speech.clip_id,
        needed=lambda request: clip_needed(store, request.clip_id),
        may_begin=lambda request: spending.begin(price(request)),
        give_up=spending.interrupted,
        execute=partial(executor.run, job, share=share),
        keep=keep,
    )
    run_stage(work, store.clips, store.claims, progress)


def _record(store: Store, system: str, fingerprint: str, request: SpeechRequest, speech: Speech) -> Clip:
    """Stores the audio of a reply, looks at it, and makes the clip's record; audio first, so a record has its file."""
    clip = Clip(
        clip_id=request.clip_id,
        system=system,
        fingerprint=fingerprint,
        lang=request.prompt.lang,
        text=request.prompt.text,
        repeat=request.repeat,
        outcome=speech.outcome,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    if speech.outcome.status is not Status.OK:
        return clip
    try:
        content = _content(speech)
    except AudioError as error:
        outcome = replace(clip.outcome, status=Status.AUDIO_INVALID, reason=_reason(speech), error=str(error))
        return replace(clip, outcome=outcome)
    path = store.save_audio(request.clip_id, content, speech.suffix)
    return _with_audio(clip, store.root / path, path)


def _content(speech: Speech) -> bytes:
    """The audio file of a reply.

    Raises:
        AudioError: it holds no sound, or samples that are none.
    """
    if speech.encoded is not None:
        return speech.encoded
    if speech.samples is None or speech.rate_hz is None:
        raise AudioError("the reply holds neither a file nor samples with their rate")
    return wav_bytes(speech.samples, speech.rate_hz)


def _reason(speech: Speech) -> str:
    if speech.samples is None or speech.rate_hz is None:
        return "no_samples"
    return "unreadable" if np.isfinite(speech.samples).all() else "not_a_number"


def _with_audio(clip: Clip, file: Path, path: str) -> Clip:
    facts = probe_audio(file)
    outcome: Outcome = clip.outcome
    if facts.status != "ok":
        outcome = replace(outcome, status=Status.AUDIO_INVALID, reason=facts.reason)
    return replace(
        clip,
        outcome=outcome,
        path=path,
        audio_sha256=file_sha256(file),
        duration_s=facts.duration_s,
        sample_rate_hz=facts.sample_rate_hz,
        channels=facts.channels,
        rms_dbfs=facts.rms_dbfs,
        clipped_fraction=facts.clipped_fraction,
        truncated=facts.truncated,
        leading_silence_s=facts.leading_silence_s,
        trailing_silence_s=facts.trailing_silence_s,
    )


def _lost(request: SpeechRequest) -> Speech:
    return Speech(request.clip_id, Outcome(Status.SYNTHESIS_FAILED, "worker_died", retryable=True))
