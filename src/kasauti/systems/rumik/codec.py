"""Mimi: frames of codes to samples, in batches, beside the rollout.

Frames only look back, so a batch is padded on the right and cut. Codes are decoded in float32, whatever the decoder's
arithmetic: it is the reference, and small beside the decoder.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from kasauti import devices
from kasauti.errors import SpeechSystemError
from kasauti.systems.rumik.files import CODEC, Files

_MOST_FRAMES = {"cuda": 4096, "cpu": 1}
"""Frames decoded at once, padding included: on a GPU five minutes of sound, about 6 GB. A clip with more goes alone.

On a CPU all do: there a batch takes as long as its clips one by one, and its sums differ in the last bit, so that a
clip's file would depend on its company.
"""

Key = TypeVar("Key")
Codes = NDArray[np.int64]
Samples = NDArray[np.float32]


class Codec:
    """A `MimiModel` on a device.

    Args:
        files: The checkpoint.
        device: `cpu` or `cuda`.

    Raises:
        SpeechSystemError: it can't be loaded, lacks weights, or its frames are not as long as the layout says.
    """

    def __init__(self, files: Files, device: str) -> None:
        import torch

        folder = files.folder / CODEC
        self._model = _load(folder).to(device)
        _keep_shapes_on_host(self._model)
        self.device = device
        self._stream = torch.cuda.Stream() if device == "cuda" else None
        self.rate_hz = files.rate_hz
        self.samples_per_frame = round(files.rate_hz / files.layout.frame_rate_hz)
        found = self._sound(np.zeros((1, files.layout.num_quantizers, 2), np.int64)).shape[1]
        if found != 2 * self.samples_per_frame:
            raise SpeechSystemError(
                f"{folder}: a frame has {found / 2:g} samples, and frame_rate_hz={files.layout.frame_rate_hz:g} at "
                f"{files.rate_hz} Hz asks for {self.samples_per_frame}"
            )

    def decode(self, clips: Sequence[Codes]) -> list[Samples]:
        """Samples of clips.

        Args:
            clips: Codes [quantizers, frames], at least one frame each.

        Returns:
            For each its samples [frames * samples_per_frame].
        """
        longest = max(codes.shape[1] for codes in clips)
        padded = np.stack([np.pad(codes, ((0, 0), (0, longest - codes.shape[1]))) for codes in clips])
        lengths = [codes.shape[1] * self.samples_per_frame for codes in clips]
        return [row[:length].copy() for row, length in zip(self._sound(padded), lengths, strict=True)]

    def _sound(self, codes: Codes) -> Samples:
        """[clips, samples] of [clips, quantizers, frames]."""
        import torch

        with ExitStack() as around:
            if self._stream is not None:
                around.enter_context(devices.ONE_AT_A_TIME)
                around.enter_context(torch.cuda.stream(self._stream))
            around.enter_context(torch.inference_mode())
            placed = torch.from_numpy(codes).to(self.device)
            sound: Samples = self._model.decode(placed, return_dict=True).audio_values[:, 0].float().cpu().numpy()
        return sound


def _keep_shapes_on_host(model: Any) -> None:
    """Strides and paddings are tensors of one number; on a GPU each convolution would wait to read them."""
    import torch

    for layer in model.modules():
        for name in ("stride", "kernel_size", "padding_total"):
            held = getattr(layer, name, None)
            if isinstance(held, torch.Tensor):
                setattr(layer, name, held.cpu())


def _load(folder: Path) -> Any:
    import torch
    from transformers import MimiModel
    from transformers.utils import logging

    bars = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        model, told = MimiModel.from_pretrained(str(folder), dtype=torch.float32, output_loading_info=True)
    except Exception as error:  # whatever is wrong with the files, transformers raises many kinds
        raise SpeechSystemError(f"{folder}: the codec can't be loaded ({type(error).__name__}: {error})") from error
    finally:
        if bars:
            logging.enable_progress_bar()
    missing = sorted(told["missing_keys"])
    if missing:
        raise SpeechSystemError(f"{folder}: the codec lacks the weights {', '.join(missing[:5])}")
    return model.eval()


@dataclass(frozen=True)
class Decoded(Generic[Key]):
    """One clip that has come out of the codec.

    Attributes:
        key: What it was put in under.
        samples: [frames * samples_per_frame]; None when it could not be decoded.
        wall_s: Its share of the time of its batch.
        error: Why it could not be.
    """

    key: Key
    samples: Samples | None
    wall_s: float
    error: Exception | None = None


class Decoding(Generic[Key]):
    """Decodes in a thread of its own whatever has come in since it last began. Use as a context.

    Args:
        codec: The codec.
    """

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._most_frames = _MOST_FRAMES[codec.device]
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="codec")
        self._queue: list[tuple[Key, Codes]] = []
        self._busy: Future[list[Decoded[Key]]] | None = None

    def __enter__(self) -> Decoding[Key]:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def put(self, key: Key, codes: Codes) -> None:
        """Puts codes [quantizers, frames] in the queue, at least one frame."""
        self._queue.append((key, codes))

    def ready(self) -> list[Decoded[Key]]:
        """What has come out since the last call."""
        done: list[Decoded[Key]] = []
        if self._busy is not None and self._busy.done():
            done = self._busy.result()
            self._busy = None
        if self._busy is None and self._queue:
            queue, self._queue = self._queue, []
            self._busy = self._pool.submit(self._decode_all, queue)
        return done

    def rest(self) -> Iterator[Decoded[Key]]:
        """Waits for all that is still in it."""
        while self._queue or self._busy is not None:
            if self._busy is not None:
                self._busy.exception()
            yield from self.ready()

    def _decode_all(self, queue: list[tuple[Key, Codes]]) -> list[Decoded[Key]]:
        clips = sorted(queue, key=lambda clip: clip[1].shape[1])
        done: list[Decoded[Key]] = []
        while clips:
            batch = [clips.pop()]
            while clips and (len(batch) + 1) * batch[0][1].shape[1] <= self._most_frames:
                batch.append(clips.pop())
            done += self._decode(batch)
        return done

    def _decode(self, batch: list[tuple[Key, Codes]]) -> list[Decoded[Key]]:
        started = time.perf_counter()
        try:
            sounds = self._codec.decode([codes for _, codes in batch])
        except Exception as error:  # whatever the engine throws at one clip is that clip's
            failure = error
        else:
            wall_s = (time.perf_counter() - started) / len(batch)
            return [Decoded(key, samples, wall_s) for (key, _), samples in zip(batch, sounds, strict=True)]
        devices.release(failure)
        if len(batch) == 1:
            return [Decoded(batch[0][0], None, time.perf_counter() - started, failure)]
        if devices.is_full(failure):
            self._most_frames = max(1, len(batch) // 2 * batch[0][1].shape[1])
        middle = (len(batch) + 1) // 2
        return [*self._decode(batch[:middle]), *self._decode(batch[middle:])]
