"""Kokoro-82M (int8 ONNX, Apache-2.0): a small neural voice for English and Hindi that runs on any processor.

Phonemes come from eSpeak NG. The export has no randomness: one request gives the same samples bit for bit in every
process, and one thread per process is what keeps it so cheaply. Other languages of India are `best_effort`: the model
never heard them, it only reads their phonemes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kasauti import weights
from kasauti.errors import KasautiError, SpeechSystemError, near_matches
from kasauti.records import Finding, Outcome, Prompt
from kasauti.systems import espeak_client, kokoro_phonemes
from kasauti.systems.base import Speech, SpeechFailed, SpeechRequest, System, SystemFacts, SystemOptions

RATE_HZ = 24_000
_WEIGHTS = "kokoro"
_LANGUAGES = {"en": "supported", "hi": "supported"} | dict.fromkeys(("bn", "mr", "ta", "te"), "best_effort")

_VOICES: dict[str, tuple[str, ...]] = {"en": ("af_heart", "jm_kumo"), "*": ("hf_alpha", "jm_kumo")}
"""Language -> voices to take, the first that the installed pack has; `*` = every other language.

The pack in the wheels has five Japanese voices. Whisper base understands `jm_kumo` best: CER 0.00 on ten English
sentences (the others 0.01 to 0.11), PCER 0.06 on six Hindi ones (0.12 to 0.48).
"""


@dataclass
class KokoroOptions(SystemOptions):
    """Options of Kokoro.

    Attributes:
        voice: None = the best of the installed pack for each language; else one voice for all of them.
        speed: 1 = as trained; 0.5 to 2.
    """

    _target_: str = "kasauti.systems.kokoro.Kokoro"
    id: str = "kokoro"
    voice: str | None = None
    speed: float = 1.0


class Kokoro(System):
    """Speaks with Kokoro, one thread per process."""

    options_type = KokoroOptions

    def __init__(self, options: KokoroOptions) -> None:
        if not 0.5 <= options.speed <= 2:
            raise SpeechSystemError(f"system {options.id}: speed={options.speed}: wanted 0.5 to 2")
        self.options = options
        self._session: Any = None
        self._vocabulary: dict[str, int] = {}
        self._styles: dict[str, NDArray[np.float32]] = {}
        self.facts = SystemFacts(
            languages=_LANGUAGES,
            settings={
                "voice": options.voice or {lang: list(names) for lang, names in _VOICES.items()},
                "speed": options.speed,
            },
            workers=0,
            seconds_per_char=0.047,
        )

    def fingerprint(self, prompt: Prompt | None = None) -> str:
        phonemes = f"espeak-ng {espeak_client.version()}, phoneme rules {kokoro_phonemes.RULES}"
        return f"kokoro-82m@{weights.revision(_WEIGHTS)}, {phonemes}"

    def settings_of(self, prompt: Prompt) -> Mapping[str, Any]:
        return {"voices": list(self._wanted(prompt.lang)), "speed": self.options.speed}

    def check(self, prompts: Sequence[Prompt]) -> list[Finding]:
        subject = f"system {self.options.id}"
        found = weights.lacking(subject, ["onnxruntime", espeak_client.MODULE], _WEIGHTS)
        if found or self.options.voice is None:
            return found
        try:
            self._load_styles()
            self._voice("en")
        except KasautiError as error:
            return [Finding("error", subject, str(error))]
        return []

    def speak(self, request: SpeechRequest) -> Speech:
        self._load()
        prompt = request.prompt
        line, dropped = kokoro_phonemes.symbols(prompt.text, prompt.lang, self._vocabulary)
        if not any(symbol.isalpha() for symbol in line):
            raise SpeechFailed("the text has nothing that can be spoken", reason="nothing_spoken")
        voice = self._voice(prompt.lang)
        try:
            samples = np.concatenate([self._run(chunk, self._styles[voice]) for chunk in kokoro_phonemes.chunks(line)])
        except Exception as error:  # whatever the engine throws at one clip is that clip's
            raise SpeechFailed(f"{type(error).__name__}: {error}", reason="engine_error", retryable=True) from error
        facts = {"voice": voice, "tokens": len(line), "dropped_symbols": dropped}
        return Speech(request.clip_id, Outcome(facts=facts), samples, RATE_HZ)

    def close(self) -> None:
        self._session = None

    def _wanted(self, lang: str) -> tuple[str, ...]:
        return (self.options.voice,) if self.options.voice else _VOICES.get(lang, _VOICES["*"])

    def _voice(self, lang: str) -> str:
        wanted = self._wanted(lang)
        for voice in wanted:
            if voice in self._styles:
                return voice
        hint = near_matches(wanted[0], self._styles)
        raise SpeechSystemError(f"system {self.options.id}: no voice {wanted[0]!r} in the installed pack; {hint}")

    def _load_styles(self) -> None:
        with np.load(weights.locate(_WEIGHTS).files["voices.npz"]) as pack:
            self._styles = {name: pack[name] for name in pack.files}

    def _load(self) -> None:
        if self._session is not None:
            return
        import onnxruntime

        files = weights.locate(_WEIGHTS).files
        self._vocabulary = json.loads(files["vocab.json"].read_text(encoding="utf-8"))["vocab"]
        self._load_styles()
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = settings.inter_op_num_threads = 1
        # A thread that spins while it waits takes the core away from the process beside it.
        settings.add_session_config_entry("session.intra_op.allow_spinning", "0")
        settings.log_severity_level = 3
        model = str(files["model.onnx"])
        self._session = onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])

    def _run(self, chunk: str, style: NDArray[np.float32]) -> NDArray[np.float32]:
        """Samples [frames] of at most `MAX_TOKENS` symbols. `style` is [510, 1, 256]: row n - 1 is for n symbols."""
        tokens = [self._vocabulary[symbol] for symbol in chunk]
        inputs = {
            "tokens": np.array([[0, *tokens, 0]], dtype=np.int64),
            "style": style[len(tokens) - 1],
            "speed": np.array([self.options.speed], dtype=np.float32),
        }
        samples: NDArray[np.float32] = np.asarray(self._session.run(None, inputs)[0], dtype=np.float32).ravel()
        return samples
