"""Plain operations on samples: one channel, another rate, an outline to draw.

Conventions: float samples, full scale 1.0, [frames] or [frames, channels]. Nothing here reads or writes a file.
"""

from __future__ import annotations

import numpy as np
import soxr

from kasauti.audio.reading import RATE_RANGE_HZ, Audio, FloatArray
from kasauti.errors import AudioError


def mono(audio: Audio) -> FloatArray:
    """Mixes all channels into one.

    Args:
        audio: Any number of channels.

    Returns:
        float32 [frames], the mean over channels; of a single channel the samples themselves (a view).
    """
    if audio.samples.shape[1] == 1:
        return audio.samples[:, 0]
    mixed: FloatArray = audio.samples.mean(axis=1, dtype=np.float64).astype(np.float32)
    return mixed


def resample(samples: FloatArray, from_hz: int, to_hz: int) -> FloatArray:
    """Changes the sample rate, band-limited (soxr, quality `HQ`).

    Args:
        samples: float32 [frames] or [frames, channels].
        from_hz: Rate of `samples`, within `RATE_RANGE_HZ`.
        to_hz: Rate wanted, within `RATE_RANGE_HZ`.

    Returns:
        float32, about `frames * to_hz / from_hz` frames. `samples` itself when the rates are equal. Peaks may come out
        a little above full scale.

    Raises:
        AudioError: A rate is out of range.
    """
    low, high = RATE_RANGE_HZ
    for name, rate_hz in (("from_hz", from_hz), ("to_hz", to_hz)):
        if not low <= rate_hz <= high:
            raise AudioError(f"resample: {name} is {rate_hz} Hz; wanted {low} to {high}")
    if from_hz == to_hz or not len(samples):
        return samples
    resampled: FloatArray = soxr.resample(np.asarray(samples, dtype=np.float32), from_hz, to_hz, quality="HQ")
    return resampled


def peaks(samples: FloatArray, n: int) -> list[float]:
    """Outlines a waveform for drawing.

    Args:
        samples: float [frames] or [frames, channels]; NaN counts as 0.
        n: Points wanted, at least 1.

    Returns:
        Exactly `n` numbers in [0, 1]: the largest magnitude in each of `n` equal stretches, cut at full scale. All 0
        for no samples; neighbours repeat where there are fewer frames than points.
    """
    if n < 1:
        raise ValueError(f"peaks: n is {n}; wanted at least 1")
    if not len(samples):
        return [0.0] * n
    magnitude = np.abs(np.nan_to_num(samples, nan=0.0))
    if magnitude.ndim == 2:
        magnitude = magnitude.max(axis=1)
    starts = np.arange(n) * len(magnitude) // n
    outline: list[float] = np.minimum(np.maximum.reduceat(magnitude, starts), 1.0).tolist()
    return outline
