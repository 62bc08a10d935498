"""Recordings in a folder: found by prompt id whatever its spelling, known by their bytes, never touched."""

from __future__ import annotations

import hashlib
import os
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from audio_files import encoded, tone
from kasauti.errors import SpeechSystemError
from kasauti.identity import clip_id
from kasauti.records import Outcome, Prompt, Status
from kasauti.systems.audio_dir import AudioDir, AudioDirOptions
from kasauti.systems.base import Speech, SpeechRequest

WAV, OTHER_WAV = (encoded(tone(0.3, level), "WAV", "PCM_16") for level in (0.5, 0.4))
FLAC = encoded(tone(0.3, 0.5), "FLAC", "PCM_16")


def prompt(identity: str, audio: Path | str | None = None) -> Prompt:
    return Prompt(identity, "hi", "नमस्ते", "Deva", audio=None if audio is None else str(audio))


def recordings(path: Path | None, **options: Any) -> AudioDir:
    given = None if path is None else str(path)
    return AudioDir(AudioDirOptions("kasauti.systems.audio_dir.AudioDir", "mine", path=given, **options))


def folder(path: Path, **files: bytes) -> Path:
    """A folder of files; `a_wav=` makes `a.wav`."""
    path.mkdir(exist_ok=True)
    for name, content in files.items():
        (path / name.replace("_", ".")).write_bytes(content)
    return path


def speak(system: AudioDir, spoken: Prompt) -> Speech:
    [speech] = system.synthesise([SpeechRequest("ab12", spoken, 0, 0)])
    return speech


def messages(system: AudioDir, *ids: str) -> list[str]:
    return [finding.message for finding in system.check([prompt(identity) for identity in ids])]


def state(path: Path) -> dict[str, tuple[str, int, int]]:
    """What there is in a folder: name -> hash, time of the last change, mode."""
    return {
        file.name: (hashlib.sha256(file.read_bytes()).hexdigest(), file.stat().st_mtime_ns, file.stat().st_mode)
        for file in path.iterdir()
    }


def test_wav_and_flac_are_handed_on_byte_for_byte_and_the_originals_are_not_touched(tmp_path: Path) -> None:
    system = recordings(folder(tmp_path / "mine", a_wav=WAV, b_flac=FLAC, c_WAV=OTHER_WAV))
    before = state(tmp_path / "mine")
    spoken = [speak(system, prompt(identity)) for identity in "abc"]
    assert [speech.encoded for speech in spoken] == [WAV, FLAC, OTHER_WAV]
    assert [speech.suffix for speech in spoken] == [".wav", ".flac", ".wav"]
    assert {speech.outcome.status for speech in spoken} == {Status.OK}
    assert messages(system, "a", "b", "c") == []
    assert state(tmp_path / "mine") == before


def test_missing_recordings_are_reported_with_those_that_may_be_meant(tmp_path: Path) -> None:
    system = recordings(folder(tmp_path / "mine", a_wav=WAV, b_wav=WAV, A_wav=WAV, notes_txt=b"x", c_mp3=b"x"))
    assert system.refuse(prompt("a")) is None
    assert system.refuse(prompt("c")) == Outcome(Status.MISSING, "no_recording")
    assert messages(system, "a", "c", "d") == [
        "2 prompts have no recording: c, d.",
        "2 recordings are named by none of the chosen prompts: A, b.",
    ]
    assert messages(system, *map(str, range(9)))[0] == "9 prompts have no recording: 0, 1, 2, 3, 4, …."


def test_recordings_of_prompts_that_were_not_chosen_are_no_fault(tmp_path: Path) -> None:
    system = recordings(folder(tmp_path / "mine", a_wav=WAV, b_wav=WAV, c_wav=WAV))
    assert messages(system, "a") == []  # promptset.limit=1


def test_names_are_the_same_in_any_normal_form(tmp_path: Path) -> None:
    composed, decomposed = "caf\u00e9 \u0958", unicodedata.normalize("NFD", "caf\u00e9 \u0958")
    assert composed != decomposed
    for written in (composed, decomposed):
        mine = folder(tmp_path / f"mine{len(written)}")
        (mine / f"{written}.wav").write_bytes(WAV)
        for identity in (composed, decomposed):
            system = recordings(mine)
            assert speak(system, prompt(identity)).encoded == WAV
            assert messages(system, identity) == []


@pytest.mark.parametrize("identity", ["007", "a.b", "a.wav", " a ", "शब्द १", "क\u200dख", "😀", "-rf", "a\u2028b", "%s"])
def test_an_id_is_the_whole_name_of_its_file(tmp_path: Path, identity: str) -> None:
    mine = folder(tmp_path / "mine", x_wav=OTHER_WAV)
    (mine / f"{identity}.wav").write_bytes(WAV)
    assert speak(recordings(mine), prompt(identity)).encoded == WAV


@pytest.mark.parametrize("identity", ["a/b", "../mine/a", "/etc/passwd", "a\\b", "..", "."])
def test_an_id_that_can_not_be_a_file_name_is_refused(tmp_path: Path, identity: str) -> None:
    system = recordings(folder(tmp_path / "mine", a_wav=WAV))
    for ask in (system.refuse, system.fingerprint):
        with pytest.raises(SpeechSystemError, match=r"can't be a file name.*prompt_audio=true.*or rename") as told:
            ask(prompt(identity))
        assert repr(identity) in str(told.value)


def test_an_id_too_long_for_a_file_is_a_missing_recording(tmp_path: Path) -> None:
    system = recordings(folder(tmp_path / "mine", a_wav=WAV))
    assert system.refuse(prompt("x" * 5000)) == Outcome(Status.MISSING, "no_recording")


@pytest.mark.parametrize(
    "names", [("a.wav", "a.flac"), ("a.wav", "a.WAV"), ("caf\u00e9.wav", "cafe\u0301.wav"), ("a.FLAC", "a.Wav")]
)
def test_two_files_for_one_id_are_refused(tmp_path: Path, names: tuple[str, str]) -> None:
    mine = folder(tmp_path / "mine")
    for name in names:
        (mine / name).write_bytes(WAV)
    with pytest.raises(SpeechSystemError, match=r"are for the same prompt; keep one") as told:
        recordings(mine).refuse(prompt("a"))
    assert all(name in str(told.value) for name in names)


def test_a_folder_without_recordings_is_refused(tmp_path: Path) -> None:
    for mine, message in (
        (folder(tmp_path / "empty"), r"empty: no \.wav or \.flac file in it"),
        (folder(tmp_path / "others", a_mp3=WAV), r"others: no \.wav or \.flac file in it"),
        (tmp_path / "gone", r"gone is not a folder"),
        (folder(tmp_path / "x", a_wav=WAV) / "a.wav", r"a\.wav is not a folder"),
    ):
        with pytest.raises(SpeechSystemError, match=message):
            recordings(mine).fingerprint()


def test_only_files_of_the_folder_itself_count(tmp_path: Path) -> None:
    mine = folder(tmp_path / "mine", a_wav=WAV)
    folder(mine / "deeper", b_wav=WAV)
    (mine / "c.wav").mkdir()
    (mine / "d.wav").symlink_to("gone.wav")
    (mine / "e.wav").symlink_to("a.wav")
    assert messages(recordings(mine), "a", "b", "c", "d", "e") == ["3 prompts have no recording: b, c, d."]


def test_a_file_name_that_is_no_text_can_be_printed(tmp_path: Path) -> None:
    mine = folder(tmp_path / "mine", a_wav=WAV)
    (mine / os.fsdecode(b"caf\xe9.wav")).write_bytes(WAV)
    system = recordings(mine)
    assert messages(system, "a", "b")[1:] == ["1 recordings are named by none of the chosen prompts: caf\\xe9."]
    assert len(system.fingerprint()) == 24


def identity_of(system: AudioDir, spoken: Prompt) -> str:
    return clip_id(
        text=spoken.text,
        lang=spoken.lang,
        control=spoken.control,
        settings=system.settings_of(spoken),
        decoding={},
        repeat=0,
        fingerprint=system.fingerprint(spoken),
    )


def test_other_audio_under_the_same_name_is_a_new_clip(tmp_path: Path) -> None:
    mine = folder(tmp_path / "mine", a_wav=WAV, b_wav=WAV)
    before = [identity_of(recordings(mine), prompt(identity)) for identity in "ab"]
    whole = recordings(mine).fingerprint()
    (mine / "a.wav").write_bytes(OTHER_WAV)
    after = [identity_of(recordings(mine), prompt(identity)) for identity in "ab"]
    assert (after[0] != before[0], after[1] == before[1]) == (True, True)
    assert recordings(mine).fingerprint() != whole


def test_the_same_audio_elsewhere_is_the_same_clip(tmp_path: Path) -> None:
    one, two = (recordings(folder(tmp_path / name, a_wav=WAV)) for name in ("one", "two"))
    assert identity_of(one, prompt("a")) == identity_of(two, prompt("a"))
    assert one.fingerprint() == two.fingerprint()
    renamed = recordings(folder(tmp_path / "three", b_wav=WAV))
    assert renamed.fingerprint() != one.fingerprint()  # as a whole it says other things
    assert one.fingerprint(prompt("a")) == hashlib.sha256(WAV).hexdigest()


def test_a_recording_that_goes_away_before_it_is_read_is_a_failed_row(tmp_path: Path) -> None:
    mine = folder(tmp_path / "mine", a_wav=WAV, b_wav=WAV)
    system = recordings(mine)
    assert system.refuse(prompt("a")) is None
    (mine / "a.wav").unlink()
    outcome = speak(system, prompt("a")).outcome
    assert (outcome.status, outcome.reason, outcome.retryable) == (Status.SYNTHESIS_FAILED, "unreadable", True)
    assert str(mine / "a.wav") in (outcome.error or "")
    assert speak(system, prompt("b")).encoded == WAV


def test_recordings_named_by_the_prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = folder(tmp_path / "mine", a_wav=WAV, x_wav=OTHER_WAV)
    monkeypatch.chdir(tmp_path)
    human = recordings(None, prompt_audio=True, role="human")
    assert human.facts.speaks
    for spoken in (prompt("p/1", mine / "a.wav"), prompt("..", "mine/a.wav")):
        assert human.refuse(spoken) is None
        assert speak(human, spoken).encoded == WAV
        assert human.fingerprint(spoken) == hashlib.sha256(WAV).hexdigest()
    for absent in (None, "gone.wav", "mine", "x" * 5000, "a\0b", "~nobody-of-that-name/a.wav"):
        assert human.refuse(prompt("p2", absent)) == Outcome(Status.MISSING, "no_recording")
    # With a folder as well, the prompt's own recording comes first.
    both = recordings(mine, prompt_audio=True)
    assert speak(both, prompt("x", mine / "a.wav")).encoded == WAV
    assert speak(both, prompt("x")).encoded == OTHER_WAV
    # A folder alone does not look at the prompts' recordings.
    assert speak(recordings(mine), prompt("x", mine / "a.wav")).encoded == OTHER_WAV


def test_without_recordings_it_is_a_place_holder(tmp_path: Path) -> None:
    nothing = recordings(None)
    assert not nothing.facts.speaks
    assert nothing.refuse(prompt("a/b")) is None
    assert nothing.check([prompt("a/b")]) == []
    assert nothing.fingerprint() == recordings(None).fingerprint()


def test_a_recording_is_one_take(tmp_path: Path) -> None:
    [finding] = recordings(folder(tmp_path / "mine", a_wav=WAV), repeats=3).check([prompt("a")])
    assert (finding.level, finding.message) == ("error", "a recording is one take.")
