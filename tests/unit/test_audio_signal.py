"""Mixing, resampling, levels along time, outlines."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from audio_files import RATE_HZ, tone
from kasauti.audio import Audio, active_bounds, envelope_dbfs, mono, peaks, resample, rms_dbfs
from kasauti.errors import AudioError

rates = st.integers(1_000, 50_000)
signals = arrays(np.float32, st.integers(0, 2_000), elements=st.floats(-1, 1, width=32))


def test_mono_of_one_channel_is_a_view_and_of_two_the_mean() -> None:
    one = Audio(tone(0.1, 0.5)[:, None], RATE_HZ)
    assert np.shares_memory(mono(one), one.samples)
    two = Audio(np.array([[1.0, 0.0], [0.5, -0.5], [3e38, 3e38]], np.float32), RATE_HZ)
    np.testing.assert_array_equal(mono(two), np.array([0.5, 0.0, 3e38], np.float32))
    assert mono(two).dtype == np.float32


@pytest.mark.parametrize(("from_hz", "to_hz"), [(24_000, 16_000), (8_000, 16_000), (44_100, 16_000), (16_000, 48_000)])
def test_resampling_keeps_a_tone(from_hz: int, to_hz: int) -> None:
    resampled = resample(tone(1.0, 0.5, from_hz), from_hz, to_hz)
    expected = tone(1.0, 0.5, to_hz)
    assert resampled.dtype == np.float32
    assert len(resampled) == len(expected)
    inner = slice(to_hz // 20, -to_hz // 20)  # the ends ring: the tone stops there
    np.testing.assert_allclose(resampled[inner], expected[inner], rtol=0, atol=2e-4)


def test_resampling_removes_what_the_lower_rate_cannot_hold() -> None:
    ultrasonic = tone(1.0, 0.5, 48_000, hz=15_000)
    assert rms_dbfs(resample(ultrasonic, 48_000, 16_000)[800:-800]) < -80


def test_resampling_at_equal_rates_and_of_nothing() -> None:
    samples = tone(0.1, 0.5)
    assert resample(samples, RATE_HZ, RATE_HZ) is samples
    assert resample(np.zeros(0, np.float32), RATE_HZ, 16_000).shape == (0,)
    assert resample(np.zeros((0, 2), np.float32), RATE_HZ, 16_000).shape == (0, 2)


def test_resampling_keeps_channels_apart() -> None:
    left, right = tone(0.5, 0.5), tone(0.5, 0.25, hz=900)
    both = resample(np.stack([left, right], 1), RATE_HZ, 16_000)
    np.testing.assert_allclose(both[:, 0], resample(left, RATE_HZ, 16_000), atol=1e-6)
    np.testing.assert_allclose(both[:, 1], resample(right, RATE_HZ, 16_000), atol=1e-6)


@given(signals, rates, rates)
def test_resampling_keeps_the_duration(samples: np.ndarray, from_hz: int, to_hz: int) -> None:
    assert abs(len(resample(samples, from_hz, to_hz)) - len(samples) * to_hz / from_hz) <= 1


@pytest.mark.parametrize(("from_hz", "to_hz", "name"), [(0, 16_000, "from_hz"), (16_000, -1, "to_hz")])
def test_resampling_refuses_absurd_rates(from_hz: int, to_hz: int, name: str) -> None:
    with pytest.raises(AudioError, match=f"{name} is"):
        resample(np.zeros(4, np.float32), from_hz, to_hz)


def test_levels_of_known_signals() -> None:
    square = np.where(np.arange(1_000) % 2, 1.0, -1.0).astype(np.float32)
    assert rms_dbfs(square) == pytest.approx(0.0)
    assert rms_dbfs(tone(1.0, 1.0)) == pytest.approx(-3.0103, abs=1e-4)
    assert rms_dbfs(np.full(999, 0.2, np.float32)) == -200.0
    assert rms_dbfs(np.zeros(0, np.float32)) == -200.0


def test_envelope_has_a_level_every_10_ms_and_weighs_a_short_last_frame_by_its_length() -> None:
    square = np.where(np.arange(250) % 2, 0.5, -0.5).astype(np.float32)
    np.testing.assert_allclose(envelope_dbfs(square, 10_000), [20 * math.log10(0.5)] * 3)
    assert envelope_dbfs(np.zeros(0, np.float32), 10_000).shape == (0,)


@given(signals, rates)
def test_envelope_holds_the_whole_energy(samples: np.ndarray, rate_hz: int) -> None:
    envelope = envelope_dbfs(samples, rate_hz)
    frame = round(rate_hz * 0.01)
    assert len(envelope) == math.ceil(len(samples) / frame)
    lengths = [len(samples[start : start + frame]) for start in range(0, len(samples), frame)]
    energy = sum(n * 10 ** (level / 10) for n, level in zip(lengths, envelope, strict=True))
    assert energy == pytest.approx(len(samples) * 10 ** (rms_dbfs(samples) / 10), rel=1e-6)


@pytest.mark.parametrize("noise_db", [None, -70, -55])
def test_bounds_of_a_tone_between_silences(noise_db: float | None) -> None:
    samples = np.concatenate([np.zeros(12_000), tone(1.0, 0.5), np.zeros(6_000)]).astype(np.float32)
    if noise_db is not None:  # -55 dBFS is above the floor but more than 40 dB below the tone
        samples += np.random.default_rng(0).normal(0, 10 ** (noise_db / 20), len(samples)).astype(np.float32)
    assert active_bounds(samples, RATE_HZ) == pytest.approx((0.5, 1.5), abs=0.01)


def test_bounds_when_nothing_is_active_or_everything_is() -> None:
    assert active_bounds(np.zeros(0, np.float32), RATE_HZ) == (0.0, 0.0)
    assert active_bounds(np.zeros(2_400, np.float32), RATE_HZ) == (0.0, 0.0)
    assert active_bounds(tone(0.1234, 0.5), RATE_HZ) == (0.0, 2_962 / RATE_HZ)
    fading = np.concatenate([tone(0.5, 0.5), tone(0.5, 0.5 * 10 ** (-39 / 20)), tone(0.5, 0.5 * 10 ** (-41 / 20))])
    assert active_bounds(fading, RATE_HZ) == (0.0, 1.0), "39 dB below the loudest is a weak ending, 41 dB is none"


@given(signals, rates)
def test_bounds_lie_within_the_clip(samples: np.ndarray, rate_hz: int) -> None:
    start_s, end_s = active_bounds(samples, rate_hz)
    assert 0 <= start_s <= end_s <= len(samples) / rate_hz


def test_peaks_of_a_known_signal() -> None:
    assert peaks(np.array([0.1, -0.5, 0.25, 0.0, 2.0, np.nan], np.float32), 3) == [0.5, 0.25, 1.0]
    assert peaks(np.array([[0.1, -0.5], [0.25, 0.0]], np.float32), 2) == [0.5, 0.25]
    assert peaks(np.array([0.5, -0.25], np.float32), 4) == [0.5, 0.5, 0.25, 0.25]
    assert peaks(np.zeros(0, np.float32), 3) == [0.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="n is 0"):
        peaks(np.zeros(4, np.float32), 0)


@given(signals, st.integers(1, 500))
def test_peaks_are_n_fractions_and_lose_no_maximum(samples: np.ndarray, n: int) -> None:
    outline = peaks(samples, n)
    assert len(outline) == n
    assert all(0 <= value <= 1 for value in outline)
    if n <= len(samples):
        assert max(outline) == np.abs(samples).max()
