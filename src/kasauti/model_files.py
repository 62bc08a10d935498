"""What a model's files say of themselves without being loaded: what they hold, and whether all of it is there.

A copy or a fetch that was cut short is found out before a run has cost anything. Each format tells where it ends:
safetensors in its header, ONNX (protobuf) in the lengths of its fields, TorchScript (zip) in a record at the end, with
checksums.
"""

from __future__ import annotations

import json
import math
import mmap
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kasauti.errors import KasautiError

_GRAPH, _OPSET_IMPORT = 7, 8
_EXTERNAL_DATA = 13

_INSIDE: Mapping[str, Mapping[int, str]] = {
    "model": {_GRAPH: "graph", 25: "function"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {},
}
"""Messages of ONNX in which tensors lie: number of the field -> what it holds. Source: onnx.proto, IR version 13."""

_Field = tuple[int, int, int]
"""Number of a field, and where its content begins and ends; both 0 of a plain number."""


def unfinished(path: Path) -> str | None:
    """What shows that a copy or a fetch of a file was cut short, as far as it tells without being loaded.

    A file that was torn in its middle and has its right length may pass.
    """
    if not path.stat().st_size:
        return f"{path} is empty; fetch or copy it again"
    check, kind = _CHECKS.get(path.suffix, (None, ""))
    if check is None or check(path):
        return None
    return f"{path}: not all of it is there, or it is no {kind} file; fetch or copy it again"


def json_object(path: Path, error: type[KasautiError]) -> dict[str, Any]:
    """The object in one of a checkpoint's JSON files.

    Args:
        path: The file.
        error: What to raise: that of the layer whose checkpoint it is.

    Raises:
        KasautiError: as `error`; the file can't be read, or holds something else.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        raise error(f"{path} can't be read as JSON ({type(fault).__name__}: {fault})") from fault
    if not isinstance(found, dict):
        raise error(f"{path}: wanted a JSON object, got {type(found).__name__}")
    return found


def safetensors_header(path: Path) -> Mapping[str, Any]:
    """What a safetensors file says of its tensors, by name; nothing when it can't be read.

    Such a file begins with the length of its header in 8 bytes, then the header as JSON, then the tensors.
    """
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(length)) if length <= path.stat().st_size else {}
    except (OSError, ValueError):
        return {}
    return header if isinstance(header, dict) else {}


def outside_weights(path: Path) -> dict[str, int]:
    """The files beside an ONNX graph that hold weights of it.

    Returns:
        Place, relative to the graph's folder -> bytes that the file must have at least.

    Raises:
        ValueError: the file is empty, no graph, or ends in the middle of a field.
    """
    found: dict[str, int] = {}
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        try:
            for entries in _outside(content, "model", 0, len(content)):
                if place := entries.get("location"):
                    end = int(entries.get("offset") or 0) + int(entries.get("length") or 1)
                    found[place] = max(found.get(place, 0), end)
        except RecursionError as error:
            raise ValueError("graphs lie in graphs without end") from error
    return found


def _outside(content: mmap.mmap, kind: str, begin: int, end: int) -> Iterator[dict[str, str]]:
    """What every tensor that lies outside says of its place: `location`, `offset`, `length`."""
    entries = {}
    for number, start, stop in _fields(content, begin, end):
        if number in _INSIDE[kind]:
            yield from _outside(content, _INSIDE[kind][number], start, stop)
        elif kind == "tensor" and number == _EXTERNAL_DATA:
            pair = {name: content[at:to].decode("utf-8", "replace") for name, at, to in _fields(content, start, stop)}
            entries[pair.get(1, "")] = pair.get(2, "")
    if entries:
        yield entries


def _fields(content: mmap.mmap, begin: int, end: int) -> Iterator[_Field]:
    """The fields of one protobuf message.

    Raises:
        ValueError: one goes past the end, or is of no kind that there is.
    """
    at = begin
    while at < end:
        key, at = _varint(content, at, end)
        kind = key & 7
        start = stop = 0
        if kind == 0:
            _, at = _varint(content, at, end)
        elif kind == 2:
            length, start = _varint(content, at, end)
            stop = at = start + length
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            raise ValueError(f"byte {at}: no kind of field {kind}")
        if at > end:
            raise ValueError(f"a field ends at byte {at}, what it is in at {end}")
        yield key >> 3, start, stop


def _varint(content: mmap.mmap, at: int, end: int) -> tuple[int, int]:
    """A number in as many bytes as it needs, 7 bits in each, and where it ends."""
    value = 0
    for place in range(10):
        if at + place >= end:
            break
        byte = content[at + place]
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return value, at + place + 1
    raise ValueError(f"byte {at}: a number that does not end")


def _is_whole_safetensors(path: Path) -> bool:
    """Whether the tensors stand one behind the other, as long as their shapes say, up to the file's end."""
    header = safetensors_header(path)
    with path.open("rb") as file:
        begin = 8 + int.from_bytes(file.read(8), "little")
    at = 0
    try:
        tensors = [entry for name, entry in header.items() if name != "__metadata__"]
        for entry in sorted(tensors, key=lambda entry: tuple(entry["data_offsets"])):
            start, end = entry["data_offsets"]
            bits = int(re.findall(r"(\d+)|BOOL", entry["dtype"])[0] or 8)  # F8_E4M3 has 8, BOOL has a byte
            if start != at or end - start != math.prod(entry["shape"]) * bits // 8:
                return False
            at = end
    except (KeyError, IndexError, TypeError, ValueError):
        return False
    return bool(tensors) and begin + at == path.stat().st_size


def _is_whole_onnx(path: Path) -> bool:
    """Whether every field is whole, and what stands behind the graph is there."""
    try:
        outside_weights(path)
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            numbers = {number for number, _, _ in _fields(content, 0, len(content))}
    except ValueError:
        return False
    return {_GRAPH, _OPSET_IMPORT} <= numbers


def _is_whole_zip(path: Path) -> bool:
    """Whether every member has the checksum that the archive says; torch does not look."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, RuntimeError, EOFError):
        return False


_CHECKS = {
    ".safetensors": (_is_whole_safetensors, "safetensors"),
    ".onnx": (_is_whole_onnx, "ONNX"),
    ".ts": (_is_whole_zip, "TorchScript"),
}
