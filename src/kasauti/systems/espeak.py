"""eSpeak NG: formant synthesis for 14 of the 22 languages and English. Robotic, instant, the same bit for bit.

GPL-3.0: it runs in a process of its own and comes with the `local` extra only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kasauti.errors import SpeechSystemError
from kasauti.records import Finding, Outcome, Prompt
from kasauti.systems import espeak_client
from kasauti.systems.base import Speech, SpeechRequest, System, SystemFacts, SystemOptions
from kasauti.weights import lacking

_RATE_WPM, _PITCH = (80, 450), (0, 99)


@dataclass
class EspeakOptions(SystemOptions):
    """Options of eSpeak NG.

    Attributes:
        voice: None = each language's own; `+f3` = that variant of each; `hi+f3` = this voice, for its language only.
        rate_wpm: Words a minute, 80 to 450.
        pitch: 0 to 99.
    """

    _target_: str = "kasauti.systems.espeak.Espeak"
    id: str = "espeak"
    voice: str | None = None
    rate_wpm: int = 175
    pitch: int = 50


class Espeak(System):
    """Speaks with eSpeak NG, one fresh process per clip."""

    options_type = EspeakOptions

    def __init__(self, options: EspeakOptions) -> None:
        for name, value, (low, high) in (
            ("rate_wpm", options.rate_wpm, _RATE_WPM),
            ("pitch", options.pitch, _PITCH),
        ):
            if not low <= value <= high:
                raise SpeechSystemError(f"system {options.id}: {name}={value}: wanted {low} to {high}")
        self.options = options
        self._voices = _voices(options.voice)
        self.facts = SystemFacts(
            languages=dict.fromkeys(self._voices, "supported"),
            settings={"voices": self._voices, "rate_wpm": options.rate_wpm, "pitch": options.pitch},
            workers=0,
            seconds_per_char=0.001,
        )

    def fingerprint(self, prompt: Prompt | None = None) -> str:
        return f"espeak-ng {espeak_client.version()}"

    def settings_of(self, prompt: Prompt) -> Mapping[str, Any]:
        options = self.options
        return {"voice": self._voices[prompt.lang], "rate_wpm": options.rate_wpm, "pitch": options.pitch}

    def check(self, prompts: Sequence[Prompt]) -> list[Finding]:
        subject = f"system {self.options.id}"
        if missing := lacking(subject, [espeak_client.MODULE]):
            return missing
        try:
            espeak_client.phonemes(["a"], next(iter(self._voices.values())))
        except SpeechSystemError as error:
            return [Finding("error", subject, str(error))]
        return []

    def speak(self, request: SpeechRequest) -> Speech:
        options, voice = self.options, self._voices[request.prompt.lang]
        samples, rate_hz = espeak_client.samples_of(request.prompt.text, voice, options.rate_wpm, options.pitch)
        return Speech(request.clip_id, Outcome(facts={"voice": voice}), samples, rate_hz)


def _voices(chosen: str | None) -> dict[str, str]:
    """Language -> voice, under the option `voice`."""
    if chosen is None or chosen.startswith("+"):
        return {lang: voice + (chosen or "") for lang, voice in espeak_client.VOICES.items()}
    language = re.split(r"[-+]", chosen)[0]
    if language not in espeak_client.VOICES:
        known = ", ".join(sorted(espeak_client.VOICES))
        raise SpeechSystemError(f"system espeak: voice={chosen}: no voice of a language spoken here ({known})")
    return {language: chosen}
