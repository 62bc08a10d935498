"""Reads sound files into float samples, whatever the writer did to the header.

Conventions: samples are float32 of shape [frames, channels] with full scale at 1.0; integer PCM of b bits is divided by
2^(b-1). The samples used are those really there, cut to whole frames: a declared size larger than the file means "until
the end", a smaller one is honoured. Memory grows with the samples in the file, never with what its header claims.
Not for measuring (`probing`) and not for telling a good clip from a bad one.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from io import FileIO
from os import PathLike, fspath
from typing import Literal

import numpy as np
import soundfile
from numpy.typing import NDArray

from kasauti.audio.containers import container_of, end_is_missing
from kasauti.errors import AudioError

FloatArray = NDArray[np.float32]
StrPath = str | PathLike[str]

RATE_RANGE_HZ = (1_000, 768_000)
"""Lowest and highest sample rate that is believed."""
MAX_CHANNELS = 64
"""Highest number of channels that is believed."""

_BLOCK_FRAMES = 4_096
_FULL_SCALE_16_BIT = 32_767 / 32_768
_FULL_SCALE = {  # largest positive value of encodings whose grid is coarser than 16 bits
    "PCM_U8": 127 / 128,
    "PCM_S8": 127 / 128,
    "ULAW": 32_124 / 32_768,
    "ALAW": 32_256 / 32_768,
}
_READABLE = "WAV, AIFF, FLAC, OGG (Vorbis, Opus) or MP3"


class BadAudioError(AudioError):
    """A file that is there but holds no readable sound.

    Attributes:
        reason: `empty_file` (0 bytes) or `unreadable` (not sound, or a header that can't be believed).
    """

    # The default lets it come back from another process: unpickling calls with the message, then sets the attributes.
    def __init__(self, message: str, reason: Literal["empty_file", "unreadable"] = "unreadable") -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, eq=False)
class Audio:
    """Sound in memory.

    Attributes:
        samples: float32 [frames, channels], full scale 1.0. Float files and lossy codecs may go beyond, and float files
            may hold NaN or infinity; nothing is altered.
        rate_hz: Frames per second, within `RATE_RANGE_HZ`.
        truncated: The file ends before the end that it declares.
        full_scale: Magnitude from which a sample counts as clipped: the largest positive value of the encoding, at
            most that of 16-bit PCM.
    """

    samples: FloatArray
    rate_hz: int
    truncated: bool = False
    full_scale: float = _FULL_SCALE_16_BIT

    @property
    def duration_s(self) -> float:
        """Seconds of sound."""
        return len(self.samples) / self.rate_hz


def read_audio(path: StrPath) -> Audio:
    """Reads a sound file: WAV (PCM 8 to 32 bits, float, mu-law, A-law, ADPCM), AIFF, FLAC, OGG, MP3.

    Args:
        path: The file; its name does not matter, its first bytes say what it is.

    Returns:
        All samples; zero frames where a good header is followed by none. Of a damaged file what comes before the
        damage, with `truncated` set.

    Raises:
        AudioError: There is no such file.
        BadAudioError: The file is empty, or is no sound that can be read.
    """
    try:
        with _open_regular_file(path) as file:
            head = file.read(12)
            if not head:
                raise BadAudioError(f"{fspath(path)}: the file has 0 bytes; make the clip again", "empty_file")
            container = container_of(head)
            if container is None:
                raise _unreadable(path, f"begins with {head!r}, which is no known sound file")
            return _decode(file, container, path)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise AudioError(f"{fspath(path)}: no such audio file; check the path") from error
    except OSError as error:
        raise _unreadable(path, f"can't be opened ({error.strerror})") from error


def _open_regular_file(path: StrPath) -> FileIO:
    """Opens without a buffer, since libsndfile takes over the descriptor, and never waits on a pipe or a device."""
    try:
        mode = os.stat(path).st_mode
    except ValueError as error:  # a NUL in the name: no file can have it
        raise FileNotFoundError(str(error)) from error
    if not stat.S_ISREG(mode):
        raise _unreadable(path, "is a folder or a device")
    return FileIO(fspath(path), "rb")


def _unreadable(path: StrPath, problem: str) -> BadAudioError:
    return BadAudioError(f"{fspath(path)}: {problem}; wanted {_READABLE}", "unreadable")


class _ForwardReader(soundfile.SoundFile):  # type: ignore[misc]  # soundfile has no types
    """Reads from front to back and never seeks.

    soundfile seeks after each read to keep its own position. On a cut FLAC that fails and loses what was read; in an
    MP3 it restarts the decoder and changes the samples at each border.
    """

    def seekable(self) -> bool:
        return False


def _decode(file: FileIO, container: str, path: StrPath) -> Audio:
    file.seek(0)
    try:
        with _ForwardReader(file.fileno(), closefd=False) as reader:
            _check_header(reader, path)
            samples, damaged = _read_all(reader)
            rate_hz, subtype, declared_frames = reader.samplerate, reader.subtype, reader.frames
    except soundfile.SoundFileError as error:
        raise _unreadable(path, f"is damaged or of an unknown encoding ({container}: {error})") from error
    return Audio(
        samples=samples,
        rate_hz=rate_hz,
        truncated=damaged or end_is_missing(file, container, declared_frames, len(samples)),
        full_scale=_FULL_SCALE.get(subtype, _FULL_SCALE_16_BIT),
    )


def _check_header(reader: soundfile.SoundFile, path: StrPath) -> None:
    low, high = RATE_RANGE_HZ
    if not low <= reader.samplerate <= high:
        raise _unreadable(path, f"claims {reader.samplerate} Hz (believed: {low} to {high})")
    if not 1 <= reader.channels <= MAX_CHANNELS:
        raise _unreadable(path, f"claims {reader.channels} channels (believed: 1 to {MAX_CHANNELS})")


def _read_all(reader: soundfile.SoundFile) -> tuple[FloatArray, bool]:
    """Reads block by block until nothing comes or the decoder gives up; the flag says which."""
    blocks: list[FloatArray] = [np.zeros((0, reader.channels), dtype=np.float32)]
    damaged = False
    try:
        while len(block := reader.read(_BLOCK_FRAMES, dtype="float32", always_2d=True)):
            blocks.append(block)
    except soundfile.SoundFileError:
        damaged = True
    return np.concatenate(blocks), damaged
