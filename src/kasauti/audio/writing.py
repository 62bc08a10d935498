"""Writes samples as 16-bit WAV.

Conventions: float samples with full scale at 1.0 become round(x * 32768), limited to [-32768, 32767]; so a 16-bit file
that is read and written again keeps every sample. Values beyond full scale are clipped and counted, never wrapped.
A file appears under its name only when it is complete. Not for clips that arrive encoded: those are kept as they came.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import soundfile
from numpy.typing import NDArray

from kasauti.audio.reading import MAX_CHANNELS, RATE_RANGE_HZ, FloatArray, StrPath
from kasauti.errors import AudioError
from kasauti.store.files import write_bytes


def write_wav(path: StrPath, samples: FloatArray, rate_hz: int) -> int:
    """Writes a 16-bit WAV file, all or nothing (see `store.files.write_bytes`).

    Args:
        path: The file; replaced if it exists, its folder is made if there is none.
        samples: float [frames] or [frames, channels], finite, full scale 1.0.
        rate_hz: Their rate, within `RATE_RANGE_HZ`.

    Returns:
        How many samples lay beyond [-1, 1] and were clipped.

    Raises:
        AudioError: The samples or the rate are not as described.
        StoreError: The file can't be written.
    """
    pcm, n_clipped = _to_pcm16(samples)
    write_bytes(Path(path), _encode(pcm, rate_hz))
    return n_clipped


def wav_bytes(samples: FloatArray, rate_hz: int) -> bytes:
    """Encodes samples as a 16-bit WAV file in memory; arguments and errors as in `write_wav`.

    Returns:
        The bytes that `write_wav` would put on disk.
    """
    return _encode(_to_pcm16(samples)[0], rate_hz)


def _to_pcm16(samples: FloatArray) -> tuple[NDArray[np.int16], int]:
    array = np.asarray(samples)
    if array.dtype.kind != "f":
        raise AudioError(f"samples are {array.dtype}; wanted floats with full scale at 1.0 (divide by 2**(bits - 1))")
    if array.ndim not in (1, 2) or (array.ndim == 2 and not 1 <= array.shape[1] <= MAX_CHANNELS):
        raise AudioError(
            f"samples have shape {array.shape}; wanted [frames] or [frames, channels], 1 to {MAX_CHANNELS} channels"
        )
    if not np.isfinite(array).all():
        raise AudioError(f"{int((~np.isfinite(array)).sum())} of {array.size} samples are NaN or infinite")
    n_clipped = int((np.abs(array) > 1.0).sum())
    scaled = np.rint(np.clip(array, -1.0, 1.0).astype(np.float64) * 32_768)
    return np.minimum(scaled, 32_767).astype(np.int16), n_clipped  # 16 bits have no +32768


def _encode(pcm: NDArray[np.int16], rate_hz: int) -> bytes:
    low, high = RATE_RANGE_HZ
    if not low <= rate_hz <= high:
        raise AudioError(f"rate is {rate_hz} Hz; wanted {low} to {high}")
    buffer = io.BytesIO()
    soundfile.write(buffer, pcm, rate_hz, format="WAV", subtype="PCM_16")
    return buffer.getvalue()
