"""What the outer layer of a sound file says about itself: which container it is, and whether its end is missing.

libsndfile decodes files whose sizes were left open or whose end was cut off, and it counts frames by what is really
there. It does not say *that* the end is missing. This module finds that out from the container alone. It decodes no
sample and trusts no number that it reads.

Source: RIFF and WAVE, Multimedia Programming Interface and Data Specifications 1.0 (IBM, Microsoft 1991); AIFF 1.3
(Apple 1989); Ogg, RFC 3533 section 6.
"""

from __future__ import annotations

import struct
from io import SEEK_END, FileIO

OPEN_LENGTH = 1_000_000_000
"""From here on a declared length (bytes or frames) beyond the end of the file is a place holder, not a promise.

Streaming writers put 0xFFFFFFFF, 0x7FFFFFFF, 0x7FFFF000 or 2,000,000,000 where the length will never be known."""

_CHUNKED = {  # magic -> byte order of sizes, name of the chunk with the samples
    b"RIFF": ("<", b"data"),
    b"RIFX": (">", b"data"),
    b"RF64": ("<", b"data"),
    b"FORM": (">", b"SSND"),
}
_NAMES = {b"fLaC": "FLAC", b"OggS": "OGG", b"RIFF": "WAV", b"RIFX": "WAV", b"RF64": "WAV", b"FORM": "AIFF"}
_LARGEST_OGG_PAGE = 27 + 255 + 255 * 255
_OGG_LAST_PAGE = 0x04
_MP3_SYNC_AND_LAYER = 0b1110_0110
_MP3_LAYER_III = 0b1110_0010
_MP3_HEADER_SPAN = 65_536


def container_of(head: bytes) -> str | None:
    """Names the container by its first bytes.

    Args:
        head: The first 12 bytes of a file, or fewer if it has no more.

    Returns:
        `WAV`, `AIFF`, `FLAC`, `OGG` or `MP3`; None for everything else (error pages, JSON, raw samples, video).
    """
    magic, form = head[:4], head[8:12]
    if magic in _NAMES:
        wanted = {"WAV": (b"WAVE",), "AIFF": (b"AIFF", b"AIFC")}.get(_NAMES[magic])
        return _NAMES[magic] if wanted is None or form in wanted else None
    starts_frame = len(head) >= 2 and head[0] == 0xFF and head[1] & _MP3_SYNC_AND_LAYER == _MP3_LAYER_III
    return "MP3" if head[:3] == b"ID3" or starts_frame else None


def end_is_missing(file: FileIO, container: str, declared_frames: int, frames: int) -> bool:
    """Tells whether a file was cut off before the end that it promises.

    Args:
        file: The file, open for reading, unbuffered; its position is moved.
        container: What `container_of` said.
        declared_frames: Frames that the decoder expected.
        frames: Frames that it delivered.

    Returns:
        True when less is there than declared. A length left open (`OPEN_LENGTH`) promises nothing, and neither does
        an MP3 without a Xing or Info header, whose length is a guess from its first frame.
    """
    size = file.seek(0, SEEK_END)
    if container in ("WAV", "AIFF"):
        return _chunk_is_cut(file, size)
    if container == "OGG":
        return _ogg_is_cut(file, size)
    if container == "MP3":
        file.seek(0)
        head = file.read(_MP3_HEADER_SPAN)
        if b"Xing" not in head and b"Info" not in head:
            return False
    return frames < declared_frames < OPEN_LENGTH


def _chunk_is_cut(file: FileIO, size: int) -> bool:
    """Whether the chunk with the samples declares more bytes than follow, short of `OPEN_LENGTH`."""
    file.seek(0)
    order, wanted = _CHUNKED[file.read(4)]
    position = 12
    while position + 8 <= size:
        file.seek(position)
        name, declared = struct.unpack(f"{order}4sI", file.read(8))
        position += 8
        if name == wanted:
            return size - position < int(declared) < OPEN_LENGTH
        position += declared + declared % 2
    return False


def _ogg_is_cut(file: FileIO, size: int) -> bool:
    """Whether the last page is incomplete or is not marked as the last one."""
    file.seek(max(0, size - _LARGEST_OGG_PAGE))
    tail = file.read(_LARGEST_OGG_PAGE)
    page = tail[tail.rfind(b"OggS") :]
    if len(page) < 27:
        return True
    n_segments = page[26]
    page_length = 27 + n_segments + sum(page[27 : 27 + n_segments])
    return len(page) < page_length or not page[5] & _OGG_LAST_PAGE
