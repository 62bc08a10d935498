"""What a speech system is to the pipeline: a thing that says whether it can, what it is, and then speaks.

A system is built from its options in the process that runs it (this one, a worker, another machine), so options are
plain values and heavy imports and model loading wait until the first request. Requests and replies are streams: a
system that batches takes as many requests as it likes before it answers; one that speaks clip by clip subclasses
`System` and writes `speak`.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from kasauti.errors import KasautiError
from kasauti.records import Finding, Outcome, Prompt, Status, unexpected

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass
class SystemOptions:
    """Options that every system has; the schema of its file in `conf/system`.

    Attributes:
        id: Name in tables; two systems of a line-up need different ones.
        repeats: Takes of each prompt, unless the run says otherwise.
        role: `human` marks recordings of people: they measure the judge.
    """

    _target_: str = "???"
    id: str = "???"
    repeats: int = 1
    role: str = "machine"


@dataclass(frozen=True)
class SystemFacts:
    """What a system is, known without loading it.

    Attributes:
        languages: Language code -> `supported` or `best_effort`; None = any language.
        settings: Every setting that changes the sound (voice, speed), as JSON values, for the record of a run.
        decoding_fields: Names of the decoding fields that it uses (`temperature`, `top_k`, `seed`).
        workers: How the system profits from more processes: at most so many copies side by side; 1 = one process,
            0 = as many as there are cores.
        speaks: False for a place holder that has no audio (its rows go to judges that need none).
        plays_recordings: Whether it plays the recordings that prompts name in their `audio`.
        usd_per_1k_chars: List price, for the plan; 0 for local systems, None where unknown.
        seconds_per_char: Work per character on the reference machine (two cores), for the plan's estimate.
    """

    languages: Mapping[str, str] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    decoding_fields: tuple[str, ...] = ()
    workers: int = 1
    speaks: bool = True
    plays_recordings: bool = False
    usd_per_1k_chars: float | None = 0.0
    seconds_per_char: float = 0.05


@dataclass(frozen=True)
class SpeechRequest:
    """One clip to make.

    Attributes:
        clip_id: Its identity.
        seed: Derived from `clip_id`; a stochastic local system must draw from it and from nothing else.
        decoding: The declared decoding fields only.
    """

    clip_id: str
    prompt: Prompt
    repeat: int
    seed: int
    decoding: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Speech:
    """One reply of a system.

    Either `samples` (float32, [frames] or [frames, channels], full scale = 1.0) with `rate_hz`, or `encoded`: a whole
    audio file as the vendor sent it, kept byte for byte, with its usual `suffix` (`.wav`, `.flac`). Neither when the
    outcome is a failure.
    """

    clip_id: str
    outcome: Outcome = field(default_factory=Outcome)
    samples: NDArray[np.float32] | None = None
    rate_hz: int | None = None
    encoded: bytes | None = None
    suffix: str = ".wav"


class SpeechFailed(Exception):  # noqa: N818 - an event in the stream, caught and stored, not an error for the user
    """Raised by `System.speak` to end one clip with a status; the run goes on."""

    def __init__(
        self,
        message: str,
        *,
        reason: str,
        status: Status = Status.SYNTHESIS_FAILED,
        retryable: bool = False,
        cost_usd: float | None = None,
    ) -> None:
        super().__init__(message)
        self.outcome = Outcome(status, reason, message, retryable, cost_usd=cost_usd)


class System(ABC):
    """Base of all speech systems."""

    facts: SystemFacts
    options_type: type[SystemOptions]

    @abstractmethod
    def fingerprint(self, prompt: Prompt | None = None) -> str:
        """What speaks: model id and revision, or a hash of its files; of the file itself for recordings.

        Args:
            prompt: The prompt that is to be spoken; None asks for the system as a whole.
        """

    def settings_of(self, prompt: Prompt) -> Mapping[str, Any]:
        """The settings that change the sound of this prompt, which it can speak; what other prompts need is left out.

        They are part of the clip's identity, so what does not change this clip must not orphan it.
        """
        return self.facts.settings

    def check(self, prompts: Sequence[Prompt]) -> list[Finding]:
        """What is missing before the first clip: package, weights, key, files.

        Args:
            prompts: All prompts of the run, those that are refused among them.
        """
        return []

    def refuse(self, prompt: Prompt) -> Outcome | None:
        """Why this prompt can't be spoken by this system at all; None when it can."""
        languages = self.facts.languages
        if languages is None or prompt.lang in languages:
            return None
        return Outcome(Status.UNSUPPORTED_LANGUAGE, "system")

    def synthesise(self, requests: Iterable[SpeechRequest]) -> Iterator[Speech]:
        """Speaks a stream of requests; every request gets exactly one reply, in any order."""
        for request in requests:
            started = time.perf_counter()
            try:
                speech = self.speak(request)
            except SpeechFailed as failure:
                speech = Speech(request.clip_id, failure.outcome)
            except KasautiError:
                raise  # the system can't be set up at all
            except Exception as error:
                speech = Speech(request.clip_id, unexpected(Status.SYNTHESIS_FAILED, error))
            if speech.outcome.wall_s is None:
                wall_s = time.perf_counter() - started
                speech = replace(speech, outcome=replace(speech.outcome, wall_s=wall_s))
            yield speech

    def speak(self, request: SpeechRequest) -> Speech:
        """Speaks one request.

        Raises:
            SpeechFailed: the clip could not be made; the row gets the failure's status.
        """
        raise NotImplementedError(f"{type(self).__name__} must define speak or synthesise")

    def close(self) -> None:  # noqa: B027 - most systems hold nothing
        """Gives back memory, devices and processes."""
