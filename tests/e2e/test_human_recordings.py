"""Recordings of people, whole: FLEURS in a local copy and from a hub, and a team's own by CSV."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from data_hub import data_hub
from fleurs_copy import READINGS, fleurs_copy, tar_gz
from kasauti.audio import wav_bytes
from kasauti.errors import ExitCode, PreflightError, PromptError
from kasauti.fakes import RATE_HZ, write_text
from kasauti.records import Status
from runs import command, run_here, settings, words

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KASAUTI_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def copy_of(folder: Path) -> str:
    return f"data.mirror={fleurs_copy(folder / 'copy')}"


FLEURS = ("promptset=fleurs", "promptset.langs=[hi,ta]")

# --- FLEURS in a local copy


def test_people_are_heard_saying_their_sentences(tmp_path: Path) -> None:
    ran = run_here(tmp_path, *FLEURS, copy_of(tmp_path), system="human")
    assert ran.result.exit_code is ExitCode.COMPLETE
    assert [(row.prompt_id, row.lang, row.status, row.cer) for row in ran.rows] == [
        ("fleurs_hi_1904", "hi", Status.OK, 0.0),
        ("fleurs_hi_1675", "hi", Status.OK, 0.0),
        ("fleurs_hi_1700", "hi", Status.OK, 0.0),
        ("fleurs_ta_1675", "ta", Status.OK, 0.0),
        ("fleurs_ta_1904", "ta", Status.OK, 0.0),
    ]
    assert "human reference" in ran.said
    again = run_here(tmp_path, *FLEURS, copy_of(tmp_path), system="human")
    assert "already finished" in again.said


def test_a_dry_run_unpacks_nothing_and_says_what_will_be_fetched(tmp_path: Path, cache: Path) -> None:
    dry = run_here(tmp_path, *FLEURS, copy_of(tmp_path), "dry_run=true", system="human")
    assert "the recordings of hi, ta will be fetched by the run" in dry.said
    assert "human" in dry.said
    assert not cache.exists()
    assert not (tmp_path / "store").exists()
    real = run_here(tmp_path, *FLEURS, copy_of(tmp_path), system="human")
    later = run_here(tmp_path, *FLEURS, copy_of(tmp_path), "dry_run=true", system="human")
    assert "will be fetched" not in later.said
    assert later.result.run_id == real.result.run_id


def test_a_voice_speaks_the_sentences_and_needs_no_recording(tmp_path: Path, cache: Path) -> None:
    mirror = f"data.mirror={fleurs_copy(tmp_path / 'copy', audio=False)}"
    ran = run_here(tmp_path, *FLEURS, mirror, "promptset.limit=1")
    assert [row.prompt_id for row in ran.rows] == ["fleurs_hi_1904", "fleurs_ta_1675"]
    assert not cache.exists()


def test_where_the_sentences_came_from_makes_no_other_run(tmp_path: Path) -> None:
    first = run_here(tmp_path, *FLEURS, copy_of(tmp_path), system="human")
    moved = f"data.mirror={(tmp_path / 'copy').rename(tmp_path / 'moved')}"
    assert run_here(tmp_path, *FLEURS, moved, "promptset.revision=null", system="human").result == first.result
    # Another recording of the same sentence is another run.
    members = [(f"test/{reading.file_name}", READINGS["hi_in"][1].sound) for reading in READINGS["hi_in"]]
    (tmp_path / "moved/data/hi_in/audio/test.tar.gz").write_bytes(tar_gz(members))
    assert run_here(tmp_path, *FLEURS, moved, system="human").result.run_id != first.result.run_id


def test_a_recording_that_the_archive_lacks_is_a_missing_row(tmp_path: Path) -> None:
    mirror = copy_of(tmp_path)
    members = [(f"test/{reading.file_name}", reading.sound) for reading in READINGS["hi_in"][1:]]
    (tmp_path / "copy/data/hi_in/audio/test.tar.gz").write_bytes(tar_gz(members))
    ran = run_here(tmp_path, "promptset=fleurs", "promptset.langs=[hi]", mirror, system="human")
    assert [(row.status, row.reason) for row in ran.rows] == [
        (Status.MISSING, "no_recording"),
        (Status.OK, None),
        (Status.OK, None),
    ]
    assert "1 prompts have no recording: fleurs_hi_1904" in ran.said
    assert ran.result.exit_code is ExitCode.INCOMPLETE


# --- FLEURS from a hub


def from_hub(folder: Path, url: str, *overrides: str, system: str) -> subprocess.CompletedProcess[str]:
    """A run in a process of its own whose hub is `url`; the client reads its variables when it is imported."""
    told = {"HF_ENDPOINT": url, "HF_HOME": str(folder / "hf"), "HF_HUB_OFFLINE": "0", "NO_PROXY": "*"}
    arguments = words(folder, *FLEURS, f"promptset.revision={COMMIT}", *overrides, system=system)
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, encoding="utf-8", env={**os.environ, **told}, check=False
    )


@pytest.mark.local
def test_only_what_a_run_needs_is_fetched_and_only_once(tmp_path: Path, cache: Path) -> None:
    pytest.importorskip("huggingface_hub")
    tables = ["data/hi_in/test.tsv", "data/ta_in/test.tsv"]
    archives = ["data/hi_in/audio/test.tar.gz", "data/ta_in/audio/test.tar.gz"]
    with data_hub(fleurs_copy(tmp_path / "copy"), "google/fleurs", COMMIT) as server:
        dry = from_hub(tmp_path, server.url, "dry_run=true", system="human")
        assert dry.returncode == 0, dry.stderr
        assert server.sent == tables
        voice = from_hub(tmp_path, server.url, system="fake")
        assert voice.returncode == 0, voice.stderr
        assert server.sent == tables
        people = from_hub(tmp_path, server.url, system="human")
        assert people.returncode == 0, people.stderr
        assert server.sent == tables + archives
        assert "fetching data/hi_in/test.tsv of google/fleurs" in dry.stderr
        assert "fetching data/hi_in/audio/test.tar.gz of google/fleurs" in people.stderr
        assert len(list(cache.rglob("*.wav"))) == 5
        missing = from_hub(tmp_path, server.url, "promptset.langs=[hi,te]", system="human")
        assert missing.returncode == ExitCode.USAGE
        assert f"the hub has no data/te_in/test.tsv in google/fleurs at commit {COMMIT}" in missing.stderr
        other = from_hub(tmp_path, server.url, f"promptset.revision={'f' * 40}", system="fake")
        assert other.returncode == ExitCode.USAGE
        assert "at commit " + "f" * 40 in other.stderr
    (tmp_path / "hf").rename(tmp_path / "moved")
    (tmp_path / "hf").write_text("no folder")
    nowhere = from_hub(tmp_path, server.url, system="human")
    assert nowhere.returncode == ExitCode.USAGE
    assert "Not a directory; HF_HOME says where" in nowhere.stderr
    (tmp_path / "hf").unlink()
    (tmp_path / "moved").rename(tmp_path / "hf")
    again = from_hub(tmp_path, server.url, system="human")  # the hub is gone
    assert again.returncode == 0, again.stderr
    assert "already finished" in again.stdout


# --- a team's own recordings


def own_recordings(folder: Path, *lines: str) -> str:
    """A table beside its recordings, looked at from another folder."""
    for name, text in (("a", "नमस्ते दुनिया"), ("b", "कल मिलेंगे")):
        (folder / "own" / "clips").mkdir(parents=True, exist_ok=True)
        (folder / "own" / "clips" / f"{name}.wav").write_bytes(wav_bytes(write_text(text), RATE_HZ))
    table = folder / "own" / "recordings.csv"
    table.write_text("\n".join(["id,text,lang,audio", *lines, ""]), encoding="utf-8")
    return f"promptset.path={table}"


def test_recordings_of_a_csv_are_found_beside_it(tmp_path: Path) -> None:
    path = own_recordings(tmp_path, "1,नमस्ते दुनिया,doi,clips/a.wav", "2,कल मिलेंगे,brx,clips/b.wav")
    ran = run_here(tmp_path, "promptset=file", path, system="human")
    assert [(row.lang, row.status, row.cer) for row in ran.rows] == [("doi", Status.OK, 0.0), ("brx", Status.OK, 0.0)]


def test_a_prompt_without_a_recording_is_missing_and_a_recording_that_is_not_there_is_a_fault_of_the_file(
    tmp_path: Path,
) -> None:
    path = own_recordings(tmp_path, "1,नमस्ते दुनिया,doi,clips/a.wav", "2,कल मिलेंगे,doi,")
    ran = run_here(tmp_path, "promptset=file", path, system="human")
    assert [row.status for row in ran.rows] == [Status.OK, Status.MISSING]
    path = own_recordings(tmp_path, "1,नमस्ते दुनिया,doi,clips/a.wav", "2,कल मिलेंगे,doi,clips/c.wav")
    with pytest.raises(PromptError, match=r"recordings\.csv:3: audio 'clips/c\.wav' \(id '2'\): there is no such file"):
        run_here(tmp_path, "promptset=file", path, system="human")
    assert run_here(tmp_path, "promptset=file", path).result.exit_code is ExitCode.COMPLETE  # a voice needs none


def test_a_csv_without_any_recording_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    path = own_recordings(tmp_path, "1,नमस्ते दुनिया,doi,", "2,कल मिलेंगे,doi,")
    with pytest.raises(PreflightError, match="there is no recording of any of these prompts"):
        run_here(tmp_path, "promptset=file", path, system="human")


def test_a_recording_that_is_no_sound_is_a_row_with_its_reason(tmp_path: Path) -> None:
    path = own_recordings(tmp_path, "1,नमस्ते दुनिया,doi,clips/a.wav", "2,कल मिलेंगे,doi,clips/b.wav")
    (tmp_path / "own/clips/b.wav").write_bytes(b"RIFF")
    ran = run_here(tmp_path, "promptset=file", path, system="human")
    assert [(row.status, row.reason) for row in ran.rows] == [(Status.OK, None), (Status.AUDIO_INVALID, "unreadable")]


def test_the_set_is_composed_with_its_split_and_commit(tmp_path: Path) -> None:
    chosen = settings(tmp_path, "promptset=fleurs", "promptset.split=dev").promptset
    assert (chosen.source, chosen.split, chosen.path) == ("fleurs", "dev", None)
    assert len(chosen.revision or "") == 40
