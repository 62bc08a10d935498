"""Files of models, byte by byte as their formats say, small enough to be cut everywhere."""

from __future__ import annotations

import json


def safetensors(size: int = 8) -> bytes:
    """A file of one tensor, as the format's own description has it."""
    header = json.dumps({"__metadata__": {"a": "b"}, "w": {"dtype": "F32", "shape": [2], "data_offsets": [0, size]}})
    return len(header).to_bytes(8, "little") + header.encode() + bytes(size)


def field(number: int, content: bytes) -> bytes:
    """A field of protobuf that has a length: the key, the length as a varint, the content."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value: int) -> bytes:
    """A number as protobuf writes it, 7 bits to a byte, the lowest first."""
    head, rest = value & 0x7F, value >> 7
    return bytes([head | 0x80]) + varint(rest) if rest else bytes([head])


def onnx_graph(deep: bool = False, **place: str) -> bytes:
    """A graph with one tensor, whose place is said by `external_data`; `deep`: in a node of a branch.

    Source of the numbers: onnx.proto (ModelProto, GraphProto, NodeProto, AttributeProto, TensorProto).
    """
    entries = (field(13, field(1, key.encode()) + field(2, value.encode())) for key, value in place.items())
    tensor = b"\x08\x02" + field(8, b"w") + b"".join(entries) + b"\x70\x01"
    node = field(4, b"Constant") + field(5, field(1, b"value") + field(5, tensor))
    branch = field(4, b"If") + field(5, field(1, b"then_branch") + field(6, field(1, node)))
    graph = field(2, b"main") + (field(1, branch) if deep else field(5, tensor))
    return b"\x08\x0a" + field(2, b"made by hand") + field(7, graph) + field(8, b"\x10\x11")
