"""Piper as it is installed: a clip is the one its seed says, in any process, and takes of one text differ."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kasauti import paths, weights
from kasauti.errors import SpeechSystemError
from kasauti.identity import seed_of
from kasauti.records import Prompt, Status
from kasauti.systems.base import Speech, SpeechRequest
from kasauti.systems.piper import Piper, PiperOptions

pytestmark = pytest.mark.local
pytest.importorskip("piper")

TEXT = "Christina met Krishnamurthy."


def speak(text: str = TEXT, seed: int = 7, system: Piper | None = None, **decoding: Any) -> Speech:
    request = SpeechRequest("c", Prompt("p", "en", text, "Latn"), 0, seed, decoding)
    (speech,) = (system or Piper(PiperOptions())).synthesise([request])
    return speech


def bits(speech: Speech) -> str:
    assert speech.samples is not None, speech.outcome
    return hashlib.sha256(speech.samples.tobytes()).hexdigest()


def test_a_clip_depends_on_its_seed_and_on_nothing_before_it() -> None:
    system = Piper(PiperOptions())
    first, other, again = (speak(seed=seed, system=system) for seed in (7, 8, 7))
    assert bits(first) == bits(again)
    assert bits(first) != bits(other)
    assert first.rate_hz == 22_050
    assert first.samples is not None
    assert first.samples.dtype == np.float32
    assert 0.5 < len(first.samples) / 22_050 < 4


def test_a_clip_is_the_same_in_another_process() -> None:
    program = (
        "from tests.local.test_piper import bits, speak;"
        "speak('Something else was said here before.', seed=3); print(bits(speak()))"
    )
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": f"{root}:{root / 'src'}"}
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    assert child.stdout.strip() == bits(speak())


def test_takes_differ_as_a_floor_needs() -> None:
    """Three takes, as the system's own default has it, seeded as a run seeds them."""
    assert PiperOptions().repeats == 3
    takes = {bits(speak(seed=seed_of(hashlib.sha256(bytes([repeat])).hexdigest()))) for repeat in range(3)}
    assert len(takes) == 3


def test_temperature_is_the_noise_of_the_voice() -> None:
    default = speak()
    assert default.outcome.facts["noise_scale"] == 0.667
    assert bits(default) == bits(speak(temperature=None)) == bits(speak(temperature=0.667))
    assert bits(default) != bits(speak(temperature=0.2))


def test_no_noise_at_all_is_one_sound_for_every_seed() -> None:
    still = Piper(PiperOptions(noise_w_scale=0.0))
    assert bits(speak(seed=1, system=still, temperature=0)) == bits(speak(seed=2, system=still, temperature=0))
    # Without noise_w_scale=0 the durations are still drawn, so temperature 0 alone keeps the takes apart.
    assert bits(speak(seed=1, temperature=0)) != bits(speak(seed=2, temperature=0))


def test_length_scale_stretches() -> None:
    slow = speak(system=Piper(PiperOptions(length_scale=2.0)))
    assert slow.samples is not None
    normal = speak().samples
    assert normal is not None
    assert 1.6 < len(slow.samples) / len(normal) < 2.4


@pytest.mark.parametrize("text", ["a\0b", "\ud800 yes", "😀 yes", "नमस्ते", "[[h@loU]]", "yes " * 60, "One. Two! Three?"])
def test_odd_text_is_spoken(text: str) -> None:
    assert speak(text).outcome.status is Status.OK


@pytest.mark.parametrize("text", ["...", " ", "\x07", "\u200d"])
def test_nothing_to_speak_is_a_failed_clip(text: str) -> None:
    outcome = speak(text).outcome
    assert (outcome.status, outcome.reason) == (Status.SYNTHESIS_FAILED, "nothing_spoken")


def test_phoneme_input_is_text() -> None:
    """Piper reads `[[...]]` as phonemes; a prompt must not reach that."""
    assert bits(speak("[[h@loU]]")) == bits(speak("[ [h@loU]]"))


def test_what_the_engine_throws_at_one_clip_is_that_clip_s(monkeypatch: pytest.MonkeyPatch) -> None:
    def throw(*_: Any) -> None:
        raise RuntimeError("no memory left")

    system = Piper(PiperOptions())
    with monkeypatch.context() as patch:
        patch.setattr("piper.PiperVoice.synthesize", throw)
        outcome = speak(system=system).outcome
    assert (outcome.status, outcome.reason) == (Status.SYNTHESIS_FAILED, "engine_error")
    assert outcome.error == "RuntimeError: no memory left"
    assert speak(system=system).outcome.status is Status.OK


def test_own_voice_by_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = weights.locate("piper-en_US-joe-medium").files
    model = tmp_path / "mine.onnx"
    shutil.copy(files["voice.onnx"], model)
    config = json.loads(files["voice.onnx.json"].read_text(encoding="utf-8"))
    config["espeak"]["voice"] = "hi"
    (tmp_path / "mine.onnx.json").write_text(json.dumps(config))
    mine = Piper(PiperOptions(voice=str(model)))
    assert mine.facts.languages == {"hi": "supported"}
    assert mine.check([]) == []
    before = mine.fingerprint()
    assert before.startswith("piper@")
    for path in (model, tmp_path / "mine.onnx.json"):
        shutil.copy(path, path.with_name(path.name.replace("mine", "other")))
    assert Piper(PiperOptions(voice=str(tmp_path / "other.onnx"))).fingerprint() == before
    monkeypatch.chdir(tmp_path)
    assert Piper(PiperOptions(voice="mine.onnx")).fingerprint() == before
    monkeypatch.chdir("/")
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    assert Piper(PiperOptions(voice="mine.onnx")).fingerprint() == before
    assert before != Piper(PiperOptions()).fingerprint()
    model.write_bytes(model.read_bytes()[:-1] + b"\0")
    assert mine.fingerprint() != before


def test_a_voice_that_is_not_there_is_a_finding_with_the_known_ones(tmp_path: Path) -> None:
    (finding,) = Piper(PiperOptions(voice=str(tmp_path / "no.onnx"))).check([])
    assert finding.level == "error"
    assert "en_US-joe-medium" in finding.remedy


def test_a_config_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.onnx.json").write_text("{}")
    with pytest.raises(SpeechSystemError, match=r"x\.onnx\.json: not the config of a Piper voice"):
        Piper(PiperOptions(voice=str(tmp_path / "x.onnx")))


@pytest.mark.parametrize("options", [{"noise_w_scale": -1.0}, {"length_scale": 0.0}])
def test_impossible_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(SpeechSystemError, match="wanted"):
        Piper(PiperOptions(**options))
