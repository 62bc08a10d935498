"""`keep` and `check`: what is committed of a finished run comes out again, and any other cell is named."""

from __future__ import annotations

import csv
import json
import shutil
import socket
from pathlib import Path

import pytest

from kasauti import __main__ as command_line
from kasauti.cli import keep as keeping
from kasauti.cli.check import check_results, run
from kasauti.cli.keep import keep
from kasauti.cli.results import Results
from kasauti.errors import ConfigError, StoreError
from kasauti.metrics.score import score_pair
from kasauti.pipeline import scoring
from kasauti.pipeline.rescoring import RESCORED, rescore
from kasauti.report import load, load_study
from kasauti.report.tables import read_table, write_table
from runs import LINES, prompt_file, run_here

SWITCHED = ("p7", "hi", "आज meeting है 5 बजे")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of one study: a voice that varies, and one that fails on a prompt."""
    folder = tmp_path_factory.mktemp("made")
    prompt_file(folder, [*LINES, SWITCHED])
    varying = ["system.slip_rate=0.2", "system.stochastic=true", "repeats=2", "rejudges=2", "judge.slip_rate=0.1"]
    run_here(folder, *varying, "study=two voices")
    failing = ["system.fail_ids=[p2]", "system.langs=[en,hi]", "system.id=other", "judge.slip_rate=0.1"]
    run_here(folder, *failing, "study=two voices")
    return folder


@pytest.fixture
def tree(made: Path, tmp_path: Path) -> Path:
    """A tree with one kept study."""
    keep(["two voices"], "voices", made / "runs", tmp_path / "results")
    return tmp_path


def found(tree: Path) -> list[str]:
    return [str(finding) for finding in check_results(Results(tree))]


def kept(tree: Path, table: str, repeats: int = 2) -> Path:
    """A table of the run with so many takes a prompt."""
    for folder in (tree / "results" / "voices").glob("*/"):
        takes = json.loads((folder / "run.json").read_text(encoding="utf-8"))["config"]["systems"]
        if [options["repeats"] for options in takes.values()] == [repeats]:
            return folder / table
    raise AssertionError("no such run")


def test_run_scored_again_gives_the_tables_that_it_wrote(made: Path, tmp_path: Path) -> None:
    folders = sorted(path.parent for path in made.glob("runs/*/run.json"))
    assert len(folders) == 2
    for folder in folders:
        rescore(folder, tmp_path / folder.name)
        for name in RESCORED:
            assert (tmp_path / folder.name / name).read_bytes() == (folder / name).read_bytes(), name


def test_kept_study_is_read_merged_and_passes(
    tree: Path, made: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tree) == 0
    assert "results/voices: scored again from its transcripts\n" in capsys.readouterr().out
    study = load_study("voices", tree / "results", tree / "none")
    assert [list(part.systems) for part in study.runs] == [["fake"], ["other"]]
    assert set(study.merged.systems) == {"fake", "other"}
    for part in study.runs:
        whole = load(made / "runs" / part.runs[0].run_id)
        assert (part.samples, part.aggregates, part.verdicts) == (whole.samples, whole.aggregates, whole.verdicts)
        assert part.scoring == whole.scoring


def test_nothing_tells_where_or_when_it_was_made(tree: Path, made: Path) -> None:
    for path in tree.rglob("*"):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            assert str(made) not in text, path
            assert socket.gethostname() not in text, path
    clips = read_table(kept(tree, "clips.tsv"))
    assert clips
    assert {clip[name] for clip in clips for name in ("path", "wall_s", "ttfb_s", "created_at", "error")} == {None}
    record = json.loads(kept(tree, "run.json").read_text(encoding="utf-8"))
    assert {"timings_s", "platform", "cores"}.isdisjoint(record)
    assert {"paths", "tracking", "executor", "data"}.isdisjoint(record["config"])
    assert record["config"]["promptset"]["path"] == "…/prompts.jsonl"


def test_provenance_says_how_to_make_it_again(tree: Path, made: Path) -> None:
    facts = json.loads((tree / "results" / "voices" / "provenance.json").read_text(encoding="utf-8"))
    assert (facts["study"], facts["kind"], len(facts["runs"])) == ("voices", "runs", 2)
    for run_id, told in facts["runs"].items():
        whole = json.loads((made / "runs" / run_id / "run.json").read_text(encoding="utf-8"))
        assert told["finished_at"] == whole["finished_at"]
        assert told["versions"] == whole["versions"]
        assert told["git"] == whole["git"]
        assert told["command"].startswith("python run.py system=fake judge=fake ")
        assert "paths." not in told["command"]
        assert "promptset.path=…/prompts.jsonl" in told["command"]
    assert set(facts["files"]) == {
        path.relative_to(tree / "results" / "voices").as_posix()
        for path in (tree / "results" / "voices").rglob("*")
        if path.is_file() and path.name != "provenance.json"
    }


def test_kept_again_in_place_is_the_same(tree: Path, tmp_path: Path) -> None:
    study = tree / "results" / "voices"
    before = {path.relative_to(study): path.read_bytes() for path in study.rglob("*") if path.is_file()}
    (study / "README.md").write_text("why\n", encoding="utf-8")
    keep([str(study)], "voices", tmp_path / "none", tree / "results")
    after = {path.relative_to(study): path.read_bytes() for path in study.rglob("*") if path.is_file()}
    assert after == before | {Path("README.md"): b"why\n"}
    assert found(tree) == []


def changed_cell(path: Path, line: int, column: str, value: str) -> None:
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        rows[line - 1][rows[0].index(column)] = value
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
        return
    rows = [text.split("\t") for text in path.read_text(encoding="utf-8").split("\n")]
    rows[line - 1][rows[0].index(column)] = value
    path.write_text("\n".join("\t".join(row) for row in rows), encoding="utf-8")


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("aggregate.csv", "mean", "0.01"),
        ("aggregate.csv", "ci95_high", "0.99"),
        ("aggregate.csv", "floor95", "0.0001"),
        ("aggregate.csv", "signature", "metric:cer"),
        ("per_sample.tsv", "cer", "0.5"),
        ("per_sample.tsv", "char_edits", "11"),
        ("per_sample.tsv", "status", "wrong_script"),
        ("per_sample.tsv", "gates", "clipping"),
        ("per_sample.tsv", "rubric", "1.0"),
        ("levels.tsv", "wer", "0.123"),
        ("noise.tsv", "var_takes", "0.5"),
        ("switching.tsv", "right", "9"),
    ],
)
def test_perturbed_cell_is_named_with_both_values(
    tree: Path, capsys: pytest.CaptureFixture[str], table: str, column: str, value: str
) -> None:
    path = kept(tree, table)
    changed_cell(path, 2, column, value)
    assert run(tree) == 1
    said = capsys.readouterr().out
    where = f"results/voices/{path.parent.name}/{table}"
    assert f"{where}:2: {column} is {value!r}, recomputed " in said
    assert f"{where}: not the file that was kept" in said
    assert said.splitlines()[-1].startswith("FAIL check: ")


def test_perturbed_transcript_moves_every_number_that_rests_on_it(tree: Path) -> None:
    path = kept(tree, "per_sample.tsv")
    changed_cell(path, 2, "hypothesis", "something else")
    tables = {text.split(":")[0].rpartition("/")[2] for text in found(tree) if "recomputed" in text}
    assert tables == {"per_sample.tsv", "levels.tsv", "aggregate.csv", "noise.tsv"}


def test_perturbed_verdict_is_named(made: Path, tmp_path: Path) -> None:
    members = "system.members=[fake,{use: fake, id: second, slip_rate: 0.3}]"
    run_here(tmp_path, members, system="lineup")
    keep(["latest"], "pair", tmp_path / "runs", tmp_path / "results")
    assert found(tmp_path) == []
    [verdicts] = tmp_path.glob("results/pair/*/verdicts.csv")
    changed_cell(verdicts, 2, "verdict", "better")
    assert any(":2: verdict is 'better', recomputed" in text for text in found(tmp_path))


def test_perturbed_prompt_is_refused(tree: Path) -> None:
    path = kept(tree, "prompts.jsonl")
    path.write_text(path.read_text(encoding="utf-8").replace("seven", "eleven"), encoding="utf-8")
    assert any("a prompt was changed after the run" in text for text in found(tree))


def test_new_rules_do_not_pass_for_old_numbers(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def looser(reference: str, hypothesis: str, *rest: object, **options: object) -> object:
        return score_pair(reference, hypothesis.replace("x", ""), *rest, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(scoring, "score_pair", looser)
    told = found(tree)
    assert any("aggregate.csv" in text and "recomputed" in text for text in told)
    assert any("more cells come out otherwise" in text for text in told)


def test_files_that_are_missing_or_added_are_named(tree: Path) -> None:
    kept(tree, "noise.tsv").unlink()
    (tree / "results" / "voices" / "extra.tsv").write_text("a\n", encoding="utf-8")
    (tree / "results" / "voices" / "figures").mkdir()
    (tree / "results" / "voices" / "figures" / "a.svg").write_text("<svg/>", encoding="utf-8")
    told = found(tree)
    assert len(told) == 2
    assert "extra.tsv: a file that the study's record does not list" in told[1]
    assert "noise.tsv: a file that the study's record lists is missing" in told[0]


def test_folder_without_a_record_is_refused(tmp_path: Path) -> None:
    (tmp_path / "results" / "mine").mkdir(parents=True)
    assert "results/mine/provenance.json: no record of where these tables come from" in found(tmp_path)[0]


def test_damaged_run_is_a_finding_and_no_crash(tree: Path) -> None:
    path = kept(tree, "per_sample.tsv")
    path.write_text(path.read_text(encoding="utf-8") + "torn\tline\n", encoding="utf-8")
    assert any("can't be recomputed" in text and "2 cells" in text for text in found(tree))


def test_tree_without_results_passes(tmp_path: Path) -> None:
    assert found(tmp_path) == []


def test_too_large_is_refused_before_anything_is_written(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "FILE_LIMIT_BYTES", 1000)
    with pytest.raises(ConfigError, match=r"has 0\.0 MB, 0\.001 are the limit; only small tables"):
        keep(["two voices"], "voices", made / "runs", tmp_path / "results")
    monkeypatch.undo()
    monkeypatch.setattr(keeping, "STUDY_LIMIT_BYTES", 1000)
    with pytest.raises(ConfigError, match="are the limit of a study; keep fewer runs"):
        keep(["two voices"], "voices", made / "runs", tmp_path / "results")
    assert list((tmp_path / "results").iterdir()) == []


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "a b"])
def test_study_is_named_like_a_folder(made: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="a study is named in letters, digits"):
        keep(["two voices"], name, made / "runs", tmp_path)


def test_unknown_run_is_refused(made: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no run 'nothing'"):
        keep(["nothing"], "voices", made / "runs", tmp_path)


def test_run_that_has_not_ended_is_refused(made: Path, tmp_path: Path) -> None:
    [first, *_] = sorted(path.parent for path in made.glob("runs/*/run.json"))
    shutil.copytree(first, tmp_path / "runs" / first.name)
    (tmp_path / "runs" / first.name / "status.json").write_text('{"state": "running"}', encoding="utf-8")
    with pytest.raises(ConfigError, match="this run has not ended"):
        keep([first.name], "voices", tmp_path / "runs", tmp_path / "results")


def panel(folder: Path) -> Path:
    """Tables of a panel, as far as `keep` and `check` look at them."""
    folder.mkdir()
    write_table(folder / "standings.tsv", ["system", "score"], [{"system": "a", "score": 4.5}])
    (folder / "study.json").write_text('{"draws": 10, "seed": 0, "checksums_sha256": "x"}', encoding="utf-8")
    return folder


def test_panel_is_held_against_its_checksums(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep([str(panel(tmp_path / "beyond"))], "panel", tmp_path / "runs", tmp_path / "results")
    assert run(tmp_path) == 0
    assert "results/panel: held against its checksums; --mirror DIR recomputes it" in capsys.readouterr().out
    changed_cell(tmp_path / "results" / "panel" / "standings.tsv", 2, "score", "4.6")
    assert ["standings.tsv: not the file that was kept" in text for text in found(tmp_path)] == [True]
    with pytest.raises(ConfigError, match="keep it alone"):
        keep([str(tmp_path / "beyond"), str(tmp_path / "results" / "panel")], "x", tmp_path, tmp_path / "results")
    (tmp_path / "beyond" / "study.json").unlink()
    with pytest.raises(ConfigError, match="can't read how these tables were made"):
        keep([str(tmp_path / "beyond")], "x", tmp_path, tmp_path / "results")


def test_bundle_that_is_none_is_a_finding(tmp_path: Path) -> None:
    keep([str(panel(tmp_path / "beyond"))], "panel", tmp_path / "runs", tmp_path / "results")
    told = [finding.what for finding in check_results(Results(tmp_path, tmp_path / "nothing"))]
    assert len(told) == 1
    assert "nothing: no checksums.sha256 there; give the folder that holds it" in told[0]
    record = tmp_path / "results" / "panel" / "provenance.json"
    record.write_text(record.read_text(encoding="utf-8").replace('"draws"', '"drawn"'), encoding="utf-8")
    told = [finding.what for finding in check_results(Results(tmp_path, tmp_path / "nothing"))]
    assert told == ["not the record of a study: KeyError 'draws'"]


def test_commands(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = str(tmp_path / "results")
    words = ["--runs", str(made / "runs"), "keep", "two voices", "--as", "voices", "--results", results]
    assert command_line.main(words) == 0
    assert "voices: " in capsys.readouterr().out
    assert command_line.main(["check", str(tmp_path)]) == 0
    assert command_line.main(["--runs", str(made / "runs"), "keep", "none", "--as", "v", "--results", results]) == 2


def test_missing_study_names_those_that_are_there(tree: Path) -> None:
    with pytest.raises(ConfigError, match=r"no study 'voice' in .*did you mean 'voices'\?"):
        load_study("voice", tree / "results", tree / "none")


def test_study_that_is_still_going_on_is_its_runs(made: Path, tmp_path: Path) -> None:
    study = load_study("two voices", tmp_path, made / "runs")
    assert [list(part.systems) for part in study.runs] == [["fake"], ["other"]]
    [one] = load_study(study.runs[0].runs[0].folder).runs
    assert one.samples == study.runs[0].samples


def test_torn_study_is_an_error_with_the_file(tree: Path) -> None:
    kept(tree, "aggregate.csv").write_bytes(b"\xff\xfe")
    with pytest.raises(StoreError, match=r"aggregate\.csv: can't read this table"):
        load_study("voices", tree / "results")
