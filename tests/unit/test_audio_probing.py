"""Probing: the reason of each invalid file, the floors at their edges, the numbers against arithmetic."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from audio_files import RATE_HZ, P, encoded, float_wav, invalid_files, tone, wav
from kasauti.audio import Audio, AudioFacts, measure_audio, probe_audio
from kasauti.errors import AudioError

INVALID = invalid_files()


def measure(samples: np.ndarray, rate_hz: int = RATE_HZ) -> AudioFacts:
    columns = samples if samples.ndim == 2 else samples[:, None]
    return measure_audio(Audio(columns.astype(np.float32), rate_hz))


@pytest.mark.parametrize("name", INVALID)
def test_every_invalid_file_has_its_reason(tmp_path: Path, name: str) -> None:
    content, reason = INVALID[name]
    path = tmp_path / "clip.wav"
    path.write_bytes(content)
    facts = probe_audio(str(path))
    assert (facts.status, facts.reason) == ("audio_invalid", reason)
    json.dumps(asdict(facts), allow_nan=False)
    if reason in ("empty_file", "unreadable"):
        assert (facts.duration_s, facts.sample_rate_hz, facts.channels) == (0.0, 0, 0)


def test_only_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AudioError, match="no such audio file"):
        probe_audio(tmp_path / "gone.wav")
    assert probe_audio(tmp_path).reason == "unreadable"


@pytest.mark.parametrize(
    ("frames", "amplitude", "reason"),
    [
        (2_399, 0.5, "too_short"),
        (2_400, 0.5, None),
        (2_399, 0.0, "too_short"),  # the first reason that applies
        (24_000, 10 ** (-59.99 / 20) * 2**0.5, None),
        (24_000, 10 ** (-60.01 / 20) * 2**0.5, "silent"),
        (0, 0.0, "no_samples"),
    ],
)
def test_floors(frames: int, amplitude: float, reason: str | None) -> None:
    facts = measure(tone(frames / RATE_HZ, amplitude))
    assert facts.reason == reason
    assert facts.status == ("ok" if reason is None else "audio_invalid")


@pytest.mark.parametrize("offset", [0.0, 0.3, -0.5])
def test_level_of_a_sine_does_not_hear_the_offset(offset: float) -> None:
    facts = measure(tone(1.0, 0.25) + offset)
    assert facts.rms_dbfs == pytest.approx(20 * math.log10(0.25 / math.sqrt(2)), abs=1e-4)
    assert facts.peak == pytest.approx(0.25 + abs(offset), abs=1e-4)


def test_level_of_two_channels_is_that_of_the_mix() -> None:
    one = tone(1.0, 0.5)
    assert measure(np.stack([one, -one], 1)).reason == "silent", "a recogniser that gets the mix hears nothing"
    one_sided = measure(np.stack([one, 0 * one], 1))
    assert one_sided.rms_dbfs == pytest.approx(measure(one).rms_dbfs - 20 * math.log10(2), abs=1e-4)
    assert (one_sided.channels, one_sided.peak) == (2, pytest.approx(0.5, abs=1e-4))


@pytest.mark.parametrize(
    ("container", "subtype", "full_scale"),
    [
        ("WAV", "PCM_U8", 127 / 128),
        ("AIFF", "PCM_S8", 127 / 128),
        ("WAV", "PCM_16", 32_767 / 32_768),
        ("WAV", "PCM_24", 32_767 / 32_768),
        ("WAV", "FLOAT", 1.0),
        ("WAV", "ULAW", 1.0),
    ],
)
def test_clipped_fraction_in_every_encoding(tmp_path: Path, container: str, subtype: str, full_scale: float) -> None:
    samples = np.full(4_000, 0.25, np.float32)
    samples[:100], samples[100:300] = full_scale, -full_scale
    (tmp_path / "clip").write_bytes(encoded(samples, container, subtype))
    assert probe_audio(tmp_path / "clip").clipped_fraction == pytest.approx(300 / 4_000)
    (tmp_path / "clip").write_bytes(encoded(0.96 * samples, container, subtype))
    assert probe_audio(tmp_path / "clip").clipped_fraction == 0.0


def test_silence_at_both_ends() -> None:
    samples = np.concatenate([np.zeros(12_000), tone(1.0, 0.5), np.zeros(6_000)])
    facts = measure(samples)
    assert facts.leading_silence_s == pytest.approx(0.5, abs=0.01)
    assert facts.trailing_silence_s == pytest.approx(0.25, abs=0.01)


def test_all_silence_is_silence_from_both_ends() -> None:
    facts = measure(np.zeros(RATE_HZ))
    assert (facts.leading_silence_s, facts.trailing_silence_s, facts.rms_dbfs) == (1.0, 1.0, -200.0)


def test_not_a_number_keeps_the_other_facts(tmp_path: Path) -> None:
    (tmp_path / "clip").write_bytes(float_wav([*tone(1.0, 0.5), float("nan"), float("inf"), -3e38, 3e38]))
    facts = probe_audio(tmp_path / "clip")
    assert facts.reason == "not_a_number"
    assert facts.sample_rate_hz == RATE_HZ
    assert facts.peak == pytest.approx(3e38)
    assert facts.over_full_scale
    json.dumps(asdict(facts), allow_nan=False)


def test_a_good_clip(tmp_path: Path) -> None:
    (tmp_path / "clip").write_bytes(wav(P))
    facts = probe_audio(tmp_path / "clip")
    ramp = np.arange(-100, 100) / 32_768
    assert facts == AudioFacts(
        status="ok",
        reason=None,
        duration_s=1.5,
        sample_rate_hz=24_000,
        channels=1,
        rms_dbfs=pytest.approx(20 * math.log10(ramp.std())),
        peak=100 / 32_768,
    )
