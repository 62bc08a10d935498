"""Published data that is not in this repository: `KASAUTI_SHARED_DATA`, or `shared/data/indicemo` beside it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

_BESIDE = Path(__file__).parents[3] / "shared" / "data" / "indicemo"


@pytest.fixture(scope="session")
def bundle() -> Path:
    """The folder of the published bundle, to be read only."""
    folder = Path(os.environ.get("KASAUTI_SHARED_DATA") or _BESIDE)
    if not (folder / "checksums.sha256").is_file():
        pytest.skip(f"no IndicEmo bundle in {folder}; set KASAUTI_SHARED_DATA to a folder that holds checksums.sha256")
    return folder


@pytest.fixture
def copied(bundle: Path, tmp_path: Path) -> Path:
    """A copy of the bundle that a test may damage."""
    folder = tmp_path / "bundle"
    shutil.copytree(bundle, folder, copy_function=shutil.copyfile)
    folder.chmod(0o755)
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder
