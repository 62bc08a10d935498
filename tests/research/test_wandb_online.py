"""What is sent to W&B, by a run itself or later by `wandb sync`, and what isn't; to a stand-in on this machine."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kasauti.errors import ExitCode
from kasauti.pipeline import run as pipeline
from kasauti.tracking import wandb as tracking
from runs import run_here
from wandb_log import OfflineRun
from wandb_server import WandbServer

KEY = "12345678" * 5
OTHER_KEY = "sk-12345678-of-a-test"
WORDS = ("scoring.draws=100", "study=nightly", "repeats=2", "system.stochastic=true", "system.slip_rate=0.2")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    empty = tmp_path / "home"
    empty.mkdir()
    monkeypatch.setenv("HOME", str(empty))
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", OTHER_KEY)
    return empty


def test_a_run_is_sent_and_the_machine_is_not(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with WandbServer() as server:
        monkeypatch.setenv("WANDB_BASE_URL", server.url)
        ran = run_here(tmp_path, *WORDS, f"promptset.name={OTHER_KEY}", "tracking=wandb", "tracking.entity=team")
    run_id, folder = ran.result.run_id, ran.result.folder
    assert f"W&B: {server.url}/me/kasauti/runs/{run_id}" in ran.said
    assert "Not tracked" not in ran.said
    opened = server.asked("UpsertBucket")[0]
    assert (opened["name"], opened["project"], opened["entity"]) == (run_id, "kasauti", "team")
    assert (opened["groupName"], opened["jobType"]) == ("nightly", "evaluation")
    of_the_machine = ("host", "program", "repo", "commit", "notes", "sweep")
    assert {name: opened[name] for name in of_the_machine if opened[name]} == {"program": "run.py"}
    assert server.streamed() == {"uploaded": server.streamed()["uploaded"], "complete": True, "exitcode": 0}
    uploaded = server.uploaded()
    summary = json.loads(uploaded["wandb-summary.json"])
    [headline] = json.loads((folder / "summary.json").read_text("utf-8"))["headline"]
    assert headline["mean"] > 0
    assert (summary["fake/cer"], summary["fake/cer/signature"]) == (headline["mean"], headline["signature"])
    tables = {name.split("/")[2].rpartition("_")[0][:-2] for name in uploaded if name.startswith("media/table/")}
    assert tables == {"languages", "noise_floors", "costs"}
    pictures = {name for name in uploaded if name.startswith("media/images/figures/")}
    assert {Path(name).name.rsplit("_", 2)[0] for name in pictures} == {
        path.stem for path in (folder / "figures").glob("*.png")
    }
    assert set(uploaded) == {"wandb-summary.json", "config.yaml"} | pictures | {
        n for n in uploaded if n.startswith("media/table/")
    }
    assert list(home.iterdir()) == []
    basic = "Basic " + base64.b64encode(f"api:{KEY}".encode()).decode()
    assert {one.headers["authorization"] for one in server.requests if "authorization" in one.headers} == {basic}
    for request in server.requests:
        told = request.path.encode() + request.body
        told += json.dumps({k: v for k, v in request.headers.items() if k != "authorization"}).encode()
        for unwanted in (KEY, OTHER_KEY, str(tmp_path)):
            assert unwanted.encode() not in told, (request.operation, request.path)
    for path in (folder / "wandb").rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        assert KEY.encode() not in content, path
        assert OTHER_KEY.encode() not in content, path


def test_an_offline_run_is_sent_later(tmp_path: Path, home: Path) -> None:
    ran = run_here(tmp_path, *WORDS, "tracking=wandb_offline")
    [folder] = ran.result.folder.glob("wandb/offline-run-*")
    there = OfflineRun(folder)
    with WandbServer() as server:
        done = subprocess.run(
            [sys.executable, "-m", "wandb", "sync", str(folder)],
            env={**os.environ, "WANDB_BASE_URL": server.url, "WANDB_ERROR_REPORTING": "false"},
            cwd=home,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert server.asked("UpsertBucket")[0]["name"] == ran.result.run_id
    uploaded = server.uploaded()
    for name in ("languages", "noise_floors", "costs"):
        path = there.summary[name]["path"]
        assert uploaded[path] == (folder / "files" / path).read_bytes()
    assert json.loads(uploaded["wandb-summary.json"])["fake/cer"] == there.summary["fake/cer"]


def test_a_server_that_refuses_costs_the_run_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with WandbServer(status=401) as server:
        monkeypatch.setenv("WANDB_BASE_URL", server.url)
        ran = run_here(tmp_path, *WORDS, "tracking=wandb")
    assert server.requests
    assert ran.result.exit_code is ExitCode.COMPLETE
    assert (ran.result.folder / "report.html").is_file()
    assert ran.said.count("Not tracked") == 1


def test_a_network_that_goes_away_costs_the_run_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_products = pipeline.write_products
    with WandbServer() as server:

        def cut_off(*given: Any) -> None:
            server.close()
            write_products(*given)

        monkeypatch.setenv("WANDB_BASE_URL", server.url)
        monkeypatch.setattr(pipeline, "write_products", cut_off)
        monkeypatch.setattr(tracking, "_FINISH_PATIENCE_S", 0.5)
        monkeypatch.setenv("WANDB_HTTP_TIMEOUT", "1")
        ran = run_here(tmp_path, *WORDS, "tracking=wandb")
    assert ran.result.exit_code is ExitCode.COMPLETE
    assert (ran.result.folder / "report.html").is_file()
    assert ran.said.count("Not tracked") == 1
