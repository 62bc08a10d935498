"""What lives in an actor of a Ray cluster: one copy of a part, which gets shards of tasks with the clips they hear."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kasauti.devices import DeviceBrokenError
from kasauti.errors import KasautiError
from kasauti.parts import build
from kasauti.systems.base import System


@dataclass
class Packed:
    """A task on its way, with the bytes of the clips that it hears; None for one that can't be read."""

    task: Any
    sounds: list[bytes | None]

    @classmethod
    def of(cls, task: Any) -> Packed:
        return cls(task, [_content(clip.path) for clip in getattr(task, "clips", ())])

    def unpacked(self, folder: Path) -> Any:
        """The task, its clips in `folder`; a clip that could not be read is missing here too."""
        clips = []
        for place, (clip, sound) in enumerate(zip(self.task.clips, self.sounds, strict=True)):
            path = folder / f"{self.task.judgment_id}-{place}{clip.path.suffix}"
            if sound is not None:
                path.write_bytes(sound)
            clips.append(replace(clip, path=path))
        return replace(self.task, clips=tuple(clips))


@contextmanager
def _unpacked(shard: list[Packed]) -> Iterator[list[Any]]:
    """The tasks of a shard, the clips that they hear in a folder that is removed afterwards."""
    if not any(packed.sounds for packed in shard):
        yield [packed.task for packed in shard]
        return
    with TemporaryDirectory(prefix="kasauti-") as folder:
        yield [packed.unpacked(Path(folder)) if packed.sounds else packed.task for packed in shard]


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


@dataclass
class Said:
    """What an actor answers. An exception that ends the run travels as a value: Ray would bury its words."""

    replies: list[Any] = field(default_factory=list)
    identity: str = ""
    node: str = ""
    ends: KasautiError | None = None
    broken: str | None = None


class Worker:
    """Lives in an actor: one copy of a part."""

    def __init__(self, options: Any) -> None:
        self._options = options
        self._part: Any = None

    def begin(self) -> Said:
        """Builds the part and says what it is."""
        try:
            self._part = build(self._options)
            return Said(identity=identity_of(self._part), node=socket.gethostname())
        except KasautiError as error:
            return Said(ends=error)
        except Exception as error:
            return Said(broken=f"{type(error).__name__}: {error}")

    def work(self, method: str, shard: list[Packed]) -> Said:
        """The replies to a shard."""
        try:
            with _unpacked(shard) as tasks:
                return Said(list(getattr(self._part, method)(tasks)))
        except DeviceBrokenError:
            os._exit(1)  # an actor's death costs what it has in hand; its error would end the run
        except KasautiError as error:
            return Said(ends=error)

    def close(self) -> None:
        """Gives back what the part holds."""
        self._part.close()


def identity_of(part: Any) -> str:
    """What makes a part's clips or judgments its own; the same model elsewhere has the same."""
    return part.fingerprint() if isinstance(part, System) else part.facts.signature
