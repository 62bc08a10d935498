"""What a judge hears of a clip: its samples, one channel, at the rate that the judge was trained for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kasauti.errors import AudioError
from kasauti.judges.base import Heard, JudgeFailed

_LARGEST = 2.0**32
"""Full scale is 1.0, and of files that hold whole numbers as floats at most this; more overflows in a model's sums."""


def samples_of(clip: Heard, rate_hz: int) -> NDArray[np.float32]:
    """The samples of a clip, mono [frames], full scale = 1.0. The file is not touched.

    Raises:
        JudgeFailed: it can't be read, or holds no samples, one that is no number or one that no sound can have; the row
            gets the reason.
    """
    from kasauti import audio

    try:
        sound = audio.read_audio(clip.path)
        samples = audio.resample(audio.mono(sound), sound.rate_hz, rate_hz)
    except AudioError as error:
        reason = error.reason if isinstance(error, audio.BadAudioError) else "unreadable"
        raise JudgeFailed(str(error), reason=reason) from error
    if not np.isfinite(samples).all():
        raise JudgeFailed(f"{clip.path}: a sample is not a number", reason="not_a_number")
    if not samples.size:
        # Engines make text out of nothing.
        raise JudgeFailed(f"{clip.path}: no samples at {rate_hz} Hz", reason="no_samples")
    largest = float(np.abs(samples).max())
    if largest > _LARGEST:
        raise JudgeFailed(f"{clip.path}: a sample is {largest:g} times full scale", reason="out_of_range")
    return samples
