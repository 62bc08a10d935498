"""The store: records come back as they went in, in a form that later versions must go on reading."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.errors import StoreError
from kasauti.records import Clip, Judgment, Outcome, Status
from kasauti.store.library import Store
from processes import start

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=12)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
HEX = st.text("0123456789abcdef", min_size=3, max_size=24)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


OUTCOMES = st.builds(
    Outcome,
    status=st.sampled_from(Status),
    reason=maybe(ANY_TEXT),
    error=maybe(ANY_TEXT),
    retryable=st.booleans(),
    wall_s=maybe(NUMBERS),
    ttfb_s=maybe(NUMBERS),
    cost_usd=maybe(NUMBERS),
    facts=st.dictionaries(ANY_TEXT, st.none() | NUMBERS | ANY_TEXT | st.lists(ANY_TEXT, max_size=2), max_size=2),
)
CLIPS = st.builds(
    Clip,
    clip_id=HEX,
    system=ANY_TEXT,
    fingerprint=ANY_TEXT,
    lang=ANY_TEXT,
    text=ANY_TEXT,
    repeat=st.integers(0, 9),
    outcome=OUTCOMES,
    path=maybe(ANY_TEXT),
    audio_sha256=maybe(HEX),
    duration_s=maybe(NUMBERS),
    sample_rate_hz=maybe(st.integers()),
    channels=maybe(st.integers()),
    rms_dbfs=maybe(NUMBERS),
    clipped_fraction=maybe(NUMBERS),
    truncated=st.booleans(),
    leading_silence_s=maybe(NUMBERS),
    trailing_silence_s=maybe(NUMBERS),
    created_at=maybe(ANY_TEXT),
)
JUDGMENTS = st.builds(
    Judgment,
    judgment_id=HEX,
    judge=ANY_TEXT,
    judge_revision=ANY_TEXT,
    lang=ANY_TEXT,
    rejudge=st.integers(0, 9),
    outcome=OUTCOMES,
    labels=st.dictionaries(ANY_TEXT, HEX, max_size=2),
    raw=maybe(ANY_TEXT),
    transcript=maybe(ANY_TEXT),
    scores=st.dictionaries(ANY_TEXT, st.dictionaries(ANY_TEXT, NUMBERS, max_size=2), max_size=2),
    created_at=maybe(ANY_TEXT),
)

CLIP = Clip("ab12", "espeak", "espeak-ng 1", "hi", "नमस्ते", 0, Outcome())
JUDGMENT = Judgment("cd34", "whisper", "base@1", "hi", 0, Outcome(), raw="", transcript="")


def test_property_records_come_back_as_they_went_in(tmp_path: Path) -> None:
    store = Store(tmp_path)

    @given(CLIPS, JUDGMENTS)
    def check(clip: Clip, judgment: Judgment) -> None:
        store.clips.put(clip)
        store.judgments.put(judgment)
        assert store.clips.get(clip.clip_id) == clip
        assert store.judgments.get(judgment.judgment_id) == judgment

    check()
    again = Store(tmp_path)
    assert {i: again.clips.get(i) for i in again.clips} == {i: store.clips.get(i) for i in store.clips}


# Lines of stores that people have. They must be read, and written, the same for ever.
GOLDEN = {
    "clips": (
        Clip(
            clip_id="ab12",
            system="espeak",
            fingerprint="espeak-ng 1",
            lang="hi",
            text="नमस्ते",
            repeat=1,
            outcome=Outcome(wall_s=0.5, cost_usd=0.0),
            path="clips/ab/ab12.wav",
            audio_sha256="ff" * 32,
            duration_s=1.25,
            sample_rate_hz=22050,
            channels=1,
            rms_dbfs=-20.5,
            clipped_fraction=0.0,
            leading_silence_s=0.25,
            trailing_silence_s=0.5,
            created_at="2025-12-01T00:00:00+00:00",
        ),
        '{"clip_id":"ab12","system":"espeak","fingerprint":"espeak-ng 1","lang":"hi","text":"नमस्ते","repeat":1,'
        '"outcome":{"wall_s":0.5,"cost_usd":0.0},"path":"clips/ab/ab12.wav","audio_sha256":"' + "ff" * 32 + '",'
        '"duration_s":1.25,"sample_rate_hz":22050,"channels":1,"rms_dbfs":-20.5,"clipped_fraction":0.0,'
        '"leading_silence_s":0.25,"trailing_silence_s":0.5,"created_at":"2025-12-01T00:00:00+00:00"}\n',
    ),
    "judgments": (
        Judgment(
            judgment_id="cd34",
            judge="panel",
            judge_revision="m@1",
            lang="hi",
            rejudge=0,
            outcome=Outcome(Status.JUDGE_INVALID, "bad_reply", "no marks", retryable=True, facts={"tokens": 3}),
            labels={"A": "aa", "B": "bb"},
            raw="?",
            scores={"A": {"quality": 4.5}},
        ),
        '{"judgment_id":"cd34","judge":"panel","judge_revision":"m@1","lang":"hi","rejudge":0,"outcome":{"status":'
        '"judge_invalid","reason":"bad_reply","error":"no marks","retryable":true,"facts":{"tokens":3}},'
        '"labels":{"A":"aa","B":"bb"},"raw":"?","scores":{"A":{"quality":4.5}}}\n',
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_lines(tmp_path: Path, name: str) -> None:
    record, line = GOLDEN[name]
    log: Any = getattr(Store(tmp_path / "new"), name)
    log.put(record)
    assert log.path.read_text(encoding="utf-8") == line
    old = tmp_path / "old" / f"{name}.jsonl"
    old.parent.mkdir()
    old.write_text(line, encoding="utf-8")
    assert getattr(Store(old.parent), name).get(next(iter(log))) == record


def test_an_empty_transcript_and_none_stay_apart(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.judgments.put(JUDGMENT)
    store.judgments.put(replace(JUDGMENT, judgment_id="ee", raw=None, transcript=None))
    silent, unasked = store.judgments.get("cd34"), store.judgments.get("ee")
    assert silent is not None
    assert unasked is not None
    assert (silent.transcript, unasked.transcript) == ("", None)


@pytest.mark.parametrize(
    "line",
    [
        '{"clip_id":"ab12","system":"x"}',
        '{"clip_id":"ab12","outcome":{"status":"splendid"}}',
        '{"clip_id":"ab12","outcome":null}',
        '{"judgment_id":"ab12","judge":"x"}',
    ],
)
def test_a_line_that_is_no_clip_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "clips.jsonl").write_text(line + "\n")
    with pytest.raises(StoreError, match=rf"{tmp_path}/clips.jsonl:1: not a record"):
        Store(tmp_path).clips.get("ab12")


def test_audio_lies_under_its_id(tmp_path: Path) -> None:
    store, content = Store(tmp_path), b"RIFF" * 100
    path = store.save_audio("ab12", content, ".wav")
    assert path == "clips/ab/ab12.wav"
    clip = replace(CLIP, path=path)
    assert store.audio_path(clip).read_bytes() == content
    assert store.usable(clip)
    store.audio_path(clip).unlink()
    assert not store.usable(clip)


def test_a_failure_needs_no_file(tmp_path: Path) -> None:
    failed = replace(CLIP, outcome=Outcome(Status.SYNTHESIS_FAILED, "timeout", retryable=True))
    assert Store(tmp_path).usable(failed)


def test_a_store_that_nobody_has_written_to_is_empty_and_stays_unmade(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    assert (len(store.clips), len(store.judgments)) == (0, 0)
    assert not store.root.exists()


def test_a_store_at_the_place_of_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")
    with pytest.raises(StoreError, match=f"{tmp_path}/store"):
        Store(tmp_path / "store")


def test_every_field_of_a_record_is_exercised_above() -> None:
    for record, line in GOLDEN.values():
        left_out = {"truncated", "outcome"} if isinstance(record, Clip) else {"transcript", "created_at", "outcome"}
        assert {field.name for field in fields(record)} - left_out == set(json.loads(line)) - {"outcome"}


WRITER = """
import sys
from pathlib import Path
from kasauti.records import Clip, Outcome
from kasauti.store.library import Store
store = Store(Path(sys.argv[1]))
for n in range(int(sys.argv[2]), int(sys.argv[2]) + 30):
    path = store.save_audio(f"{n:06x}", b"x" * n, ".wav")
    store.clips.put(Clip(f"{n:06x}", "s", "f", "hi", "t", 0, Outcome(), path=path))
"""


def test_two_processes_fill_one_store(tmp_path: Path) -> None:
    writers = [start(WRITER, tmp_path, first) for first in (100, 500)]
    assert [(writer.communicate()[1], writer.returncode) for writer in writers] == [("", 0)] * 2
    store = Store(tmp_path)
    assert len(store.clips) == 60
    for identity in store.clips:
        clip = store.clips.get(identity)
        assert clip is not None
        assert len(store.audio_path(clip).read_bytes()) == int(identity, 16)
