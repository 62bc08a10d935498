"""Reads what W&B wrote offline: the log `run-ID.wandb` of an offline run, and the tables beside it.

The package has no reader of its own. The log has 7 bytes of header, then blocks of 32,768 bytes in LevelDB's log format
(https://github.com/google/leveldb/blob/main/doc/log_format.md): chunks of checksum (4 bytes), length (2), type (1), and
data; each record is one protobuf message.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from wandb.proto import wandb_internal_pb2

HEADER = b":W&B"
_HEADER_BYTES = 7
_BLOCK_BYTES = 32_768
_CHUNK = struct.Struct("<IHB")
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4


def messages(data: bytes) -> Iterator[bytes]:
    """The records of a log."""
    assert data.startswith(HEADER)
    at, parts = _HEADER_BYTES, []
    while at + _CHUNK.size <= len(data):
        left_in_block = _BLOCK_BYTES - at % _BLOCK_BYTES
        if left_in_block < _CHUNK.size:
            at += left_in_block
            continue
        _, size, kind = _CHUNK.unpack_from(data, at)
        assert kind in (_FULL, _FIRST, _MIDDLE, _LAST)
        at += _CHUNK.size
        parts.append(data[at : at + size])
        at += size
        if kind in (_FULL, _LAST):
            yield b"".join(parts)
            parts = []
    assert not parts


class OfflineRun:
    """One offline run.

    Args:
        folder: `runs/<run_id>/wandb/offline-run-…`.
    """

    def __init__(self, folder: Path) -> None:
        [log] = folder.glob("run-*.wandb")
        self.folder = folder
        self.records = []
        for message in messages(log.read_bytes()):
            record = wandb_internal_pb2.Record()
            record.ParseFromString(message)
            self.records.append(record)

    def of(self, kind: str) -> list[Any]:
        """The records of one kind: `run`, `history`, `summary`, `exit`."""
        return [getattr(record, kind) for record in self.records if record.WhichOneof("record_type") == kind]

    @cached_property
    def run(self) -> Any:
        """What the run was opened with."""
        return self.of("run")[0]

    @cached_property
    def config(self) -> dict[str, Any]:
        """Config of the run, without the package's own key."""
        return {item.key: json.loads(item.value_json) for item in self.run.config.update if item.key != "_wandb"}

    @cached_property
    def history(self) -> list[dict[str, Any]]:
        """One entry for each step."""
        return [_nested(step.item) for step in self.of("history")]

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The last value of each key."""
        return _nested(item for summary in self.of("summary") for item in summary.update)

    @property
    def exit_codes(self) -> list[int]:
        """One for a run that was finished."""
        return [record.exit_code for record in self.of("exit")]

    def table(self, name: str) -> list[dict[str, Any]]:
        """Rows of a table that was logged."""
        content = json.loads((self.folder / "files" / self.summary[name]["path"]).read_text(encoding="utf-8"))
        return [dict(zip(content["columns"], row, strict=True)) for row in content["data"]]


def _nested(items: Any) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for item in items:
        *parents, last = item.nested_key or [item.key]
        node = values
        for name in parents:
            node = node.setdefault(name, {})
        node[last] = json.loads(item.value_json)
    return values
