"""What a run has to do: every take of every prompt by every system, and what the store already has of it.

Planning builds the parts without loading them, makes no clip and calls nobody. It may fetch a data set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kasauti import identity
from kasauti.judges.base import Judge
from kasauti.parts import build
from kasauti.prompts import prompts_sha256, select
from kasauti.promptsets import read_prompts, with_recordings
from kasauti.records import Outcome, Prompt
from kasauti.settings import CANNOT_CHANGE_A_RESULT, RunSettings
from kasauti.stats.humans import HumanFloor
from kasauti.stats.noise import StoredNoise
from kasauti.store.library import Store
from kasauti.systems.base import SpeechRequest, System
from kasauti.text.levels import Ladder


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
    fingerprints: dict[str, str]
    ladder: Ladder
    places: dict[str, int]
    """Prompt id -> its place among the prompts of the whole file that ask for the same delivery."""
    human_floors: list[HumanFloor] = field(default_factory=list)
    """What earlier runs found of human recordings, for these judges and languages; whoever runs the plan finds them."""
    noise: list[StoredNoise] = field(default_factory=list)
    """What earlier runs measured of the noise of systems that speak each prompt once; likewise."""

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
            decoding=decoding_of(self.settings, self.systems[take.system]),
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
        DatasetError: prompts or recordings that are to be fetched can't be had.
        KasautiError: a part can't be built from its options.
    """
    promptset = settings.promptset
    systems = {options.id: build(options) for options in settings.systems}
    plays = any(system.facts.plays_recordings for system in systems.values())
    all_prompts = read_prompts(promptset, settings.data.mirror, play_recordings=plays)
    prompts = select(all_prompts, promptset)
    if plays:
        prompts = with_recordings(prompts, promptset, settings.data.mirror, fetch=not settings.dry_run)
    judges = {options.id: build(options) for options in settings.judges}
    sha256 = prompts_sha256(prompts)
    fingerprints = {name: system.fingerprint() for name, system in systems.items()}
    takes = _takes(settings, prompts, systems)
    return Plan(
        settings=settings,
        run_id=identity.run_id(
            {**settings.config, "used": {name: decoding_of(settings, system) for name, system in systems.items()}},
            excluded=CANNOT_CHANGE_A_RESULT,
            prompts_sha256=sha256,
            fingerprints=_fingerprints(takes),
            revisions={name: judge.facts.revision + judge.facts.answers for name, judge in judges.items()},
        ),
        prompts=prompts,
        prompts_sha256=sha256,
        systems=systems,
        judges=judges,
        takes=takes,
        fingerprints=fingerprints,
        ladder=settings.scoring.ladder(),
        places=_places(all_prompts),
    )


def _fingerprints(takes: Sequence[Take]) -> dict[str, str]:
    """System id -> hash of what speaks its takes; for recordings that is every file."""
    found: dict[str, list[str]] = {}
    for take in takes:
        found.setdefault(take.system, []).append(take.fingerprint)
    return {name: identity.digest(sorted(set(fingerprints))) for name, fingerprints in found.items()}


def _places(prompts: Sequence[Prompt]) -> dict[str, int]:
    counted: Counter[str] = Counter()
    places = {}
    for prompt in prompts:
        delivery = prompt.control.get("delivery", "")
        places[prompt.id] = counted[delivery]
        counted[delivery] += 1
    return places


def _takes(settings: RunSettings, prompts: Sequence[Prompt], systems: Mapping[str, System]) -> list[Take]:
    repeats = {options.id: options.repeats for options in settings.systems}
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
        settings=system.settings_of(prompt),
        decoding=decoding_of(settings, system),
        repeat=repeat,
        fingerprint=fingerprint,
    )


def unused_decoding(plan: Plan) -> dict[str, list[str]]:
    """System -> the decoding fields that the command line sets and the system does not use."""
    keys = [override.partition("=")[0].lstrip("+") for override in plan.settings.overrides]
    given = [key for key in keys if key == "decoding" or key.startswith("decoding.")]
    unused = {
        name: [key for key in dict.fromkeys(given) if not _is_used(key, system.facts.decoding_fields)]
        for name, system in plan.systems.items()
    }
    return {name: keys for name, keys in unused.items() if keys}


def _is_used(key: str, fields: Sequence[str]) -> bool:
    """Whether a system uses a field; a whole group of them counts if it uses more than the seed."""
    name = key.partition(".")[2]
    return name in fields if name else set(fields) > {"seed"}


def decoding_of(settings: RunSettings, system: System) -> dict[str, Any]:
    """The decoding fields that a system uses, and no others."""
    return {name: getattr(settings.decoding, name) for name in system.facts.decoding_fields}
