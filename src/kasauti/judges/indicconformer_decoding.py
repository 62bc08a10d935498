"""Greedy decoding of IndicConformer: CTC, and the transducer with rows that step together.

Both see the rows of one language only, as the publisher's class does, and only the frames of the clip itself: what an
encoder says of padding is never read. Arithmetic is float32 as it comes from the graphs.

- CTC: the likeliest row at each frame, repeats taken together, blanks left out.
- Transducer: at each frame the likeliest piece is written until the blank is likelier, at most `max_symbols` times.
  Every row has a frame of its own, and all rows that are not at their end make one step at once, so a batch takes as
  many steps as its longest row alone.

Source: Graves et al. 2006 (CTC), Graves 2012 (transducer); the order of steps and what they begin with are those of the
publisher's class (`model_onnx.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kasauti.judges.indicconformer_files import Vocabulary

Floats = NDArray[np.float32]


@dataclass
class Decoded:
    """What was written for one row: numbers of pieces, and the log-probabilities of all choices (frames or steps)."""

    pieces: list[int] = field(default_factory=list)
    log_probability: float = 0.0
    choices: int = 0


def ctc(log_probabilities: Floats, lengths: Sequence[int], vocabulary: Vocabulary) -> list[Decoded]:
    """Decodes rows of one language.

    Args:
        log_probabilities: Of all languages' pieces [B, T, V].
        lengths: Frames of each row, at most T.
        vocabulary: The language's; its rows must lie in V.
    """
    found = []
    for row, length in zip(log_probabilities, lengths, strict=True):
        own = _log_softmax(row[:length, vocabulary.rows])
        best = own.argmax(axis=1)
        first = np.ones(len(best), bool)
        first[1:] = best[1:] != best[:-1]
        pieces = [int(number) for number in best[first] if number != vocabulary.blank]
        found.append(Decoded(pieces, float(own.max(axis=1).sum()), len(best)))
    return found


class Transducer(Protocol):
    """The networks of a transducer."""

    def start(self, rows: int) -> tuple[Floats, Floats]:
        """The state before the first piece, two arrays [layers, rows, hidden]."""

    def predict(self, pieces: NDArray[np.int32], state: tuple[Floats, Floats]) -> tuple[Floats, tuple[Floats, Floats]]:
        """The prediction after one more piece of each row [rows, joint], and the state."""

    def join(self, encoded: Floats, predicted: Floats) -> Floats:
        """Scores of the language's pieces and the blank [rows, pieces + 1] from frames and predictions."""


def transduce(
    encoded: Floats, lengths: Sequence[int], networks: Transducer, *, blank: int, start: int, max_symbols: int
) -> list[Decoded]:
    """Decodes rows of one language.

    Args:
        encoded: Frames as the joint network takes them [B, T, joint].
        lengths: Frames of each row, at most T.
        networks: Prediction and joint networks.
        blank: Number of the blank among the language's pieces.
        start: What the prediction network gets before the first piece.
        max_symbols: At most so many pieces at one frame, at least 1.
    """
    ends = np.asarray(lengths, np.int64)
    found = [Decoded() for _ in ends]
    at, written = np.zeros_like(ends), np.zeros_like(ends)
    first = np.full(len(ends), start, np.int32)
    predicted, state = networks.predict(first, networks.start(len(ends)))
    while (rows := np.flatnonzero(at < ends)).size:
        own = _log_softmax(networks.join(encoded[rows, at[rows]], predicted[rows]))
        best = own.argmax(axis=1)
        for place, row in enumerate(rows):
            found[row].log_probability += float(own[place, best[place]])
            found[row].choices += 1
        says = best != blank
        more, pieces = rows[says], best[says].astype(np.int32)
        for row, piece in zip(more, pieces, strict=True):
            found[row].pieces.append(int(piece))
        written[more] += 1
        full = more[written[more] >= max_symbols]
        on = np.concatenate([rows[~says], full])
        at[on] += 1
        written[on] = 0
        if more.size:
            held = (state[0][:, more], state[1][:, more])
            predicted[more], (state[0][:, more], state[1][:, more]) = networks.predict(pieces, held)
    return found


def _log_softmax(scores: Floats) -> Floats:
    above = scores - scores.max(axis=-1, keepdims=True)
    found: Floats = above - np.log(np.exp(above).sum(axis=-1, keepdims=True))
    return found
