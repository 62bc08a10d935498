"""A sweep that is tracked offline: what W&B wrote is read back and compared with the products of the runs."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from runs import command, words
from wandb_log import OfflineRun, messages

KEYS = {
    "WANDB_API_KEY": "12345678" * 5,
    "OPENAI_API_KEY": "sk-12345678-of-a-test",
    "HF_TOKEN": "hf_12345678_of_a_test",
}


@dataclass
class Job:
    """One job of the sweep: its folder, the run at W&B, and its record."""

    folder: Path
    there: OfflineRun
    overrides: list[str]

    def json(self, name: str) -> dict[str, Any]:
        value: dict[str, Any] = json.loads((self.folder / name).read_text(encoding="utf-8"))
        return value

    def csv(self, name: str) -> list[dict[str, str]]:
        with (self.folder / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def aggregate(self, scope: str, metric: str = "cer") -> list[dict[str, str]]:
        return [row for row in self.csv("aggregate.csv") if row["scope"] == scope and row["metric"] == metric]


@dataclass
class Swept:
    """What a sweep of three jobs in one process left."""

    jobs: list[Job]
    root: Path
    said: str


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Swept:
    root = tmp_path_factory.mktemp("sweep")
    for name in ("home", "temporary", "here"):
        (root / name).mkdir()
    line = words(
        root,
        "system.stochastic=true",
        "system.slip_rate=0.2",
        "system.usd_per_1k_chars=2.5",
        "repeats=3",
        "scoring.draws=200",
        "scoring.seed=1,2,3",
        "study=nightly",
        "promptset.name=${oc.env:OPENAI_API_KEY}",  # nobody should; it happens
        "tracking=wandb_offline",
        "tracking.project=voices",
        "tracking.tags=[mine]",
        f"hydra.sweep.dir={root}/sweep",
    )
    own = {"HOME": str(root / "home"), "TMPDIR": str(root / "temporary"), **KEYS}
    done = subprocess.run(
        command("-m", *line),
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=root / "here",
        env={**os.environ, **own},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    records = [json.loads((root / f"sweep/{number}/job_{number}.json").read_text("utf-8")) for number in range(3)]
    jobs = []
    for record in records:
        folder = Path(record["folder"])
        [there] = folder.glob("wandb/offline-run-*")
        jobs.append(Job(folder, OfflineRun(there), record["overrides"]))
    return Swept(jobs, root, done.stdout)


def number(text: str) -> float | None:
    return float(text) if text else None


def test_every_job_is_a_run_of_its_own(swept: Swept) -> None:
    # Case hydra-15: without an end of each, all jobs of a process land in the first run.
    ids = [job.there.run.run_id for job in swept.jobs]
    assert ids == [job.folder.name for job in swept.jobs]
    assert len(set(ids)) == 3
    assert [job.there.exit_codes for job in swept.jobs] == [[0], [0], [0]]
    assert all(job.there.run.resume for job in swept.jobs)


def test_the_config_of_each_is_that_of_its_job(swept: Swept) -> None:
    root = swept.root
    for seed, job in enumerate(swept.jobs, start=1):
        config = job.there.config
        expected = [text.replace(f"{root}/", "…/") for text in job.overrides]
        assert config["overrides"] == expected
        assert f"scoring.seed={seed}" in expected
        assert config["scoring"]["seed"] == seed
        assert config["systems"]["fake"]["slip_rate"] == 0.2
        assert config["promptset"]["path"] == "…/prompts.jsonl"
        assert config["promptset"]["name"] == "***"
        assert config["prompts"] == {"en": 2, "hi": 2, "ta": 1, "ur": 1}
        assert not {"paths", "data", "tracking"} & set(config)


def test_a_study_is_a_group(swept: Swept) -> None:
    for job in swept.jobs:
        run = job.there.run
        assert (run.project, run.run_group, run.job_type) == ("voices", "nightly", "evaluation")
        assert list(run.tags) == ["fake", "***", "mine"]
        assert run.display_name == f"fake → fake · *** · {run.run_id[:8]}"


def test_headline_numbers_are_those_of_the_run_with_their_signature(swept: Swept) -> None:
    for job in swept.jobs:
        there, recorded = job.there.summary, job.json("summary.json")
        [headline] = recorded["headline"]
        assert headline["mean"] > 0
        assert headline["floor_kind"] == "measured"
        assert there["fake/cer"] == headline["mean"]
        for field in ("ci95_low", "ci95_high", "floor95", "floor_kind", "n_ok", "n_total", "status", "signature"):
            assert there[f"fake/cer/{field}"] == headline[field], field
        assert there["rows/ok"] == recorded["rows"]["ok"]
        assert (there["complete"], there["exit_code"]) == (True, 0)


def test_tables_by_language_are_those_of_the_run(swept: Swept) -> None:
    job = swept.jobs[-1]
    own = [row for row in job.csv("aggregate.csv") if row["scope"] == "lang"]
    shown = job.there.table("languages")
    assert [(row["system"], row["judge"], row["key"], row["metric"]) for row in shown] == [
        (row["system"], row["judge"], row["key"], row["metric"]) for row in own
    ]
    for mine, row in zip(own, shown, strict=True):
        assert [row[name] for name in ("mean", "ci95_low", "floor95")] == [
            number(mine[name]) for name in ("mean", "ci95_low", "floor95")
        ]
        assert (row["n_ok"], row["status"], row["signature"]) == (int(mine["n_ok"]), mine["status"], mine["signature"])


def test_noise_floors_are_those_of_the_run(swept: Swept) -> None:
    job = swept.jobs[-1]
    own = [row for row in job.csv("aggregate.csv") if row["floor_kind"] != "none"]
    shown = job.there.table("noise_floors")
    assert {row["scope"] for row in shown} >= {"lang", "macro"}
    assert [(row["scope"], row["key"], row["metric"], row["floor95"], row["var_synthesis"]) for row in shown] == [
        (row["scope"], row["key"], row["metric"], number(row["floor95"]), number(row["var_synthesis"])) for row in own
    ]


def test_the_floor_has_a_trend_over_earlier_runs_of_the_same_signature(swept: Swept) -> None:
    floors = [number(job.aggregate("macro")[0]["floor95"]) for job in swept.jobs]
    for place, job in enumerate(swept.jobs):
        steps = [step["floor_trend/fake/cer"] for step in job.there.history if "floor_trend/fake/cer" in step]
        assert steps == floors[: place + 1]
    last = swept.jobs[-1]
    past = [row for row in last.there.table("floor_trend") if (row["scope"], row["metric"]) == ("macro", "cer")]
    assert [row["run"] for row in past] == [job.folder.name for job in reversed(swept.jobs[:-1])]
    assert [row["floor95"] for row in past] == floors[-2::-1]
    assert {row["signature"] for row in past} == {last.aggregate("macro")[0]["signature"]}
    assert "floor_trend" not in swept.jobs[0].there.summary


def test_the_verdict_is_against_the_run_before(swept: Swept) -> None:
    assert "baseline/run" not in swept.jobs[0].there.summary
    for before, job in zip(swept.jobs, swept.jobs[1:], strict=False):
        there, own = job.there.summary, job.csv("baseline.csv")
        [macro] = [row for row in own if row["scope"] == "macro"]
        assert there["baseline/run"] == before.folder.name
        assert there["baseline/fake/cer"] == macro["verdict"]
        assert there["baseline/fake/cer/difference"] == number(macro["difference"])
        assert there["baseline/fake/cer/signature"] == macro["signature"]
        assert [row["verdict"] for row in job.there.table("baseline")] == [row["verdict"] for row in own]


def test_costs_and_times_stand_beside_what_was_planned(swept: Swept) -> None:
    first, last = swept.jobs[0], swept.jobs[-1]
    record = first.json("run.json")
    there = first.there.summary
    lines = (first.folder / "prompts.jsonl").read_text(encoding="utf-8").splitlines()
    characters = sum(len(json.loads(line)["text"]) for line in lines)
    assert there["usd/planned"] == pytest.approx(3 * characters * 2.5 / 1000)
    assert there["usd/spent"] == record["cost_usd"] == pytest.approx(there["usd/planned"])
    assert there["seconds/took"] == pytest.approx(sum(record["timings_s"].values()))
    # 0.0001 s a character and 0.002 s a hearing: what the fakes say that they take.
    assert there["seconds/planned"] == pytest.approx(3 * characters * 0.0001 + 3 * 6 * 0.002)
    parts = {row["part"]: row for row in first.there.table("costs")}
    assert list(parts) == ["system fake", "synthesis", "judge fake"]
    assert parts["synthesis"]["took_s"] == record["timings_s"]["synthesis"]
    # The later jobs found every clip and every judgment in the store.
    assert last.there.summary["seconds/planned"] is None
    assert last.there.summary["usd/spent"] == last.json("run.json")["cost_usd"]


def test_nothing_is_written_outside_the_run_folders(swept: Swept) -> None:
    assert list((swept.root / "home").iterdir()) == []
    assert list((swept.root / "temporary").iterdir()) == []
    assert list((swept.root / "here").iterdir()) == []
    written = {path.relative_to(swept.root / "runs").parts[0] for path in swept.root.glob("runs/**/wandb")}
    assert written == {job.folder.name for job in swept.jobs}
    assert not list(swept.root.glob("store/**/*wandb*"))


def test_no_secret_is_in_any_written_byte(swept: Swept) -> None:
    files = [path for path in swept.root.glob("runs/*/wandb/**/*") if path.is_file()]
    assert any(path.suffix == ".wandb" for path in files)
    for path in files:
        content = path.read_bytes()
        assert not [name for name, secret in KEYS.items() if secret.encode() in content], path


def test_the_machine_is_not_described(swept: Swept) -> None:
    for job in swept.jobs:
        assert job.there.run.host == ""
        assert not job.there.run.HasField("git")
        names = {path.name for path in job.there.folder.rglob("*")}
        assert not names & {"requirements.txt", "wandb-metadata.json", "output.log", "conda-environment.yaml"}
        opened = job.there.run.SerializeToString() + b"".join(
            one.SerializeToString() for one in job.there.of("summary")
        )
        assert str(swept.root).encode() not in opened
        assert job.there.of("stats") == []
        assert job.there.of("output_raw") == []


def test_the_user_is_told_how_to_send_it(swept: Swept) -> None:
    for job in swept.jobs:
        assert f"to send it: wandb sync {job.there.folder}" in swept.said


def test_a_log_is_read_over_the_borders_of_blocks() -> None:
    # Two records by hand: one over two blocks, one behind it.
    first, second = bytes(range(256)) * 150, b"second"
    room = 32_768 - 7 - 7
    head = b"\0" * 4 + room.to_bytes(2, "little") + b"\x02" + first[:room]
    rest = first[room:]
    tail = b"\0" * 4 + len(rest).to_bytes(2, "little") + b"\x04" + rest
    last = b"\0" * 4 + len(second).to_bytes(2, "little") + b"\x01" + second
    assert list(messages(b":W&B\0\0\0" + head + tail + last)) == [first, second]
