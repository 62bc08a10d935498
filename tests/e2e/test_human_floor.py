"""The human floor of a judge: measured once, and found by every later run of the same judge. With fakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fleurs_copy import Reading, fleurs_copy
from kasauti.__main__ import main
from kasauti.cli.aggregate import aggregate_runs
from kasauti.console import console
from kasauti.report import load
from runs import Ran, lines_of, prompt_file, run_here

WORDS = "पानी किताब नदी पत्थर बादल आम घर पेड़".split()
PROMPTS = [(f"p{number}", "hi", f"राम ने {word} देखा") for number, word in enumerate(WORDS)]
READINGS = [
    Reading(number, f"{number}.wav", f"सीता ने {word} देखा", heard=f"सीता ने {word}") for number, word in enumerate(WORDS)
]
"""Of each sentence people are heard without its last word: the judge loses about a third of what they say."""

QUICK = "scoring.draws=200"
TWO = "system.members=[{use: fake, id: a, slip_rate: 0.02}, {use: fake, id: b, slip_rate: 0.1}]"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KASAUTI_CACHE", str(tmp_path / "cache"))


def people(folder: Path, *overrides: str) -> Ran:
    mirror = f"data.mirror={fleurs_copy(folder / 'copy', {'hi_in': READINGS})}"
    chosen = ["promptset=fleurs", "promptset.langs=[hi]", mirror, QUICK]
    return run_here(folder, *chosen, *overrides, system="human")


def voices(folder: Path, *overrides: str) -> Ran:
    prompt_file(folder, PROMPTS)
    return run_here(folder, TWO, QUICK, *overrides, system="lineup")


def verdict(ran: Ran) -> tuple[str, str]:
    """Verdict in CER over all languages, and the human line."""
    [row] = [row for row in load(ran.result.folder).verdicts if (row.scope, row.metric) == ("macro", "cer")]
    return row.verdict, "" if row.human is None else f"{row.human:.4f}"


def line_of(ran: Ran) -> str:
    [row] = [row for row in load(ran.result.folder).aggregates if (row.scope, row.metric) == ("macro", "cer")]
    return f"{row.mean:.4f}"


def test_a_later_run_of_the_same_judge_finds_the_floor_and_says_where(tmp_path: Path) -> None:
    floor = people(tmp_path)
    ran = voices(tmp_path)
    assert verdict(ran) == ("judge_limited", line_of(floor))
    [row] = [row for row in load(ran.result.folder).verdicts if (row.scope, row.metric) == ("lang", "cer")]
    assert row.reason.endswith(f"by run {floor.result.run_id} (human)")
    assert "Human reference, hi: CER" in ran.said
    assert f"(run {floor.result.run_id}, human, heard by fake-1+" in ran.said
    record = json.loads((ran.result.folder / "run.json").read_text(encoding="utf-8"))
    assert {(f["metric"], f["lang"], f["run"]) for f in record["human_floors"]} >= {("cer", "hi", floor.result.run_id)}


def test_a_floor_that_comes_later_is_found_by_the_same_command_without_a_call(tmp_path: Path) -> None:
    before = voices(tmp_path)
    assert verdict(before) == ("better", "")
    floor = people(tmp_path)
    calls = len(lines_of(tmp_path / "store" / "judgments.jsonl"))
    after = voices(tmp_path)
    assert after.result == before.result
    assert verdict(after) == ("judge_limited", line_of(floor))
    assert len(lines_of(tmp_path / "store" / "judgments.jsonl")) == calls
    again = voices(tmp_path)
    assert "already finished" in again.said
    assert "Human reference, hi" in again.said


@pytest.mark.parametrize(
    "otherwise",
    [["judge.slip_rate=0.01"], ["scoring.level=strict"], ["promptset.limit=5"]],
    ids=["another judge", "another level", "too few sentences"],
)
def test_a_floor_that_was_made_otherwise_is_no_floor(tmp_path: Path, otherwise: list[str]) -> None:
    people(tmp_path, *otherwise)
    ran = voices(tmp_path)
    assert verdict(ran) == ("better", "")
    assert "Human reference" not in ran.said


def test_the_floor_over_the_most_sentences_counts(tmp_path: Path) -> None:
    full = people(tmp_path)
    people(tmp_path, "promptset.limit=6")
    assert f"(run {full.result.run_id}, human" in voices(tmp_path).said


def test_a_damaged_run_of_people_stops_nobody(tmp_path: Path) -> None:
    floor = people(tmp_path)
    (floor.result.folder / "aggregate.csv").write_bytes(b"\xff\xfe")
    assert verdict(voices(tmp_path)) == ("better", "")
    (floor.result.folder / "run.json").write_text('{"systems": ["human"]}', encoding="utf-8")
    assert verdict(voices(tmp_path)) == ("better", "")


def test_sweeps_and_comparisons_find_it_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prompt_file(tmp_path, PROMPTS)
    one, two = (
        run_here(tmp_path, QUICK, f"system.id={name}", f"system.slip_rate={rate}")
        for name, rate in (("a", 0.02), ("b", 0.1))
    )
    floor = people(tmp_path)
    aggregate_runs([one.result.folder, two.result.folder], console())
    assert f"human speech is to this judge ({line_of(floor)})" in " ".join(capsys.readouterr().out.split())
    runs = ["--runs", str(tmp_path / "runs")]
    pair = [one.result.run_id, two.result.run_id, "--system", "a=b", "--format", "csv"]
    assert main([*runs, "compare", *pair]) == 0
    assert f"by run {floor.result.run_id} (human)" in capsys.readouterr().out
    assert verdict(run_here(tmp_path, QUICK, TWO, "baseline=null", system="lineup"))[0] == "judge_limited"
