"""Properties over files that nobody meant to write: whatever the bytes, facts come back and they are consistent."""

from __future__ import annotations

import json
import struct
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audio_files import RATE_HZ, P, chunk, encoded, tone, wav
from kasauti.audio import probe_audio

MAGICS = [
    b"RIFF\x24\0\0\0WAVE",
    b"RIFX\0\0\0\x24WAVE",
    b"RF64\xff\xff\xff\xffWAVE",
    b"FORM\0\0\0\x24AIFF",
    b"fLaC",
    b"OggS",
]
SEEDS = [
    encoded(tone(0.2, 0.5), container, subtype)
    for container, subtype in [
        ("WAV", "PCM_16"),
        ("WAV", "FLOAT"),
        ("WAV", "IMA_ADPCM"),
        ("RF64", "PCM_16"),
        ("AIFF", "PCM_16"),
        ("FLAC", "PCM_16"),
        ("OGG", "VORBIS"),
        ("OGG", "OPUS"),
        ("MP3", "MPEG_LAYER_III"),
    ]
]
u16, u32 = st.integers(0, 2**16 - 1), st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "clip"


def check(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    facts = probe_audio(path)
    assert (facts.status == "ok") == (facts.reason is None)
    json.dumps(asdict(facts), allow_nan=False)
    assert 0 <= facts.clipped_fraction <= 1
    assert 0 <= facts.leading_silence_s <= facts.duration_s
    assert 0 <= facts.trailing_silence_s <= facts.duration_s
    if facts.status == "ok":
        assert facts.duration_s >= 0.1
        assert facts.rms_dbfs >= -60


@given(st.binary(max_size=400))
def test_arbitrary_bytes(path: Path, content: bytes) -> None:
    check(path, content)


@given(st.sampled_from([*MAGICS, b"ID3\x04", b"\xff\xfb"]), st.binary(max_size=400))
def test_arbitrary_bytes_behind_a_known_magic(path: Path, magic: bytes, content: bytes) -> None:
    check(path, magic + content)


@given(st.sampled_from(SEEDS), st.data())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_damaged_files(path: Path, seed: bytes, data: st.DataObject) -> None:
    content = bytearray(seed)
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, min(200, len(content))))
        content[position : position + data.draw(st.integers(0, 8))] = data.draw(st.binary(max_size=8))
    check(path, bytes(content[: data.draw(st.integers(0, len(content)))]))


@given(u32, u32, u16, u16, u32, u16, st.binary(max_size=40))
def test_fuzzed_wave_headers(
    path: Path, riff_size: int, data_size: int, tag: int, channels: int, rate_hz: int, bits: int, before: bytes
) -> None:
    fields = {"tag": tag, "channels": channels, "rate_hz": rate_hz, "bits": bits}
    check(path, wav(P[:6_000], riff_size=riff_size, data_size=data_size, before_data=before, **fields))


@given(u32, u32, st.integers(0, 6_000), st.lists(st.binary(max_size=30), max_size=3))
def test_sizes_never_change_what_a_sample_is(
    path: Path, riff_size: int, data_size: int, there: int, chunks: list[bytes]
) -> None:
    before = b"".join(chunk(b"JUNK", content) for content in chunks)
    path.write_bytes(wav(P[:there], riff_size=riff_size, data_size=data_size, before_data=before))
    facts = probe_audio(path)
    frames = min(there, data_size) // 2
    assert facts.duration_s == frames / RATE_HZ
    assert facts.truncated == (there < data_size < 1_000_000_000)


@given(st.lists(st.tuples(st.binary(min_size=4, max_size=4), u32), max_size=20))
def test_chunk_lists_that_lead_nowhere_end(path: Path, chunks: list[tuple[bytes, int]]) -> None:
    body = b"".join(name + struct.pack("<I", size) for name, size in chunks)
    check(path, wav(P[:6_000], before_data=body))
