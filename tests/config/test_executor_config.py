"""Where work is done: keys of `executor=ray`, which change no run's id; launchers that are not there are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kasauti.errors import ConfigError
from kasauti.pipeline.plan import make_plan
from kasauti.pipeline.ray_executor import RayOptions
from runs import run_apart, settings


def test_the_file_gives_the_options(tmp_path: Path) -> None:
    target = "kasauti.pipeline.ray_executor.RayExecutor"
    assert settings(tmp_path, "executor=ray").executor == RayOptions(target)
    words = ["executor=ray", "executor.workers=20", "executor.address=10.0.0.1:6379", "executor.gpus_per_actor=0.5"]
    assert settings(tmp_path, *words, "executor.shard=32").executor == RayOptions(target, 20, "10.0.0.1:6379", 0.5, 32)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("shard", 0, "executor.shard=0: must be at least 1"),
        ("gpus_per_actor", -1, "executor.gpus_per_actor=-1.0: must be at least 0"),
        ("workers", -1, "executor.workers=-1: must be at least 0"),
    ],
)
def test_numbers_out_of_range_are_refused(tmp_path: Path, key: str, value: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        settings(tmp_path, "executor=ray", f"executor.{key}={value}")


def test_where_work_is_done_is_no_part_of_a_run_s_id(tmp_path: Path) -> None:
    here, there = (make_plan(settings(tmp_path, f"executor={name}")) for name in ("local", "ray"))
    assert here.run_id == there.run_id
    assert [take.clip_id for take in here.takes] == [take.clip_id for take in there.takes]


def test_a_launcher_that_is_not_there_is_told_with_its_extra() -> None:
    ended = run_apart("-m", "hydra/launcher=sge", "dry_run=true")
    assert ended.returncode == 2
    assert "no launcher called 'sge': joblib, ray, submitit_local and submitit_slurm are there after" in ended.stderr
    assert "pip install -e '.[cluster]'" in ended.stderr
