"""Engines keep to themselves: loading them writes nothing into the home of the user, nothing that could be sent."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.local
pytest.importorskip("onnxruntime")


def home_after(folder: Path, statement: str, **environment: str) -> list[str]:
    """What lies in an empty home after a fresh interpreter has run a statement."""
    folder.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ORT_", "HF_"))}
    command = [sys.executable, "-c", statement]
    subprocess.run(command, check=True, capture_output=True, env={**kept, "HOME": str(folder), **environment})
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_onnx_runtime_reports_nothing(tmp_path: Path) -> None:
    load = "from onnxruntime.capi import onnxruntime_pybind11_state as ort; ort.get_all_providers()"
    assert home_after(tmp_path / "ours", f"import kasauti; {load}") == []


def test_a_user_may_decide_otherwise() -> None:
    told = "import kasauti, os; print(os.environ['ORT_DISABLE_TELEMETRY'])"
    environment = {**os.environ, "ORT_DISABLE_TELEMETRY": "0"}
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "0"
