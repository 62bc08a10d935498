"""Features in numpy against TorchScript, against librosa's filters, and against NeMo's own front end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soxr

import indicconformer_checkpoint
from audio_files import tone
from kasauti.judges.indicconformer_features import MIN_SAMPLES, RATE_HZ, TOLERANCE, log_mel, mel_filters, torchscript
from kasauti.systems import espeak_client

BELOW_THE_GUARD = 5e-3
"""Where a band's power stays under 2^-24, single precision leaves its rounding noise in the TorchScript file."""


@pytest.fixture(scope="module")
def preprocessor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("front") / "preprocessor.ts"
    indicconformer_checkpoint.write_preprocessor(path)
    return path


@pytest.fixture(scope="module")
def speech() -> Any:
    text = "मेरा नाम अनुपम है और मैं दिल्ली में रहता हूँ।"
    samples, rate_hz = espeak_client.samples_of(text, espeak_client.VOICES["hi"], 160, 50)
    return soxr.resample(np.asarray(samples, np.float32), rate_hz, RATE_HZ)


def noise(n_samples: int) -> Any:
    return np.random.default_rng(0).normal(0, 0.1, n_samples).astype(np.float32)


SOUNDS = [
    ("speech", lambda speech: speech, 1e-4),
    ("loud speech", lambda speech: 3 * speech, 1e-4),
    ("speech and silence", lambda speech: np.concatenate([speech, np.zeros(8000, np.float32)]), 1e-4),
    ("noise", lambda _: noise(RATE_HZ), 1e-4),
    ("a tone", lambda _: tone(1.0, 0.3, RATE_HZ), TOLERANCE),
    ("the shortest clip", lambda _: noise(MIN_SAMPLES), 1e-4),
    ("an odd length", lambda _: noise(16_157), 1e-4),
    ("faint speech", lambda speech: 1e-3 * speech, BELOW_THE_GUARD),
    ("telephone speech", lambda speech: soxr.resample(soxr.resample(speech, 16, 8), 8, 16), BELOW_THE_GUARD),
]


@pytest.mark.parametrize(("make", "tolerance"), [case[1:] for case in SOUNDS], ids=[case[0] for case in SOUNDS])
def test_numpy_and_torchscript_differ_by_less_than_is_said(
    preprocessor: Path, speech: Any, make: Any, tolerance: float
) -> None:
    samples = np.asarray(make(speech), np.float32)
    wanted, found = torchscript(preprocessor)(samples), log_mel(samples)
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() < tolerance


def test_the_filters_are_librosas() -> None:
    assert np.allclose(mel_filters(), indicconformer_checkpoint.mel_filters(), rtol=0, atol=1e-8)


def test_a_torchscript_front_end_gives_only_the_frames_that_it_says_are_the_clips(tmp_path: Path) -> None:
    import warnings

    import torch

    class Padded(torch.nn.Module):
        def forward(self, input_signal: torch.Tensor, length: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return torch.ones(1, 80, 32), torch.div(length, 160, rounding_mode="floor")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.script(Padded()), str(tmp_path / "p.ts"))
    assert torchscript(tmp_path / "p.ts")(noise(1600)).shape == (80, 10)


@pytest.mark.filterwarnings("ignore")  # importing NeMo deprecates a good deal of others
def test_features_are_nemos(speech: Any) -> None:
    """NeMo 3 pads edges with zeros and leaves the last frame out of its statistics; silence at the edges and statistics
    over the same frames take these two differences away."""
    import torch
    from nemo.collections.asr.modules import AudioToMelSpectrogramPreprocessor

    theirs = AudioToMelSpectrogramPreprocessor(
        sample_rate=RATE_HZ, window_size=0.025, window_stride=0.01, n_fft=512, features=80, dither=0.0, pad_to=0
    ).eval()
    silence = np.zeros(640, np.float32)
    samples = np.concatenate([silence, speech, silence])
    with torch.no_grad():
        wanted, lengths = theirs(input_signal=torch.from_numpy(samples)[None], length=torch.tensor([samples.size]))
    n_frames = int(lengths[0])
    assert n_frames == samples.size // 160
    ours = log_mel(samples)[:, :n_frames].astype(np.float64)
    ours = (ours - ours.mean(axis=1, keepdims=True)) / ours.std(axis=1, ddof=1, keepdims=True)
    assert np.abs(ours - wanted[0, :, :n_frames].numpy()).max() < 2e-4
