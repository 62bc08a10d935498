"""What a run has to do: every take of every prompt by every system, and what the store already has of it.

Planning builds the parts without loading them, makes no file and calls nobody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kasauti import identity
from kasauti.judges.base import Judge
from kasauti.parts import build
from kasauti.paths import source_path
from kasauti.prompts import load_prompts, prompts_sha256, select
from kasauti.records import Clip, Judgment, Outcome, Prompt
from kasauti.settings import CANNOT_CHANGE_A_RESULT, RunSettings
from kasauti.store.library import Store
from kasauti.systems.base import SpeechRequest, System


@dataclass(frozen=True)
class Take:
    """One (prompt, system, repeat).

    Attributes:
        clip_id: Identity of its clip; None where there is nothing to make.
        refusal: Why the system can't speak this prompt at all.
    """

    prompt: Prompt
    system: str
    repeat: int
    fingerprint: str = ""
    clip_id: str | None = None
    refusal: Outcome | None = None


@dataclass
class Plan:
    """A run before it is run."""

    settings: RunSettings
    run_id: str
    prompts: list[Prompt]
    prompts_sha256: str
    systems: dict[str, System]
    judges: dict[str, Judge]
    takes: list[Take]
    fingerprints: dict[str, str] = field(default_factory=dict)

    def clips_to_make(self, store: Store) -> dict[str, list[Take]]:
        """Per system the takes whose clips are not in the store, each clip once."""
        wanted: dict[str, list[Take]] = {name: [] for name in self.systems}
        seen: set[str] = set()
        for take in self.takes:
            if take.clip_id is not None and take.clip_id not in seen:
                seen.add(take.clip_id)
                if clip_needed(store, take.clip_id):
                    wanted[take.system].append(take)
        return wanted

    def request(self, take: Take) -> SpeechRequest:
        """What the system is asked for a take."""
        assert take.clip_id is not None
        return SpeechRequest(
            clip_id=take.clip_id,
            prompt=take.prompt,
            repeat=take.repeat,
            seed=identity.seed_of(take.clip_id),
            decoding=_decoding(self.settings, self.systems[take.system]),
        )


def clip_needed(store: Store, clip_id: str) -> bool:
    """Whether a clip must be made: it was never made, a retry may help, or its file is gone."""
    clip = store.clips.get(clip_id)
    return clip is None or not clip.outcome.final or not store.usable(clip)


def judgment_needed(store: Store, judgment_id: str) -> bool:
    """Whether a judgment must be made: it was never made, or a retry may help."""
    judgment = store.judgments.get(judgment_id)
    return judgment is None or not judgment.outcome.final


def make_plan(settings: RunSettings) -> Plan:
    """Loads the prompts, builds the parts, and lists every take.

    Raises:
        PromptError: the prompt file or the selection from it is wrong.
        KasautiError: a part can't be built from its options.
    """
    promptset = settings.promptset
    prompts = select(load_prompts(source_path(promptset.path), promptset.lang), promptset)
    systems = {options.id: build(options) for options in settings.systems}
    judges = {options.id: build(options) for options in settings.judges}
    sha256 = prompts_sha256(prompts)
    fingerprints = {name: system.fingerprint() for name, system in systems.items()}
    return Plan(
        settings=settings,
        run_id=identity.run_id(
            settings.config,
            excluded=CANNOT_CHANGE_A_RESULT,
            prompts_sha256=sha256,
            fingerprints=fingerprints,
            revisions={name: judge.facts.revision for name, judge in judges.items()},
        ),
        prompts=prompts,
        prompts_sha256=sha256,
        systems=systems,
        judges=judges,
        takes=_takes(settings, prompts, systems),
        fingerprints=fingerprints,
    )


def judgment_key(judge: Judge, target: str, prompt: Prompt, clips: Sequence[Clip], rejudge: int) -> str:
    """Identity of one judgment of some clips of a prompt, in the order heard."""
    return identity.judgment_id(
        audio=[clip.audio_sha256 or "" for clip in clips],
        lang=prompt.lang,
        told=told(judge, prompt),
        settings=judge.facts.settings,
        judge=target,
        revision=judge.facts.revision,
        rejudge=rejudge,
    )


def told(judge: Judge, prompt: Prompt) -> dict[str, Any]:
    """The prompt fields that a judge is told, and no others."""
    fields = {"text": prompt.text, "control": dict(prompt.control), "prompt_id": prompt.id}
    return {name: fields[name] for name in judge.facts.told}


@dataclass(frozen=True)
class Counts:
    """How much of a plan is left, for `dry_run` and for the line before the work.

    Attributes:
        make: Per system clips to make. `stored`: clips in the store. `refused`: takes that can't be spoken.
        judge: Per judge calls to make, as far as it can be known before the clips are. `judged`: calls in the store.
        seconds: Estimated work. `usd`: Estimated money; None where a part's price is not known.
    """

    make: Mapping[str, int]
    stored: Mapping[str, int]
    refused: Mapping[str, int]
    judge: Mapping[str, int]
    judged: Mapping[str, int]
    seconds: Mapping[str, float]
    usd: Mapping[str, float | None]


def count(plan: Plan, store: Store, cores: int) -> Counts:
    """Counts what is left to do."""
    to_make = plan.clips_to_make(store)
    spoken = {name: {t.clip_id for t in plan.takes if t.system == name and t.clip_id} for name in plan.systems}
    make = {name: len(takes) for name, takes in to_make.items()}
    chars = {name: sum(len(t.prompt.text) for t in takes) for name, takes in to_make.items()}
    usd: dict[str, float | None] = {}
    seconds: dict[str, float] = {}
    for name, system in plan.systems.items():
        price = system.facts.usd_per_1k_chars
        usd[name] = None if price is None else price * chars[name] / 1000
        copies = system.facts.workers or cores
        seconds[name] = system.facts.seconds_per_char * chars[name] / min(copies, cores)
    calls, judged = _count_judgments(plan, store)
    for name, judge in plan.judges.items():
        price = judge.facts.usd_per_call
        usd[name] = None if price is None else price * calls[name]
        seconds[name] = judge.facts.seconds_per_clip * calls[name]
    return Counts(
        make=make,
        stored={name: len(spoken[name]) - make[name] for name in plan.systems},
        refused=Counter(take.system for take in plan.takes if take.refusal is not None),
        judge=calls,
        judged=judged,
        seconds=seconds,
        usd=usd,
    )


def _count_judgments(plan: Plan, store: Store) -> tuple[dict[str, int], dict[str, int]]:
    """Calls per judge: those to make and those in the store. A clip that isn't made yet is one call to make."""
    from kasauti.pipeline.judging import judgeable, tasks_of  # the same grouping that the run will use

    to_make: dict[str, int] = {}
    stored: dict[str, int] = {}
    for name, judge in plan.judges.items():
        known = tasks_of(plan, name, store)
        new = sum(1 for task in known if judgment_needed(store, task.judgment_id))
        unmade = {
            (take.prompt.id, take.repeat) if judge.facts.compares else take.clip_id
            for take in plan.takes
            if take.clip_id is not None and clip_needed(store, take.clip_id) and judgeable(judge, take)
        }
        to_make[name] = new + len(unmade) * plan.settings.rejudges
        stored[name] = len(known) - new
    return to_make, stored


def _takes(settings: RunSettings, prompts: Sequence[Prompt], systems: Mapping[str, System]) -> list[Take]:
    repeats = {options.id: settings.repeats or options.repeats for options in settings.systems}
    takes = []
    for prompt in prompts:
        for name, system in systems.items():
            refusal = system.refuse(prompt)
            speaks = refusal is None and system.facts.speaks
            fingerprint = system.fingerprint(prompt) if speaks else ""
            for repeat in range(repeats[name]):
                clip_id = _clip_id(settings, system, prompt, fingerprint, repeat) if speaks else None
                takes.append(Take(prompt, name, repeat, fingerprint, clip_id, refusal))
    return takes


def _clip_id(settings: RunSettings, system: System, prompt: Prompt, fingerprint: str, repeat: int) -> str:
    return identity.clip_id(
        text=prompt.text,
        lang=prompt.lang,
        control=prompt.control,
        settings=system.facts.settings,
        decoding=_decoding(settings, system),
        repeat=repeat,
        fingerprint=fingerprint,
    )


def _decoding(settings: RunSettings, system: System) -> dict[str, Any]:
    return {name: getattr(settings.decoding, name) for name in system.facts.decoding_fields}
