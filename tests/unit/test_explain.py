"""`kasauti explain`: its numbers are those of the table, texts stay whole, nothing is wider than 80 columns."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

import report_example
from kasauti.__main__ import main
from kasauti.cli.explain import Wanted, explain
from kasauti.cli.layout import table, wrapped
from kasauti.errors import ConfigError, ExitCode
from kasauti.metrics.aligned import cluster_pieces
from kasauti.metrics.edits import edit_distance
from kasauti.records import SampleRow
from kasauti.systems.base import Speech, SpeechRequest
from kasauti.systems.fake import Fake
from kasauti.text.units import graphemes
from runs import Ran, prompt_file, run_here

LINES = [
    ("p1", "en", "the train leaves at seven"),
    ("p2", "hi", "आज office में 25 लोगों की meeting है, समय पर पहुँचिए।"),
    ("p3", "ta", "நாளை மழை வரும்"),
    ("p/4 ../x", "ur", "آج موسم اچھا ہے"),
    ("p5", "hi", "सब ठीक है"),
]
INDIC = st.text(alphabet="कखनदिीुे्ंँ़ाਅকিஅகி\u200dab ", max_size=24)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("explained")
    prompt_file(folder, LINES)
    return run_here(folder, "system.slip_rate=0.2", "repeats=2", "system.silent_ids=[p5]")


def told(ran: Ran, prompt_id: str, **wanted: Any) -> str:
    return explain(ran.result.folder, Wanted(prompt_id, **wanted))


def rows_of(ran: Ran, prompt_id: str) -> list[SampleRow]:
    return [row for row in ran.rows if row.prompt_id == prompt_id]


def section(text: str, heading: str) -> list[str]:
    """Lines under a heading, up to the next empty line."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith(heading):
            return [line.strip() for line in iter(lambda: next(lines, ""), "")]
    raise AssertionError(f"no section {heading!r} in:\n{text}")


@pytest.mark.parametrize("prompt_id", [line[0] for line in LINES])
def test_nothing_is_wider_than_the_terminal_and_no_cluster_is_torn(ran: Ran, prompt_id: str) -> None:
    text = told(ran, prompt_id)
    assert max(map(cell_len, text.splitlines())) <= 80
    assert not re.search(
        r"(?m)^ *\p{M}|[→{] *\p{M}".replace(r"\p{M}", "[\u093c-\u094d\u0bbe-\u0bcd\u064b-\u0652]"), text
    )


@pytest.mark.parametrize("prompt_id", ["p1", "p2", "p3", "p/4 ../x"])
def test_counts_are_those_of_the_table(ran: Ran, prompt_id: str) -> None:
    row = rows_of(ran, prompt_id)[0]
    counted = [line.split() for line in section(told(ran, prompt_id), "COUNTS AND RATES AT LEVEL numbers")]
    numbers = {cells[-2]: cells for cells in counted if len(cells) > 3}
    for rate, edits, length in (
        ("cer", row.char_edits, row.ref_chars),
        ("cer_nospace", row.nospace_edits, row.ref_nospace),
        ("gcer", row.grapheme_edits, row.ref_graphemes),
        ("wer", row.word_edits, row.ref_words),
        ("pcer", row.phonetic_edits, row.ref_phonetic),
    ):
        assert numbers[rate][-4:] == [str(edits), str(length), rate, f"{getattr(row, rate):.4f}"]
    assert "another version" not in told(ran, prompt_id)


@pytest.mark.parametrize("prompt_id", ["p1", "p2", "p3", "p/4 ../x"])
def test_both_alignments_add_up_to_the_counts(ran: Ran, prompt_id: str) -> None:
    text, row = told(ran, prompt_id), rows_of(ran, prompt_id)[0]
    in_words = section(text, "WORDS AT LEVEL numbers")
    assert sum(line[0] in "~-+" for line in in_words) == row.word_edits
    shown = "".join(section(text, "CHARACTERS")[1:])
    assert sum(map(int, re.findall(r":(\d+)}", shown))) == row.char_edits
    assert f"CHARACTERS: {row.char_edits} edits in code points" in text


def test_a_text_is_shown_at_each_level_and_a_level_that_changes_nothing_says_so(ran: Ran) -> None:
    lines = section(told(ran, "p2"), "TEXT AT EACH LEVEL")
    said = "\n".join(lines)
    assert "as given  said  आज office में 25 लोगों की meeting है, समय पर पहुँचिए।" in said
    assert "raw       as above" in said
    strict = next(line for line in lines if line.startswith("strict"))
    assert strict.endswith("आज office में 25 लोगों की meeting है समय पर पहुँचिए")
    numbers = next(line for line in lines if line.startswith("numbers"))
    assert "पच्चीस" in numbers


def test_words_are_counted_by_the_script_they_are_written_in(ran: Ran) -> None:
    row = rows_of(ran, "p2")[0]
    lines = section(told(ran, "p2"), "WORDS BY SCRIPT")
    assert lines[0].split() == ["words", "right", "other_script", "wrong", "missing"]
    counts = {cells[0]: list(map(int, cells[1:])) for cells in (line.split() for line in lines[1:-1])}
    assert {script: n[0] for script, n in counts.items()} == {"Deva": 9, "Latn": 2}
    assert all(n[0] == sum(n[1:]) for n in counts.values())
    assert lines[-1].startswith(f"at {row.switch_words} words beside another script: {row.switch_edits} of ")
    assert "WORDS BY SCRIPT" not in told(ran, "p1")


def test_a_run_with_steps_of_its_own_is_explained_by_them(tmp_path: Path) -> None:
    prompt_file(tmp_path, [("p1", "en", "One, two.")])
    own = run_here(tmp_path, "scoring.level=strict", "scoring.levels=[strict]", "scoring.steps.strict=[white_space]")
    text = told(own, "p1")
    assert any(line.startswith("strict    as above") for line in text.splitlines())
    assert "RATES AT OTHER LEVELS" not in text
    assert "another version" not in text


def test_gates_show_what_was_measured_against_which_limit(ran: Ran) -> None:
    for prompt_id, *_ in LINES[:4]:
        row = rows_of(ran, prompt_id)[0]
        lines = section(told(ran, prompt_id), "GATES")
        failed = [line.split()[0] for line in lines if line.endswith("FAILED")]
        assert failed == (row.gates or "").split()
    assert any(re.fullmatch(r"leading_silence +0 +≤ 1 s +passed", line) for line in section(told(ran, "p1"), "GATES"))


def test_length_and_rubric_arithmetic_end_in_the_numbers_of_the_table(ran: Ran) -> None:
    row = rows_of(ran, "p2")[0]
    length = section(told(ran, "p2"), "LENGTH")
    assert length[0].startswith("32 letters and marks of hi at 9.1 a second = 3.516 s")  # counted by hand
    assert length[1].startswith("13 letters and marks of en at 13.9 a second = 0.935 s")
    assert length[-1].endswith(f"= {row.length_penalty:.4f}")
    rubric = section(told(ran, "p2"), "RUBRIC")
    assert rubric[-1] == ("none: the row is not ok, or a part can't be measured" if row.rubric is None else rubric[-1])
    fine = rows_of(ran, "p1")[0]
    assert fine.rubric is not None
    assert section(told(ran, "p1"), "RUBRIC")[-1].split() == ["rubric", "=", f"{fine.rubric:.4f}"]


def test_a_failed_row_is_explained_as_far_as_it_goes(ran: Ran) -> None:
    text = told(ran, "p5")
    assert "status  audio_invalid (silent)" in text
    assert "सब ठीक है" in text
    assert "nothing to measure: neither a clip nor a transcript" in text
    assert "WORDS" not in text


def test_other_rows_of_the_prompt_are_named_and_can_be_asked_for(ran: Ran) -> None:
    assert section(told(ran, "p1"), "1 OTHER ROW THAT FIT") == [
        "--system fake --repeat 1 --judge fake --rejudge 0  (ok)"
    ]
    second = told(ran, "p1", system="fake", repeat=1, judge="fake", rejudge=0)
    assert "system  fake, repeat 1" in second
    assert "OTHER ROW" not in second


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (Wanted("P1"), "no prompt_id 'P1'; did you mean 'p1'"),
        (Wanted("nothing like it"), "no prompt_id 'nothing like it'; known: p/4"),
        (Wanted("p1", system="fale"), "no system 'fale' among the rows of prompt 'p1'; did you mean 'fake'"),
        (Wanted("p1", judge="whisper"), "no judge 'whisper' among the rows of prompt 'p1'; known: fake"),
        (Wanted("p1", repeat=2), "no repeat 2 among the rows of prompt 'p1'; known: 0, 1"),
    ],
)
def test_a_row_that_is_not_there_is_refused_with_near_matches(ran: Ran, wanted: Wanted, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        explain(ran.result.folder, wanted)


def test_the_command(ran: Ran, capsys: pytest.CaptureFixture[str]) -> None:
    folder = ran.result.folder
    assert main(["--runs", str(folder.parent), "explain", folder.name[:5], "p3", "--repeat", "1"]) == ExitCode.COMPLETE
    assert capsys.readouterr().out == told(ran, "p3", repeat=1)
    assert main(["--runs", str(folder.parent), "explain", "latest", "p9"]) == ExitCode.USAGE
    assert "did you mean" in capsys.readouterr().err


def test_a_transcript_cannot_steer_the_terminal(tmp_path: Path) -> None:
    prompt_file(tmp_path, [("p1", "en", "one two")])
    hypotheses = tmp_path / "hyps.jsonl"
    hypotheses.write_text(json.dumps({"id": "p1", "hypothesis": "one \x1b[2J\x07 two\r\u0085"}), encoding="utf-8")
    ran = run_here(tmp_path, f"judge.path={hypotheses}", "system.path=null", system="audio_dir", judge="transcripts")
    text = told(ran, "p1")
    assert "one \ufffd[2J\ufffd two" in text
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)


def test_numbers_of_another_version_are_said_to_be(ran: Ran, tmp_path: Path) -> None:
    folder = tmp_path / "old"
    folder.mkdir()
    for path in ran.result.folder.iterdir():
        if path.is_file():
            (folder / path.name).write_bytes(path.read_bytes())
    samples = (folder / "per_sample.tsv").read_text(encoding="utf-8")
    (folder / "per_sample.tsv").write_text(
        samples.replace(f"\t{rows_of(ran, 'p1')[0].cer!r}\t", "\t0.987\t"), encoding="utf-8"
    )
    assert "per_sample.tsv says 0.9870: scored by another version" in explain(folder, Wanted("p1"))


def test_marks_and_hostile_texts_of_a_run_with_two_judges(tmp_path: Path) -> None:
    folder = report_example.build(tmp_path, langs=("en",), marks=True, tone_s=0.05)
    text = explain(folder, Wanted(report_example.HOSTILE_ID, system="espeak", judge="listener"))
    assert [line.split()[0] for line in section(text, "MARKS")] == ["naturalness", "clarity"]
    assert "<script>document.title" in text
    assert max(map(cell_len, text.splitlines())) <= 80


@pytest.mark.parametrize(("end", "fails"), [("token_cap", True), ("end_token", False), (None, False)])
def test_a_system_that_says_why_its_model_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str | None, fails: bool
) -> None:
    speak = Fake.speak

    def with_end(system: Fake, request: SpeechRequest) -> Speech:
        speech = speak(system, request)
        facts = {} if end is None else {"end": end, "tokens_per_second": 100}
        return replace(speech, outcome=replace(speech.outcome, facts=facts))

    monkeypatch.setattr(Fake, "speak", with_end)
    ran = run_here(tmp_path)
    assert all(("token_cap" in (row.gates or "").split()) == fails for row in ran.rows)
    [line] = [line for line in section(told(ran, "p1"), "GATES") if line.startswith("token_cap")]
    assert line.endswith("FAILED" if fails else "not measured" if end is None else "passed")


# --- pieces and layout


def test_pieces_by_hand() -> None:
    pieces = [(piece.said, piece.heard, piece.edits) for piece in cluster_pieces("हिन्दी है", "हिन्दि है हाँ")]
    # The vowel sign alone differs; the conjunct it sits on is shown whole.
    assert pieces == [("हि", "हि", 0), ("न्दी", "न्दि", 1), (" है", " है", 0), ("", " ", 1), ("", "हाँ", 3)]


@given(INDIC, INDIC)
def test_property_pieces_hold_whole_clusters_and_their_edits_add_up(said: str, heard: str) -> None:
    pieces = cluster_pieces(said, heard)
    assert "".join(piece.said for piece in pieces) == said
    assert "".join(piece.heard for piece in pieces) == heard
    assert [c for piece in pieces for c in graphemes(piece.said)] == graphemes(said)
    assert [c for piece in pieces for c in graphemes(piece.heard)] == graphemes(heard)
    assert sum(piece.edits for piece in pieces) == edit_distance(said, heard)
    assert all((piece.edits == 0) == (piece.said == piece.heard) for piece in pieces)


@given(st.lists(INDIC.filter(str.strip)), st.integers(16, 80))
def test_property_wrapped_lines_fit_and_lose_nothing(words: list[str], width: int) -> None:
    text = " ".join(words)
    lines = wrapped(text, "name: ", width=width)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(line.removeprefix("name: ").split()) for line in lines) == "".join(text.split())


def test_a_word_longer_than_a_line_is_cut_between_clusters() -> None:
    lines = wrapped("न्दी" * 30, "  ", width=20)
    assert len(lines) > 1
    assert all(set(graphemes(line.strip())) == {"न्दी"} for line in lines)


def test_columns_of_a_table_line_up_in_cells() -> None:
    assert table([("हिन्दी", "1"), ("ab", "10")], right=(1,)) == ["  हिन्दी   1", "  ab   10"]
