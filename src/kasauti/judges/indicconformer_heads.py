"""What stands on IndicConformer's encoder: the CTC decoder, or prediction and joint networks of the transducer.

Sizes are read from the graphs and checked against the vocabulary. The prediction network's second state is declared for
one row in NeMo's exports; such a network is run row by row, all others for all rows at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kasauti.errors import JudgeError
from kasauti.judges.indicconformer_decoding import Decoded, Floats, ctc, transduce
from kasauti.judges.indicconformer_files import Vocabulary
from kasauti.judges.indicconformer_graphs import Graphs


class CtcHead:
    """The CTC decoder."""

    def __init__(self, graphs: Graphs) -> None:
        self._session = graphs.load("ctc_decoder", ("encoder_output",), ("logprobs",))

    def check(self, languages: dict[str, Vocabulary]) -> None:
        """Raises `JudgeError` where some language has rows that the decoder lacks."""
        rows = self._session.get_outputs()[0].shape[-1]
        last = max(int(vocabulary.rows[-1]) for vocabulary in languages.values())
        if isinstance(rows, int) and rows != last + 1:
            raise JudgeError(f"ctc_decoder.onnx has {rows} rows, language_masks.json is for {last + 1}")

    def decode(self, encoded: Floats, lengths: Any, lang: str, vocabulary: Vocabulary) -> list[Decoded]:
        """Decodes frames [B, D, T] of one language."""
        return ctc(self._session.run(["logprobs"], {"encoder_output": encoded})[0], lengths, vocabulary)


class TransducerHead:
    """The transducer's networks, the last one for each language."""

    def __init__(self, graphs: Graphs, config: dict[str, int]) -> None:
        self._graphs = graphs
        self._encoded = _joint(graphs, "joint_enc", small=False)
        self._joint = {name: _joint(graphs, name) for name in ("joint_pred", "joint_pre_net")}
        self._post: dict[str, Any] = {}
        states = ("states.1", "onnx::Slice_3")
        self._prediction = graphs.load(
            "rnnt_decoder", ("targets", "target_length", *states), ("outputs", "states", "162"), small=True
        )
        shapes = {value.name: value.shape for value in self._prediction.get_inputs()}
        layers, _, hidden = shapes["states.1"]
        if not (isinstance(layers, int) and isinstance(hidden, int)):
            raise JudgeError(f"rnnt_decoder.onnx: states.1 has the shape {shapes['states.1']}, wanted fixed sizes")
        self._state_shape = (layers, hidden)
        self._row_by_row = any(isinstance(shapes[name][1], int) for name in states)
        self._max_symbols = config.get("RNNT_MAX_SYMBOLS", 10)
        self.start_piece = 0
        """What decoding begins with; `check` finds it."""

    def check(self, languages: dict[str, Vocabulary]) -> None:
        """Finds what decoding begins with, and looks whether the networks fit the vocabulary.

        Raises:
            JudgeError: some language's last network has other rows than its vocabulary, or the prediction network has
                no row to begin with.
        """
        self.start_piece = self._first_piece(next(iter(languages.values())))
        for lang, vocabulary in languages.items():
            self._post[lang] = self._post.get(lang) or _joint(self._graphs, f"joint_post_net_{lang}")
            rows = self._post[lang].get_outputs()[0].shape[-1]
            if isinstance(rows, int) and rows != len(vocabulary.rows):
                wanted = len(vocabulary.rows)
                raise JudgeError(f"joint_post_net_{lang}.onnx has {rows} rows, language_masks.json is for {wanted}")

    def decode(self, encoded: Floats, lengths: Any, lang: str, vocabulary: Vocabulary) -> list[Decoded]:
        """Decodes frames [B, D, T] of one language."""
        frames = _run(self._encoded, encoded.transpose(0, 2, 1))
        return transduce(
            frames,
            lengths,
            _Networks(self, lang),
            blank=vocabulary.blank,
            start=self.start_piece,
            max_symbols=self._max_symbols,
        )

    def _first_piece(self, vocabulary: Vocabulary) -> int:
        """The blank of all languages together, as the publisher's class begins.

        `config.json` has another number under `SOS`, which that class never reads. A prediction network without such a
        row was made for the pieces of one language, and begins with that one's blank.
        """
        for piece in (int(vocabulary.rows[-1]), vocabulary.blank):
            try:
                self.predict(np.array([piece], np.int32), self.start(1))
            except Exception:  # ONNX Runtime's own types: the row is not there
                continue
            return piece
        raise JudgeError(
            f"rnnt_decoder.onnx takes neither {vocabulary.rows[-1]} nor {vocabulary.blank} as the piece that decoding "
            "begins with: another model's graph"
        )

    def start(self, rows: int) -> tuple[Floats, Floats]:
        """Zeros."""
        layers, hidden = self._state_shape
        return np.zeros((layers, rows, hidden), np.float32), np.zeros((layers, rows, hidden), np.float32)

    def predict(self, pieces: NDArray[np.int32], state: tuple[Floats, Floats]) -> tuple[Floats, tuple[Floats, Floats]]:
        """As `Transducer.predict`."""
        size = 1 if self._row_by_row else len(pieces)
        parts = [
            self._predict(pieces[at : at + size], state[0][:, at : at + size], state[1][:, at : at + size])
            for at in range(0, len(pieces), size)
        ]
        said, hidden, cell = zip(*parts, strict=True)
        predicted = _run(self._joint["joint_pred"], np.concatenate(said).transpose(0, 2, 1))
        return predicted[:, 0], (np.concatenate(hidden, axis=1), np.concatenate(cell, axis=1))

    def _predict(self, pieces: NDArray[np.int32], hidden: Floats, cell: Floats) -> Any:
        given = {
            "targets": pieces[:, None],
            "target_length": np.ones(len(pieces), np.int32),
            "states.1": np.ascontiguousarray(hidden),
            "onnx::Slice_3": np.ascontiguousarray(cell),
        }
        return self._prediction.run(["outputs", "states", "162"], given)

    def join(self, lang: str, encoded: Floats, predicted: Floats) -> Floats:
        """As `Transducer.join`, for a language."""
        joined = _run(self._joint["joint_pre_net"], (encoded + predicted)[:, None])
        return _run(self._post[lang], joined)[:, 0]


class _Networks:
    """The transducer's networks for one language."""

    def __init__(self, head: TransducerHead, lang: str) -> None:
        self._lang = lang
        self._head = head
        self.start = head.start
        self.predict = head.predict

    def join(self, encoded: Floats, predicted: Floats) -> Floats:
        return self._head.join(self._lang, encoded, predicted)


def _joint(graphs: Graphs, name: str, *, small: bool = True) -> Any:
    return graphs.load(name, ("input",), ("output",), small=small)


def _run(session: Any, value: Floats) -> Floats:
    found: Floats = session.run(["output"], {"input": np.ascontiguousarray(value)})[0]
    return found
