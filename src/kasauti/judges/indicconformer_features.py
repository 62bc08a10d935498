"""Log-mel features as IndicConformer was trained on: 80 bands, 25 ms windows, 10 ms steps, 16 kHz.

The published front end is `preprocessor.ts`, NeMo's torchaudio variant as TorchScript. `log_mel` does the same in
numpy, without torch: pre-emphasis 0.97, reflected edges, a symmetric Hann window of 400 in frames of 512, power,
Slaney's mel scale and norm from 0 to 8 kHz, log(x + 2^-24), and each band to mean 0 and standard deviation 1 over the
clip. Both are called clip by clip: the published file counts padding among the frames that it takes the mean over.

Source: NVIDIA NeMo, `AudioToMelSpectrogramPreprocessor`; Slaney, Auditory Toolbox, 1998 (mel scale and norm).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kasauti.errors import JudgeError
from kasauti.judges.quiet import quiet

RATE_HZ = 16_000
MELS = 80
MIN_SAMPLES = 257
"""Shortest clip: its edges are reflected by half a frame, which must not be longer than the clip. 16 ms."""

TOLERANCE = 1e-3
"""The two front ends differ by less wherever there is sound, by 4e-5 in speech (features have standard deviation 1).
The file computes in single precision: in bands below the guard of 2^-24 it has rounding noise of up to 5e-3."""

_FRAME, _WINDOW, _HOP = 512, 400, 160

Features = NDArray[np.float32]
FrontEnd = Callable[[NDArray[np.float32]], Features]
"""A clip's samples [frames] -> its features [80, T]."""


def log_mel(samples: NDArray[np.float32]) -> Features:
    """Features of one clip.

    Args:
        samples: Mono [frames] at `RATE_HZ`, at least `MIN_SAMPLES`.

    Returns:
        [80, frames // 160 + 1].
    """
    sound = samples.astype(np.float64)
    sound[1:] -= 0.97 * samples[:-1]
    padded = np.pad(sound, _FRAME // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, _FRAME)[::_HOP]
    power = np.abs(np.fft.rfft(frames * _window())) ** 2
    bands = np.log(power @ mel_filters().T + 2.0**-24).T
    spread = bands.std(axis=1, ddof=1, keepdims=True)
    found: NDArray[np.float64] = (bands - bands.mean(axis=1, keepdims=True)) / (spread + 1e-5)
    return found.astype(np.float32)


@cache
def _window() -> NDArray[np.float64]:
    """The window in the middle of a frame, as `torch.stft` places a window shorter than its frame."""
    return np.pad(np.hanning(_WINDOW), (_FRAME - _WINDOW) // 2)


@cache
def mel_filters() -> NDArray[np.float64]:
    """Slaney's triangular filters [80, 257], each with area 2 over its width in Hz."""
    edges = _mel_to_hz(np.linspace(_hz_to_mel(0.0), _hz_to_mel(RATE_HZ / 2), MELS + 2))
    bins = np.linspace(0.0, RATE_HZ / 2, _FRAME // 2 + 1)
    widths = np.diff(edges)
    ramps = edges[:, None] - bins[None, :]
    rising, falling = -ramps[:-2] / widths[:-1, None], ramps[2:] / widths[1:, None]
    filters: NDArray[np.float64] = np.maximum(0.0, np.minimum(rising, falling))
    return filters * (2.0 / (edges[2:] - edges[:-2]))[:, None]


_LINEAR_HZ = 200.0 / 3
_LOG_FROM_HZ = 1000.0
_LOG_STEP = np.log(6.4) / 27


def _hz_to_mel(hz: float) -> float:
    """Linear to 1 kHz, logarithmic above."""
    return hz / _LINEAR_HZ if hz < _LOG_FROM_HZ else float(15 + np.log(hz / _LOG_FROM_HZ) / _LOG_STEP)


def _mel_to_hz(mels: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(mels < 15, mels * _LINEAR_HZ, _LOG_FROM_HZ * np.exp(_LOG_STEP * (mels - 15)))


def torchscript(path: Path) -> FrontEnd:
    """The front end in a TorchScript file; it computes on the CPU.

    Raises:
        JudgeError: the file can't be loaded.
    """
    import torch

    try:
        with quiet():  # `torch.jit.load` is deprecated, and these files have no other reader
            load: Any = torch.jit.load
            module = load(str(path), map_location="cpu")
    except (RuntimeError, ValueError) as error:
        raise JudgeError(f"{path}: torch can't load it: {str(error).splitlines()[0]}") from error

    def front_end(samples: NDArray[np.float32]) -> Features:
        signal = torch.from_numpy(np.ascontiguousarray(samples))[None]
        with torch.inference_mode():
            found, lengths = module(signal, torch.tensor([samples.size]))
        return np.asarray(found[0, :, : int(lengths[0])].numpy(), np.float32)

    return front_end


def front_end(kind: str, assets: Path) -> FrontEnd:
    """The front end of a checkpoint.

    Args:
        kind: `torchscript` or `numpy`.
        assets: The folder of `preprocessor.ts`.

    Raises:
        JudgeError: the file can't be loaded; or numpy's features are not those of the file, which is looked at where
            file and torch are at hand.
    """
    from importlib.util import find_spec

    path = assets / "preprocessor.ts"
    if kind == "torchscript":
        return torchscript(path)
    if path.is_file() and find_spec("torch") is not None:
        noise = np.random.default_rng(0).normal(0.0, 0.1, RATE_HZ).astype(np.float32)
        wanted, found = torchscript(path)(noise), log_mel(noise)
        if wanted.shape != found.shape or not np.allclose(found, wanted, rtol=0, atol=TOLERANCE):
            raise JudgeError(
                f"features=numpy is not what {path} computes: this checkpoint has another front end; "
                "use features=torchscript"
            )
    return log_mel
