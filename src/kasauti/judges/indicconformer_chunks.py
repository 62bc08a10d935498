"""Long clips are cut where they are quietest: the model was trained on 5 to 25 s and drops words of longer clips.

A clip of at most `chunk_s` seconds is heard whole. Of a longer one, a piece is cut off at the middle of the quietest
20 ms between 2/3 `chunk_s` and `chunk_s`, the latest such where several are equal, until the rest is no longer than
`chunk_s`; no cut leaves a rest under 1 s. Pieces don't overlap, lose no sample, and their transcripts are joined by a
space. So a clip over 15 s is cut between 10 and 15 s.

Source: the model card's mirror and AI4Bharat/IndicConformerASR, issues 3 and 4 (losses above about 15 to 18 s).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SHORTEST_S = 3.0
"""Least `chunk_s`: a third of it is the second that a cut must leave."""

_FRAME_S = 0.02
_REST_S = 1.0


def pieces(samples: NDArray[np.float32], rate_hz: int, chunk_s: float | None) -> list[NDArray[np.float32]]:
    """The pieces that a clip is heard in.

    Args:
        samples: Mono [frames].
        rate_hz: Their rate.
        chunk_s: Longest piece in seconds, at least `SHORTEST_S`; None = the clip whole.
    """
    found = []
    while chunk_s is not None and samples.size > chunk_s * rate_hz:
        first, last = int(chunk_s * rate_hz * 2 / 3), int(chunk_s * rate_hz)
        at = first + _quietest(samples[first : min(last, samples.size - int(_REST_S * rate_hz))], rate_hz)
        found.append(samples[:at])
        samples = samples[at:]
    return [*found, samples]


def _quietest(samples: NDArray[np.float32], rate_hz: int) -> int:
    """The middle of the last of the quietest whole frames; of all, where there is less than a frame."""
    size = min(round(_FRAME_S * rate_hz), samples.size)
    frames = samples[: samples.size // size * size].reshape(-1, size).astype(np.float64)
    energy = (frames**2).sum(axis=1)
    last = len(energy) - 1 - int(np.argmin(energy[::-1]))
    return last * size + size // 2
