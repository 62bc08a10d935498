"""Sound files: read, write, measure. Everything that other layers need is named here."""

from kasauti.audio.loudness import (
    ACTIVE_RANGE_DB,
    FRAME_S,
    LOWEST_DBFS,
    SILENCE_FLOOR_DBFS,
    active_bounds,
    envelope_dbfs,
    rms_dbfs,
)
from kasauti.audio.probing import MIN_DURATION_S, AudioFacts, measure_audio, probe_audio
from kasauti.audio.reading import MAX_CHANNELS, RATE_RANGE_HZ, Audio, BadAudioError, FloatArray, read_audio
from kasauti.audio.signal import mono, peaks, resample
from kasauti.audio.writing import wav_bytes, write_wav

__all__ = [
    "ACTIVE_RANGE_DB",
    "FRAME_S",
    "LOWEST_DBFS",
    "MAX_CHANNELS",
    "MIN_DURATION_S",
    "RATE_RANGE_HZ",
    "SILENCE_FLOOR_DBFS",
    "Audio",
    "AudioFacts",
    "BadAudioError",
    "FloatArray",
    "active_bounds",
    "envelope_dbfs",
    "measure_audio",
    "mono",
    "peaks",
    "probe_audio",
    "read_audio",
    "resample",
    "rms_dbfs",
    "wav_bytes",
    "write_wav",
]
