"""The 18 audio cases of `tests/cases/audio.md`, each built by hand, each with the value stated there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from audio_files import ALAW, MULAW, RATE_HZ, P, encoded, float_wav, tone, wav
from kasauti.audio import AudioFacts, probe_audio, read_audio, write_wav


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return tmp_path / "clip.wav"


def probe(path: Path, content: bytes) -> AudioFacts:
    path.write_bytes(content)
    return probe_audio(path)


@pytest.mark.parametrize(
    ("case", "riff_size", "data_size", "body", "n_samples", "truncated"),
    [
        ("audio-01", 0xFFFFFFFF, 0xFFFFFFFF, P, 36_000, False),
        ("audio-02", 0x7FFFFFFF, 0x7FFFFFFF, P, 36_000, False),
        ("audio-03", 2_000_000_036, 2_000_000_000, P, 36_000, False),
        ("audio-04", 72_036, 72_000, P, 36_000, False),
        ("audio-05", 36_036, 36_000, P, 18_000, False),
        ("audio-06", 72_036, 72_000, P[:50_001], 25_000, True),
    ],
)
def test_declared_size(
    clip: Path, case: str, riff_size: int, data_size: int, body: bytes, n_samples: int, truncated: bool
) -> None:
    facts = probe(clip, wav(body, riff_size=riff_size, data_size=data_size))
    assert facts.status == "ok", case
    assert facts.duration_s == n_samples / RATE_HZ
    assert (facts.sample_rate_hz, facts.channels, facts.truncated) == (RATE_HZ, 1, truncated)
    samples = read_audio(clip).samples[:, 0]
    np.testing.assert_array_equal(samples * 32_768, np.frombuffer(P, "<i2")[:n_samples])


def test_audio_07_24_bit(clip: Path) -> None:
    values = [8_388_607, -8_388_608, 4_194_304, -1, 0]
    clip.write_bytes(wav(b"".join(v.to_bytes(3, "little", signed=True) for v in values), bits=24))
    expected = [0.99999988, -1.0, 0.5, -0.00000012, 0.0]
    np.testing.assert_allclose(read_audio(clip).samples[:, 0], expected, rtol=0, atol=1e-8)


def test_audio_08_writer_clips_and_audio_09_says_so(clip: Path) -> None:
    samples = np.array([1.0, -1.0, 0.5, 1.2, -1.2], np.float32)
    assert write_wav(clip, samples, RATE_HZ) == 2, "1.2 and -1.2 had to be clipped; full scale itself is no loss"
    assert np.frombuffer(clip.read_bytes()[-10:], "<i2").tolist() == [32_767, -32_768, 16_384, 32_767, -32_768]
    facts = probe_audio(clip)
    assert facts.clipped_fraction == pytest.approx(4 / 5)
    assert not facts.over_full_scale


def test_audio_10_float(clip: Path) -> None:
    facts = probe(clip, float_wav([0.0, 0.5, 1.5, -1.5]))
    assert read_audio(clip).samples[:, 0].tolist() == [0.0, 0.5, 1.5, -1.5]
    assert facts.over_full_scale
    assert facts.peak == 1.5
    assert facts.clipped_fraction == 0.5


@pytest.mark.parametrize(
    ("tag", "codes", "expected"),
    [
        # ITU-T G.711 tables 2a and 1a, decoder output on the 16-bit scale: codes of largest, smallest and zero value.
        (MULAW, [0x80, 0x00, 0xFF, 0x7F], [32_124, -32_124, 0, 0]),
        (ALAW, [0xAA, 0x2A, 0xD5, 0x55], [32_256, -32_256, 8, -8]),
    ],
)
def test_audio_11_telephone_codecs(clip: Path, tag: int, codes: list[int], expected: list[int]) -> None:
    facts = probe(clip, wav(bytes(codes * 1_000), tag=tag, bits=8, rate_hz=8_000))
    assert (read_audio(clip).samples[:4, 0] * 32_768).tolist() == expected
    assert (facts.status, facts.duration_s, facts.sample_rate_hz) == ("ok", 0.5, 8_000)
    assert facts.clipped_fraction == 0.5, "the largest code of a codec is its full scale"


@pytest.mark.parametrize(
    ("case", "content", "reason"),
    [
        ("audio-12", b"", "empty_file"),
        ("audio-13", wav(b""), "no_samples"),
        ("audio-14", wav(bytes(2 * RATE_HZ * 2)), "silent"),
        ("audio-15", float_wav([0.2] * 2 * RATE_HZ), "silent"),
        ("audio-16", encoded(tone(0.01, 0.5), "WAV", "PCM_16"), "too_short"),
        ("audio-17", float_wav([*tone(1.0, 0.5), float("nan")]), "not_a_number"),
    ],
)
def test_nothing_to_hear(clip: Path, case: str, content: bytes, reason: str) -> None:
    facts = probe(clip, content)
    assert (facts.status, facts.reason) == ("audio_invalid", reason), case


def test_audio_18_quiet_is_not_silent(clip: Path) -> None:
    amplitude = 10 ** (-40 / 20) * 2**0.5
    facts = probe(clip, encoded(tone(1.0, amplitude), "WAV", "PCM_24"))
    assert (facts.status, facts.reason) == ("ok", None)
    assert facts.rms_dbfs == pytest.approx(-40.0, abs=1e-3)
