"""The append-only log: any text, torn ends, full disks, several writers, writers that are killed."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.errors import StoreError
from kasauti.store import jsonl
from kasauti.store.jsonl import JsonlLog
from processes import output, start

Note = tuple[str, str]

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
"""Lone surrogates, line separators and control characters among them."""

# The same log, for processes of their own.
LOG = """
import os, sys
from pathlib import Path
from kasauti.errors import StoreError
from kasauti.store.jsonl import JsonlLog
def open_log(path):
    return JsonlLog(Path(path), lambda r: {"note_id": r[0], "text": r[1]}, lambda v: (v["note_id"], v["text"]))
"""


def encode(note: Note) -> Mapping[str, Any]:
    return {"note_id": note[0], "text": note[1]}


def decode(value: Mapping[str, Any]) -> Note:
    return value["note_id"], value["text"]


def open_log(path: Path) -> JsonlLog[Note]:
    return JsonlLog(path, encode, decode)


def log_of(path: Path, *notes: Note) -> JsonlLog[Note]:
    log = open_log(path)
    for note in notes:
        log.put(note)
    return log


@pytest.mark.parametrize(
    "text",
    [
        "a\u2028b\u2029c",
        "a\x85b\x0bc\x0cd\x1ce",
        "a\rb\r\nc\nd",
        "nul \x00 in it",
        "👩🏽‍🚀 😀",
        "half \ud800 a pair \udfff",
        '"}\n{"note_id":"ff","text":"not a record"}',
        "\ufeff",
        "",
        "க்ஷ" * 2000,
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_any_text_is_one_line_and_comes_back(tmp_path: Path, text: str) -> None:
    path = tmp_path / "log.jsonl"
    log = log_of(path, ("a1", text), ("b2", "next"))
    assert path.read_bytes().count(b"\n") == 2
    for reader in (log, open_log(path)):
        assert reader.get("a1") == ("a1", text)
        assert reader.get("b2") == ("b2", "next")
        assert list(reader) == ["a1", "b2"]


def test_property_any_text_comes_back(tmp_path: Path) -> None:
    log = open_log(tmp_path / "log.jsonl")

    @given(ANY_TEXT)
    def check(text: str) -> None:
        log.put(("a1", text))
        assert log.get("a1") == ("a1", text)

    check()
    assert open_log(log.path).get("a1") == log.get("a1")


def test_the_last_record_of_an_id_counts(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    other = open_log(path)
    log = log_of(path, ("a1", "failed"), ("b2", "x"), ("a1", "made again"))
    assert log.get("a1") == ("a1", "made again")
    assert len(log) == 2
    assert other.get("a1") is None
    other.refresh()
    assert other.get("a1") == ("a1", "made again")
    assert "a1" in other
    assert "c3" not in other


def test_nothing_is_made_before_the_first_write(tmp_path: Path) -> None:
    log = open_log(tmp_path / "folder" / "log.jsonl")
    log.refresh()
    assert (len(log), log.get("a1"), list(tmp_path.iterdir())) == (0, None, [])


@pytest.mark.parametrize("record", [("", "x"), ("Not hex", "x"), ("a-1", "x")])
def test_a_record_without_an_id_is_never_written(tmp_path: Path, record: Note) -> None:
    log = open_log(tmp_path / "log.jsonl")
    with pytest.raises(ValueError, match="begin with its id"):
        log.put(record)
    assert not log.path.exists()


TORN = {
    "part of a record": b'{"note_id":"c3","text":"to',
    "part of a letter": '{"note_id":"c3","text":"क'.encode()[:-1],
    "one byte": b"{",
    "binary junk": b"\x00\xff\xfe\x80" * 50,
    "zeros of a lost block": b"\x00" * 4096,
    "a whole value that is no record": b"[1]",
    "an object without an id": b'{"text":"x"}',
    "deeply nested junk": b"[" * 200_000,
}


@pytest.mark.parametrize("torn", TORN.values(), ids=TORN)
def test_a_torn_last_line_is_unseen_and_set_aside_by_the_next_writer(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "log.jsonl"
    log = log_of(path, ("a1", "x"), ("b2", "y"))
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    reader = open_log(path)
    assert list(reader) == ["a1", "b2"]
    assert path.read_bytes() == whole + torn  # a reader mends nothing
    reader.put(("d4", "z"))
    assert path.read_bytes() == whole + b'{"note_id":"d4","text":"z"}\n'
    assert (tmp_path / "log.torn").read_bytes() == torn + b"\n"
    log.refresh()
    assert list(log) == list(open_log(path)) == ["a1", "b2", "d4"]


def test_a_whole_record_without_its_line_end_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    log_of(path, ("a1", "x"))
    with path.open("ab") as file:
        file.write(b'{"note_id":"b2","text":"paid for"}')
    log = open_log(path)
    assert "b2" not in log
    log.put(("c3", "z"))
    assert [log.get(identity) for identity in log] == [("a1", "x"), ("b2", "paid for"), ("c3", "z")]
    assert list(open_log(path)) == ["a1", "b2", "c3"]
    assert not (tmp_path / "log.torn").exists()


def test_a_file_that_is_torn_from_its_start_is_mended(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"note_i')
    log = open_log(path)
    assert len(log) == 0
    log.put(("a1", "x"))
    assert list(open_log(path)) == ["a1"]


@pytest.mark.parametrize(
    "line", [b"garbage", b"", b'{"text":"no id"}', b'{"note_id":5,"text":"x"}', b'{"note_id":"XY","text":"x"}', b"\xff"]
)
def test_a_line_that_is_no_record_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "log.jsonl"
    log_of(path, ("a1", "x"), ("b2", "y"))
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + line + b"\n" + second)
    with pytest.raises(StoreError, match=rf"{path}:2: not a record .*Move that line"):
        open_log(path)


@pytest.mark.parametrize(
    "line", [b'{"note_id":"b2","text":"cut', b'{"note_id":"b2"}', b'{"note_id":"b2","text":"\xff"}']
)
def test_a_broken_line_that_begins_like_a_record_is_named_when_it_is_read(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "log.jsonl"
    log_of(path, ("a1", "x"))
    with path.open("ab") as file:
        file.write(line + b"\n")
    log = log_of(path, ("c3", "z"))
    assert log.get("c3") == ("c3", "z")
    with pytest.raises(StoreError, match=rf"{path}:2: not a record"):
        log.get("b2")


@pytest.mark.parametrize("block", [1, 2, 30, 64, 1000])
def test_files_larger_than_a_block_are_indexed_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(jsonl, "_BLOCK_BYTES", block)
    path = tmp_path / "log.jsonl"
    notes = [(f"{n:04x}", "क" * (n * 7 % 40)) for n in range(40)]
    log = open_log(path)
    for note in notes:
        log.put(note)
    with path.open("ab") as file:
        file.write(b'{"note_id":"ffff","text":"' + b"x" * 2 * block)  # torn, and longer than a block
    for reader in (log, open_log(path)):
        reader.refresh()
        assert [reader.get(identity) for identity in reader] == notes
    log.put(("eeee", "last"))
    assert list(open_log(path)) == [identity for identity, _ in notes] + ["eeee"]


def test_threads_share_a_log_and_logs_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    shared, errors = open_log(path), []

    def write(log: JsonlLog[Note], first: int) -> None:
        try:
            for n in range(first, first + 40):
                log.put((f"{n:04x}", "x" * n))
        except Exception as error:
            errors.append(error)

    logs = [shared, shared, open_log(path)]
    threads = [threading.Thread(target=write, args=(log, 100 * place)) for place, log in enumerate(logs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    shared.refresh()
    assert len(shared) == len(open_log(path)) == 120
    assert shared.get(f"{239:04x}") == (f"{239:04x}", "x" * 239)


WRITER = (
    LOG
    + """
first = int(sys.argv[2])
log = open_log(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for n in range(first, first + 200):
    log.put((f"{n:06x}", "\\u2028नमस्ते" * (n % 50)))
"""
)


def test_two_processes_append_at_once(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    writers = [start(WRITER, path, first) for first in (0, 1000)]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    ends = [(writer.communicate()[1], writer.returncode) for writer in writers]
    assert ends == [("", 0)] * 2
    log = open_log(path)
    expected = {f"{n:06x}" for n in (*range(200), *range(1000, 1200))}
    assert set(log) == expected
    assert len(path.read_bytes().split(b"\n")) == 401
    assert all(log.get(identity) == (identity, "\u2028नमस्ते" * (int(identity, 16) % 50)) for identity in expected)


KILLED = (
    LOG
    + """
log, n = open_log(sys.argv[1]), int(sys.argv[2])
while True:
    log.put((f"{n:06x}", "x" * 20_000))
    print(n, flush=True)
    n += 1
"""
)


def test_a_killed_writer_loses_nothing_that_it_had_recorded(tmp_path: Path) -> None:
    path, draw = tmp_path / "log.jsonl", random.Random(5)
    recorded: set[str] = set()
    for attempt in range(6):
        with start(KILLED, path, 100_000 * attempt) as writer:
            assert writer.stdout is not None
            for _ in range(draw.randrange(1, 12)):
                recorded.add(f"{int(writer.stdout.readline()):06x}")
            writer.kill()
            rest = writer.stdout.read().splitlines()
        recorded |= {f"{int(line):06x}" for line in rest}
        assert recorded <= set(open_log(path))
    log = log_of(path, ("abc", "and on it goes"))
    assert recorded <= set(log)
    assert len(log) <= len(recorded) + 1 + 6  # at most the one in flight each time
    assert all(log.get(identity) == (identity, "x" * 20_000) for identity in recorded)
    assert path.read_bytes().endswith(b"\n")


def test_a_writer_that_dies_in_mid_line_is_mended_by_a_reader_that_was_open(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    log = log_of(path, ("a1", "x"))
    with path.open("ab") as file:
        file.write(b'{"note_id":"b2","te')
    log.refresh()
    log.put(("c3", "y"))
    assert log.get("c3") == ("c3", "y")
    assert list(log) == list(open_log(path)) == ["a1", "c3"]


FILE_LIMIT = (
    LOG
    + """
import resource
log = open_log(sys.argv[1])
log.put(("a1", "x"))
size = log.path.stat().st_size
for room in (0, 1, 700, 2500, 4999):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, resource.RLIM_INFINITY))
    try:
        log.put(("b2", "y" * 5000))
    except StoreError as error:
        print(error)
    assert log.path.stat().st_size == size, room
    assert list(open_log(log.path)) == ["a1"], room
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
log.put(("b2", "y" * 5000))
assert open_log(log.path).get("b2") == ("b2", "y" * 5000)
"""
)


def test_a_write_that_is_cut_short_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "store" / "log.jsonl"
    messages = output(FILE_LIMIT, path).splitlines()
    assert len(messages) == 5
    assert all(f"can't append to log.jsonl in {path.parent}" in message for message in messages)


FULL_DISK = (
    LOG
    + """
import subprocess
folder = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder], check=True)
log = open_log(folder / "log.jsonl")
log.put(("a1", "x"))
said = []
for n in range(100):
    try:
        log.put((f"{n:04x}", "y" * 5000))
    except StoreError as error:
        said.append(str(error))
assert said and all("can't append to log.jsonl in " + str(folder) in line and "No space" in line for line in said), said
kept = list(open_log(folder / "log.jsonl"))
assert len(kept) + len(said) == 101 and kept[0] == "a1"
(folder / "new").mkdir()
try:
    open_log(folder / "new" / "log.jsonl").put(("a1", "y" * 5000))
except StoreError as error:
    assert "new" in str(error)
else:
    raise AssertionError("the disk is not full")
subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
try:
    log.put(("ee", "z"))
except StoreError as error:
    assert "Read-only file system" in str(error) and str(folder) in str(error), error
else:
    raise AssertionError("the folder is not read-only")
assert list(open_log(folder / "log.jsonl")) == kept
print("held")
"""
)


def namespaces() -> bool:
    """Whether this machine lets us mount something that nobody else sees (root ignores the modes of files)."""
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not namespaces(), reason="needs a private mount (root on Linux)")
def test_a_full_disk_and_a_read_only_folder_leave_the_file_as_it_was(tmp_path: Path) -> None:
    assert output(FULL_DISK, tmp_path, before=("unshare", "--mount")) == "held\n"


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("not a folder")
    with pytest.raises(StoreError, match=rf"can't read log.jsonl in {tmp_path}/store: Not a directory"):
        open_log(tmp_path / "store" / "log.jsonl")


def test_a_file_that_vanishes_is_named(tmp_path: Path) -> None:
    log = log_of(tmp_path / "log.jsonl", ("a1", "x"))
    log.path.unlink()
    with pytest.raises(StoreError, match=rf"can't read log.jsonl in {tmp_path}"):
        log.get("a1")


def test_records_are_plain_json_lines_for_anybody(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    log_of(path, ("a1", "நன்றி"))
    assert path.read_bytes() == '{"note_id":"a1","text":"நன்றி"}\n'.encode()
    assert [json.loads(line) for line in path.read_bytes().split(b"\n") if line] == [{"note_id": "a1", "text": "நன்றி"}]
