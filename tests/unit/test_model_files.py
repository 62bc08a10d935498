"""Files of models that are whole, torn, or something else, as far as it can be told without loading them."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.checkpoints import Checkpoint
from kasauti.model_files import outside_weights, unfinished
from model_bytes import field, onnx_graph, safetensors


def zipped() -> bytes:
    with zipfile.ZipFile(content := io.BytesIO(), "w") as archive:
        archive.writestr("code/forward.py", "x" * 50)
    return content.getvalue()


WHOLE = {".safetensors": safetensors(), ".onnx": onnx_graph(location="w"), ".ts": zipped(), ".bin": b"anything"}


@pytest.mark.parametrize("suffix", WHOLE)
def test_a_whole_file_has_no_fault_and_an_empty_one_has(tmp_path: Path, suffix: str) -> None:
    (path := tmp_path / f"model{suffix}").write_bytes(WHOLE[suffix])
    assert unfinished(path) is None
    path.write_bytes(b"")
    assert unfinished(path) == f"{path} is empty; fetch or copy it again"


@pytest.mark.parametrize(
    "content",
    [
        *(pytest.param((suffix, WHOLE[suffix][:end])) for suffix in (".safetensors", ".ts") for end in (1, 20, -1)),
        *((".onnx", WHOLE[".onnx"][:end]) for end in range(1, len(WHOLE[".onnx"]))),
        (".safetensors", safetensors() + b"x"),
        (".safetensors", b"\xff" * 40),
        (".safetensors", b"\x02" + bytes(7) + b"{}"),
        (".safetensors", b"\x02" + bytes(7) + b"[]"),
        (".safetensors", b"\x07" + bytes(7) + b'{"w":3}'),
        (".onnx", b"\xff" * 40),
        (".onnx", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"),
        (".ts", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"),
    ],
    ids=lambda given: f"{given[0]}-{len(given[1])}",
)
def test_a_torn_file_is_said_before_a_run(tmp_path: Path, content: tuple[str, bytes]) -> None:
    (tmp_path / f"model{content[0]}").write_bytes(content[1])
    [finding] = Checkpoint(str(tmp_path), required=(f"model{content[0]}",)).lacking("judge x", [])
    assert finding.level == "error"
    assert f"model{content[0]}: not all of it is there" in finding.message


@given(st.binary(min_size=1, max_size=60), st.integers(0, len(WHOLE[".onnx"])))
def test_no_bytes_are_an_error_of_ours(tmp_path_factory: pytest.TempPathFactory, noise: bytes, place: int) -> None:
    path = tmp_path_factory.mktemp("noise") / "model.onnx"
    path.write_bytes(WHOLE[".onnx"][:place] + noise)
    assert unfinished(path) is None or "not all of it is there" in str(unfinished(path))


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("name", ["short", "ம" * 40, "n" * 127, "n" * 128, "n" * 200])
def test_weights_outside_a_graph_are_named_with_their_size(tmp_path: Path, name: str, deep: bool) -> None:
    (path := tmp_path / "model.onnx").write_bytes(onnx_graph(deep, location=name, offset="4096", length="16"))
    assert outside_weights(path) == {name: 4112}
    path.write_bytes(onnx_graph(deep, location=name))
    assert outside_weights(path) == {name: 1}
    path.write_bytes(onnx_graph(deep))
    assert outside_weights(path) == {}


def test_graphs_in_graphs_without_end_are_no_whole_file(tmp_path: Path) -> None:
    node = b""
    for _ in range(400):
        node = field(1, field(5, field(6, node)))
    (path := tmp_path / "model.onnx").write_bytes(field(7, node) + field(8, b"\x10\x11"))
    assert "not all of it is there" in str(unfinished(path))


def test_an_empty_entry_says_nothing(tmp_path: Path) -> None:
    (path := tmp_path / "model.onnx").write_bytes(onnx_graph(location="w", offset="", length=""))
    assert outside_weights(path) == {"w": 1}


@pytest.mark.parametrize("place", [60, 75])
def test_a_flipped_bit_of_torchscript_is_seen(tmp_path: Path, place: int) -> None:
    content = bytearray(zipped())
    content[place] ^= 1
    (path := tmp_path / "model.ts").write_bytes(content)
    assert "not all of it is there" in str(unfinished(path))


@pytest.mark.parametrize(("old", "new"), [(b'"F32"', b'"F16"'), (b"[2]", b"[3]"), (b"[0, 8]", b"[4, 8]")])
def test_a_header_that_does_not_fit_its_tensors_is_seen(tmp_path: Path, old: bytes, new: bytes) -> None:
    whole = safetensors()
    assert old in whole
    (path := tmp_path / "model.safetensors").write_bytes(whole.replace(old, new))
    assert "not all of it is there" in str(unfinished(path))


@pytest.mark.parametrize(
    ("dtype", "shape", "size"), [("BOOL", [3], 3), ("BF16", [2, 2], 8), ("F8_E4M3", [5], 5), ("F4", [4], 2)]
)
def test_every_type_has_its_size(tmp_path: Path, dtype: str, shape: list[int], size: int) -> None:
    header = json.dumps(
        {
            "w": {"dtype": dtype, "shape": shape, "data_offsets": [0, size]},
            "e": {"dtype": "I64", "shape": [0], "data_offsets": [size, size]},
        }
    )
    (path := tmp_path / "model.safetensors").write_bytes(
        len(header).to_bytes(8, "little") + header.encode() + bytes(size)
    )
    assert unfinished(path) is None
