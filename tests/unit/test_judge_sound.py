"""What a judge gets of a clip: samples at its rate, or the failure that a row is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from audio_files import encoded, float_wav, invalid_files, tone
from kasauti.judges.base import Heard, JudgeFailed
from kasauti.judges.sound import samples_of

NO_SOUND = {"zeros", "constant", "click"}
"""Files that hold samples: a judge is not asked about them, as their clips are invalid, but could be."""


def heard(folder: Path, content: bytes) -> np.ndarray:
    path = folder / "a.wav"
    path.write_bytes(content)
    return samples_of(Heard(path, "0" * 64, 1.0), 16_000)


@pytest.mark.parametrize("name", sorted(set(invalid_files()) - NO_SOUND))
def test_a_file_that_holds_no_sound_is_a_failure_with_its_reason(tmp_path: Path, name: str) -> None:
    content, reason = invalid_files()[name]
    with pytest.raises(JudgeFailed) as failure:
        heard(tmp_path, content)
    assert failure.value.outcome.reason == reason


@pytest.mark.parametrize("largest", [1e10, 1e20, 3e38, -3e38])
def test_a_sample_that_no_sound_has_is_a_failure(tmp_path: Path, largest: float) -> None:
    # Its square, or the sum of a window of squares, is no float32 any more: any text read off that is made up.
    with pytest.raises(JudgeFailed) as failure:
        heard(tmp_path, float_wav([*tone(0.5, 0.5, 16_000), largest], 16_000))
    assert failure.value.outcome.reason in ("out_of_range", "not_a_number")


def test_floats_that_hold_whole_numbers_are_heard(tmp_path: Path) -> None:
    samples = tone(0.5, 0.5, 16_000) * 2.0**31
    found = heard(tmp_path, float_wav(list(samples), 16_000))
    np.testing.assert_array_equal(found, samples)


@pytest.mark.parametrize("rate_hz", [4_000, 8_000, 16_000, 44_100, 96_000])
def test_every_rate_comes_to_that_of_the_judge(tmp_path: Path, rate_hz: int) -> None:
    found = heard(tmp_path, encoded(tone(1.0, 0.5, rate_hz), "WAV", "PCM_16", rate_hz))
    assert found.dtype == np.float32
    assert abs(found.size - 16_000) <= 1


def test_channels_become_one(tmp_path: Path) -> None:
    six = np.repeat(tone(0.5, 0.5, 16_000)[:, None], 6, axis=1)
    assert heard(tmp_path, encoded(six, "WAV", "PCM_16", 16_000)).shape == (8_000,)


def test_a_clip_that_is_gone_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(JudgeFailed):
        samples_of(Heard(tmp_path / "none.wav", "0" * 64, 1.0), 16_000)
