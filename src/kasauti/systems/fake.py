"""A system for tests: it writes its text into the samples, so that the fake judge can hear it word for word.

It fails, bills, streams, dies and varies on request, without a model, a key or a network.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field

import numpy as np

from kasauti.errors import SpeechSystemError
from kasauti.fakes import RATE_HZ, write_text
from kasauti.records import Outcome, Prompt, Status
from kasauti.systems.base import Speech, SpeechFailed, SpeechRequest, System, SystemFacts, SystemOptions


@dataclass
class FakeOptions(SystemOptions):
    """Options of `system=fake`.

    Attributes:
        slip_rate: Share of the letters that come out wrong.
        stochastic: Whether every take slips differently.
        langs: Languages it has; null = any.
        fail_ids: Prompts that fail, retryable.
        silent_ids: Prompts that come out silent.
        refuse_ids: Prompts that the vendor declines.
        kill_ids: Prompts that kill the process that speaks them.
        usd_per_1k_chars: What a call costs.
        ttfb_s: Time to first byte that it claims; null = does not stream.
        workers: Worker processes it allows; 1 = none.
    """

    slip_rate: float = 0.0
    stochastic: bool = False
    langs: list[str] | None = None
    fail_ids: list[str] = field(default_factory=list)
    silent_ids: list[str] = field(default_factory=list)
    refuse_ids: list[str] = field(default_factory=list)
    kill_ids: list[str] = field(default_factory=list)
    usd_per_1k_chars: float = 0.0
    ttfb_s: float | None = None
    workers: int = 1


class Fake(System):
    """Writes text into samples."""

    options_type = FakeOptions

    def __init__(self, options: FakeOptions) -> None:
        if not 0 <= options.slip_rate <= 1:
            raise SpeechSystemError(f"system {options.id}: slip_rate={options.slip_rate}: wanted a share, 0 to 1")
        self._options = options
        self.facts = SystemFacts(
            languages=None if options.langs is None else dict.fromkeys(options.langs, "supported"),
            settings={"slip_rate": options.slip_rate, "stochastic": options.stochastic},
            decoding_fields=("temperature", "seed") if options.stochastic else (),
            workers=options.workers,
            usd_per_1k_chars=options.usd_per_1k_chars,
            seconds_per_char=0.0001,
        )

    def fingerprint(self, prompt: Prompt | None = None) -> str:
        """The format of the samples."""
        return "fake-1"

    def speak(self, request: SpeechRequest) -> Speech:
        """Writes the text, with slips where asked for."""
        identity, options = request.prompt.id, self._options
        cost_usd = options.usd_per_1k_chars * len(request.prompt.text) / 1000
        if identity in options.kill_ids:
            os._exit(9)
        if identity in options.fail_ids:
            raise SpeechFailed("told to fail", reason="told_to", retryable=True, cost_usd=cost_usd)
        if identity in options.refuse_ids:
            raise SpeechFailed("told to refuse", reason="told_to", status=Status.REFUSED)
        text = request.prompt.text
        draw = random.Random(request.seed if options.stochastic else text)
        heard = "".join("x" if draw.random() < options.slip_rate and not c.isspace() else c for c in text)
        samples = np.zeros(RATE_HZ, np.float32) if identity in options.silent_ids else write_text(heard)
        return Speech(
            request.clip_id,
            Outcome(ttfb_s=options.ttfb_s, cost_usd=cost_usd),
            samples=samples,
            rate_hz=RATE_HZ,
        )
