"""Sweeps whose jobs run in other processes come to the same as one after the other in this one.

Slurm itself is not here: `sbatch`, `srun` and `sacct` are stood in for by three small programs that run the composed
script on this machine, task by task, as an array would.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kasauti.pipeline.products import RESULT_TABLES
from processes import ENVIRONMENT
from runs import command, prompt_file

LINES = [("p1", "hi", "आज मौसम अच्छा है"), ("p2", "ta", "நாளை மழை வரும்"), ("p3", "hi", "मुझे पानी चाहिए")]


@dataclass
class Swept:
    """What a sweep of two jobs left behind."""

    code: int
    said: str
    complaints: str
    folder: Path

    def tables(self) -> dict[str, dict[str, bytes]]:
        """Run id -> its tables; the common table of the sweep among them."""
        runs = sorted(path.parent for path in (self.folder / "runs").glob("*/aggregate.csv"))
        return {
            run.name: {name: (run / name).read_bytes() for name in RESULT_TABLES if (run / name).exists()}
            for run in runs
        }

    def end(self) -> str:
        """The end of what was said: the common table."""
        table = self.said[self.said.index("sweep:") :]
        return re.sub(r"(?m)^(job \d+ said|\x1b\[\d+m\().*\n?", "", table).replace(str(self.folder), "FOLDER")


@pytest.fixture
def environment() -> Iterator[dict[str, str]]:
    """What other processes are told: files of Ray in a short folder that is removed, none in the user's home."""
    with tempfile.TemporaryDirectory(prefix="ray") as folder:
        ray = {"RAY_TMPDIR": folder, "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}
        yield {**ENVIRONMENT, **ray}


def sweep(folder: Path, environment: dict[str, str], *overrides: str) -> Swept:
    """Two jobs, Hindi and Tamil, in the folder that the config gives a sweep, moved."""
    folder.mkdir()
    words = [
        *("-m", "system=fake", "judge=fake", "promptset=file", "promptset.langs=[hi],[ta]", "system.slip_rate=0.2"),
        f"promptset.path={prompt_file(folder, LINES)}",
        *(f"paths.runs={folder}/runs", f"paths.store={folder}/store"),
        f"hydra.sweep.dir={folder}/sweeps/${{now:%H-%M-%S}}_${{kasauti_pid:}}",
    ]
    done = subprocess.run(
        command(*words, *overrides), capture_output=True, text=True, encoding="utf-8", env=environment, check=False
    )
    return Swept(done.returncode, done.stdout, done.stderr, folder)


@pytest.fixture(scope="module")
def basic(tmp_path_factory: pytest.TempPathFactory) -> Swept:
    swept = sweep(tmp_path_factory.mktemp("basic") / "run", dict(ENVIRONMENT))
    assert swept.code == 0, swept.complaints
    assert len(swept.tables()) == 3
    return swept


LAUNCHERS = ["joblib", "ray", "submitit_local"]


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_sweep_comes_to_the_same(basic: Swept, launcher: str, tmp_path: Path, environment: dict[str, str]) -> None:
    swept = sweep(tmp_path / "run", environment, f"hydra/launcher={launcher}")
    assert swept.code == 0, swept.complaints
    assert swept.tables() == basic.tables()
    assert swept.end() == basic.end()
    assert len(list((swept.folder / "sweeps").iterdir())) == 1  # all jobs found the one folder of their sweep


@pytest.mark.parametrize("launcher", ["basic", "joblib"])
def test_a_job_that_fails_elsewhere_is_named_at_the_end(
    launcher: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    swept = sweep(tmp_path / "run", environment, f"hydra/launcher={launcher}", "system.langs=[ta]", "rejudges=1,0")
    assert swept.code == 2
    assert "sweep: 2 of 4 jobs have results" in swept.said
    assert swept.said.count("rejudges=0: must be at least 1") == 2
    assert len(swept.tables()) == 3


def test_a_job_whose_process_dies_does_not_cost_the_end_of_the_sweep(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    words = ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2", "system.kill_ids=[p2]")
    swept = sweep(tmp_path / "run", environment, *words)
    assert swept.code == 1
    assert "error: the process of a job ended before its job did (TerminatedWorkerError" in swept.complaints
    assert "Traceback" not in swept.complaints
    assert "promptset.langs=[ta]: it was broken off" in swept.said
    assert "of 2 jobs are missing from this table. Run the same command again" in " ".join(swept.said.split())


# --- Slurm


SBATCH = """#!{python}
import os, re, subprocess, sys
script = open(sys.argv[-1]).read()
last = int(re.search(r"^#SBATCH --array=0-(\\d+)", script, re.M)[1])
print("Submitted batch job 77", flush=True)
for task in range(last + 1):
    environment = dict(os.environ, SLURM_JOB_ID=str(100 + task), SLURM_ARRAY_JOB_ID="77", SLURM_ARRAY_TASK_ID=str(task),
        SLURM_NTASKS="1", SLURM_PROCID="0", SLURM_LOCALID="0", SLURM_NODEID="0", SLURM_JOB_NUM_NODES="1",
        SLURM_JOB_NODELIST="here", SLURM_STEP_TASKS_PER_NODE="1")
    # The task waits for what submitit lays down once this program has ended.
    subprocess.Popen(["bash", sys.argv[-1]], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
"""

SRUN = """#!{python}
import os, sys
words = sys.argv[1:]
while words[0].startswith("-"):
    words = words[2:] if words[0] in ("--output", "--error") else words[1:]
os.execvp(words[0], words)
"""

SACCT = """#!{python}
print("JobID|State|NodeList")
for task in range(2):
    print(f"77_{{task}}|COMPLETED|here")
"""


@pytest.fixture
def slurm(tmp_path: Path, environment: dict[str, str]) -> dict[str, str]:
    """An environment with the three programs on its path."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, source in {"sbatch": SBATCH, "srun": SRUN, "sacct": SACCT}.items():
        (programs / name).write_text(source.format(python=sys.executable))
        (programs / name).chmod(0o755)
    return {**environment, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}


def test_slurm_gets_a_script_that_does_the_work(basic: Swept, slurm: dict[str, str], tmp_path: Path) -> None:
    asked = ["timeout_min=720", "gpus_per_node=1", "cpus_per_task=8", "partition=gpu", "max_num_timeout=3"]
    swept = sweep(
        tmp_path / "run",
        slurm,
        "hydra/launcher=submitit_slurm",
        *(f"hydra.launcher.{word}" for word in asked),
    )
    assert swept.code == 0, swept.complaints
    assert swept.tables() == basic.tables()
    (script,) = (swept.folder / "sweeps").glob("*/.submitit/*submission*.sh")
    lines = script.read_text().splitlines()
    expected = ["array=0-1%2", "cpus-per-task=8", "gpus-per-node=1", "job-name=kasauti", "partition=gpu", "time=720"]
    assert {f"#SBATCH --{word}" for word in expected} <= set(lines)
    (started,) = (line for line in lines if line.startswith("srun "))
    assert f"{sys.executable} -u -m submitit.core._submit" in started
