"""kill -9 at any moment, and the same command again: every table comes out the same, bit for bit.

Real processes and, where the speech engines are installed, a real stochastic voice and a real recogniser. Moments are
drawn between the start and the time that an unbroken run takes, so that every stage is hit.
"""

from __future__ import annotations

import itertools
import random
import subprocess
import time
from pathlib import Path

import pytest

from runs import command, lines_of, prompt_file, result_tables, words

KILLS = 10


def run_to_the_end(arguments: list[str]) -> None:
    ended = subprocess.run(command(*arguments), capture_output=True, text=True, encoding="utf-8", check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def killed_after(arguments: list[str], delay_s: float) -> bool:
    """Starts a run and kills it with SIGKILL after a while; False if it had ended by then."""
    process = subprocess.Popen(command(*arguments), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(timeout=delay_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return True
    return False


def the_only_run(folder: Path) -> Path:
    (run,) = (path.parent for path in (folder / "runs").glob("*/status.json"))
    return run


def broken_and_unbroken(tmp_path: Path, lines: list[tuple[str, str, str]], *overrides: str, **groups: str) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    prompt_file(whole, lines)
    began = time.monotonic()
    run_to_the_end(words(whole, *overrides, **groups))
    unbroken_s = time.monotonic() - began
    draw = random.Random(20261201)
    kills = 0
    for attempt in itertools.count():
        if kills >= KILLS:
            break
        broken = tmp_path / f"broken-{attempt}"
        broken.mkdir()
        prompt_file(broken, lines)
        arguments = words(broken, *overrides, **groups)
        while killed_after(arguments, unbroken_s * draw.uniform(0.2, 0.95)):
            kills += 1
        run_to_the_end(arguments)
        assert result_tables(the_only_run(broken)) == result_tables(the_only_run(whole))
        assert sounds(broken) == sounds(whole)
    print(f"{kills} kills")


def sounds(folder: Path) -> dict[str, str]:
    """Clip id -> hash of its audio."""
    return {clip["clip_id"]: clip["audio_sha256"] for clip in lines_of(folder / "store" / "clips.jsonl")}


def test_fake_parts_in_worker_processes(tmp_path: Path) -> None:
    lines = [(f"p{n}", "bn", f"এটি বাক্য নম্বর {n}") for n in range(150)]
    copies = ["system.workers=2", "system.stochastic=true", "system.slip_rate=0.2", "repeats=2"]
    broken_and_unbroken(tmp_path, lines, *copies, "judge.slip_rate=0.1", "rejudges=2")


@pytest.mark.local
def test_piper_and_whisper(tmp_path: Path) -> None:
    lines = [
        ("k1", "en", "The last bus to the village leaves at nine."),
        ("k2", "en", "Krishnamurthy bought twelve ripe mangoes."),
        ("k3", "en", "It rained all night in Shillong."),
        ("k4", "en", "Keep the change, my friend."),
    ]
    broken_and_unbroken(tmp_path, lines, "repeats=2", system="piper", judge="whisper")
