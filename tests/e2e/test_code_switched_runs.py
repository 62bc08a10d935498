"""Code-switched prompts: what became of the words of each script, and errors where the script changes."""

from __future__ import annotations

from pathlib import Path

from runs import prompt_file, run_here

MIXED = "मेरा phone चार्ज करो please"


def test_words_are_counted_by_the_script_they_were_written_in(tmp_path: Path) -> None:
    prompt_file(tmp_path, [("m1", "hi", MIXED), ("m2", "hi", "मेरा नाम राम है")])
    (tmp_path / "hyps.tsv").write_text(
        "id\thypothesis\nm1\tमेरा फ़ोन चार्ज कर please\nm2\tमेरा नाम राम है\n", encoding="utf-8"
    )
    ran = run_here(
        tmp_path, "system.path=null", f"judge.path={tmp_path}/hyps.tsv", system="audio_dir", judge="transcripts"
    )
    # phone came back in the other script, करो lost a vowel sign; both stand beside a change of script.
    mixed, plain = ran.rows
    assert (mixed.word_edits, mixed.switch_words, mixed.switch_edits, mixed.switch_share) == (2, 5, 2, 1.0)
    assert (plain.switch_words, plain.switch_edits, plain.switch_share) == (None, None, None)
    by_script = {row["script"]: row for row in ran.table("switching.tsv")}
    assert {name: by_script["Latn"][name] for name in ("words", "right", "other_script", "wrong", "missing")} == {
        "words": "2",
        "right": "1",
        "other_script": "1",
        "wrong": "0",
        "missing": "0",
    }
    assert (by_script["Deva"]["words"], by_script["Deva"]["wrong"]) == ("3", "1")
    lenient = next(row for row in ran.table("levels.tsv") if row["level"] == "lenient" and row["prompt_id"] == "m1")
    assert lenient["word_edits"] == "1"
