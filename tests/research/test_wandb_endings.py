"""How a tracked run may end: failed, interrupted, gone on with, finished before, without a network."""

from __future__ import annotations

import csv
import socket
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kasauti.errors import ExitCode
from kasauti.pipeline import run as pipeline
from kasauti.tracking import wandb as tracking
from processes import output
from runs import Ran, run_here
from wandb_log import OfflineRun

KEY = "12345678" * 5


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of the test's own, which must stay empty."""
    empty = tmp_path / "home"
    empty.mkdir()
    monkeypatch.setenv("HOME", str(empty))
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    yield empty
    assert list(empty.iterdir()) == []


def tracked(folder: Path, *overrides: str) -> Ran:
    return run_here(folder, "scoring.draws=100", "tracking=wandb_offline", *overrides)


def offline(folder: Path) -> list[OfflineRun]:
    """All offline runs below a folder, oldest first."""
    return [OfflineRun(path) for path in sorted(folder.glob("runs/*/wandb/offline-run-*"))]


@pytest.mark.parametrize(
    ("error", "code"), [(RuntimeError("disk of /srv/voices/me is full"), 1), (KeyboardInterrupt("stop"), 130)]
)
def test_a_run_that_raises_is_finished_as_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    def fails(*_: Any) -> None:
        raise error

    with monkeypatch.context() as broken:
        broken.setattr(pipeline, "write_products", fails)
        with pytest.raises(type(error)):
            tracked(tmp_path)
    [there] = offline(tmp_path)
    assert there.exit_codes == [code]
    told = str(error).replace("/srv/voices/me", "…/me")
    assert (there.summary["error"], there.summary["exit_code"]) == (f"{type(error).__name__}: {told}", code)
    # The next run of this process is another one at W&B.
    ran = tracked(tmp_path, "promptset.limit=1")
    [after] = [one for one in offline(tmp_path) if one.exit_codes == [0]]
    assert after.run.run_id == ran.result.run_id != there.run.run_id
    assert "error" not in after.summary


def test_a_run_that_goes_on_keeps_its_id(tmp_path: Path) -> None:
    first = tracked(tmp_path, "system.usd_per_1k_chars=1", "budget.max_usd=0")
    assert first.result.exit_code is ExitCode.INCOMPLETE
    second = tracked(tmp_path, "system.usd_per_1k_chars=1")
    assert second.result.run_id == first.result.run_id
    there = offline(tmp_path)
    assert [one.run.run_id for one in there] == [first.result.run_id] * 2
    assert [one.exit_codes for one in there] == [[1], [0]]
    assert [one.summary["complete"] for one in there] == [False, True]
    assert there[0].summary["rows/not_run"] == 6


def test_a_finished_run_is_shown_again_only_when_asked_for(tmp_path: Path) -> None:
    run_here(tmp_path, "scoring.draws=100")
    ran = tracked(tmp_path)
    assert "already finished" in ran.said
    assert "W&B" not in ran.said
    assert not (ran.result.folder / "wandb").exists()
    tracked(tmp_path, "tracking.again=true")
    [there] = offline(tmp_path)
    assert there.run.run_id == ran.result.run_id
    assert there.summary["fake/cer"] == 0.0
    assert there.summary["seconds/planned"] is None


def png(width: int, height: int) -> bytes:
    """A grey picture, by the PNG specification (section 5: chunks of length, type, data, CRC)."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    lines = zlib.compress((b"\0" + b"\x80" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", lines) + chunk(b"IEND", b"")


def test_pictures_in_the_run_folder_are_shown(tmp_path: Path) -> None:
    folder = run_here(tmp_path, "scoring.draws=100").result.folder
    (folder / "figures").mkdir()
    (folder / "figures" / "floors.png").write_bytes(png(5, 3))
    (folder / "figures" / "floors.svg").write_text("<svg/>", encoding="utf-8")
    tracked(tmp_path, "tracking.again=true")
    [there] = offline(tmp_path)
    picture = there.summary["figures/floors"]
    assert (picture["width"], picture["height"]) == (5, 3)
    assert (there.folder / "files" / picture["path"]).read_bytes() == png(5, 3)


def test_a_line_up_names_its_systems(tmp_path: Path) -> None:
    members = "system.members=[{use: fake, id: a}, {use: fake, id: b, slip_rate: 0.5}]"
    ran = run_here(tmp_path, "scoring.draws=100", "tracking=wandb_offline", members, system="lineup")
    [there] = offline(tmp_path)
    assert there.summary["a/fake/cer"] == 0.0
    assert there.summary["b/fake/cer"] > 0.0
    with (ran.result.folder / "verdicts.csv").open(encoding="utf-8", newline="") as file:
        own = [(row["a"], row["b"], row["metric"], row["key"], row["verdict"]) for row in csv.DictReader(file)]
    shown = there.table("verdicts")
    assert [(row["a"], row["b"], row["metric"], row["key"], row["verdict"]) for row in shown] == own


def test_without_a_network_a_run_has_all_its_products(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        monkeypatch.setenv("WANDB_BASE_URL", f"http://127.0.0.1:{taken.getsockname()[1]}")
        monkeypatch.setattr(tracking, "_BEGIN_PATIENCE_S", 0.5)
        ran = run_here(tmp_path, "scoring.draws=100", "tracking=wandb")
    assert ran.result.exit_code is ExitCode.COMPLETE
    assert (ran.result.folder / "report.html").is_file()
    assert ran.said.count("Not tracked") == 1
    assert "tracking.again=true" in ran.said
    for path in ran.result.folder.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


def test_without_a_tracker_the_package_is_not_even_imported(tmp_path: Path, home: Path) -> None:
    code = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from runs import run_here
run_here(Path(sys.argv[2]), "scoring.draws=100", *sys.argv[3:])
print("wandb" in sys.modules)
"""
    tests = Path(__file__).parents[1]
    assert output(code, tests, tmp_path).strip() == "False"
    assert output(code, tests, tmp_path, "tracking=wandb_offline", "tracking.again=true").strip() == "True"
    assert not list(tmp_path.glob("wandb"))
