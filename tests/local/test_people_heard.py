"""Recordings of a voice in the place of people, before a real recogniser: FLEURS's layout, and a CSV of one's own."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest

from fleurs_copy import Reading, fleurs_copy, tar_gz
from kasauti.audio import wav_bytes
from kasauti.errors import ExitCode
from kasauti.records import Prompt, Status
from kasauti.systems.base import SpeechRequest
from kasauti.systems.espeak import Espeak, EspeakOptions
from runs import run_here

pytestmark = pytest.mark.local
pytest.importorskip("espeakng_loader")
pytest.importorskip("faster_whisper")

SENTENCES = ["Please bring a glass of water.", "The train to the city leaves at seven."]


@pytest.fixture(scope="module")
def sounds() -> list[bytes]:
    """The sentences as WAV files."""
    voice = Espeak(EspeakOptions())
    found = []
    for text in SENTENCES:
        [speech] = voice.synthesise([SpeechRequest("c", Prompt("p", "en", text, "Latn"), 0, 0)])
        assert speech.samples is not None
        assert speech.rate_hz is not None
        found.append(wav_bytes(speech.samples, speech.rate_hz))
    return found


def test_the_judge_hears_the_recordings_of_the_set(tmp_path: Path, sounds: list[bytes]) -> None:
    readings = [Reading(number, f"{number}.wav", text) for number, text in enumerate(SENTENCES)]
    copy = fleurs_copy(tmp_path / "copy", {"en_us": readings}, audio=False)
    members = [(f"test/{reading.file_name}", sound) for reading, sound in zip(readings, sounds, strict=True)]
    (copy / "data/en_us/audio/test.tar.gz").write_bytes(tar_gz(members))
    chosen = ["promptset=fleurs", "promptset.langs=[en]", f"data.mirror={copy}"]
    ran = run_here(tmp_path, *chosen, system="human", judge="whisper")
    assert ran.result.exit_code is ExitCode.COMPLETE
    assert [row.status for row in ran.rows] == [Status.OK, Status.OK]
    assert all(row.cer is not None and row.cer < 0.5 for row in ran.rows)
    assert "human is not ranked: human reference" in ran.said


def test_the_judge_hears_a_team_s_own_recordings_and_one_without_sound_is_a_row(
    tmp_path: Path, sounds: list[bytes]
) -> None:
    (tmp_path / "1.wav").write_bytes(sounds[0])
    with wave.open(str(tmp_path / "2.wav"), "wb") as file:
        file.setparams((2, 2, 8000, 0, "NONE", ""))
        file.writeframes(np.zeros(16_000, "<i2").tobytes())
    (tmp_path / "mine.csv").write_text(
        f"id,text,lang,audio\n1,{SENTENCES[0]},en,1.wav\n2,{SENTENCES[1]},en,2.wav\n", encoding="utf-8"
    )
    ran = run_here(
        tmp_path, "promptset=file", f"promptset.path={tmp_path / 'mine.csv'}", system="human", judge="whisper"
    )
    assert [(row.status, row.reason) for row in ran.rows] == [(Status.OK, None), (Status.AUDIO_INVALID, "silent")]
    assert ran.rows[0].cer is not None
    assert ran.rows[0].cer < 0.5
