"""Kokoro as it is installed: the same bits in every process, and English that a recogniser gives back word for word."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kasauti import audio
from kasauti.errors import SpeechSystemError
from kasauti.judges.base import Heard, JudgeTask
from kasauti.judges.whisper import Whisper, WhisperOptions
from kasauti.records import Prompt, Status
from kasauti.systems import kokoro as kokoro_module
from kasauti.systems import kokoro_phonemes
from kasauti.systems.base import Speech, SpeechRequest
from kasauti.systems.kokoro import Kokoro, KokoroOptions

pytestmark = pytest.mark.local
pytest.importorskip("onnxruntime")
pytest.importorskip("espeakng_loader")

ENGLISH = "The rain stopped early this morning, so we walked to the market."


def speak(system: Kokoro, text: str, lang: str = "en", repeat: int = 0) -> Speech:
    (speech,) = system.synthesise([SpeechRequest("c", Prompt("p", lang, text, "Zyyy"), repeat, seed=repeat)])
    return speech


def bits(speech: Speech) -> str:
    assert speech.samples is not None, speech.outcome
    return hashlib.sha256(speech.samples.tobytes()).hexdigest()


@pytest.fixture(scope="module")
def kokoro() -> Iterator[Kokoro]:
    system = Kokoro(KokoroOptions())
    yield system
    system.close()


@pytest.fixture(scope="module")
def english(kokoro: Kokoro) -> Speech:
    return speak(kokoro, ENGLISH)


def test_english_comes_back_word_for_word(english: Speech, tmp_path: Path) -> None:
    pytest.importorskip("faster_whisper")
    assert english.samples is not None
    assert english.rate_hz == 24_000
    audio.write_wav(tmp_path / "clip.wav", english.samples, english.rate_hz)
    task = JudgeTask("t", "en", 0, (Heard(tmp_path / "clip.wav", "0" * 64, 4.0),))
    (answer,) = Whisper(WhisperOptions()).judge([task])
    heard, said = (re.sub(r"[^a-z ]", "", text.lower()) for text in (answer.transcript or "", ENGLISH))
    assert heard == said


def test_a_clip_is_the_same_bit_for_bit_in_another_process_and_after_other_clips(kokoro: Kokoro) -> None:
    program = (
        "from tests.local.test_kokoro import *; system = Kokoro(KokoroOptions());"
        "speak(system, 'Before.'); print(bits(speak(system, 'Good morning.')))"
    )
    root = Path(__file__).parents[2]
    # More threads in the environment must not reach the session.
    environment = {**os.environ, "PYTHONPATH": f"{root}:{root / 'src'}", "OMP_NUM_THREADS": "2"}
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    takes = {bits(speak(kokoro, "Good morning.", repeat=repeat)) for repeat in range(2)}
    assert takes == {child.stdout.strip()}


def test_sound_is_speech_and_facts_say_how_it_was_made(english: Speech) -> None:
    samples = english.samples
    assert samples is not None
    assert samples.dtype == np.float32
    assert 2 < len(samples) / 24_000 < 8
    assert 0.05 < float(np.abs(samples).max()) <= 1.5
    assert english.outcome.facts["voice"] == "jm_kumo"
    assert english.outcome.facts["dropped_symbols"] == 0


@pytest.mark.parametrize(
    ("lang", "text"), [("hi", "नमस्ते"), ("bn", "নমস্কার"), ("mr", "नमस्कार"), ("ta", "வணக்கம்"), ("te", "నమస్కారం")]
)
def test_other_languages_speak(kokoro: Kokoro, lang: str, text: str) -> None:
    assert speak(kokoro, text, lang).outcome.status is Status.OK


def test_what_is_supported_and_what_is_tried(kokoro: Kokoro) -> None:
    assert kokoro.facts.languages == {
        "en": "supported",
        "hi": "supported",
        **dict.fromkeys(("bn", "mr", "ta", "te"), "best_effort"),
    }
    refusal = kokoro.refuse(Prompt("p", "gu", "x", "Gujr"))
    assert refusal is not None
    assert refusal.status is Status.UNSUPPORTED_LANGUAGE


def test_voice_and_speed_change_the_sound_and_are_declared(kokoro: Kokoro) -> None:
    plain = speak(kokoro, "Yes.")
    other = Kokoro(KokoroOptions(voice="jf_nezumi"))
    fast = Kokoro(KokoroOptions(speed=2.0))
    assert len({bits(speak(system, "Yes.")) for system in (kokoro, other, fast)}) == 3
    spoken = Prompt("p", "en", "Yes.", "Latn")
    assert len({str(system.facts.settings) for system in (kokoro, other, fast)}) == 3
    assert len({str(system.settings_of(spoken)) for system in (kokoro, other, fast)}) == 3
    quick = speak(fast, "Yes.").samples
    assert quick is not None
    assert plain.samples is not None
    assert len(quick) < len(plain.samples)


def test_a_clip_is_told_apart_by_what_its_own_language_uses(kokoro: Kokoro, monkeypatch: pytest.MonkeyPatch) -> None:
    english, hindi = Prompt("p", "en", "Yes.", "Latn"), Prompt("p", "hi", "हाँ", "Deva")
    before = [kokoro.settings_of(prompt) for prompt in (english, hindi)]
    monkeypatch.setitem(kokoro_module._VOICES, "en", ("jf_alpha",))
    after = [kokoro.settings_of(prompt) for prompt in (english, hindi)]
    assert (after[0] != before[0], after[1] == before[1]) == (True, True)


def test_a_voice_that_is_not_in_the_pack_is_found_before_the_run() -> None:
    (finding,) = Kokoro(KokoroOptions(voice="jm_kuma")).check([])
    assert finding.level == "error"
    assert "did you mean 'jm_kumo'" in finding.message
    assert Kokoro(KokoroOptions(voice="jf_alpha")).check([]) == []
    assert Kokoro(KokoroOptions()).check([]) == []
    with pytest.raises(SpeechSystemError, match="speed"):
        Kokoro(KokoroOptions(speed=9.0))


@pytest.mark.parametrize("text", ["a\0b", "\ud800 yes", "😀", "[[h@loU]]", "नमस्ते 2", "Wait — what?!"])
def test_odd_text_is_spoken(kokoro: Kokoro, text: str) -> None:
    assert speak(kokoro, text).outcome.status is Status.OK


@pytest.mark.parametrize("text", ["...", " ", "?!", "\u200d"])
def test_nothing_to_speak_is_a_failed_clip(kokoro: Kokoro, text: str) -> None:
    outcome = speak(kokoro, text).outcome
    assert (outcome.status, outcome.reason) == (Status.SYNTHESIS_FAILED, "nothing_spoken")


def test_a_text_beyond_the_model_s_length_is_spoken_whole(kokoro: Kokoro, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kokoro_phonemes, "MAX_TOKENS", 20)
    ran: list[str] = []

    def run(chunk: str, style: Any) -> Any:
        ran.append(chunk)
        return np.ones(10, np.float32)

    monkeypatch.setattr(kokoro, "_run", run)
    speech = speak(kokoro, "One day it rained. Then it stopped, and the sun came out again.")
    assert len(ran) > 2
    assert max(map(len, ran)) <= 20
    assert speech.samples is not None
    assert len(speech.samples) == 10 * len(ran)


def test_what_the_engine_throws_at_one_clip_is_that_clip_s(kokoro: Kokoro, monkeypatch: pytest.MonkeyPatch) -> None:
    def throw(*_: Any) -> None:
        raise RuntimeError("no memory left")

    with monkeypatch.context() as patch:
        patch.setattr(kokoro, "_run", throw)
        outcome = speak(kokoro, "Yes.").outcome
    assert (outcome.status, outcome.reason, outcome.retryable) == (Status.SYNTHESIS_FAILED, "engine_error", True)


@pytest.mark.parametrize(
    ("line", "pieces"),
    [
        ("a" * 510, ["a" * 510]),
        ("", []),
        ("a" * 300 + ". " + "b" * 300, ["a" * 300 + ".", "b" * 300]),
        ("a" * 200 + "! " + "b" * 200 + ", " + "c" * 300, ["a" * 200 + "!", "b" * 200 + ", " + "c" * 300]),
        ("a" * 300 + ", " + "b" * 300, ["a" * 300 + ",", "b" * 300]),
        ("a" * 300 + " " + "b" * 300, ["a" * 300, "b" * 300]),
        ("a" * 1100, ["a" * 510, "a" * 510, "a" * 80]),
    ],
    ids=["at the limit", "empty", "sentence", "sentence before clause", "clause", "word", "no place to cut"],
)
def test_long_lines_are_cut_where_it_hurts_least(line: str, pieces: list[str]) -> None:
    assert kokoro_phonemes.chunks(line) == pieces


def test_punctuation_survives_and_numbers_are_not_cut(kokoro: Kokoro) -> None:
    speak(kokoro, "Yes.")
    vocabulary = kokoro._vocabulary
    marks = re.sub(
        r"[^.,;:!?…—]", "", kokoro_phonemes.symbols("Yes, no; 3.14 at 9:30! Why? Well… so — end.", "en", vocabulary)[0]
    )
    assert marks == ",;!?…—."
    hindi = kokoro_phonemes.symbols("राम आया।सीता गई॥ गाड़ी", "hi", vocabulary)[0]
    assert re.sub(r"[^.]", "", hindi) == "..", "a danda is a full stop, and eSpeak NG's own dot in r. is none"


def test_symbols_the_model_lacks_are_dropped_and_counted(kokoro: Kokoro) -> None:
    vocabulary = {symbol: token for symbol, token in kokoro._vocabulary.items() if symbol != "ʧ"}
    kept, dropped = kokoro_phonemes.symbols("church", "en", vocabulary)
    assert dropped == 2
    assert "ʧ" not in kept
    assert kokoro_phonemes.symbols("church", "en", kokoro._vocabulary)[0].count("ʧ") == 2
