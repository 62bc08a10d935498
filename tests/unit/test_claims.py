"""Claims: one process has a piece of work at a time, and gives it up however it ends."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kasauti.errors import StoreError
from kasauti.store.claims import Claims
from processes import start, until

ONE, SAME_LOCK, OTHER = "aaa111", "aaa222", "bbb333"

HOLDER = """
import sys
from pathlib import Path
from kasauti.store.claims import Claims
claims = Claims(Path(sys.argv[1]))
print(*[claims.try_claim(identity) for identity in sys.argv[2:]], flush=True)
for line in sys.stdin:
    claims.release(line.strip())
    print("released", flush=True)
"""


class Holder:
    """Another process that holds claims."""

    def __init__(self, folder: Path, *identities: str) -> None:
        self.process = start(HOLDER, folder, *identities)
        assert self.process.stdout is not None
        self.got = self.process.stdout.readline().split()

    def release(self, identity: str) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(identity + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "released\n"

    def end(self) -> None:
        self.process.communicate()


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[Holder]:
    other = Holder(tmp_path / "locks", ONE)
    assert other.got == ["True"]
    yield other
    other.process.kill()
    other.end()


def test_a_claim_is_refused_to_everybody_else_until_it_is_given_back(tmp_path: Path, holder: Holder) -> None:
    claims = Claims(tmp_path / "locks")
    assert not claims.try_claim(ONE)
    assert not claims.try_claim(SAME_LOCK)  # put off, not lost: the two share a lock file
    assert claims.try_claim(OTHER)
    assert not claims.wait(ONE, 0.0)
    holder.release(ONE)
    assert claims.wait(ONE, 0.0)
    assert claims.try_claim(ONE)
    assert claims.try_claim(SAME_LOCK)


def test_death_gives_claims_back(tmp_path: Path, holder: Holder) -> None:
    claims = Claims(tmp_path / "locks")
    assert not claims.try_claim(ONE)
    holder.process.kill()
    assert claims.wait(ONE, 30.0)
    assert claims.try_claim(ONE)


def test_waiting_ends_when_the_claim_does(tmp_path: Path, holder: Holder) -> None:
    claims, became_free = Claims(tmp_path / "locks"), []
    thread = threading.Thread(target=lambda: became_free.append(claims.wait(ONE, 60.0)))
    thread.start()
    assert thread.is_alive()
    holder.release(ONE)
    thread.join(30.0)
    assert became_free == [True]
    assert claims.try_claim(ONE)  # waiting took nothing


def test_several_claims_under_one_lock_are_held_to_the_last(tmp_path: Path) -> None:
    claims = Claims(tmp_path)
    assert claims.try_claim(ONE)
    assert claims.try_claim(SAME_LOCK)
    claims.release(ONE)
    other = Holder(tmp_path, ONE, SAME_LOCK)
    assert other.got == ["False", "False"]
    other.end()
    claims.release(SAME_LOCK)
    other = Holder(tmp_path, ONE, SAME_LOCK)
    assert other.got == ["True", "True"]
    other.end()


def test_the_same_process_can_not_claim_twice(tmp_path: Path) -> None:
    claims = Claims(tmp_path)
    assert claims.try_claim(ONE)
    assert not claims.try_claim(ONE)
    assert not Claims(tmp_path).try_claim(ONE)  # nor through another object
    claims.release(ONE)
    assert claims.try_claim(ONE)


def test_releasing_what_is_not_held_does_nothing(tmp_path: Path) -> None:
    claims = Claims(tmp_path)
    claims.release(ONE)
    assert claims.try_claim(ONE)
    claims.release(SAME_LOCK)
    assert not claims.try_claim(ONE)
    claims.release(ONE)
    claims.release(ONE)
    assert claims.try_claim(ONE)


def test_of_many_threads_one_gets_the_claim(tmp_path: Path) -> None:
    claims, barrier, got = Claims(tmp_path), threading.Barrier(8), []

    def claim() -> None:
        barrier.wait()
        got.append(claims.try_claim(ONE))

    threads = [threading.Thread(target=claim) for _ in range(8)]
    for thread in threads:
        thread.start()
    until(lambda: len(got) == 8, "every thread has asked")
    for thread in threads:
        thread.join()
    assert sorted(got) == [False] * 7 + [True]


def test_a_folder_that_can_not_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "locks").write_text("a file")
    with pytest.raises(StoreError, match=f"can't make lock files in {tmp_path}/locks"):
        Claims(tmp_path / "locks").try_claim(ONE)


def test_a_lock_that_can_not_be_made_names_its_folder(tmp_path: Path) -> None:
    (tmp_path / "aaa.lock").mkdir()  # stands for a read-only folder, which root could write to
    for attempt in (lambda c: c.try_claim(ONE), lambda c: c.wait(ONE, 0.0)):
        with pytest.raises(StoreError, match=f"can't make lock files in {tmp_path}: Is a directory"):
            attempt(Claims(tmp_path))
