"""Clips for recognisers, and what they hear of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kasauti import audio
from kasauti.judges.base import Answer, Heard, Judge, JudgeTask

RATE_HZ = 16_000
SECONDS = (2.6, 0.4, 1.7, 1.0, 3.1)
"""Lengths that make batches with padding; one is below the second that some engines fill up to."""


def noise(seconds: float, seed: int = 0, rate_hz: int = RATE_HZ) -> NDArray[np.float32]:
    """Noise whose colour changes with time, so that a random model has something to write."""
    n = round(seconds * rate_hz)
    white = np.random.default_rng(seed).standard_normal(n)
    swell = np.sin(2 * np.pi * np.cumsum(200 + 150 * np.sin(np.arange(n) / rate_hz * 9 + seed)) / rate_hz)
    return (0.05 * white + 0.3 * swell).clip(-1, 1).astype(np.float32)


def clip(path: Path, samples: NDArray[np.float32], lang: str = "hi", rate_hz: int = RATE_HZ) -> JudgeTask:
    """A task whose clip is these samples; its id is the name of the file."""
    audio.write_wav(path, samples, rate_hz)
    return JudgeTask(path.stem, lang, 0, (Heard(path, "0" * 64, len(samples) / rate_hz),))


def clips(folder: Path, lang: str = "hi", seconds: Sequence[float] = SECONDS) -> list[JudgeTask]:
    """One task for each length."""
    return [clip(folder / f"{lang}-{n}.wav", noise(length, n), lang) for n, length in enumerate(seconds)]


def answers(judge: Judge, tasks: Sequence[JudgeTask]) -> dict[str, Answer]:
    """What a judge says, by task."""
    return {answer.judgment_id: answer for answer in judge.judge(tasks)}


def texts(judge: Judge, tasks: Sequence[JudgeTask]) -> dict[str, str | None]:
    """What a judge hears, by task; None for a failure."""
    return {name: answer.transcript for name, answer in answers(judge, tasks).items()}
