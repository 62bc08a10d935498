"""Writes that are whole or not there at all, and errors that name the folder."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from kasauti.errors import StoreError
from kasauti.store.files import folder_errors, write_bytes, write_text
from processes import output, start


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_folders_are_made_and_content_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "file.bin"
    write_bytes(path, b"old" * 1000)
    write_bytes(path, b"new\r\n")
    assert path.read_bytes() == b"new\r\n"
    assert leftovers(path.parent) == ["file.bin"]


def test_text_is_utf8_with_its_own_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    write_text(path, "नमस्ते\r\n\u2028\n")
    assert path.read_bytes() == "नमस्ते\r\n\u2028\n".encode()


def test_half_a_surrogate_pair_does_not_cost_the_file(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    write_text(path, "a\ud800b")
    assert path.read_text(encoding="utf-8") == "a\\ud800b"


def test_files_are_as_readable_as_the_umask_says(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_bytes(path, b"x")
    plain = tmp_path / "plain"
    plain.write_bytes(b"x")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


@pytest.mark.parametrize("name", ["क" * 80, "x" * 250, ".hidden", "a b\n"])
def test_long_and_odd_names(tmp_path: Path, name: str) -> None:
    write_bytes(tmp_path / name, b"x")
    assert leftovers(tmp_path) == [name]


@pytest.mark.parametrize("step", ["replace", "fsync"])
def test_a_failure_keeps_the_old_content_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "file"
    write_bytes(path, b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(StoreError, match=rf"can't write file in {tmp_path}: No space left on device.*run the same"):
        write_bytes(path, b"new")
    assert path.read_bytes() == b"old"
    assert leftovers(tmp_path) == ["file"]


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_bytes(tmp_path / "file", b"new")
    assert leftovers(tmp_path) == []


CUT_SHORT = """
import resource, sys
from pathlib import Path
from kasauti.errors import StoreError
from kasauti.store.files import write_bytes
path = Path(sys.argv[1])
write_bytes(path, b"old")
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))
try:
    write_bytes(path, b"new" * 3000)
except StoreError as error:
    print(error)
assert path.read_bytes() == b"old"
"""


def test_a_write_that_is_cut_short_keeps_the_old_content(tmp_path: Path) -> None:
    said = output(CUT_SHORT, tmp_path / "file")
    assert f"can't write file in {tmp_path}: File too large" in said
    assert leftovers(tmp_path) == ["file"]


REWRITER = """
import sys
from pathlib import Path
from kasauti.store.files import write_bytes
path, n = Path(sys.argv[1]), 0
while True:
    n += 1
    write_bytes(path, bytes([n % 256]) * 100_000)
    if n == 3:
        print("begun", flush=True)
"""


def test_a_reader_sees_a_whole_file_and_so_does_whoever_comes_after_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with start(REWRITER, path) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "begun\n"
        for _ in range(50):
            content = path.read_bytes()
            assert len(content) == 100_000
            assert len(set(content)) == 1
        writer.kill()
    content = path.read_bytes()
    assert (len(content), len(set(content))) == (100_000, 1)


KILLED = """
import os, signal, sys
from pathlib import Path
from kasauti.store.files import write_bytes
os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
write_bytes(Path(sys.argv[1]), b"new" * 1000)
"""


def test_what_a_killed_writer_left_is_gone_after_the_next_write(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_bytes(path, b"old")
    with start(KILLED, path) as writer:
        assert writer.wait() == -signal.SIGKILL
    assert path.read_bytes() == b"old"
    assert len(leftovers(tmp_path)) == 2
    write_bytes(path, b"new")
    assert path.read_bytes() == b"new"
    assert leftovers(tmp_path) == ["file"]


def test_names_that_begin_alike_are_written_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beside = []
    monkeypatch.setattr(os, "replace", lambda source, _path: beside.append(source))
    for end in "ab":
        write_bytes(tmp_path / f"{'x' * 60}{end}", b"x")
    assert beside[0] != beside[1]


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda folder: folder.write_text("a file"), "File exists|Not a directory"),
        (lambda folder: folder.symlink_to("leads_nowhere"), "File exists|No such file"),
    ],
)
def test_a_folder_that_can_not_be_written_to_is_named(tmp_path: Path, make: Callable[[Path], object], why: str) -> None:
    folder = tmp_path / "out"
    make(folder)
    with pytest.raises(StoreError, match=rf"can't write file in {folder}: ({why})"):
        write_bytes(folder / "file", b"x")


def test_only_errors_of_the_operating_system_are_turned() -> None:
    with pytest.raises(ValueError, match="mine"), folder_errors(Path("x"), "do"):
        raise ValueError("mine")
    with pytest.raises(StoreError, match="can't do in x: odd"), folder_errors(Path("x"), "do"):
        raise OSError("odd")
