"""Builders of sound files, sound and broken, for tests: no recording is needed and none is kept.

Source of the numbers in `P`: the audio cases (`tests/cases/audio.md`).
"""

from __future__ import annotations

import io
import struct

import numpy as np
import soundfile
from numpy.typing import NDArray

RATE_HZ = 24_000
P = np.resize(np.arange(-100, 100), 36_000).astype("<i2").tobytes()
"""36,000 mono samples of 16-bit PCM at 24 kHz: a ramp from -100 to 99, repeated. 1.5 s, 72,000 bytes."""

PCM, FLOAT, ALAW, MULAW = 1, 3, 6, 7  # WAVE format tags


def wav(
    body: bytes,
    *,
    riff_size: int | None = None,
    data_size: int | None = None,
    tag: int = PCM,
    channels: int = 1,
    rate_hz: int = RATE_HZ,
    bits: int = 16,
    before_data: bytes = b"",
) -> bytes:
    """A WAV file by hand. Sizes left None are right; `body` is everything after the header of the `data` chunk."""
    block = channels * bits // 8
    fmt = struct.pack("<HHIIHH", tag, channels, rate_hz, (rate_hz * block) & 0xFFFFFFFF, block & 0xFFFF, bits)
    data_size = len(body) if data_size is None else data_size
    chunks = b"WAVE" + chunk(b"fmt ", fmt) + before_data + b"data" + struct.pack("<I", data_size) + body
    return b"RIFF" + struct.pack("<I", len(chunks) if riff_size is None else riff_size) + chunks


def chunk(name: bytes, content: bytes) -> bytes:
    """A RIFF chunk with its right size, padded to an even length."""
    return name + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)


def tone(duration_s: float, amplitude: float, rate_hz: int = RATE_HZ, hz: float = 200.0) -> NDArray[np.float32]:
    """A sine of `round(duration_s * rate_hz)` samples; its level is 20 log10(amplitude / sqrt 2) dBFS."""
    times = np.arange(round(duration_s * rate_hz)) / rate_hz
    return (amplitude * np.sin(2 * np.pi * hz * times)).astype(np.float32)


def encoded(samples: NDArray[np.float32], container: str, subtype: str, rate_hz: int = RATE_HZ) -> bytes:
    """A sound file by libsndfile, such as `("FLAC", "PCM_16")` or `("OGG", "OPUS")`."""
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, rate_hz, format=container, subtype=subtype)
    return buffer.getvalue()


def float_wav(values: list[float], rate_hz: int = RATE_HZ) -> bytes:
    """A 32-bit float WAV (format tag 3)."""
    return wav(np.array(values, "<f4").tobytes(), tag=FLOAT, bits=32, rate_hz=rate_hz)


def invalid_files() -> dict[str, tuple[bytes, str]]:
    """Files that no judge may be given: a name -> the bytes and the reason that `probe_audio` must state."""
    flac = encoded(tone(1.0, 0.5), "FLAC", "PCM_16")
    return {
        "zero_bytes": (b"", "empty_file"),
        "no_data": (wav(b""), "no_samples"),
        "open_size_and_nothing": (wav(b"", riff_size=0xFFFFFFFF, data_size=0xFFFFFFFF), "no_samples"),
        "less_than_a_frame": (wav(b"\x01"), "no_samples"),
        "zeros": (wav(bytes(2 * 2 * RATE_HZ)), "silent"),
        "constant": (float_wav([0.2] * 2 * RATE_HZ), "silent"),
        "click": (encoded(tone(0.01, 0.5), "WAV", "PCM_16"), "too_short"),
        "nan": (float_wav([*tone(0.5, 0.5), float("nan")]), "not_a_number"),
        "infinity": (float_wav([*tone(0.5, 0.5), float("-inf")]), "not_a_number"),
        "html": (b"<!DOCTYPE html><html><body>502 Bad Gateway</body></html>", "unreadable"),
        "json": (b'{"error": {"message": "quota exceeded"}}', "unreadable"),
        "utf16_text": ("audio".encode("utf-16"), "unreadable"),
        "raw_pcm": (P, "unreadable"),
        "header_cut": (wav(P)[:30], "unreadable"),
        "no_data_chunk": (b"RIFF" + struct.pack("<I", 4) + b"WAVE", "unreadable"),
        "video": (b"RIFF" + struct.pack("<I", 4) + b"AVI ", "unreadable"),
        "unknown_encoding": (wav(P, tag=0x1234), "unreadable"),
        "no_channels": (wav(P, channels=0), "unreadable"),
        "absurd_channels": (wav(P, channels=1_000), "unreadable"),
        "more_absurd_channels": (wav(P, channels=65_535), "unreadable"),
        "rate_0": (wav(P, rate_hz=0), "unreadable"),
        "rate_1": (wav(P, rate_hz=1), "unreadable"),
        "rate_2_31": (wav(P, rate_hz=2**31 - 1), "unreadable"),
        "rate_2_32": (wav(P, rate_hz=2**32 - 1), "unreadable"),
        "flac_header_only": (flac[:42], "no_samples"),
        "mp3_garbage": (b"\xff\xfb" + bytes(200), "unreadable"),
    }
