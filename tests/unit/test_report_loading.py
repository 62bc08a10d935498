"""The reader of a run folder: what was written comes back typed, and what does not hang together is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import report_example
from kasauti.errors import StoreError
from kasauti.metrics.score import COUNTS, RATES
from kasauti.records import Status
from kasauti.report import load, load_levels
from kasauti.report.table_rows import CLIP_COLUMNS, LEVEL_COLUMNS


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return report_example.build(tmp_path, langs=("en", "ur"), marks=True, tone_s=0.05)


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_tables_come_back_typed(run: Path) -> None:
    tables = load(run)
    hostile = next(prompt for prompt in tables.prompts if prompt.id == report_example.HOSTILE_ID)
    assert (hostile.text, dict(hostile.control)) == (report_example.HOSTILE_TEXT, {"delivery": "<b>calm</b>"})
    assert tables.languages == ["en", "ur"]
    assert list(tables.judges.items()) == [("whisper", "whisper-base@1.0.0"), ("listener", "listener-2@2026-05-01")]
    failed = next(row for row in tables.samples if row.system == "cloud voice" and row.prompt_id == "en_02")
    assert (failed.status, failed.reason, failed.cer) == (Status.SYNTHESIS_FAILED, "timeout", None)
    lost = next(clip for clip in tables.clips if clip.status is Status.SYNTHESIS_FAILED)
    assert (lost.error, lost.path, lost.chars) == ("no answer within 30 s <at all>", None, 56)
    assert {type(mark.value) for mark in tables.marks} == {float}
    macro = next(row for row in tables.aggregates if row.scope == "macro" and row.system == "espeak")
    assert isinstance(macro.mean, float)
    assert isinstance(macro.n_ok, int)
    assert tables.scoring.min_ok_share == 0.95
    assert tables.runs[0].promptset.count == len(tables.prompts)


def test_levels_are_read_apart(run: Path) -> None:
    rows = load_levels(run)
    scored = [row for row in load(run).samples if row.cer is not None]
    assert [row.level for row in rows] == ["strict"] * len(scored)
    for name in ("prompt_id", *COUNTS, *RATES):
        assert [getattr(row, name) for row in rows] == [getattr(row, name) for row in scored]


def test_text_that_was_marked_against_spreadsheets_is_read_as_it_was(run: Path) -> None:
    change(run / "aggregate.csv", ",lang,en,", ",lang,'=en,")
    assert {row.key for row in load(run).aggregates if row.scope == "lang"} == {"=en", "ur"}


def test_audio_lies_in_the_store(run: Path) -> None:
    tables = load(run)
    assert tables.audio
    assert all(path.is_file() and path.is_relative_to(run.parents[1] / "store") for path in tables.audio.values())


@pytest.mark.parametrize("path", ["../outside.wav", "clips/../../outside.wav", "/etc/passwd"])
def test_path_that_leaves_the_store_is_no_audio(run: Path, path: str) -> None:
    clip = next(clip for clip in load(run).clips if clip.path)
    (run.parents[1] / "outside.wav").write_bytes(b"RIFF")
    change(run / "clips.tsv", str(clip.path), path)
    found = load(run).audio.get(str(clip.clip_id))
    # An absolute path is read as one inside the store, where nothing lies.
    assert found is None or not found.is_file()


def test_columns_and_keys_of_a_newer_version_are_left_out(run: Path) -> None:
    change(run / "per_sample.tsv", "run_id\t", "mood\trun_id\t")
    lines = (run / "per_sample.tsv").read_text(encoding="utf-8").split("\n")
    (run / "per_sample.tsv").write_text("\n".join([lines[0], *(f"x\t{line}" for line in lines[1:-1]), ""]), "utf-8")
    record = json.loads((run / "run.json").read_text(encoding="utf-8"))
    record["scoring"]["mood"] = record["promptset"]["mood"] = record["systems"]["espeak"]["mood"] = "x"
    (run / "run.json").write_text(json.dumps(record), encoding="utf-8")
    assert load(run).samples


@pytest.mark.parametrize("name", ["run.json", "per_sample.tsv", "clips.tsv", "aggregate.csv", "prompts.jsonl"])
def test_missing_table_is_named(run: Path, name: str) -> None:
    (run / name).unlink()
    with pytest.raises(StoreError, match=name):
        load(run)


def test_no_table_of_marks_is_no_marks(run: Path) -> None:
    (run / "scores.tsv").unlink()
    assert load(run).marks == []


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("prompts.jsonl", '"id": "ur_01"', '"id": "ur_99"', "per_sample.tsv: prompt 'ur_01' is not in prompts.jsonl"),
        ("prompts.jsonl", '"lang": "ur"', '"tongue": "ur"', "prompts.jsonl:4: not a prompt: KeyError 'lang'"),
        ("per_sample.tsv", "\tclip_id\t", "\tclip\t", None),
        ("per_sample.tsv", "\tespeak\t0\t", "\tespeak\tzero\t", "per_sample.tsv:2: not a row of SampleRow"),
        ("per_sample.tsv", "\tok\t", "\tfine\t", "per_sample.tsv:2: not a row of SampleRow"),
        ("per_sample.tsv", "run_id\t", "run\t", "per_sample.tsv:2: not a row of SampleRow"),
        (
            "aggregate.csv",
            "espeak,whisper,lang,en,cer,strict,1",
            "espeak,whisper,lang,en,cer,strict,one",
            "aggregate.csv",
        ),
        ("run.json", '"run_id"', '"run"', "run.json: not the record of a run"),
        ("run.json", "{", "[", "run.json: can't read"),
    ],
)
def test_torn_or_foreign_table_is_refused(run: Path, name: str, old: str, new: str, message: str | None) -> None:
    change(run / name, old, new)
    if message is None:
        assert load(run).samples[0].clip_id is None
    else:
        with pytest.raises(StoreError, match=message.replace("[", r"\[")):
            load(run)


def test_columns_of_tables_that_others_read_stay_where_they_are() -> None:
    assert " ".join(CLIP_COLUMNS) == (
        "clip_id system prompt_id lang repeat status reason path duration_s sample_rate_hz channels rms_dbfs "
        "clipped_fraction truncated leading_silence_s trailing_silence_s end cap_s chars wall_s ttfb_s cost_usd "
        "created_at error"
    )
    assert " ".join(LEVEL_COLUMNS) == (
        "run_id prompt_id system repeat judge rejudge level char_edits ref_chars nospace_edits ref_nospace "
        "grapheme_edits ref_graphemes word_edits ref_words phonetic_edits ref_phonetic cer cer_nospace gcer wer pcer"
    )
