"""Runs against runs: `compare`, `aggregate --format`, `baseline`; verdicts, refusals and exit codes, with fakes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from kasauti.__main__ import main
from kasauti.errors import ConfigError, ExitCode
from runs import Ran, prompt_file, run_here

WORDS = {
    "en": ("the train leaves at seven", "water bread paper river stone cloud table green night mango"),
    "hi": ("आज मौसम बहुत अच्छा है", "राम सीता गीता मोहन पानी किताब नदी पत्थर बादल आम"),
}

MANY = [
    (f"{lang}{number}", lang, f"{text} {word}")
    for lang, (text, words) in WORDS.items()
    for number, word in enumerate(words.split())
]

QUICK = "scoring.draws=200"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    prompt_file(root, MANY)
    return root


@pytest.fixture(scope="module")
def good(folder: Path) -> Ran:
    return run_here(folder, QUICK)


@pytest.fixture(scope="module")
def bad(folder: Path) -> Ran:
    return run_here(folder, QUICK, "system.slip_rate=0.2")


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def kasauti(folder: Path, *words: str) -> int:
    return main(["--runs", str(folder / "runs"), *words])


def test_a_run_against_itself_is_within_noise(folder: Path, good: Ran, capsys: pytest.CaptureFixture[str]) -> None:
    run = good.result.run_id
    assert kasauti(folder, "compare", run, run, "--format", "csv", "--fail-on", "worse", "--fail-on", "better") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["scope"], row["key"]) for row in rows] == [("lang", "en"), ("lang", "hi"), ("macro", "all")]
    assert {row["verdict"] for row in rows} == {"within_noise"}
    assert {float(row["difference"]) for row in rows} == {0.0}
    assert "level:numbers" in rows[0]["signature"]


def test_a_worse_system_fails_a_ci_that_asks_for_it(
    folder: Path, good: Ran, bad: Ran, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = bad.result.run_id, good.result.run_id
    assert kasauti(folder, "compare", *runs) == ExitCode.COMPLETE
    assert "worse" in capsys.readouterr().out
    assert kasauti(folder, "compare", *runs, "--fail-on", "worse") == ExitCode.INCOMPLETE
    assert kasauti(folder, "compare", *reversed(runs), "--fail-on", "worse") == ExitCode.COMPLETE


def test_old_numbers_do_not_matter_since_both_are_scored_anew(
    folder: Path, good: Ran, capsys: pytest.CaptureFixture[str]
) -> None:
    path = good.result.folder / "per_sample.tsv"
    before = path.read_text(encoding="utf-8")
    try:
        path.write_text(before.replace("\t0.0\t", "\t0.9\t"), encoding="utf-8")
        assert kasauti(folder, "compare", good.result.run_id, good.result.run_id, "--format", "csv") == 0
    finally:
        path.write_text(before, encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["mean_a"] for row in rows} == {"0.0"}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (["scoring.level=raw"], "level differs (fake (A): numbers, fake (B): raw)"),
        (["scoring.numbers.year=pairs"], "numbers differs (fake (A): spoken-digits-digits-set, fake (B): pairs-"),
    ],
)
def test_numbers_scored_otherwise_are_refused_by_the_name_of_the_part(
    folder: Path, good: Ran, capsys: pytest.CaptureFixture[str], changed: list[str], told: str
) -> None:
    other = run_here(folder, QUICK, *changed)
    assert kasauti(folder, "compare", good.result.run_id, other.result.run_id) == ExitCode.USAGE
    assert told in capsys.readouterr().err


def test_a_level_for_both_makes_them_comparable(folder: Path, good: Ran) -> None:
    raw = run_here(folder, QUICK, "scoring.level=raw")
    assert kasauti(folder, "compare", good.result.run_id, raw.result.run_id, "--level", "strict") == 0


def test_another_revision_of_the_judge_is_refused_by_name(
    folder: Path, good: Ran, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in good.result.folder.iterdir():
        if path.is_file():
            (copy / path.name).write_bytes(path.read_bytes())
    table = copy / "per_sample.tsv"
    revision = good.rows[0].judge_revision
    table.write_text(table.read_text(encoding="utf-8").replace(f"\t{revision}\t", "\tfake-9\t"), encoding="utf-8")
    assert kasauti(folder, "compare", good.result.run_id, str(copy)) == ExitCode.USAGE
    assert f"judge revision differs (fake (A): {revision}, fake (B): fake-9)" in capsys.readouterr().err


def test_other_prompts_other_judges_and_unknown_names_are_refused(
    folder: Path, good: Ran, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    strangers = run_here(tmp_path, QUICK)
    runs = str(tmp_path / "runs" / strangers.result.run_id), good.result.run_id
    assert kasauti(folder, "compare", *runs) == ExitCode.USAGE
    assert "no prompt text in common" in capsys.readouterr().err
    other = run_here(folder, QUICK, "judge.fake.id=second", "system.id=another")
    assert kasauti(folder, "compare", good.result.run_id, other.result.run_id) == ExitCode.USAGE
    assert "judges fake and second" in capsys.readouterr().err
    same = good.result.run_id, good.result.run_id
    assert kasauti(folder, "compare", *same, "--system", "fke") == ExitCode.USAGE
    assert "no system 'fke'; did you mean 'fake'?" in capsys.readouterr().err
    assert kasauti(folder, "compare", *same, "--metric", "cerr") == ExitCode.USAGE
    assert "no metric 'cerr'" in capsys.readouterr().err


def test_the_same_texts_under_other_ids_are_the_same_prompts(folder: Path, good: Ran, tmp_path: Path) -> None:
    renamed = [(f"other-{name}", lang, text) for name, lang, text in MANY]
    prompt_file(tmp_path, renamed)
    again = run_here(tmp_path, QUICK)
    assert kasauti(folder, "compare", good.result.run_id, str(again.result.folder), "--fail-on", "insufficient") == 0


def test_one_system_against_another_of_a_line_up(folder: Path, good: Ran, capsys: pytest.CaptureFixture[str]) -> None:
    members = "system.members=[{use: fake, id: 'a&b'}, {use: fake, id: c_d, slip_rate: 0.2}]"
    both = run_here(folder, QUICK, members, system="lineup").result.run_id
    assert kasauti(folder, "compare", both, both, "--system", "c_d=a&b", "--fail-on", "worse") == 1
    capsys.readouterr()
    assert kasauti(folder, "compare", both, good.result.run_id) == ExitCode.USAGE
    assert "say which to compare" in capsys.readouterr().err
    assert kasauti(folder, "compare", both, both, "--system", "c_d=a&b", "--format", "latex") == 0
    assert r"c\_d (A) -- a\&b (B)" in capsys.readouterr().out
    assert kasauti(folder, "aggregate", both, "--format", "md") == 0
    out = capsys.readouterr().out
    assert "| a&amp;b | 1 | 0.0 |" in out
    assert r"| a&amp;b – c\_d | better |" in out
    assert kasauti(folder, "aggregate", both, "--format", "csv") == 0
    assert capsys.readouterr().out == (folder / "runs" / both / "aggregate.csv").read_text(encoding="utf-8")


def test_a_run_shows_verdicts_and_stores_them_with_signatures(folder: Path) -> None:
    members = "system.members=[{use: fake, id: one}, {use: fake, id: two, slip_rate: 0.2}]"
    ran = run_here(folder, QUICK, members, "repeats=2", system="lineup")
    assert "one – two" in ran.said
    assert "better" in ran.said
    verdicts = table(ran.result.folder / "verdicts.csv")
    cer = [row for row in verdicts if row["metric"] == "cer"]
    assert [(row["key"], row["a"], row["b"], row["verdict"]) for row in cer if row["scope"] == "macro"] == [
        ("all", "one", "two", "better")
    ]
    assert {row["floor_kind"] for row in cer} == {"measured"}
    noise = ran.table("noise.tsv")
    assert {row["prompt_id"] for row in noise} == {line[0] for line in MANY}
    aggregates = table(ran.result.folder / "aggregate.csv")
    assert all(f"metric:{row['metric']}|" in row["signature"] for row in aggregates)
    assert {row["largest_pair"] for row in aggregates if row["system"] == "one"} == {"0.0"}
    page = (ran.result.folder / "report.html").read_text(encoding="utf-8")
    assert "one – two" in page


def test_what_people_score_limits_what_a_judge_can_tell(folder: Path) -> None:
    members = "system.members=[{use: fake, id: a}, {use: fake, id: b}, {use: fake, id: p, role: human, slip_rate: 0.1}]"
    ran = run_here(folder, QUICK, members, system="lineup")
    verdicts = table(ran.result.folder / "verdicts.csv")
    macro = [row for row in verdicts if (row["scope"], row["metric"]) == ("macro", "cer")]
    assert [(row["a"], row["b"], row["verdict"]) for row in macro] == [("a", "b", "judge_limited")]
    assert float(macro[0]["human"]) > 0
    assert "judge limited" in ran.said
    assert "human reference" in ran.said


def test_baseline_is_compared_after_the_run_and_no_part_of_it(folder: Path, good: Ran, bad: Ran) -> None:
    again = run_here(folder, QUICK, f"baseline={good.result.run_id[:6]}", "system.slip_rate=0.2")
    assert again.result.run_id == bad.result.run_id
    rows = table(again.result.folder / "baseline.csv")
    assert [row["verdict"] for row in rows if row["scope"] == "macro"] == ["worse"]
    assert f"run B = {good.result.run_id}" in again.said


def test_latest_is_the_newest_finished_run_of_the_same_systems(folder: Path, good: Ran, tmp_path: Path) -> None:
    prompt_file(tmp_path, MANY)
    assert "No earlier run" in run_here(tmp_path, QUICK, "baseline=latest").said
    run_here(tmp_path, QUICK, "system.id=other")
    mine = run_here(tmp_path, QUICK, "baseline=latest", "system.slip_rate=0.2")
    assert f"run B = {good.result.run_id}" in mine.said  # the same settings give the same id in any folder


@pytest.mark.parametrize("name", ["nothing", "self"])
def test_an_unknown_baseline_stops_before_anything_runs(tmp_path: Path, name: str) -> None:
    first = run_here(tmp_path, QUICK)
    clips = (tmp_path / "store" / "clips.jsonl").read_bytes()
    wanted = first.result.run_id if name == "self" else name
    with pytest.raises(ConfigError, match="baseline"):
        run_here(tmp_path, QUICK, f"baseline={wanted}", *(() if name == "self" else ("system.slip_rate=0.1",)))
    assert (tmp_path / "store" / "clips.jsonl").read_bytes() == clips


def test_a_baseline_that_can_not_be_compared_does_not_spoil_the_run(folder: Path, good: Ran) -> None:
    ran = run_here(folder, QUICK, "judge.fake.id=third", f"baseline={good.result.run_id}")
    assert ran.result.exit_code is ExitCode.COMPLETE
    assert "Not compared with the baseline" in ran.said
    assert json.loads((ran.result.folder / "status.json").read_text(encoding="utf-8"))["state"] == "complete"


def test_a_new_system_stands_beside_published_ones_with_verdicts(
    folder: Path, good: Ran, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "per_sample.tsv"
    lines = [f"{name}\t{lang}\tsilk-oss-v2\t{text}\t{text[:-4]}\n" for name, lang, text in MANY]
    path.write_text("id\tlanguage\tsystem\ttext\ttranscript\n" + "".join(lines), encoding="utf-8")
    heard_by = "--judge", good.rows[0].judge, "--judge-revision", good.rows[0].judge_revision
    assert kasauti(folder, "import", "rumik-bench", str(path), *heard_by) == 0
    imported = capsys.readouterr().out.strip().splitlines()[-1]
    assert kasauti(folder, "aggregate", good.result.run_id, imported) == 0
    shown = capsys.readouterr().out
    assert "2 silk-oss-v2" in shown
    assert "fake – silk-oss-v2  better" in shown
    assert kasauti(folder, "compare", good.result.run_id, imported, "--fail-on", "better") == 1
    assert kasauti(folder, "status") == 0
    assert "imported" in capsys.readouterr().out
