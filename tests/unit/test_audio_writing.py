"""Writing: clipped and never wrapped, exact both ways, whole or not at all."""

from __future__ import annotations

import io
import os
import wave
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from audio_files import RATE_HZ, P, tone, wav
from kasauti.audio import read_audio, wav_bytes, write_wav
from kasauti.errors import AudioError, StoreError

levels = st.floats(-2, 2, width=32)
signals = arrays(np.float32, st.tuples(st.integers(0, 300), st.integers(1, 3)), elements=levels)


def decode(content: bytes) -> np.ndarray:
    """The samples by the standard library, which knows nothing of libsndfile."""
    with wave.open(io.BytesIO(content)) as file:
        assert file.getsampwidth() == 2
        return np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, file.getnchannels())


@given(signals)
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, samples: np.ndarray) -> None:
    path = tmp_path_factory.getbasetemp() / "round_trip.wav"
    n_clipped = write_wav(path, samples, RATE_HZ)
    audio = read_audio(path)
    assert audio.rate_hz == RATE_HZ
    np.testing.assert_allclose(audio.samples, np.clip(samples, -1, 1), rtol=0, atol=1 / 32_767)
    assert n_clipped == np.count_nonzero(np.abs(samples) > 1)
    again = path.read_bytes()
    assert write_wav(path, audio.samples, RATE_HZ) == 0
    assert path.read_bytes() == again, "what came from 16 bits goes back without loss"


@given(signals)
def test_never_another_sign(samples: np.ndarray) -> None:
    written = decode(wav_bytes(samples, RATE_HZ))
    assert written.shape == samples.shape
    assert np.all(written.astype(np.int64) * np.sign(samples) >= 0)


def test_bytes_are_those_of_the_plain_header(tmp_path: Path) -> None:
    samples = np.frombuffer(P, "<i2").astype(np.float32) / 32_768
    assert wav_bytes(samples, RATE_HZ) == wav(P)
    write_wav(tmp_path / "clip.wav", samples, RATE_HZ)
    assert (tmp_path / "clip.wav").read_bytes() == wav(P)


def test_double_precision_far_beyond_full_scale() -> None:
    assert decode(wav_bytes(np.array([1e308, -1e308]), RATE_HZ))[:, 0].tolist() == [32_767, -32_768]


@pytest.mark.parametrize(
    ("samples", "rate_hz", "message"),
    [
        (np.zeros(4, np.int16), RATE_HZ, r"samples are int16; wanted floats"),
        (np.array([0.0, np.nan, np.inf]), RATE_HZ, r"2 of 3 samples are NaN or infinite"),
        (np.zeros((2, 2, 2)), RATE_HZ, r"shape \(2, 2, 2\)"),
        (np.zeros((2, 24_000)), RATE_HZ, r"shape \(2, 24000\).*\[frames, channels\]"),
        (np.zeros(4), 0, r"rate is 0 Hz"),
        (np.zeros(4), 2**31, r"rate is 2147483648 Hz"),
    ],
)
def test_refused(tmp_path: Path, samples: np.ndarray, rate_hz: int, message: str) -> None:
    with pytest.raises(AudioError, match=message):
        write_wav(tmp_path / "clip.wav", samples, rate_hz)
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_fails_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "clip.wav"
    write_wav(path, tone(0.1, 0.5), RATE_HZ)
    before = path.read_bytes()

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(StoreError, match="No space left on device"):
        write_wav(path, tone(0.2, 0.5), RATE_HZ)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
