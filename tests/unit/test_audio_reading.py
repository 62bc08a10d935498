"""Reading: every encoding, every way a header can be wrong, and what a cut file still gives."""

from __future__ import annotations

import pickle
import struct
import tracemalloc
import wave
from itertools import product
from os import mkfifo
from pathlib import Path

import numpy as np
import pytest

from audio_files import FLOAT, MULAW, PCM, RATE_HZ, P, chunk, encoded, tone, wav
from kasauti.audio import Audio, BadAudioError, read_audio
from kasauti.errors import AudioError, KasautiError

TONE = tone(1.0, 0.5)
STEREO = np.stack([TONE, -0.5 * TONE], axis=1)


def read(tmp_path: Path, content: bytes, name: str = "clip") -> Audio:
    path = tmp_path / name
    path.write_bytes(content)
    return read_audio(path)


@pytest.mark.parametrize(
    ("container", "subtype", "tolerance"),
    [
        ("WAV", "PCM_U8", 1 / 128),
        ("WAV", "PCM_16", 1 / 32_768),
        ("WAV", "PCM_24", 2**-23),
        ("WAV", "PCM_32", 2**-23),
        ("WAV", "FLOAT", 0),
        ("WAV", "DOUBLE", 0),
        ("WAV", "ULAW", 0.02),
        ("WAV", "ALAW", 0.02),
        ("WAV", "IMA_ADPCM", 0.05),
        ("WAVEX", "PCM_16", 1 / 32_768),
        ("RF64", "PCM_16", 1 / 32_768),
        ("AIFF", "PCM_16", 1 / 32_768),
        ("FLAC", "PCM_16", 1 / 32_768),
        ("FLAC", "PCM_24", 2**-23),
        ("OGG", "VORBIS", 0.1),
        ("OGG", "OPUS", 0.1),
        ("MP3", "MPEG_LAYER_III", 0.1),
    ],
)
@pytest.mark.parametrize("samples", [TONE[:, None], STEREO], ids=["mono", "stereo"])
def test_every_encoding(tmp_path: Path, container: str, subtype: str, tolerance: float, samples: np.ndarray) -> None:
    # The name says nothing about the content; `.raw` would make libsndfile ask for a rate.
    audio = read(tmp_path, encoded(samples, container, subtype), "clip.raw")
    assert audio.samples.dtype == np.float32
    assert audio.rate_hz == RATE_HZ
    assert not audio.truncated
    assert len(samples) <= len(audio.samples) < len(samples) + 1_100, "block codecs may pad their last block"
    frames = slice(1_000, 23_000) if tolerance >= 0.05 else slice(0, 24_000)  # adaptive codecs settle and trail off
    np.testing.assert_allclose(audio.samples[frames], samples[frames], rtol=0, atol=tolerance)


@pytest.mark.parametrize("channels", [1, 2, 6])
@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_files_of_the_standard_library(tmp_path: Path, channels: int, width: int) -> None:
    ramp = np.arange(-120, 120).repeat(channels)
    with wave.open(str(tmp_path / "clip.wav"), "wb") as file:
        file.setparams((channels, width, RATE_HZ, 0, "NONE", ""))
        shift = 8 * (width - 1)
        file.writeframes(
            b"".join(
                int(v + 128).to_bytes(1, "little")
                if width == 1
                else (int(v) << shift).to_bytes(width, "little", signed=True)
                for v in ramp
            )
        )
    audio = read_audio(tmp_path / "clip.wav")
    np.testing.assert_array_equal(audio.samples * 128, ramp.reshape(-1, channels))


WIDTHS = {"u8": (PCM, 8), "s16": (PCM, 16), "s24": (PCM, 24), "s32": (PCM, 32), "f32": (FLOAT, 32), "mulaw": (MULAW, 8)}
BODY = (
    np.random.default_rng(7).uniform(-1, 1, 3_000).astype("<f4").tobytes()
)  # 12,000 bytes: whole frames in each width
LIST = chunk(b"LIST", b"INFOISFT" + struct.pack("<I", 4) + b"me\0\0")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("data_size", [0xFFFFFFFF, 0x80000000, 0x7FFFF000, 2_000_000_000, 12_001, 12_000, 6_001, 0])
def test_samples_used_are_the_smaller_of_declared_and_there(
    tmp_path: Path, width: str, channels: int, data_size: int
) -> None:
    tag, bits = WIDTHS[width]
    frame = channels * bits // 8
    layout = {"tag": tag, "bits": bits, "channels": channels}
    whole = read(tmp_path, wav(BODY, **layout)).samples
    assert len(whole) == len(BODY) // frame
    for riff_size, there, tail, before in product(
        [None, 0, 0xFFFFFFFF], [12_000, 11_999, 1, 0], [b"", LIST], [b"", LIST]
    ):
        body = BODY[:there] + tail
        audio = read(tmp_path, wav(body, riff_size=riff_size, data_size=data_size, before_data=before, **layout))
        n_frames = min(data_size, len(body)) // frame
        assert audio.samples.shape == (n_frames, channels)
        known = min(n_frames, there // frame)
        np.testing.assert_array_equal(audio.samples[:known], whole[:known])
        assert audio.truncated == (len(body) < data_size < 1_000_000_000)


@pytest.mark.parametrize("wrong", [(0, 0), (1, 1), (0xFFFFFFFF, 7)], ids=["zero", "one", "large"])
def test_byte_rate_and_block_size_of_pcm_do_not_matter(tmp_path: Path, wrong: tuple[int, int]) -> None:
    content = bytearray(wav(P))
    content[28:34] = struct.pack("<IH", *wrong)
    assert len(read(tmp_path, bytes(content)).samples) == 36_000


@pytest.mark.parametrize("total", [0, 2**36 - 1], ids=["unknown", "absurd"])
def test_flac_of_a_streaming_writer(tmp_path: Path, total: int) -> None:
    content = bytearray(encoded(TONE, "FLAC", "PCM_16"))
    field = int.from_bytes(content[18:26], "big") >> 36 << 36 | total  # STREAMINFO: the last 36 bits count samples
    content[18:26] = field.to_bytes(8, "big")
    audio = read(tmp_path, bytes(content))
    assert len(audio.samples) == RATE_HZ
    assert not audio.truncated


@pytest.mark.parametrize(
    ("container", "subtype"),
    [("AIFF", "PCM_16"), ("FLAC", "PCM_16"), ("OGG", "VORBIS"), ("OGG", "OPUS"), ("MP3", "MPEG_LAYER_III")],
)
def test_a_cut_file_gives_its_beginning_and_is_marked(tmp_path: Path, container: str, subtype: str) -> None:
    samples = np.random.default_rng(3).normal(0, 0.1, 5 * RATE_HZ).astype(np.float32)  # fills many pages and frames
    content = encoded(samples, container, subtype)
    whole = read(tmp_path, content).samples
    cut = read(tmp_path, content[: len(content) * 6 // 10])
    assert cut.truncated
    assert 0.3 * len(samples) < len(cut.samples) < 0.9 * len(samples)
    settled = len(cut.samples) - 2_500  # a lossy codec's last block leans on the one that is missing
    np.testing.assert_allclose(cut.samples[:settled], whole[:settled], rtol=0, atol=1e-3)


def test_a_cut_flac_of_unknown_length_is_marked(tmp_path: Path) -> None:
    content = bytearray(encoded(tone(5.0, 0.5), "FLAC", "PCM_16"))
    content[22:26] = bytes(4)
    content[21] &= 0xF0
    assert read(tmp_path, bytes(content[: len(content) // 2])).truncated


@pytest.mark.parametrize("cut", [0, 10, 28, 60, -1], ids=["whole page", "header", "sizes", "content", "last byte"])
@pytest.mark.parametrize("subtype", ["VORBIS", "OPUS"])
def test_an_ogg_file_without_its_last_page_is_marked(tmp_path: Path, subtype: str, cut: int) -> None:
    content = encoded(np.random.default_rng(3).normal(0, 0.1, 5 * RATE_HZ).astype(np.float32), "OGG", subtype)
    end = content.rindex(b"OggS") + cut if cut >= 0 else cut
    assert read(tmp_path, content[:end]).truncated


def test_mp3_without_a_length_is_not_called_truncated(tmp_path: Path) -> None:
    # Near silence first: a length guessed from the first frame's bit rate would be several times too long.
    noise = np.random.default_rng(3).normal(0, 0.2, 3 * RATE_HZ)
    noise[:RATE_HZ] *= 1e-6
    content = encoded(noise.astype(np.float32), "MP3", "MPEG_LAYER_III")
    second_frame = content.index(content[:2], 4)
    assert b"Xing" in content[:second_frame] or b"Info" in content[:second_frame]
    assert not read(tmp_path, content[second_frame:]).truncated


def test_memory_follows_the_samples_and_not_the_header(tmp_path: Path) -> None:
    fmt_that_claims_4_gb = b"RIFF\xff\xff\xff\xffWAVEfmt \xf0\xff\xff\xff" + wav(P)[20:]
    claims = [
        wav(P[:2_000], riff_size=0xFFFFFFFF, data_size=0xFFFFFFFF),
        wav(P[:2_000], data_size=1_900_000_000, channels=64),
        fmt_that_claims_4_gb,
    ]
    for content in claims:
        (tmp_path / "clip").write_bytes(content)
        tracemalloc.start()
        try:
            read_audio(tmp_path / "clip")
        except BadAudioError:
            pass
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert peak < 4_000_000


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    for path in (tmp_path / "gone.wav", tmp_path / "file" / "clip.wav", tmp_path / "link", "nul\0byte.wav"):
        with pytest.raises(AudioError, match="no such audio file") as caught:
            read_audio(path)
        assert not isinstance(caught.value, BadAudioError)


def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path) -> None:
    mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(BadAudioError, match="folder or a device") as caught:
            read_audio(path)
        assert caught.value.reason == "unreadable"


def test_messages_name_file_problem_and_remedy(tmp_path: Path) -> None:
    with pytest.raises(KasautiError, match=r"page.wav: begins with b'<html>.*no known sound file; wanted WAV, AIFF"):
        read(tmp_path, b"<html><p>busy</p></html>", "page.wav")
    with pytest.raises(KasautiError, match=r"claims 1000 channels \(believed: 1 to 64\)"):
        read(tmp_path, wav(P, channels=1_000))
    with pytest.raises(KasautiError, match=r"clip: the file has 0 bytes"):
        read(tmp_path, b"")


def test_reading_leaves_no_descriptor_open(tmp_path: Path) -> None:
    (tmp_path / "good").write_bytes(wav(P))
    (tmp_path / "bad").write_bytes(wav(P, tag=0x1234))
    read_audio(tmp_path / "good")
    open_before = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0
    for _ in range(20):
        read_audio(tmp_path / "good")
        with pytest.raises(BadAudioError):
            read_audio(tmp_path / "bad")
    assert (len(list(Path("/proc/self/fd").iterdir())) if open_before else 0) == open_before


def test_the_reason_comes_back_from_another_process(tmp_path: Path) -> None:
    (tmp_path / "empty.wav").write_bytes(b"")
    with pytest.raises(BadAudioError) as caught:
        read_audio(tmp_path / "empty.wav")
    back = pickle.loads(pickle.dumps(caught.value))
    assert (str(back), back.reason) == (str(caught.value), "empty_file")
