"""The panel's tables in `results/`: kept from a run of the study, recomputed from the bundle, and drawn from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from kasauti.cli.check import check_results
from kasauti.cli.keep import keep
from kasauti.cli.results import Results
from kasauti.identity import file_sha256
from kasauti.panel.explore import explore
from kasauti.panel.intervals import Draws
from kasauti.paths import ROOT
from kasauti.report import load_study

CHECKSUMS_SHA256 = "000511a4b9d80bd485bcab86e775a184cdac7196a048e6af54e9600fe5b07b85"


@pytest.fixture(scope="module")
def tables(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("beyond")
    with (out / "said.txt").open("w", encoding="utf-8") as said:
        explore(bundle, CHECKSUMS_SHA256, Draws(200, 3), out, Console(file=said, width=140))
    return out


@pytest.fixture
def tree(tables: Path, tmp_path: Path) -> Path:
    keep([str(tables)], "panel", tmp_path / "runs", tmp_path / "results")
    return tmp_path


def test_kept_tables_come_out_of_the_bundle(tree: Path, bundle: Path) -> None:
    assert check_results(Results(tree, bundle)) == []
    assert set(load_study("panel", tree / "results").panel) >= {"standings", "gaps", "positions", "agreement"}


def test_perturbed_score_is_named(tree: Path, bundle: Path) -> None:
    path = tree / "results" / "panel" / "standings.tsv"
    path.write_text(
        path.read_text(encoding="utf-8").replace("4.578421052631579", "4.678421052631579"), encoding="utf-8"
    )
    told = [str(finding) for finding in check_results(Results(tree, bundle))]
    assert any("panel/standings.tsv: not the file that was kept" in text for text in told)
    assert any("score is '4.678421052631579', recomputed '4.578421052631579'" in text for text in told)


def test_perturbed_score_with_a_mended_checksum_is_still_named(tree: Path, bundle: Path) -> None:
    study = tree / "results" / "panel"
    path = study / "standings.tsv"
    path.write_text(
        path.read_text(encoding="utf-8").replace("4.578421052631579", "4.678421052631579"), encoding="utf-8"
    )
    record = study / "provenance.json"
    facts = json.loads(record.read_text(encoding="utf-8"))
    facts["files"]["standings.tsv"] = file_sha256(path)
    record.write_text(json.dumps(facts), encoding="utf-8")
    assert check_results(Results(tree)) == []
    [finding] = check_results(Results(tree, bundle))
    assert "recomputed '4.578421052631579'" in finding.what


@pytest.mark.parametrize(("written", "named"), [("4.578421052631578", False), ("4.578421062631579", True)])
def test_last_digits_that_another_machine_makes_are_no_difference(
    tree: Path, bundle: Path, written: str, named: bool
) -> None:
    study = tree / "results" / "panel"
    path = study / "standings.tsv"
    path.write_text(path.read_text(encoding="utf-8").replace("4.578421052631579", written), encoding="utf-8")
    record = study / "provenance.json"
    facts = json.loads(record.read_text(encoding="utf-8"))
    facts["files"]["standings.tsv"] = file_sha256(path)
    record.write_text(json.dumps(facts), encoding="utf-8")
    told = [str(finding) for finding in check_results(Results(tree, bundle))]
    assert bool(told) is named


def test_committed_results_come_out(bundle: Path) -> None:
    assert [str(finding) for finding in check_results(Results(ROOT, bundle))] == []
