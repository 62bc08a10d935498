"""States the facts about a clip that decide whether a judge may hear it.

A clip without sound is a failed row with a reason, never a question to a recogniser: some answer silence with fluent
made-up text. Quiet, clipped or truncated clips are not failed here; their marks are for the gates to weigh.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from kasauti.audio.loudness import LOWEST_DBFS, SILENCE_FLOOR_DBFS, active_bounds, rms_dbfs
from kasauti.audio.reading import Audio, BadAudioError, StrPath, read_audio
from kasauti.audio.signal import mono

MIN_DURATION_S = 0.1
"""Below this a whole clip is too short to hold a word."""

Reason = Literal["empty_file", "no_samples", "silent", "too_short", "not_a_number", "unreadable"]


@dataclass(frozen=True)
class AudioFacts:
    """What a file holds. Every number is finite.

    Attributes:
        status: `ok` or `audio_invalid`.
        reason: None when ok, else the first that applies:
            `empty_file` the file has 0 bytes;
            `unreadable` it is no sound file, its header is damaged or claims an absurd rate or channel count, or it
            is no regular file;
            `no_samples` its header is good and no whole frame follows;
            `not_a_number` a sample is NaN or infinite;
            `too_short` it lasts less than `MIN_DURATION_S` (0.1 s);
            `silent` its level is below `SILENCE_FLOOR_DBFS` (-60 dBFS).
        duration_s: Seconds, from the frames really there, >= 0.
        sample_rate_hz: Frames per second; 0 where the file can't be read.
        channels: Number of channels; 0 where the file can't be read.
        rms_dbfs: Level of the mix to one channel after its mean is taken off, in dBFS (0 = an RMS of 1.0), from -200
            (digital silence, or nothing to measure) to about 0.
        clipped_fraction: Share of samples, over all channels, at or beyond the largest positive value of the
            encoding (at most that of 16 bits), 0 to 1.
        peak: Largest magnitude over all channels, 1.0 = full scale, >= 0.
        truncated: The file ends before the end that it declares. A size left open by a streaming writer declares none.
        over_full_scale: `peak` is above 1.0 (only float files and lossy codecs can).
        leading_silence_s: Seconds before the sound begins (see `active_bounds`), 0 to `duration_s`.
        trailing_silence_s: Seconds after it ends, 0 to `duration_s`. Both are `duration_s` when all is silence.
    """

    status: Literal["ok", "audio_invalid"]
    reason: Reason | None
    duration_s: float = 0.0
    sample_rate_hz: int = 0
    channels: int = 0
    rms_dbfs: float = LOWEST_DBFS
    clipped_fraction: float = 0.0
    peak: float = 0.0
    truncated: bool = False
    over_full_scale: bool = False
    leading_silence_s: float = 0.0
    trailing_silence_s: float = 0.0


def probe_audio(path: StrPath) -> AudioFacts:
    """Reads a file and states the facts about it.

    Args:
        path: The file, in any format of `read_audio`.

    Returns:
        The facts; a bad file is a result with a reason and never an error.

    Raises:
        AudioError: There is no such file.
    """
    try:
        audio = read_audio(path)
    except BadAudioError as error:
        return AudioFacts(status="audio_invalid", reason=error.reason)
    return measure_audio(audio)


def measure_audio(audio: Audio) -> AudioFacts:
    """States the facts about sound that is already in memory.

    Args:
        audio: What `read_audio` returned. Samples that are NaN or infinite are left out of the numbers (taken as 0).

    Returns:
        The facts, with any reason but `empty_file` and `unreadable`.
    """
    finite = bool(np.isfinite(audio.samples).all())
    if not finite:
        usable = np.where(np.isfinite(audio.samples), audio.samples, np.float32(0))
        audio = Audio(usable, audio.rate_hz, audio.truncated, audio.full_scale)
    magnitude = np.abs(audio.samples)
    peak = float(magnitude.max(initial=0.0))
    mixed = mono(audio)
    level_dbfs = rms_dbfs(mixed)
    reason = _first_reason(audio, finite, level_dbfs)
    start_s, end_s = active_bounds(mixed, audio.rate_hz)
    heard = end_s > 0
    return AudioFacts(
        status="ok" if reason is None else "audio_invalid",
        reason=reason,
        duration_s=audio.duration_s,
        sample_rate_hz=audio.rate_hz,
        channels=audio.samples.shape[1],
        rms_dbfs=level_dbfs,
        clipped_fraction=float(np.mean(magnitude >= audio.full_scale)) if magnitude.size else 0.0,
        peak=peak,
        truncated=audio.truncated,
        over_full_scale=peak > 1.0,
        leading_silence_s=start_s if heard else audio.duration_s,
        trailing_silence_s=audio.duration_s - end_s,
    )


def _first_reason(audio: Audio, finite: bool, level_dbfs: float) -> Reason | None:
    if not len(audio.samples):
        return "no_samples"
    if not finite:
        return "not_a_number"
    if audio.duration_s < MIN_DURATION_S:
        return "too_short"
    return "silent" if level_dbfs < SILENCE_FLOOR_DBFS else None
