"""Gates, on audio made here and measured as a run measures it, and on transcripts; limits, both sides of each."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from audio_files import RATE_HZ, encoded, tone
from kasauti.audio import probe_audio
from kasauti.errors import ConfigError
from kasauti.metrics.gates import (
    GATES,
    NGRAM,
    Gate,
    GateLimits,
    Sound,
    Transcript,
    repeated_share,
    sound_gates,
    transcript_gates,
)
from kasauti.metrics.score import score_pair
from kasauti.text.levels import normalize, normalize_pair

LIMITS = GateLimits()
Samples = NDArray[np.float32]


def silence(duration_s: float) -> Samples:
    return np.zeros(round(duration_s * RATE_HZ), np.float32)


def overdriven(duration_s: float, amplitude: float) -> Samples:
    """A tone that was amplified beyond full scale and cut off there."""
    return np.clip(tone(duration_s, amplitude), -1.0, 1.0)


def sound_of(folder: Path, samples: Samples, expected_s: float | None = None, **more: Any) -> Sound:
    """A sound file's facts, as a run states them."""
    path = folder / "clip.wav"
    path.write_bytes(encoded(samples, "WAV", "PCM_16"))
    facts = probe_audio(path)
    assert facts.status == "ok"
    return Sound(
        facts.duration_s, expected_s, facts.leading_silence_s, facts.trailing_silence_s, facts.clipped_fraction, **more
    )


def failed(gates: list[Gate]) -> set[str]:
    return {gate.name for gate in gates if not gate.passed}


def heard(said: str, transcript: str, lang: str = "en", limits: GateLimits = LIMITS) -> dict[str, Gate]:
    """Gates of a transcript, as a run makes them."""
    verdict = score_pair(said, transcript, lang).status
    gates = transcript_gates(Transcript(*normalize_pair(said, transcript, lang, "numbers"), verdict), limits)
    return {gate.name: gate for gate in gates}


@pytest.mark.parametrize(
    ("samples", "expected_s", "fails"),
    [
        (tone(2.0, 0.5), 2.0, set()),
        # Silence before: 1.2 s is too much, 0.9 s is not.
        (np.concatenate([silence(1.2), tone(2.0, 0.5)]), 2.0, {"leading_silence"}),
        (np.concatenate([silence(0.9), tone(2.0, 0.5)]), 2.0, set()),
        # Silence after; noise 50 dB below the sound is silent beside it.
        (np.concatenate([tone(2.0, 0.5), silence(1.2)]), 2.0, {"trailing_silence"}),
        (np.concatenate([tone(2.0, 0.5), tone(1.2, 0.5 / 10**2.5)]), 2.0, {"trailing_silence"}),
        # Half as long as expected, and a little more and less.
        (tone(0.9, 0.5), 2.0, {"too_short"}),
        (tone(1.1, 0.5), 2.0, set()),
        # The sound counts, not the file: 1.8 s of which 0.9 s are heard.
        (np.concatenate([tone(0.9, 0.5), silence(0.9)]), 2.0, {"too_short"}),
        # 2.5 times as long as expected.
        (tone(5.2, 0.5), 2.0, {"too_long"}),
        (tone(4.8, 0.5), 2.0, set()),
        (np.concatenate([silence(0.5), tone(4.8, 0.5), silence(0.5)]), 2.0, set()),
        # A peak cut off on every half wave; one that only just touches full scale.
        (overdriven(2.0, 1.5), 2.0, {"clipping"}),
        (tone(2.0, 0.999), 2.0, set()),
        # Nothing is known of the text: its length says nothing.
        (tone(9.0, 0.5), None, set()),
    ],
)
def test_gates_of_sound(tmp_path: Path, samples: Samples, expected_s: float | None, fails: set[str]) -> None:
    assert failed(sound_gates(sound_of(tmp_path, samples, expected_s), LIMITS)) == fails


def test_what_is_measured_of_a_sound(tmp_path: Path) -> None:
    clip = np.concatenate([silence(0.5), tone(1.0, 0.5), silence(0.25)])
    measured = {gate.name: gate.measured for gate in sound_gates(sound_of(tmp_path, clip, 2.0), LIMITS)}
    assert measured["leading_silence"] == pytest.approx(0.5, abs=0.01)
    assert measured["trailing_silence"] == pytest.approx(0.25, abs=0.01)
    assert measured["too_short"] == measured["too_long"] == pytest.approx(0.5, abs=0.01)
    assert measured["clipping"] == 0.0
    assert measured["token_cap"] is None


@pytest.mark.parametrize(
    ("duration_s", "end", "cap_s", "passed"),
    [
        (20.48, None, 20.48, False),  # 2048 tokens at 100 a second
        (20.40, None, 20.48, True),  # a frame of 80 ms less
        (20.50, None, 20.48, False),
        (20.48, None, None, True),  # a system that doesn't say
        (20.48, "stop_head", 20.48, True),  # what the system says goes before what its clip's length suggests
        (3.2, "token_cap", 20.48, False),
        (3.2, "token_cap", None, False),
        (3.2, "end_token", None, True),
    ],
)
def test_a_clip_cut_at_the_token_cap(duration_s: float, end: str | None, cap_s: float | None, passed: bool) -> None:
    gates = sound_gates(Sound(duration_s, end=end, cap_s=cap_s), LIMITS)
    assert ("token_cap" not in failed(gates)) == passed


def test_a_clip_of_an_older_store_has_unknown_silence_and_fails_no_gate_of_it() -> None:
    assert failed(sound_gates(Sound(2.0, 2.0), LIMITS)) == set()
    assert failed(sound_gates(Sound(9.0, 2.0), LIMITS)) == {"too_long"}


@pytest.mark.parametrize(
    ("said", "transcript", "lang", "fails"),
    [
        ("the train leaves at seven", "the train leaves at seven", "en", set()),
        ("the train leaves at seven", "", "en", {"empty_transcript"}),
        ("the train leaves at seven", " ... ", "en", {"empty_transcript"}),  # punctuation is nothing heard
        ("मुझे पानी चाहिए", "", "hi", {"empty_transcript"}),
        ("मुझे पानी चाहिए", "mujhe paani chahiye", "hi", {"wrong_script"}),
        ("मुझे पानी चाहिए", "مجھے پانی چاہیے", "hi", {"wrong_script"}),
        ("कल office में meeting है", "कल ऑफिस में मीटिंग है", "hi", set()),
        # Whisper's repeat loops on eSpeak NG's Hindi, Telugu and Marathi: a word, a mark, a phrase.
        ("వంతెన దాటిన తర్వాత కుడివైపు తిరగండి", "పాన పాన పాన పాన పాన పాన పాన పాన పాన", "te", {"looping"}),
        ("आज सुबह से हल्की बारिश हो रही है", "चुप" + "\u093c" * 28, "hi", {"looping"}),
        ("आज सुबह से हल्की बारिश हो रही है", "आज सुबह से " * 12, "hi", {"looping", "run_on"}),
        (
            "राधिका और इमरान छुट्टियों में जयपुर से उदयपुर घूमने जाएँगे।",
            "राविका तिम राभियो दियो में जायो" + " दियो" * 6 + " में जायो" + " दियो" * 6,
            "hi",
            {"looping", "run_on"},
        ),
        # A text that repeats itself may be heard to do so.
        ("no no no no no no no", "no no no no no no no", "en", set()),
        ("बहुत बहुत धन्यवाद", "बहुत बहुत धन्यवाद", "hi", set()),
        # Speech that goes on: half as much again is the limit.
        ("the train leaves at seven", "the train leaves at seven and then we went", "en", {"run_on"}),
        ("the train leaves at seven", "the train leaves at seven today", "en", set()),
        ("हाँ", "हाँ जी", "hi", set()),  # twice as much, but a syllable is no run-on
    ],
)
def test_gates_of_transcripts(said: str, transcript: str, lang: str, fails: set[str]) -> None:
    assert failed(list(heard(said, transcript, lang).values())) == fails


def test_what_is_measured_of_a_transcript() -> None:
    gates = heard("मुझे पानी चाहिए", "mujhe paani chahiye", "hi")
    assert (gates["wrong_script"].measured, gates["wrong_script"].limit) == ("Latn", "Deva")
    assert gates["run_on"].measured is None  # lengths in two scripts can't be compared
    assert gates["empty_transcript"].measured == 19
    # 25 characters said, 31 heard: 6 of 25 beyond the text.
    assert heard("the train leaves at seven", "the train leaves at seven today")["run_on"].measured == 0.24
    assert heard("no", "no no")["run_on"].measured == 0.15  # 3 of 20, the least that it is divided by


def test_figures_are_compared_as_words() -> None:
    said, transcript = "call 9876543210 now", "call nine eight seven six five four three two one zero now"
    assert failed(list(heard(said, transcript).values())) == set()


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("", 0.0),
        ("abcdef", 0.0),  # one stretch
        ("abcdefg", 0.0),
        ("aaaaaaa", 0.5),  # two stretches, one of them new
        ("a" * 25, 0.95),  # 20 stretches, one of them new
        ("abcabcabcabc", 1 - 3 / 7),  # 7 stretches, 3 of them new
    ],
)
def test_repeated_share_by_hand(text: str, share: float) -> None:
    assert repeated_share(text) == pytest.approx(share)


@given(st.text(alphabet="abcdeक ि", max_size=60))
def test_property_repeated_share_counts_stretches_that_stand_to_the_left(text: str) -> None:
    starts = range(len(text) - NGRAM + 1)
    again = sum(text.find(text[at : at + NGRAM]) < at for at in starts)
    assert repeated_share(text) == pytest.approx(again / len(starts) if starts else 0.0)


@given(st.text(alphabet="abcdefghij ", min_size=NGRAM, max_size=30), st.integers(2, 9))
def test_property_a_text_said_n_times_repeats_nearly_that_much_of_itself(text: str, times: int) -> None:
    assert repeated_share(text * times) >= 1 - len(text) / (len(text) * times - NGRAM + 1)


def test_every_gate_can_be_turned_off() -> None:
    none = GateLimits(**{f.name: None for f in fields(GateLimits)})
    terrible = Sound(60.0, 1.0, 20.0, 20.0, 0.9, end="token_cap")
    assert failed(sound_gates(terrible, LIMITS)) == {
        "leading_silence",
        "trailing_silence",
        "too_long",
        "token_cap",
        "clipping",
    }
    assert failed(sound_gates(terrible, none)) == set()
    assert failed(sound_gates(replace(terrible, duration_s=40.2), LIMITS)) >= {"too_short"}
    assert failed(list(heard("no", "yes " * 40, limits=none).values())) == set()


def test_gates_come_in_the_order_in_which_they_are_named() -> None:
    text = normalize("ok", "en", "numbers")
    gates = [*sound_gates(Sound(1.0), LIMITS), *transcript_gates(Transcript(text, text, "ok"), LIMITS)]
    assert [gate.name for gate in gates] == list(GATES)


@pytest.mark.parametrize("limit", [-0.1, float("nan")])
def test_a_limit_below_zero_is_refused(limit: float) -> None:
    with pytest.raises(ConfigError, match=r"scoring\.gates\.looping is .*; wanted 0 or more"):
        GateLimits(looping=limit)
