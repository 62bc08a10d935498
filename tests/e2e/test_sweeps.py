"""Sweeps on fakes: what is done once, what is missing afterwards, what all of it costs. Commands share one process."""

from __future__ import annotations

import csv
import json
import re
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kasauti.__main__ import main
from kasauti.errors import ConfigError, ExitCode, StoreError
from kasauti.paths import ROOT
from kasauti.pipeline.sweep import Job, SweepFolder, latest_sweep
from processes import Ended, run_all
from runs import lines_of, run_here, words

QUICK = "scoring.draws=100"
VARIES = ["system.stochastic=true", "system.slip_rate=0.2"]

NAMED = ["+experiment=temperature_sweep", "promptset.langs=[hi]", "repeats=2", *VARIES, QUICK]


@dataclass
class Sweep:
    """How a sweep ended, and where."""

    root: Path
    ended: Ended
    name: str

    @property
    def folder(self) -> SweepFolder:
        return SweepFolder(self.root / self.name)

    @property
    def jobs(self) -> list[Job]:
        return self.folder.jobs()

    @property
    def said(self) -> str:
        return " ".join(self.ended.said.split())

    def table(self, name: str) -> list[dict[str, str]]:
        """A table of the common folder that the end of the sweep names."""
        [target] = re.findall(r"Tables: +(\S+compare-\w+)", self.ended.said)
        with (ROOT / target / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))


def sweeps(root: Path, **commands: list[str]) -> dict[str, Sweep]:
    """Sweeps one after the other, each in a folder of its own name."""
    lines = [["-m", *words(root, *given), f"hydra.sweep.dir={root}/{name}"] for name, given in commands.items()]
    return {name: Sweep(root, ended, name) for name, ended in zip(commands, run_all(lines), strict=True)}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sweep]:
    root = tmp_path_factory.mktemp("sweeps")
    judges = ["promptset.langs=[hi]", "judge.slip_rate=0.0,0.1", QUICK]
    return sweeps(
        root,
        price=[*judges, "system.usd_per_1k_chars=100", "judge.fake.usd_per_call=0.25", "rejudges=2", "dry_run=true"],
        judges=judges,
        failed=["promptset.langs=[en],[zz],[ta],[yy]", QUICK],
        again=["promptset.langs=[en],[ur],[ta],[hi]", QUICK],
        unused=["decoding.temperature=0.6,0.8", "decoding.top_k=20,30", *VARIES, QUICK, "promptset.langs=[hi]"],
        same=["promptset.langs=[hi],[hi]", QUICK, "hydra.sweep.subdir=${hydra.job.override_dirname}"],
        names=["study=ek,do", "promptset.langs=[hi]", QUICK],
        elsewhere=["paths.runs=" + ",".join(f"{root}/{name}" for name in "ab"), "promptset.langs=[hi]", QUICK],
        study=NAMED,
        dry_study=[*NAMED, "promptset.langs=[ta]", "dry_run=true"],
        smoke=["promptset=smoke", "promptset.limit=1", "promptset.langs=[hi],[ta]", QUICK],
        levels=["scoring.level=strict,numbers", "promptset.langs=[hi]", QUICK],
    )


def test_a_failed_job_has_its_error_and_the_table_says_what_is_missing(done: dict[str, Sweep]) -> None:
    # Case hydra-01.
    sweep = done["failed"]
    assert sweep.ended.code == ExitCode.USAGE
    assert [(job.number, job.state) for job in sweep.jobs] == [
        (0, "complete"),
        (1, "failed"),
        (2, "complete"),
        (3, "failed"),
    ]
    for number, lang in ((1, "zz"), (3, "yy")):
        record = json.loads((sweep.folder.path / f"{number}/job_{number}.json").read_text(encoding="utf-8"))
        assert f"unknown language '{lang}'" in record["error"]
        assert (
            f"failed: job {number}: promptset.langs=[{lang}]: promptset.langs: unknown language '{lang}'" in sweep.said
        )
    assert "sweep: 2 of 4 jobs have results" in sweep.said
    assert "2 of 4 jobs are missing from this table." in sweep.said
    rows = sweep.table("aggregate.csv")
    assert {row["key"] for row in rows if row["scope"] == "lang"} == {"en", "ta"}
    assert [row["state"] for row in sweep.table("jobs.csv")] == ["complete", "failed", "complete", "failed"]


def test_the_same_command_mended_does_only_what_is_left(done: dict[str, Sweep]) -> None:
    sweep = done["again"]
    assert sweep.ended.code == ExitCode.COMPLETE
    assert sweep.ended.said.count("was already finished: nothing to synthesise") == 3  # hi is the run of `judges`
    assert "missing" not in sweep.said
    assert {row["key"] for row in sweep.table("aggregate.csv") if row["scope"] == "lang"} == {"en", "ur", "ta", "hi"}


def test_a_sweep_over_judges_synthesises_once(done: dict[str, Sweep]) -> None:
    sweep = done["judges"]
    runs = [Path(job.folder or "") for job in sweep.jobs]
    clips = [{row["clip_id"] for row in _tsv(run / "clips.tsv")} for run in runs]
    assert clips[0] == clips[1]
    made = [line for line in lines_of(sweep.root / "store/clips.jsonl") if line["clip_id"] in clips[0]]
    assert len(made) == len(clips[0]) == 2
    assert {row["judge"] for row in sweep.table("aggregate.csv")} == {"fake slip_rate=0.0", "fake slip_rate=0.1"}


def test_a_dry_sweep_counts_every_clip_and_judgment_once_and_makes_nothing(done: dict[str, Sweep]) -> None:
    sweep = done["price"]
    texts = ["आज मौसम अच्छा है", "मुझे पानी चाहिए"]
    usd = 0.1 * sum(map(len, texts))
    assert sweep.ended.code == ExitCode.COMPLETE
    end = sweep.ended.said.partition("Sweep (dry run: nothing was made): 2 jobs, 2 different runs")[2]
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in end.splitlines()]
    cells = {row[0]: row[1:] for row in rows if row}
    assert cells["system fake"] == ["2", "4", "0 s", f"${usd:.2f}"]
    assert cells["judge fake"] == ["8", "8", "0 s", "$2.00"]
    assert cells["total"] == ["10", "12", "0 s", f"${usd + 2:.2f}"]
    assert not any(Path(job.folder or "").exists() for job in sweep.jobs[:1])


def test_a_decoding_value_that_a_system_ignores_makes_no_second_run_and_is_named(
    done: dict[str, Sweep],
) -> None:
    sweep = done["unused"]
    assert [(job.state, job.same_as) for job in sweep.jobs] == [
        ("complete", None),
        ("same", 0),
        ("complete", None),
        ("same", 2),
    ]
    assert "note: system fake: it does not use decoding.top_k: no clip differs by it." in sweep.said
    assert "same run, done once: jobs 0+1, 2+3 (fake does not use decoding.top_k)" in sweep.said
    assert "sweep: 4 of 4 jobs have results" in sweep.said
    systems = {row["system"] for row in sweep.table("aggregate.csv")}
    assert systems == {"fake temperature=0.6", "fake temperature=0.8"}


def test_the_same_job_twice_is_one_run_in_whatever_folder(done: dict[str, Sweep]) -> None:
    # Case hydra-03: two takes of one setting, whose folders have one name.
    sweep = done["same"]
    assert [(job.number, job.state, job.same_as) for job in sweep.jobs] == [(0, "complete", None), (1, "same", 0)]
    assert "same run, done once: jobs 0+1" in sweep.said
    assert "is the same as that of job 0: not run twice." in sweep.said


def test_a_name_with_a_comma_is_two_jobs_that_are_one_run(done: dict[str, Sweep]) -> None:
    # Case hydra-12, with -m.
    sweep = done["names"]
    assert [("study=ek" in job.overrides, "study=do" in job.overrides) for job in sweep.jobs] == [
        (True, False),
        (False, True),
    ]
    assert [job.same_as for job in sweep.jobs] == [None, 0]


def test_the_same_run_into_another_folder_is_another_job(done: dict[str, Sweep]) -> None:
    sweep = done["elsewhere"]
    assert [job.state for job in sweep.jobs] == ["complete", "complete"]
    assert [Path(job.folder or "").parent.name for job in sweep.jobs] == ["a", "b"]


def test_the_named_study_sweeps_by_itself_and_its_steps_are_told_apart(done: dict[str, Sweep]) -> None:
    sweep = done["study"]
    assert len(sweep.jobs) == 4
    rows = [row for row in sweep.table("aggregate.csv") if (row["scope"], row["metric"]) == ("macro", "cer")]
    assert [row["system"] for row in rows] == [f"fake temperature={value}" for value in ("0.4", "0.6", "0.8", "1.0")]
    assert {row["floor_kind"] for row in rows} == {"measured"}
    dry = done["dry_study"]
    assert "Sweep (dry run: nothing was made): 4 jobs, 4 different runs" in dry.said
    assert all(not Path(job.folder or "").exists() for job in dry.jobs)


def test_after_smoke_prompts_it_is_said_once_what_numbers_of_record_need(
    done: dict[str, Sweep], tmp_path: Path
) -> None:
    hint = "Numbers of record need promptset=fleurs (up to 350 sentences a language): about "
    assert done["smoke"].said.count(hint) == 1
    smoke = ["promptset=smoke", "promptset.limit=1", "promptset.langs=[hi]", QUICK]
    assert [hint in run_here(tmp_path, *smoke).said for _ in range(2)] == [True, True]
    assert hint not in run_here(tmp_path, QUICK, "promptset.langs=[hi]").said


def test_jobs_without_a_common_table_are_said_to_have_none(done: dict[str, Sweep]) -> None:
    sweep = done["levels"]
    assert sweep.ended.code == ExitCode.INCOMPLETE
    assert "the jobs of this sweep have no common table: these runs are scored with a different level" in (
        " ".join(sweep.ended.complaints.split())
    )
    assert [job.state for job in sweep.jobs] == ["complete", "complete"]


def test_the_end_of_a_sweep_can_be_made_again(done: dict[str, Sweep], capsys: pytest.CaptureFixture[str]) -> None:
    sweep = done["failed"]
    assert main(["aggregate", "--sweep", str(sweep.folder.path)]) == ExitCode.USAGE
    again = capsys.readouterr().out
    assert "2 of 4 jobs are missing from this table." in again
    assert sweep.ended.said.endswith(again)
    assert main(["aggregate", "--sweep", str(done["judges"].folder.path)]) == ExitCode.COMPLETE


def test_a_job_that_was_killed_is_missing_too(done: dict[str, Sweep], capsys: pytest.CaptureFixture[str]) -> None:
    sweep = done["judges"]
    killed = Job(2, ("system=fake", "judge=fake", "promptset.langs=[ta]"))
    sweep.folder.write(killed, sweep.folder.path / "2")
    assert main(["aggregate", "--sweep", str(sweep.folder.path)]) == ExitCode.INCOMPLETE
    said = " ".join(capsys.readouterr().out.split())
    assert "sweep: 2 of 3 jobs have results" in said
    assert "failed: job 2: promptset.langs=[ta]: it was broken off 1 of 3 jobs are missing from this table." in said


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "name one run or more, or --sweep SWEEP"),
        (["latest", "--sweep", "latest"], "a sweep stands alone"),
        (["--sweep", "latest", "--format", "csv"], "a sweep stands alone"),
        (["--sweep", "/no/such/folder"], "/no/such/folder: not the folder of a sweep"),
    ],
)
def test_what_aggregate_refuses(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aggregate", *arguments]) in (ExitCode.USAGE, ExitCode.INCOMPLETE)
    assert told in capsys.readouterr().err


def test_a_smaller_sweep_in_the_folder_of_a_larger_one_knows_only_its_own_jobs(tmp_path: Path) -> None:
    large = ["promptset.langs=[hi],[ta],[en]", QUICK, "hydra.sweep.subdir=fixed"]
    small = ["promptset.langs=[ur],[hi]", QUICK, "hydra.sweep.subdir=fixed"]
    lines = [["-m", *words(tmp_path, *given), f"hydra.sweep.dir={tmp_path}/sweep"] for given in (large, small)]
    first, second = run_all(lines)
    assert (first.code, second.code) == (0, 0)
    assert "sweep: 3 of 3 jobs have results" in first.said
    assert "sweep: 2 of 2 jobs have results" in second.said
    assert "done once" not in second.said


def test_a_run_leaves_nothing_in_the_folder_that_hydra_would_use(tmp_path: Path) -> None:
    # Case hydra-04: twice with one hydra.run.dir.
    line = [*words(tmp_path, "promptset.langs=[hi]", QUICK), f"hydra.run.dir={tmp_path}/here"]
    first, second = run_all([line, line])
    assert (first.code, second.code) == (0, 0)
    assert "already finished" in second.said
    assert list((tmp_path / "here").iterdir()) == []
    assert len(list((tmp_path / "runs").iterdir())) == 1


def test_of_jobs_that_begin_at_once_one_has_the_run(tmp_path: Path) -> None:
    # Case hydra-05, for the jobs of a launcher that runs them side by side.
    sweep, holders = SweepFolder(tmp_path), []
    sweep.begin()
    begin = threading.Barrier(8)

    def claim(job: int) -> None:
        begin.wait()
        holders.append((job, sweep.claim("run", job)))

    threads = [threading.Thread(target=claim, args=(job,)) for job in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [holder] = {holder for _, holder in holders}
    assert (holder, holder) in holders
    assert sweep.claim("run", holder) == holder
    assert sweep.claim("other", 3) == 3
    sweep.begin()
    assert sweep.claim("run", (holder + 1) % 8) == (holder + 1) % 8


def test_the_latest_sweep_is_the_one_that_was_begun_last(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no sweep in this folder; make one with"):
        latest_sweep(tmp_path)
    for name in ("b", "a"):
        SweepFolder(tmp_path / name).begin()
    assert latest_sweep(tmp_path).path.name == "a"


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"sweep": "x"}', b'{"sweep": "x", "overrides": [], "n": 1}'])
def test_a_torn_record_is_named(tmp_path: Path, content: bytes) -> None:
    sweep = SweepFolder(tmp_path)
    sweep.begin()
    token = json.loads((tmp_path / "sweep.json").read_text(encoding="utf-8"))["token"]
    (tmp_path / "job_0.json").write_bytes(content.replace(b'"x"', json.dumps(token).encode()))
    with pytest.raises(StoreError, match=r"job_0\.json: not the record of a job"):
        sweep.jobs()


def _tsv(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))
