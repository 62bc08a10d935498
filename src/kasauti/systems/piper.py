"""Piper (VITS, ONNX): fast neural voices whose takes differ, so that a synthesis noise floor can be seen at work.

`decoding.temperature` is Piper's `noise_scale`. The noise of a clip comes from `request.seed` alone: ONNX Runtime reads
its seed when a session is built and never goes back to it, so each clip gets a session of its own. Without graph
optimisation that takes 0.08 s instead of 0.5 and speaks no slower; the seed then also meets the model's own graph.

GPL-3.0-or-later: `piper-tts` is imported when a clip is made, and comes with the `local` extra only.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kasauti.errors import SpeechSystemError
from kasauti.records import Finding, Outcome, Prompt
from kasauti.systems.base import Speech, SpeechFailed, SpeechRequest, System, SystemFacts, SystemOptions
from kasauti.systems.espeak_client import speakable
from kasauti.systems.piper_voice import PiperFiles
from kasauti.weights import version_of


@dataclass
class PiperOptions(SystemOptions):
    """Options of Piper. None = the value in the voice's own config.

    Attributes:
        voice: A known voice (`en_US-joe-medium`, `hi_IN-pratham-medium`), or the path of a .onnx file that has its
            config beside it under the same name with .json added; the config says which language it speaks.
        noise_w_scale: Noise of the durations, 0 or more; 0 = none.
        length_scale: Duration of a phoneme, above 0; 2 = twice as slow.
        speaker: Number of the speaker in a voice that has several.
    """

    _target_: str = "kasauti.systems.piper.Piper"
    id: str = "piper"
    repeats: int = 3
    voice: str = "en_US-joe-medium"
    noise_w_scale: float | None = None
    length_scale: float | None = None
    speaker: int | None = None


class Piper(System):
    """Speaks with one Piper voice."""

    options_type = PiperOptions

    def __init__(self, options: PiperOptions) -> None:
        if options.noise_w_scale is not None and options.noise_w_scale < 0:
            raise SpeechSystemError(f"system {options.id}: noise_w_scale={options.noise_w_scale}: wanted 0 or more")
        if options.length_scale is not None and options.length_scale <= 0:
            raise SpeechSystemError(f"system {options.id}: length_scale={options.length_scale}: wanted more than 0")
        self.options = options
        self._files = PiperFiles(options.voice)
        self._model: Path | None = None
        self._config: Any = None
        language = self._files.language()
        self.facts = SystemFacts(
            languages={language: "supported"} if language else {},
            settings={
                "noise_w_scale": options.noise_w_scale,
                "length_scale": options.length_scale,
                "speaker": options.speaker,
            },
            decoding_fields=("temperature", "seed"),
            workers=0,
            seconds_per_char=0.007,
        )

    def fingerprint(self, prompt: Prompt | None = None) -> str:
        return f"{self._files.revision()}, piper-tts {version_of('piper-tts')}"

    def check(self, prompts: Sequence[Prompt]) -> list[Finding]:
        return self._files.lacking(f"system {self.options.id}")

    def speak(self, request: SpeechRequest) -> Speech:
        from piper.config import SynthesisConfig

        voice = self._voice(request.seed)
        temperature = request.decoding.get("temperature")
        noise_scale = voice.config.noise_scale if temperature is None else float(temperature)
        scales = SynthesisConfig(
            speaker_id=self.options.speaker,
            length_scale=self.options.length_scale,
            noise_scale=noise_scale,
            noise_w_scale=self.options.noise_w_scale,
        )
        # Piper takes what stands between double brackets for phonemes; in a prompt they are text.
        text = speakable(request.prompt.text).replace("[[", "[ [")
        try:
            sentences = [sentence.audio_float_array for sentence in voice.synthesize(text, scales)]
        except Exception as error:  # whatever the engine throws at one clip is that clip's
            raise SpeechFailed(f"{type(error).__name__}: {error}", reason="engine_error", retryable=True) from error
        samples = np.concatenate([np.zeros(0, np.float32), *sentences], dtype=np.float32)
        if not samples.any():
            raise SpeechFailed("the text has nothing that can be spoken", reason="nothing_spoken")
        facts = {"noise_scale": noise_scale, "sentences": len(sentences)}
        return Speech(request.clip_id, Outcome(facts=facts), samples, voice.config.sample_rate)

    def _voice(self, seed: int) -> Any:
        """A voice whose noise starts from `seed`."""
        import onnxruntime
        from piper import PiperVoice
        from piper.config import PiperConfig

        if self._model is None:
            self._model, config = self._files.paths()
            self._config = PiperConfig.from_dict(json.loads(config.read_text(encoding="utf-8")))
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = settings.inter_op_num_threads = 1
        settings.add_session_config_entry("session.intra_op.allow_spinning", "0")
        settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        settings.log_severity_level = 3
        onnxruntime.set_seed(seed)
        session = onnxruntime.InferenceSession(str(self._model), settings, providers=["CPUExecutionProvider"])
        return PiperVoice(session=session, config=self._config)
