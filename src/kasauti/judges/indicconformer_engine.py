"""IndicConformer in ONNX Runtime: sound in, pieces out.

Whether padding leaks into what the encoder says of a clip is looked at once, with noise: two lengths together against
each alone. Where it does, clips are heard one at a time, so that a transcript never depends on its neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kasauti.judges.indicconformer_decoding import Decoded, Floats
from kasauti.judges.indicconformer_features import RATE_HZ, FrontEnd
from kasauti.judges.indicconformer_files import Vocabulary, read_config
from kasauti.judges.indicconformer_graphs import Graphs
from kasauti.judges.indicconformer_heads import CtcHead, TransducerHead

_LEAK = 1e-3
"""Share of the largest value by which an encoder may answer differently in company; noise of float32 is far below."""


class Engine:
    """The loaded model. Decoding `ctc` or `rnnt`, greedy."""

    def __init__(self, folder: Path, graphs: Graphs, front_end: FrontEnd, decoder: str) -> None:
        self._front_end = front_end
        self._graphs = graphs
        self._encoder = graphs.load("encoder", ("audio_signal", "length"), ("outputs", "encoded_lengths"))
        self._decoder = CtcHead(graphs) if decoder == "ctc" else TransducerHead(graphs, read_config(folder))
        self.alone = self._leaks()
        """Whether padding changes what the encoder says, so that clips must be heard one at a time."""

    def check(self, languages: dict[str, Vocabulary]) -> None:
        """Looks whether the vocabulary fits the graphs.

        Raises:
            JudgeError: it doesn't.
        """
        self._decoder.check(languages)

    def hear(self, clips: Sequence[Floats], spoken: Sequence[tuple[str, Vocabulary]]) -> list[Decoded]:
        """Hears clips, of any languages, together.

        Args:
            clips: Mono [frames] at 16 kHz.
            spoken: Language and vocabulary of each.
        """
        if self.alone and len(clips) > 1:
            return [self.hear([clip], [own])[0] for clip, own in zip(clips, spoken, strict=True)]
        encoded, lengths = self._encode([self._front_end(clip) for clip in clips])
        found: list[Decoded] = [Decoded()] * len(clips)
        for lang, vocabulary in dict(spoken).items():
            rows = [place for place, (name, _) in enumerate(spoken) if name == lang]
            decoded = self._decoder.decode(encoded[rows], lengths[rows], lang, vocabulary)
            for row, one in zip(rows, decoded, strict=True):
                found[row] = one
        return found

    def _encode(self, features: Sequence[Floats]) -> tuple[Floats, NDArray[np.int64]]:
        """Frames of the encoder [B, D, T], and how many of them are each clip's."""
        lengths = np.array([one.shape[1] for one in features])
        padded = np.zeros((len(features), features[0].shape[0], lengths.max()), np.float32)
        for row, one in enumerate(features):
            padded[row, :, : one.shape[1]] = one
        outputs, encoded = self._encoder.run(
            ["outputs", "encoded_lengths"], {"audio_signal": padded, "length": lengths.astype(np.int64)}
        )
        return outputs, encoded

    def _leaks(self) -> bool:
        draw = np.random.default_rng(0)
        noise = [draw.normal(0.0, 0.1, round(seconds * RATE_HZ)) for seconds in (1.6, 1.0)]
        features = [self._front_end(one.astype(np.float32)) for one in noise]
        together, lengths = self._encode(features)
        for row, one in enumerate(features):
            alone = self._encode([one])[0][0, :, : lengths[row]]
            if np.abs(together[row, :, : lengths[row]] - alone).max() > _LEAK * np.abs(alone).max():
                return True
        return False
