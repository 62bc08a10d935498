"""Who works on what: several processes may run over one store without doing the same work twice.

A claim is a lock file held by the operating system, so it ends with the process that held it, however that ended.
Lock files are shared by ids with the same first digits: a claim that fails for that reason only puts the work off.
"""

from __future__ import annotations

import threading
from pathlib import Path

from filelock import FileLock, Timeout

from kasauti.store.files import folder_errors

_PREFIX_LENGTH = 3


class Claims:
    """Claims of this process on pieces of work, by id."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, tuple[FileLock, set[str]]] = {}
        self._mutex = threading.Lock()

    def try_claim(self, identity: str) -> bool:
        """Claims a piece of work unless somebody has it, in this process or another; never waits."""
        prefix = identity[:_PREFIX_LENGTH]
        with self._mutex:
            if prefix not in self._held:
                lock = self._lock(prefix, wait_s=0)
                if lock is None:
                    return False
                self._held[prefix] = (lock, set())
            identities = self._held[prefix][1]
            if identity in identities:
                return False
            identities.add(identity)
            return True

    def release(self, identity: str) -> None:
        """Gives a claim back; releasing what is not held does nothing."""
        prefix = identity[:_PREFIX_LENGTH]
        with self._mutex:
            if prefix not in self._held:
                return
            lock, identities = self._held[prefix]
            identities.discard(identity)
            if not identities:
                lock.release()
                del self._held[prefix]

    def wait(self, identity: str, timeout_s: float) -> bool:
        """Waits until nobody holds a claim, at most `timeout_s`; takes nothing.

        Returns:
            Whether it became free. Call it only while holding no claim, or two processes can wait for each other.
        """
        lock = self._lock(identity[:_PREFIX_LENGTH], wait_s=timeout_s)
        if lock is None:
            return False
        lock.release()
        return True

    def _lock(self, prefix: str, wait_s: float) -> FileLock | None:
        """The lock of a prefix, held; None if somebody else has it all the time."""
        with folder_errors(self._folder, "make lock files"):
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self._folder / f"{prefix}.lock", thread_local=False)
            try:
                lock.acquire(timeout=wait_s)
            except Timeout:
                return None
            return lock
