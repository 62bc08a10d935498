"""How loud a signal is, as a whole and along time.

Conventions: one channel of float samples. Levels are RMS in dBFS with 0 dBFS = an RMS of 1.0 (a full-scale square; a
full-scale sine has -3.01), measured after the mean of the whole signal is taken off, since a constant can't be heard.
Digital silence is `LOWEST_DBFS`, so that every level is a finite number. Not a perceptual loudness (no weighting).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kasauti.audio.reading import FloatArray

LOWEST_DBFS = -200.0
"""Level of digital silence and lower end of every level here."""
SILENCE_FLOOR_DBFS = -60.0
"""Below this a signal, or a stretch of one, is silent."""
ACTIVE_RANGE_DB = 40.0
"""A stretch this far below the loudest one is silent beside it (room noise, codec noise)."""
FRAME_S = 0.01
"""Length of one frame of the envelope, in seconds; frames follow each other without overlap."""


def rms_dbfs(samples: FloatArray) -> float:
    """Measures the level of a whole signal.

    Args:
        samples: float [frames], all finite.

    Returns:
        dBFS, from `LOWEST_DBFS` (digital silence, no samples, a constant) to 0 for what stays within full scale.
    """
    centred = _centred(samples)
    if not len(centred):
        return LOWEST_DBFS
    return float(_to_dbfs(np.mean(centred * centred, keepdims=True))[0])


def envelope_dbfs(samples: FloatArray, rate_hz: int) -> NDArray[np.float64]:
    """Measures the level along time.

    Args:
        samples: float [frames], all finite.
        rate_hz: Their rate.

    Returns:
        float64 [ceil(frames / frame length)]: dBFS of each `FRAME_S`, at least `LOWEST_DBFS`. The last frame may be
        shorter and is measured over what it has. Empty for no samples.
    """
    centred = _centred(samples)
    if not len(centred):
        return np.zeros(0)
    starts = np.arange(0, len(centred), _frame_length(rate_hz))
    n_samples = np.diff(starts, append=len(centred))
    return _to_dbfs(np.add.reduceat(centred * centred, starts) / n_samples)


def active_bounds(samples: FloatArray, rate_hz: int) -> tuple[float, float]:
    """Finds where the sound begins and ends.

    Args:
        samples: float [frames], all finite.
        rate_hz: Their rate.

    Returns:
        `(start_s, end_s)`, 0 <= start <= end <= duration, at a resolution of `FRAME_S`: from the first to the last
        frame that is above `SILENCE_FLOOR_DBFS` and less than `ACTIVE_RANGE_DB` below the loudest. `(0.0, 0.0)` when
        nothing is.
    """
    envelope = envelope_dbfs(samples, rate_hz)
    if not len(envelope):
        return 0.0, 0.0
    threshold = max(SILENCE_FLOOR_DBFS, float(envelope.max()) - ACTIVE_RANGE_DB)
    active = np.flatnonzero(envelope > threshold)
    if not len(active):
        return 0.0, 0.0
    frame_length = _frame_length(rate_hz)
    end = min((int(active[-1]) + 1) * frame_length, len(samples))
    return int(active[0]) * frame_length / rate_hz, end / rate_hz


def _frame_length(rate_hz: int) -> int:
    return max(1, round(FRAME_S * rate_hz))


def _centred(samples: FloatArray) -> NDArray[np.float64]:
    """The samples less their mean, in double precision so that squares can't overflow."""
    centred = samples.astype(np.float64)
    if len(centred):
        centred -= centred.mean()
    return centred


def _to_dbfs(power: NDArray[np.float64]) -> NDArray[np.float64]:
    levels: NDArray[np.float64] = 10.0 * np.log10(np.maximum(power, 10.0 ** (LOWEST_DBFS / 10.0)))
    return levels
