"""Noise floors across runs: measured once with repeats, taken over by runs with a single take, never mixed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kasauti.__main__ import main
from kasauti.cli.aggregate import aggregate_runs
from kasauti.console import console
from kasauti.records import AggregateRow
from kasauti.report import load
from kasauti.report.floor_history import history_of, place_of
from runs import Ran, lines_of, prompt_file, run_here

WORDS = "पानी किताब नदी पत्थर बादल आम घर पेड़".split()
PROMPTS = [(f"p{number}", "hi", f"राम ने कल फिर एक {word} देखा") for number, word in enumerate(WORDS)]
VARIES = ["system.stochastic=true", "system.slip_rate=0.1", "scoring.draws=200"]


@pytest.fixture(autouse=True)
def prompts(tmp_path: Path) -> None:
    prompt_file(tmp_path, PROMPTS)


def measured(folder: Path, *overrides: str) -> Ran:
    return run_here(folder, *VARIES, "repeats=5", "rejudges=2", "judge.slip_rate=0.02", *overrides)


def single(folder: Path, *overrides: str) -> Ran:
    return run_here(folder, *VARIES, "judge.slip_rate=0.02", *overrides)


def row_of(ran: Ran, scope: str = "lang", metric: str = "cer") -> AggregateRow:
    [row] = [row for row in load(ran.result.folder).aggregates if (row.scope, row.metric) == (scope, metric)]
    return row


def test_a_single_take_finds_the_floor_of_an_earlier_run(tmp_path: Path) -> None:
    study = measured(tmp_path)
    then, now = row_of(study), row_of(single(tmp_path))
    assert then.floor_kind == "measured"
    assert then.var_synthesis is not None
    assert then.var_judge is not None
    assert (now.floor_kind, now.floor_source) == ("stored", f"from run {study.result.run_id}")
    assert now.floor95 == pytest.approx(1.96 * (2 * (then.var_synthesis + then.var_judge) / 8) ** 0.5)
    ran = single(tmp_path)
    assert "†: floor measured before" in " ".join(ran.said.split())
    record = json.loads((ran.result.folder / "run.json").read_text(encoding="utf-8"))
    assert {one["metric"] for one in record["noise"]} >= {"cer", "wer"}


def test_the_study_writes_floors_by_language_and_says_them(tmp_path: Path) -> None:
    words = ["+experiment=noise_floor", "judge.slip_rate=0.02", "repeats=3"]
    ran = run_here(tmp_path, *VARIES, *words)
    rows = ran.table("noise_floor.tsv")
    here = {(row["scope"], row["key"]): row for row in rows if row["metric"] == "cer" and row["here"] == "true"}
    assert set(here) == {("lang", "hi"), ("macro", "all")}
    study = row_of(ran)
    assert float(here["lang", "hi"]["floor95"]) == pytest.approx(study.floor95)
    assert (here["lang", "hi"]["repeats"], here["lang", "hi"]["rejudges"]) == ("3.0", "2.0")
    assert study.var_judge is not None
    assert float(here["lang", "hi"]["judge95"]) == pytest.approx(1.96 * (2 * study.var_judge / (8 * 3 * 2)) ** 0.5)
    assert "Noise floors, CER, % points" in ran.said
    assert f"{100 * float(here['lang', 'hi']['synthesis95']):.2f}" in ran.said
    assert run_here(tmp_path, *VARIES, "judge.slip_rate=0.02").table("noise_floor.tsv") == []


def test_a_floor_that_comes_later_is_found_by_the_same_command_without_a_call(tmp_path: Path) -> None:
    before = single(tmp_path)
    assert row_of(before).floor_kind == "none"
    measured(tmp_path)
    calls = len(lines_of(tmp_path / "store" / "judgments.jsonl"))
    after = single(tmp_path)
    assert after.result == before.result
    assert row_of(after).floor_kind == "stored"
    assert len(lines_of(tmp_path / "store" / "judgments.jsonl")) == calls
    assert "already finished" in single(tmp_path).said


@pytest.mark.parametrize(
    "otherwise",
    [
        ["scoring.level=strict"],
        ["promptset.limit=7"],
        ["judge.slip_rate=0.03"],
        ["system.slip_rate=0.11"],
        ["decoding.temperature=0.5"],
        ["system.id=other"],
        ["repeats=1"],
    ],
    ids=lambda words: words[0],
)
def test_a_floor_that_was_made_otherwise_is_no_floor(tmp_path: Path, otherwise: list[str]) -> None:
    measured(tmp_path, *otherwise)
    row = row_of(single(tmp_path))
    assert (row.floor_kind, row.floor95, row.floor_source) == ("none", None, "")


def test_the_newest_of_the_same_checkpoint_counts(tmp_path: Path) -> None:
    older, newer, other = (measured(tmp_path, f"decoding.seed={seed}") for seed in (1, 2, 3))
    for place, ran in enumerate((older, newer, other)):
        change(ran, "status.json", at=f"2030-01-0{place + 1}T00:00:00+00:00")
    assert row_of(single(tmp_path)).floor_source == f"from run {other.result.run_id}"
    record = json.loads((other.result.folder / "run.json").read_text(encoding="utf-8"))
    record["systems"]["fake"]["fingerprint"] = "fake-0"
    change(other, "run.json", systems=record["systems"])
    assert row_of(single(tmp_path)).floor_source == f"from run {newer.result.run_id}"
    for ran in (older, newer):
        (ran.result.folder / "aggregate.csv").write_bytes(b"\xff\xfe")
    assert row_of(single(tmp_path)).floor_source == f"from run {other.result.run_id}, another checkpoint"
    (other.result.folder / "run.json").write_text("{", encoding="utf-8")
    assert row_of(single(tmp_path)).floor_kind == "none"


def change(ran: Ran, name: str, **values: object) -> None:
    path = ran.result.folder / name
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **values}), encoding="utf-8")


def test_a_run_that_took_its_floor_over_is_no_source(tmp_path: Path) -> None:
    study = measured(tmp_path)
    first = single(tmp_path)
    (study.result.folder / "status.json").unlink()
    assert row_of(first).floor_kind == "stored"
    assert row_of(single(tmp_path, "rejudges=1")).floor_kind == "none"


def test_comparisons_and_common_tables_use_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cold, hot = (single(tmp_path, f"decoding.temperature={value}") for value in (0.1, 0.9))
    runs = ["--runs", str(tmp_path / "runs")]
    wanted = [cold.result.run_id, hot.result.run_id, "--format", "csv"]
    main([*runs, "compare", *wanted])
    assert ",none," in capsys.readouterr().out
    studies = [measured(tmp_path, f"decoding.temperature={value}") for value in (0.1, 0.9)]
    main([*runs, "compare", *wanted])
    told = capsys.readouterr().out
    assert ",stored," in told
    assert "from run " + ", from run ".join(study.result.run_id for study in studies) in told
    aggregate_runs([cold.result.folder, hot.result.folder], console())
    told = " ".join(capsys.readouterr().out.split())
    assert "†: floor measured before" in told
    assert studies[1].result.run_id in told


def test_a_baseline_is_judged_by_it(tmp_path: Path) -> None:
    for value in (0.1, 0.9):
        measured(tmp_path, f"decoding.temperature={value}", "baseline=null")
    first = single(tmp_path, "decoding.temperature=0.1")
    ran = single(tmp_path, "decoding.temperature=0.9", f"baseline={first.result.run_id}")
    table = (ran.result.folder / "baseline.csv").read_text(encoding="utf-8")
    assert ",stored," in table


def test_history_is_newest_first_and_of_one_signature(tmp_path: Path) -> None:
    runs = [measured(tmp_path, f"decoding.seed={seed}") for seed in (1, 2, 3)]
    strict = measured(tmp_path, "scoring.level=strict", "decoding.seed=4")
    for place, ran in enumerate(runs):
        change(ran, "status.json", at=f"2030-01-0{place + 1}T00:00:00+00:00")
        change(ran, "run.json", finished_at=f"2030-01-0{place + 1}T00:00:00+00:00")
    rows = load(runs[0].result.folder).aggregates
    found = history_of(tmp_path / "runs", rows)
    assert set(found) == {place_of(row) for row in rows}
    past = found["fake", "fake", "macro", "all", "cer"]
    assert [one.run for one in past] == [ran.result.run_id for ran in reversed(runs)]
    assert [one.at[:10] for one in past] == ["2030-01-03", "2030-01-02", "2030-01-01"]
    assert {(one.repeats, one.rejudges, one.row.n_prompts) for one in past} == {(5, 2, 8)}
    assert [one.row.floor95 for one in past] == [row_of(ran, "macro").floor95 for ran in reversed(runs)]
    assert len(found["fake", "fake", "lang", "hi", "cer"]) == 3
    left = history_of(tmp_path / "runs", rows, without=[runs[2].result.run_id])
    assert [one.run for one in left["fake", "fake", "macro", "all", "cer"]] == [r.result.run_id for r in runs[1::-1]]
    alone = history_of(tmp_path / "runs", load(strict.result.folder).aggregates)
    assert [one.run for one in alone["fake", "fake", "macro", "all", "cer"]] == [strict.result.run_id]
