"""Where sound lies in the model's vocabulary, and how a stream of its tokens becomes frames of the codec.

Ids are code-major (`id = first + quantizers * code + q`); the stream is frame-major: `quantizers` tokens, q = 0, 1, …,
for each frame. Code 0 is a code like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from kasauti.errors import SpeechSystemError

MODEL_TYPES = ("rumik_oss", "cohere2")

PUBLISHED: Mapping[str, int | float] = {
    "vocab_size": 277_404,
    "first_unit_id": 261_008,
    "last_unit_id": 277_391,
    "num_quantizers": 8,
    "codebook_size": 2048,
    "frame_rate_hz": 12.5,
    "text_start_token_id": 277_392,
    "audio_start_token_id": 277_393,
    "audio_end_token_id": 277_394,
}
"""Numbers of `rumik-oss-1`, by key of its config; a checkpoint with its vocabulary must have them all."""


@dataclass(frozen=True)
class Layout:
    """What a config says about tokens of sound.

    Attributes:
        first_unit_id: Id of code 0 of quantizer 0. `last_unit_id`: of the last code of the last quantizer.
        num_quantizers: Tokens a frame.
        codebook_size: Codes of each quantizer.
        frame_rate_hz: Frames a second.
        text_start_token_id: Id of `<text>`; `audio_start_token_id` of `<audio>`, `audio_end_token_id` of `</audio>`.
        max_position_embeddings: Tokens that the model can hold, prompt and sound together.
        speakers: Names of its voices; empty where the config has none.
    """

    vocab_size: int
    first_unit_id: int
    last_unit_id: int
    num_quantizers: int
    codebook_size: int
    frame_rate_hz: float
    text_start_token_id: int
    audio_start_token_id: int
    audio_end_token_id: int
    max_position_embeddings: int
    speakers: tuple[str, ...] = ()

    @property
    def tokens_per_second(self) -> float:
        """Tokens that a second of sound takes."""
        return self.frame_rate_hz * self.num_quantizers

    def allowed(self) -> NDArray[np.int64]:
        """Ids that may be drawn [units + 1]: all units in order, then `</audio>`."""
        units = np.arange(self.first_unit_id, self.last_unit_id + 1, dtype=np.int64)
        return np.append(units, np.int64(self.audio_end_token_id))


@dataclass(frozen=True)
class Parsed:
    """Frames found in a stream.

    Attributes:
        codes: [quantizers, frames].
        dropped: Tokens before the end that are in no frame.
        ended: Whether `</audio>` was met; what follows it counts nowhere.
    """

    codes: NDArray[np.int64]
    dropped: int
    ended: bool

    @property
    def frames(self) -> int:
        return int(self.codes.shape[1])


def read_layout(config: Mapping[str, Any]) -> Layout:
    """The layout that a checkpoint's `config.json` describes.

    Raises:
        SpeechSystemError: it is the config of another architecture, a field is missing, or fields contradict each
            other.
    """
    if config.get("model_type") not in MODEL_TYPES:
        raise SpeechSystemError(
            f"config.json: model_type={config.get('model_type')!r}: wanted {' or '.join(MODEL_TYPES)}; "
            "this is a checkpoint of another architecture"
        )
    fields = [*PUBLISHED, "max_position_embeddings"]
    numbers = {name: config.get(name) for name in fields}
    kinds = {name: (int, float) if name == "frame_rate_hz" else (int,) for name in fields}
    missing = [name for name, value in numbers.items() if type(value) not in kinds[name]]
    if missing:
        raise SpeechSystemError(
            f"config.json: no number under {', '.join(missing)}: this checkpoint does not say how it speaks; "
            "wanted the layout of rumik-oss-1"
        )
    speakers = config.get("speakers")
    names = tuple(str(name) for name in speakers) if isinstance(speakers, list | dict) else ()
    layout = Layout(**numbers, speakers=names)  # type: ignore[arg-type]
    _check(layout)
    return layout


def _check(layout: Layout) -> None:
    units = layout.last_unit_id - layout.first_unit_id + 1
    wanted = layout.num_quantizers * layout.codebook_size
    marks = (layout.text_start_token_id, layout.audio_start_token_id, layout.audio_end_token_id)
    faults = []
    if min(layout.num_quantizers, layout.codebook_size) < 1 or not 0 < layout.frame_rate_hz < float("inf"):
        faults.append("num_quantizers, codebook_size and frame_rate_hz must be above 0")
    elif units != wanted:
        faults.append(f"{units} ids from first_unit_id to last_unit_id, but num_quantizers x codebook_size = {wanted}")
    if layout.first_unit_id < 0 or max(layout.last_unit_id, *marks) >= layout.vocab_size or min(marks) < 0:
        faults.append(f"an id of the layout lies outside the vocabulary of {layout.vocab_size}")
    if len(set(marks)) < len(marks) or any(layout.first_unit_id <= mark <= layout.last_unit_id for mark in marks):
        faults.append(f"the ids of <text>, <audio> and </audio> {marks} must differ and be no units")
    if layout.vocab_size == PUBLISHED["vocab_size"]:
        faults += [
            f"{name} is {getattr(layout, name)}, but {value} in rumik-oss-1, whose vocabulary it has"
            for name, value in PUBLISHED.items()
            if getattr(layout, name) != value
        ]
    if faults:
        raise SpeechSystemError(f"config.json: {'; '.join(faults)}")


def parse_tokens(ids: Iterable[int], layout: Layout) -> Parsed:
    """Frames of a stream of tokens.

    A frame is one unit of each quantizer in order, right after each other; since a unit of quantizer 0 always begins
    a frame, whatever came before, these are found without walking. A token that is no unit, one out of order, and a
    frame that is not whole are dropped, and parsing goes on. Nothing is raised, whatever the ids are.

    Args:
        ids: New tokens, without the prompt.
    """
    stream = np.array([token if 0 <= token < layout.vocab_size else -1 for token in ids], dtype=np.int64)
    ends = np.flatnonzero(stream == layout.audio_end_token_id)
    if ends.size:
        stream = stream[: ends[0]]
    width = layout.num_quantizers
    is_unit = (layout.first_unit_id <= stream) & (stream <= layout.last_unit_id)
    code, quantizer = np.divmod(stream - layout.first_unit_id, width)
    quantizer[~is_unit] = -1
    if stream.size < width:
        frames = np.zeros((0, width), np.int64)
    else:
        whole = (sliding_window_view(quantizer, width) == np.arange(width)).all(axis=1)
        frames = sliding_window_view(code, width)[whole]
    return Parsed(np.ascontiguousarray(frames.T), int(stream.size - frames.size), bool(ends.size))
