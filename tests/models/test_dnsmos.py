"""DNSMOS as it is installed: known marks, none for silence, no hang on nothing, and boards of its own in a run."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from audio_files import tone
from kasauti import audio
from kasauti.judges.base import Answer, Heard, JudgeTask
from kasauti.judges.dnsmos import Dnsmos, DnsmosOptions
from kasauti.paths import ROOT
from kasauti.records import Status
from kasauti.report import load
from kasauti.report.leaderboard import boards
from kasauti.systems import espeak_client

MARKS = {"dnsmos_ovrl", "dnsmos_sig", "dnsmos_bak", "dnsmos_p808"}


@pytest.fixture(scope="module")
def judge() -> Dnsmos:
    return Dnsmos(DnsmosOptions())


def heard(judge: Dnsmos, path: Path, samples: np.ndarray, rate_hz: int = 16_000) -> Answer:
    audio.write_wav(path, samples.astype(np.float32), rate_hz)
    task = JudgeTask("t", "hi", 0, (Heard(path, "0" * 64, 1.0),))
    return next(iter(judge.judge([task])))


def noise(seconds: float, level: float) -> np.ndarray:
    return (np.random.default_rng(1).standard_normal(int(16_000 * seconds)) * level).clip(-1, 1)


def test_nothing_is_lacking_here(judge: Dnsmos) -> None:
    assert judge.check([]) == []


def test_speech_is_marked_above_noise(judge: Dnsmos, tmp_path: Path) -> None:
    samples, rate_hz = espeak_client.samples_of("मेरा नाम अनुपम है और मैं दिल्ली में रहता हूँ।", "hi", 160, 50)
    speech = heard(judge, tmp_path / "speech.wav", samples, rate_hz)
    hiss = heard(judge, tmp_path / "noise.wav", noise(3, 0.1))
    assert speech.outcome.status is hiss.outcome.status is Status.OK
    assert set(speech.scores[""]) == set(hiss.scores[""]) == MARKS
    # Measured once with speechmos 0.0.1.1 by its own `run`: Hindi by eSpeak NG about 2.6, white noise about 1.1.
    assert 2.2 < speech.scores[""]["dnsmos_ovrl"] < 3.1
    assert 1.0 <= hiss.scores[""]["dnsmos_ovrl"] < 1.4
    assert speech.transcript is None


def test_marks_are_those_of_the_package(judge: Dnsmos, tmp_path: Path) -> None:
    from speechmos import dnsmos

    samples = noise(10.5, 0.02) + tone(10.5, 0.3, 16_000)
    answer = heard(judge, tmp_path / "mix.wav", samples)
    stored = audio.read_audio(tmp_path / "mix.wav").samples[:, 0]
    direct = dnsmos.run(stored.astype(np.float32), 16_000)
    assert answer.scores[""] == {mark: round(float(direct[f"{mark[7:]}_mos"]), 4) for mark in MARKS}


@pytest.mark.parametrize(
    ("name", "samples", "status", "reason"),
    [
        ("digital silence", np.zeros(16_000), Status.JUDGE_INVALID, "silent"),
        ("room noise at -70 dBFS", noise(1, 10 ** (-70 / 20)), Status.JUDGE_INVALID, "silent"),
        ("no samples", np.zeros(0), Status.JUDGE_FAILED, "no_samples"),
    ],
)
def test_no_mark_for_nothing(
    judge: Dnsmos, tmp_path: Path, name: str, samples: np.ndarray, status: Status, reason: str
) -> None:
    answer = heard(judge, tmp_path / "clip.wav", samples)
    assert (answer.outcome.status, answer.outcome.reason, dict(answer.scores)) == (status, reason, {}), name


def test_stereo_and_other_rates_are_heard_as_one_channel_at_16_khz(judge: Dnsmos, tmp_path: Path) -> None:
    one = tone(2.0, 0.5, 48_000, hz=300.0)
    answer = heard(judge, tmp_path / "stereo.wav", np.stack([one, one], axis=1), 48_000)
    assert set(answer.scores[""]) == MARKS


def test_a_run_has_boards_of_marks_beside_those_of_error_rates(
    tmp_path: Path, alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    command = [sys.executable, str(ROOT / "run.py"), "system=espeak", "judge=[whisper,dnsmos]", "promptset.limit=1"]
    places = [f"paths.runs={tmp_path / 'runs'}", f"paths.store={tmp_path / 'store'}"]
    done = subprocess.run([*command, "promptset.langs=[en]", *places], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    # Packages may lie where nobody can write, and what they bring can't be imported without such a place.
    assert list((alone / "numba").iterdir())
    assert "DNSMOS overall, higher is better, heard by dnsmos" in " ".join(done.stdout.split())
    (folder,) = (tmp_path / "runs").iterdir()
    with (folder / "scores.tsv").open(encoding="utf-8") as file:
        marks = {row["mark"]: float(row["value"]) for row in csv.DictReader(file, delimiter="\t")}
    assert set(marks) == MARKS
    assert all(1.0 <= value <= 5.0 for value in marks.values())
    shown = {board.metric for board in boards(load(folder)) if board.judge == "dnsmos"}
    assert shown == MARKS
