"""Text written into samples and read back: how the fake system and the fake judge talk to each other in tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

RATE_HZ = 8000
_FRAMES_PER_BYTE = 16
_PREAMBLE = (0.25 * np.sin(2 * np.pi * 400 * np.arange(1600) / RATE_HZ)).astype(np.float32)


def write_text(text: str) -> NDArray[np.float32]:
    """Text as samples at `RATE_HZ`: a tone, then every UTF-8 byte as a level held for some frames."""
    data = np.frombuffer(text.encode("utf-8"), np.uint8).astype(np.float32)
    return np.concatenate([_PREAMBLE, np.repeat((data - 127.5) / 160.0, _FRAMES_PER_BYTE)])


def read_text(samples: NDArray[np.float32]) -> str | None:
    """The text that `write_text` wrote, also after a round trip through 16 bits; None for any other sound."""
    head = samples.reshape(-1)[: len(_PREAMBLE)]
    if head.shape != _PREAMBLE.shape or not np.allclose(head, _PREAMBLE, atol=0.001):
        return None
    levels = samples.reshape(-1)[len(_PREAMBLE) :: _FRAMES_PER_BYTE]
    data: bytes = np.rint(levels * 160.0 + 127.5).clip(0, 255).astype(np.uint8).tobytes()
    return data.decode("utf-8", "replace")
