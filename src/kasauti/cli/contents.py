"""What a file is by its bytes: audio, model weights, or an archive that holds them.

A clip saved as `.dat` is still a clip, and a checkpoint is a zip or a tar like any other. So the first bytes decide,
archives are looked into, and a name counts only where the bytes are silent. This is no decoder and no virus scan; it is
for `check`, which keeps such files out of the tree.

Source of the signatures: the public specifications of each format; containers of sound in `kasauti.audio.containers`.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
import zipfile
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, getincrementaldecoder
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path, PurePosixPath

from kasauti.audio.containers import container_of

HEAD_BYTES = 65_536
"""So much of a file is read to tell what it is."""

ARRAY_LIMIT_BYTES = 65_536
"""NumPy arrays from this size on count as weights; a smaller one may be a test's expectation."""

MEMBERS_LIMIT = 2_000
"""So many members of an archive are looked at; one with more is refused unread."""


class Kind(StrEnum):
    """What a file can be that does not belong in the tree."""

    AUDIO = "audio"
    WEIGHTS = "model weights"
    OPAQUE = "an archive that can't be looked into"


_MAGIC = {
    b"#!AMR": (Kind.AUDIO, "AMR"),
    b".snd": (Kind.AUDIO, "AU"),
    b"caff": (Kind.AUDIO, "CAF"),
    b"wvPK": (Kind.AUDIO, "WavPack"),
    b"\x1aE\xdf\xa3": (Kind.AUDIO, "WebM or Matroska"),
    b"\xff\xf1": (Kind.AUDIO, "AAC"),
    b"\xff\xf9": (Kind.AUDIO, "AAC"),
    b"GGUF": (Kind.WEIGHTS, "GGUF"),
    b"lmgg": (Kind.WEIGHTS, "GGML"),
    b"tjgg": (Kind.WEIGHTS, "GGML"),
    b"\x89HDF\r\n\x1a\n": (Kind.WEIGHTS, "HDF5"),
    **{b"\x80" + bytes([protocol]): (Kind.WEIGHTS, "pickle") for protocol in (2, 3, 4, 5)},
    b"7z\xbc\xaf\x27\x1c": (Kind.OPAQUE, "7z"),
    b"Rar!": (Kind.OPAQUE, "RAR"),
    b"\x28\xb5\x2f\xfd": (Kind.OPAQUE, "Zstandard"),
}
_SUFFIXES = {
    Kind.AUDIO: "wav flac ogg oga opus mp3 m4a aac aif aiff au amr caf wma webm pcm",
    Kind.WEIGHTS: "onnx pt pth ckpt safetensors gguf ggml nemo h5 hdf5 tflite pkl pickle joblib msgpack mlmodel",
}
_KIND_OF_SUFFIX = {f".{suffix}": kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
_COMPRESSED: dict[bytes, Callable[[Path], gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile]] = {
    b"\x1f\x8b": gzip.GzipFile,
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\0": lzma.LZMAFile,
}
_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    RuntimeError,  # an encrypted member; NotImplementedError, an unknown compression, is one too
)
_ONNX_FIELDS = frozenset({1, 2, 3, 4, 5, 6, 7, 8, 14, 20, 25, 26})
_ONNX_GRAPH = 7


def read_head(path: Path) -> bytes:
    """The first `HEAD_BYTES` of a file."""
    with path.open("rb") as file:
        return file.read(HEAD_BYTES)


def is_binary(head: bytes, size: int) -> bool:
    """Whether a file that begins with `head` is no text in UTF-8 or UTF-16."""
    if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return False
    try:
        text = getincrementaldecoder("utf-8")().decode(head, final=len(head) == size)
    except UnicodeDecodeError:
        return True
    return "\0" in text


def forbidden_content(path: Path, head: bytes, size: int) -> str | None:
    """Says why a file may not enter the tree, by its content first and its name second.

    Args:
        path: The file.
        head: Its first `HEAD_BYTES`.
        size: Its size in bytes.

    Returns:
        `"audio (WAV)"`, `"model weights (pickle in data.pkl)"` and the like; None if nothing speaks against it.
    """
    found = _signature(head, size) or (_in_archive(path, head) if is_binary(head, size) else None)
    if found:
        return f"{found[0]} ({found[1]})"
    kind = _KIND_OF_SUFFIX.get(path.suffix.lower())
    return f"a file named like {kind} ({path.suffix})" if kind else None


def _signature(head: bytes, size: int) -> tuple[Kind, str] | None:
    if _is_onnx(head, size):
        return Kind.WEIGHTS, "ONNX"
    if not is_binary(head, size):
        return None  # A page that begins with the word "ID3" is no sound.
    container = container_of(head[:12])
    if container:
        return Kind.AUDIO, container
    if head[4:11] in (b"ftypM4A", b"ftypM4B"):
        return Kind.AUDIO, "M4A"
    for magic, found in _MAGIC.items():
        if head.startswith(magic):
            return found
    if head.startswith(b"\x93NUMPY") and size >= ARRAY_LIMIT_BYTES:
        return Kind.WEIGHTS, "NumPy array"
    if _is_safetensors(head, size):
        return Kind.WEIGHTS, "safetensors"
    if _is_ctranslate2(head):
        return Kind.WEIGHTS, "CTranslate2"
    return None


def _is_safetensors(head: bytes, size: int) -> bool:
    """A length of eight bytes, then that much JSON."""
    length = int.from_bytes(head[:8], "little")
    return head[8:9] == b"{" and 2 <= length <= size - 8


def _is_ctranslate2(head: bytes) -> bool:
    """A format version of four bytes, then the length and name of a model specification (`WhisperSpec`)."""
    length = int.from_bytes(head[4:6], "little")
    return int.from_bytes(head[:4], "little") < 256 and head[6 : 6 + length].rstrip(b"\0").endswith(b"Spec")


def _is_onnx(head: bytes, size: int) -> bool:
    """ONNX has no magic number: walks the outer fields of the protobuf message from the version to the graph."""
    if head[:1] != b"\x08":
        return False
    seen: set[int] = set()
    at = 0
    try:
        while at < len(head):
            tag, at = _varint(head, at)
            value, at = _varint(head, at)
            field, wire_type = tag >> 3, tag & 7
            if field not in _ONNX_FIELDS or wire_type not in (0, 2):
                return False
            seen.add(field)
            at += value if wire_type == 2 else 0
    except IndexError:
        return False
    return at <= size and _ONNX_GRAPH in seen


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Reads one protobuf integer: seven bits a byte, lowest first. Returns it and the position behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def _in_archive(path: Path, head: bytes) -> tuple[Kind, str] | None:
    """Looks at the members of a zip, a tar (plain or compressed) or a gzip file."""
    try:
        arrays = 0
        for number, (name, member_head, size) in enumerate(_members(path, head)):
            if number >= MEMBERS_LIMIT:
                return Kind.OPAQUE, f"more than {MEMBERS_LIMIT:,} members"
            found = _signature(member_head, size)
            kind = found[0] if found else _KIND_OF_SUFFIX.get(PurePosixPath(name).suffix.lower())
            if kind:
                return kind, f"{found[1] if found else 'by its name'} in {PurePosixPath(name).name}"
            arrays += size if member_head.startswith(b"\x93NUMPY") else 0
    except _BROKEN as error:
        return Kind.OPAQUE, type(error).__name__
    return (Kind.WEIGHTS, "NumPy arrays in an archive") if arrays >= ARRAY_LIMIT_BYTES else None


def _members(path: Path, head: bytes) -> Iterator[tuple[str, bytes, int]]:
    """Name, first bytes and size of every file in an archive; nothing for a file that is no archive."""
    unpack = next((opener for magic, opener in _COMPRESSED.items() if head.startswith(magic)), None)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if not info.is_dir():
                    with archive.open(info) as member:
                        yield info.filename, member.read(HEAD_BYTES), info.file_size
    elif (unpack or head[257:262] == b"ustar") and tarfile.is_tarfile(path):
        with tarfile.open(path) as tar:
            for entry in tar:
                content = tar.extractfile(entry) if entry.isfile() else None
                if content:
                    with content:
                        yield entry.name, content.read(HEAD_BYTES), entry.size
    elif unpack:
        with unpack(path) as stream:
            start = stream.read(HEAD_BYTES)
            yield path.stem, start, len(start)
