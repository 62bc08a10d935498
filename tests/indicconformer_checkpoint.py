"""Makes checkpoints of IndicConformer's layout with small random weights, for tests and benchmarks.

File names, names and types of all graph inputs and outputs, one file per large weight, and the size of the vocabulary
(22 languages of 256 pieces and the blank) are those of the published model; widths and depth are arguments. Padded
frames are masked as a conformer masks them: in the convolution, in attention, and at the end.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

LANGUAGES = tuple("as bn brx doi kok gu hi kn ks mai ml mni mr ne or pa sa sat sd ta te ur".split())
PIECES = 256
ROWS = len(LANGUAGES) * PIECES + 1
MELS = 80

LETTERS = {
    "Beng": (0x0995, 32),
    "Deva": (0x0915, 36),
    "Gujr": (0x0A95, 30),
    "Knda": (0x0C95, 30),
    "Arab": (0x0628, 30),
    "Mlym": (0x0D15, 32),
    "Mtei": (0xABC0, 26),
    "Orya": (0x0B15, 25),
    "Guru": (0x0A15, 25),
    "Olck": (0x1C5A, 30),
    "Taml": (0x0BAE, 12),
    "Telu": (0x0C15, 30),
}
"""Script -> first letter of a run of assigned letters, and how many of them are used."""

SCRIPTS = {
    "as": "Beng", "bn": "Beng", "gu": "Gujr", "kn": "Knda", "ks": "Arab", "ml": "Mlym", "mni": "Beng", "or": "Orya",
    "pa": "Guru", "sat": "Olck", "sd": "Arab", "ta": "Taml", "te": "Telu", "ur": "Arab",
}  # fmt: skip
"""Languages whose vocabulary is not in Devanagari."""


class Graph:
    """An ONNX graph in the making; names count up, weights are drawn from one generator."""

    def __init__(self, seed: int) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self._draw = np.random.default_rng(seed)

    def op(self, kind: str, *inputs: str, n_outputs: int = 1, to: Sequence[str] = (), **attributes: Any) -> Any:
        """Adds a node; returns the name of its output, or a list of names where it has several."""
        from onnx import helper

        names = list(to) or [f"{kind}_{len(self.nodes)}_{place}" for place in range(n_outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if len(names) == 1 else names

    def constant(self, value: Any, dtype: Any = np.float32, name: str = "") -> str:
        """Adds a constant."""
        from onnx import numpy_helper

        name = name or f"Constant_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def weight(self, *shape: int, scale: float | None = None, name: str = "") -> str:
        """Adds a random weight; by default its scale keeps the size of what goes through."""
        fan = int(np.prod(shape[:-1])) if len(shape) == 2 else int(np.prod(shape[1:]))
        size = scale if scale is not None else 1 / np.sqrt(max(1, fan))
        return self.constant(self._draw.standard_normal(shape) * size, name=name or f"onnx__MatMul_{len(self.weights)}")

    def save(self, path: Path, inputs: Sequence[tuple[Any, ...]], outputs: Sequence[tuple[Any, ...]]) -> None:
        """Writes the graph; inputs and outputs are (name, type, shape). `encoder.onnx` keeps its weights beside it."""
        import onnx
        from onnx import helper

        values = [[helper.make_tensor_value_info(*value) for value in part] for part in (inputs, outputs)]
        graph = helper.make_graph(self.nodes, path.stem, *values, initializer=self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        beside = path.name == "encoder.onnx"
        onnx.save(model, str(path), save_as_external_data=beside, all_tensors_to_one_file=False, size_threshold=1024)


def write_checkpoint(
    folder: Path,
    *,
    width: int = 32,
    layers: int = 1,
    hidden: int = 16,
    seed: int = 7,
    one_state: bool = True,
    masked: bool = True,
    reserve: float = 6.0,
    embedded: int = ROWS,
    scripts: dict[str, str] | None = None,
) -> Path:
    """Writes all files of the layout.

    Args:
        folder: Gets `config.json` and `assets/`; made if need be.
        width: Of the encoder.
        layers: Of attention and feed-forward in the encoder.
        hidden: Of prediction network and joint.
        one_state: The prediction network's second state is declared for one row, as exports of NeMo do.
        masked: False makes an encoder that lets padding into what it says of a clip.
        reserve: What the transducer's blank is favoured by: the more, the fewer pieces are written.
        embedded: Rows that the prediction network has for pieces.
        scripts: Language -> script of its vocabulary, where it is to differ from `SCRIPTS`.

    Returns:
        The folder.
    """
    assets = folder / "assets"
    assets.mkdir(parents=True, exist_ok=True)
    config = {"BLANK_ID": 256, "RNNT_MAX_SYMBOLS": 10, "PRED_RNN_LAYERS": 2, "PRED_RNN_HIDDEN_DIM": hidden, "SOS": 256}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    write_vocabulary(assets, {**SCRIPTS, **(scripts or {})})
    write_encoder(assets / "encoder.onnx", width, layers, seed, masked)
    write_ctc(assets / "ctc_decoder.onnx", width, seed + 1)
    write_prediction(assets / "rnnt_decoder.onnx", hidden, seed + 2, one_state, embedded)
    write_joint(assets, width, hidden, seed + 3, reserve)
    write_preprocessor(assets / "preprocessor.ts")
    return folder


def write_vocabulary(assets: Path, scripts: dict[str, str]) -> None:
    """257 pieces a language, of which the last is never written; and the masks over all rows of the CTC decoder."""
    vocabulary, masks = {}, {}
    for place, lang in enumerate(LANGUAGES):
        draw = random.Random(lang)
        first, n_letters = LETTERS[scripts.get(lang, "Deva")]
        letters = [chr(first + offset) for offset in range(n_letters)]
        pieces = ["<unk>"]
        while len(pieces) <= PIECES:
            piece = "".join(draw.choices(letters, k=draw.randint(1, 3)))
            pieces.append(f"▁{piece}" if len(pieces) % 3 == 0 else piece)
        vocabulary[lang] = pieces
        own = range(place * PIECES, (place + 1) * PIECES)
        masks[lang] = [row in own or row == ROWS - 1 for row in range(ROWS)]
    (assets / "vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False), encoding="utf-8")
    (assets / "language_masks.json").write_text(json.dumps(masks), encoding="utf-8")


def write_encoder(path: Path, width: int, layers: int, seed: int, masked: bool = True) -> None:
    """`audio_signal` [B, 80, T], `length` [B] -> `outputs` [B, width, T'], `encoded_lengths` [B]; 8 frames become 1."""
    from onnx import TensorProto

    graph = Graph(seed)
    seven, eight = graph.constant(7, np.int64), graph.constant(8, np.int64)
    graph.op("Div", graph.op("Add", "length", seven), eight, to=["encoded_lengths"])
    signal = _masked(graph, "audio_signal", "length") if masked else "audio_signal"
    kernel = graph.weight(width, MELS, 9, name="pre_encode.conv.weight")
    bias = graph.weight(width, scale=0.3, name="pre_encode.conv.bias")
    found = graph.op("Conv", signal, kernel, bias, strides=[8], pads=[4, 4])
    shape = graph.op("Shape", found)
    found = graph.op("Transpose", graph.op("Relu", found), perm=[0, 2, 1])
    absent = graph.op("Unsqueeze", _absent(graph, shape), graph.constant([1], np.int64)) if masked else ""
    for number in range(layers):
        found = _layer(graph, found, absent, width, f"layers.{number}")
    found = graph.op("Transpose", found, perm=[0, 2, 1])
    graph.op("Identity", _masked(graph, found, "encoded_lengths") if masked else found, to=["outputs"])
    graph.save(
        path,
        [("audio_signal", TensorProto.FLOAT, ["b", MELS, "t"]), ("length", TensorProto.INT64, ["b"])],
        [("outputs", TensorProto.FLOAT, ["b", width, "u"]), ("encoded_lengths", TensorProto.INT64, ["b"])],
    )


def _absent(graph: Graph, shape: str, lengths: str = "encoded_lengths") -> str:
    """[B, T]: which frames lie after the end of their clip."""
    n_frames = graph.op("Gather", shape, graph.constant(2, np.int64))
    frames = graph.op("Range", graph.constant(0, np.int64), n_frames, graph.constant(1, np.int64))
    ends = graph.op("Unsqueeze", lengths, graph.constant([1], np.int64))
    return str(graph.op("GreaterOrEqual", frames, ends))


def _masked(graph: Graph, found: str, lengths: str) -> str:
    """[B, D, T] with zeros after the end of each clip."""
    absent = graph.op("Unsqueeze", _absent(graph, graph.op("Shape", found), lengths), graph.constant([1], np.int64))
    return str(graph.op("Where", absent, graph.constant(0.0), found))


def _layer(graph: Graph, found: str, absent: str, width: int, name: str) -> str:
    """Attention with one head and a feed-forward of four times the width, each with its residual and norm."""

    def dense(value: str, rows: int, columns: int, part: str) -> str:
        return str(graph.op("MatMul", value, graph.weight(rows, columns, name=f"{name}.{part}.weight")))

    def norm(value: str) -> str:
        gain, shift = graph.constant(np.ones(width)), graph.constant(np.zeros(width))
        return str(graph.op("LayerNormalization", value, gain, shift, axis=-1))

    query, key, value = (dense(found, width, width, part) for part in ("linear_q", "linear_k", "linear_v"))
    scores = graph.op("MatMul", query, graph.op("Transpose", key, perm=[0, 2, 1]))
    scores = graph.op("Mul", scores, graph.constant(3 / np.sqrt(width)))
    if absent:
        scores = graph.op("Where", absent, graph.constant(-1e4), scores)
    heard = graph.op("MatMul", graph.op("Softmax", scores, axis=-1), value)
    found = norm(graph.op("Add", found, dense(heard, width, width, "linear_out")))
    inner = graph.op("Relu", dense(found, width, 4 * width, "feed_forward1"))
    return norm(graph.op("Add", found, dense(inner, 4 * width, width, "feed_forward2")))


def write_ctc(path: Path, width: int, seed: int) -> None:
    """`encoder_output` [B, width, T'] -> `logprobs` [B, T', 5633]."""
    from onnx import TensorProto

    graph = Graph(seed)
    frames = graph.op("Transpose", "encoder_output", perm=[0, 2, 1])
    logits = graph.op("MatMul", frames, graph.weight(width, ROWS, scale=2 / np.sqrt(width)))
    favour = np.zeros(ROWS)
    favour[-1] = 4.0  # the blank wins often, as it does in a trained model
    graph.op("LogSoftmax", graph.op("Add", logits, graph.constant(favour)), axis=-1, to=["logprobs"])
    graph.save(
        path,
        [("encoder_output", TensorProto.FLOAT, ["b", width, "u"])],
        [("logprobs", TensorProto.FLOAT, ["b", "u", ROWS])],
    )


def write_prediction(path: Path, hidden: int, seed: int, one_state: bool = True, embedded: int = ROWS) -> None:
    """The prediction network: two LSTM layers over `targets` [B, 1]."""
    from onnx import TensorProto

    graph = Graph(seed)
    embedded = graph.op("Gather", graph.weight(embedded, hidden, scale=1.0), "targets")
    found = graph.op("Transpose", embedded, perm=[1, 0, 2])
    ones = graph.constant([1, 1], np.int64)
    before = [graph.op("Split", state, ones, axis=0, n_outputs=2) for state in ("states.1", "onnx::Slice_3")]
    after: list[tuple[str, str]] = []
    for hidden_state, cell in zip(*before, strict=True):
        weights = [graph.weight(1, 4 * hidden, hidden, scale=1 / np.sqrt(hidden)) for _ in range(2)]
        bias = graph.weight(1, 8 * hidden, scale=0.1)
        said, *state = graph.op("LSTM", found, *weights, bias, "", hidden_state, cell, n_outputs=3, hidden_size=hidden)
        found = graph.op("Squeeze", said, graph.constant([1], np.int64))
        after.append((state[0], state[1]))
    graph.op("Transpose", found, perm=[1, 2, 0], to=["outputs"])
    graph.op("Identity", "target_length", to=["prednet_lengths"])
    graph.op("Concat", *(pair[0] for pair in after), axis=0, to=["states"])
    graph.op("Concat", *(pair[1] for pair in after), axis=0, to=["162"])
    graph.save(
        path,
        [
            ("targets", TensorProto.INT32, ["b", "n"]),
            ("target_length", TensorProto.INT32, ["b"]),
            ("states.1", TensorProto.FLOAT, [2, "b", hidden]),
            ("onnx::Slice_3", TensorProto.FLOAT, [2, 1 if one_state else "b", hidden]),
        ],
        [
            ("outputs", TensorProto.FLOAT, ["b", hidden, "n"]),
            ("prednet_lengths", TensorProto.INT32, ["b"]),
            ("states", TensorProto.FLOAT, [2, "b", hidden]),
            ("162", TensorProto.FLOAT, [2, "c", hidden]),
        ],
    )


def write_joint(assets: Path, width: int, hidden: int, seed: int, reserve: float) -> None:
    """The joint network in its four parts, the last one for each language; `input` and `output` [B, T, …]."""
    favour = np.zeros(PIECES + 1)
    favour[-1] = reserve
    dense = [("joint_enc", width, hidden, None), ("joint_pred", hidden, hidden, None)]
    dense += [(f"joint_post_net_{lang}", hidden, PIECES + 1, favour) for lang in LANGUAGES]
    for place, (name, rows, columns, bias) in enumerate(dense):
        graph = Graph(seed + place)
        found = graph.op("MatMul", "input", graph.weight(rows, columns, scale=3 / np.sqrt(rows)))
        graph.op("Add", found, graph.constant(np.zeros(columns) if bias is None else bias), to=["output"])
        _save_joint(graph, assets / f"{name}.onnx", rows, columns)
    graph = Graph(seed)
    graph.op("Relu", "input", to=["output"])
    _save_joint(graph, assets / "joint_pre_net.onnx", hidden, hidden)


def _save_joint(graph: Graph, path: Path, rows: int, columns: int) -> None:
    from onnx import TensorProto

    inputs = [("input", TensorProto.FLOAT, ["b", "t", rows])]
    graph.save(path, inputs, [("output", TensorProto.FLOAT, ["b", "t", columns])])


def write_preprocessor(path: Path) -> None:
    """The log-mel front end as TorchScript: NeMo's torchaudio variant in its own words."""
    import warnings

    import torch

    with warnings.catch_warnings():  # TorchScript is what the published file is, deprecated or not
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.script(front_end()), str(path))


def mel_filters() -> NDArray[np.float32]:
    """[80, 257], Slaney's scale and norm, by librosa."""
    import librosa

    return np.asarray(librosa.filters.mel(sr=16_000, n_fft=512, n_mels=MELS, norm="slaney"), np.float32)


def front_end() -> Any:
    """The front end as a torch module: `input_signal` [B, N], `length` [B] -> features [B, 80, T], lengths [B].

    Statistics are over all frames of a row, padding among them, as in the published file.
    """
    import torch

    class FrontEnd(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("window", torch.hann_window(400, periodic=False))
            self.register_buffer("filters", torch.from_numpy(mel_filters()))

        def forward(self, input_signal: torch.Tensor, length: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            before = torch.nn.functional.pad(input_signal, [1, 0])[:, :-1]
            spectrum = torch.stft(
                input_signal - 0.97 * before,
                n_fft=512,
                hop_length=160,
                win_length=400,
                window=self.window,
                center=True,
                pad_mode="reflect",
                return_complex=True,
            )
            found = torch.log(torch.matmul(self.filters, spectrum.abs().pow(2.0)) + 2.0**-24)
            n_frames = torch.div(length, 160, rounding_mode="floor") + 1
            absent = torch.arange(found.shape[2]).unsqueeze(0) >= n_frames.unsqueeze(1)
            found = found.masked_fill(absent.unsqueeze(1), 0.0)
            mean = found.mean(dim=2, keepdim=True)
            spread = found.std(dim=2, keepdim=True)
            found = ((found - mean) / (spread + 1e-5)).masked_fill(absent.unsqueeze(1), 0.0)
            return found, n_frames

    return FrontEnd().eval()
