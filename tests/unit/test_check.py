"""`check` on small trees: what must be refused, what must pass, and that no key is ever shown.

Sounds are written by libsndfile, archives and arrays by their own libraries, so the signatures are held against real
writers. Keys are drawn when a test runs: none is written here, and this file itself must pass `check`.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import random
import string
import struct
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from kasauti.cli import check
from kasauti.cli.check import BINARY_LIMIT_BYTES, Finding, check_tree, run
from kasauti.cli.contents import ARRAY_LIMIT_BYTES, HEAD_BYTES, MEMBERS_LIMIT
from kasauti.errors import ConfigError

ROOT = Path(__file__).parents[2]
ALPHANUMERIC = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def drawn(length: int, alphabet: str = ALPHANUMERIC, seed: int = 7) -> str:
    """A random text with at least a letter and a digit, so that it looks like a key."""
    chars = random.Random(seed).choices(alphabet, k=length - 2)
    return "a7" + "".join(chars)


def whats(root: Path) -> list[str]:
    return [finding.what for finding in check_tree(root)]


def sound(container: str, subtype: str | None = None) -> bytes:
    samples = 0.1 * np.sin(np.arange(8_000) / 20).astype(np.float32)
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, 16_000, format=container, subtype=subtype)
    return buffer.getvalue()


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def tarred(members: dict[str, bytes], mode: str = "w") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def arrays(n_floats: int, n_arrays: int = 1) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **{f"w{number}": np.ones(n_floats, np.float32) for number in range(n_arrays)})  # type: ignore[arg-type]
    return buffer.getvalue()


def array(n_floats: int) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.ones(n_floats, np.float32))
    return buffer.getvalue()


def safetensors() -> bytes:
    header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    return struct.pack("<Q", len(header)) + header + b"\0\0\x80?"


def onnx() -> bytes:
    """IR version 8, producer `x`, an empty graph named `g`, opset 17; field numbers of onnx.proto, ModelProto."""
    return b"\x08\x08" + b"\x12\x01x" + b"\x3a\x03\x12\x01g" + b"\x42\x02\x10\x11"


def ctranslate2() -> bytes:
    name = b"WhisperSpec\0"
    return struct.pack("<IH", 6, len(name)) + name + b"\0" * 100


FORBIDDEN: dict[str, tuple[Callable[[], bytes], str]] = {
    "wav": (lambda: sound("WAV"), "audio (WAV)"),
    "flac": (lambda: sound("FLAC"), "audio (FLAC)"),
    "ogg": (lambda: sound("OGG"), "audio (OGG)"),
    "opus": (lambda: sound("OGG", "OPUS"), "audio (OGG)"),
    "mp3": (lambda: sound("MP3"), "audio (MP3)"),
    "mp3 with tags": (lambda: b"ID3\x04\0\0\0\0\0\x0a" + b"\0" * 10 + sound("MP3"), "audio (MP3)"),
    "aiff": (lambda: sound("AIFF"), "audio (AIFF)"),
    "au": (lambda: sound("AU"), "audio (AU)"),
    "caf": (lambda: sound("CAF"), "audio (CAF)"),
    "m4a": (lambda: b"\0\0\0\x1cftypM4A \0\0\0\0" + b"\0" * 40, "audio (M4A)"),
    "torch zip": (
        lambda: zipped({"archive/data.pkl": pickle.dumps({"w": 1}, 2)}),
        "model weights (pickle in data.pkl)",
    ),
    "torch old": (lambda: pickle.dumps(0x1950A86A20F9469CFC6C, 2), "model weights (pickle)"),
    "nemo": (
        lambda: tarred({"./model_config.yaml": b"a: 1\n", "./model_weights.ckpt": zipped({"x": b"y"})}),
        "model weights (by its name in model_weights.ckpt)",
    ),
    "nemo gz": (
        lambda: tarred({"model_weights.ckpt": pickle.dumps([1], 4)}, "w:gz"),
        "model weights (pickle in model_weights.ckpt)",
    ),
    "npz": (lambda: arrays(40_000), "model weights (NumPy array in w0.npy)"),
    "npz of many": (lambda: arrays(1_000, 40), "model weights (NumPy arrays in an archive)"),
    "npy": (lambda: array(40_000), "model weights (NumPy array)"),
    "gguf": (lambda: b"GGUF" + struct.pack("<IQQ", 3, 0, 0), "model weights (GGUF)"),
    "safetensors": (safetensors, "model weights (safetensors)"),
    "onnx": (onnx, "model weights (ONNX)"),
    "ctranslate2": (ctranslate2, "model weights (CTranslate2)"),
    "hdf5": (lambda: b"\x89HDF\r\n\x1a\n" + b"\0" * 40, "model weights (HDF5)"),
    "zip of clips": (lambda: zipped({"a.txt": b"hi", "b.dat": sound("FLAC")}), "audio (FLAC in b.dat)"),
    "tar of clips": (lambda: tarred({"b.dat": sound("WAV")}, "w:xz"), "audio (WAV in b.dat)"),
    "gzip of a clip": (lambda: gzip.compress(sound("WAV")), "audio (WAV in thing)"),
    "bzip2 of a clip": (lambda: bz2.compress(sound("WAV")), "audio (WAV in thing)"),
    "xz of weights": (lambda: lzma.compress(safetensors()), "model weights (safetensors in thing)"),
    "7z": (lambda: b"7z\xbc\xaf\x27\x1c\0\4" + b"\0" * 40, "an archive that can't be looked into (7z)"),
    "cut zip": (lambda: zipped({"a": b"x" * 99})[:60], "an archive that can't be looked into (BadZipFile)"),
    "cut gzip": (lambda: gzip.compress(os.urandom(5_000))[:900], "an archive that can't be looked into (EOFError)"),
    "zip of thousands": (
        lambda: zipped({str(number): b"" for number in range(MEMBERS_LIMIT + 1)}),
        "an archive that can't be looked into (more than 2,000 members)",
    ),
    "large binary": (lambda: bytes(range(1, 256)) * 3_922, "a binary file of 1.0 MB"),
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_content_is_refused_whatever_the_name(tmp_path: Path, name: str) -> None:
    content, what = FORBIDDEN[name]
    (tmp_path / "thing.dat").write_bytes(content())
    assert whats(tmp_path) == [what]


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("clip.WAV", "a file named like audio (.WAV)"),
        ("model.onnx", "a file named like model weights (.onnx)"),
        ("best.ckpt", "a file named like model weights (.ckpt)"),
    ],
)
def test_name_counts_where_the_content_is_silent(tmp_path: Path, name: str, what: str) -> None:
    (tmp_path / name).write_text("version of the file pointer\n")
    assert whats(tmp_path) == [what]


HARMLESS: dict[str, bytes] = {
    "empty": b"",
    "text that begins like a sound": "ID3, fLaC, OggS and GGUF are magic words \u2013 look them up.\n".encode(),
    "one that begins with a sound's name": b"OggS is how a page begins.\n",
    "utf-16 text": "plain words\n".encode("utf-16"),
    "picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8,
    "small array": array(100),
    "small arrays": arrays(100, 3),
    "zip of tables": zipped({"xl/workbook.xml": b"<a/>", "xl/printerSettings1.bin": b"\0\1"}),
    "gzip of a table": gzip.compress(b"id\ttext\n1\thello\n"),
    "long text": b"word " * 300_000,
    "text cut inside a letter by the head": b"x" * (HEAD_BYTES - 1) + "\u0915".encode() * 400_000,
    "binary just small enough": b"\1\0" * (BINARY_LIMIT_BYTES // 2),
    "json": b"{" * 9,
    "backspace": b"\x08\x08\x12",
    "control characters": b"\x08\x08: a line\n",
}


@pytest.mark.parametrize("name", HARMLESS)
def test_harmless_content_passes(tmp_path: Path, name: str) -> None:
    (tmp_path / "thing").write_bytes(HARMLESS[name])
    assert whats(tmp_path) == []


def test_array_limit_is_where_it_says(tmp_path: Path) -> None:
    n_floats = (ARRAY_LIMIT_BYTES - len(array(0))) // 4
    assert len(array(n_floats)) == ARRAY_LIMIT_BYTES
    (tmp_path / "at.npy").write_bytes(array(n_floats))
    (tmp_path / "below.npy").write_bytes(array(n_floats - 1))
    assert [finding.path for finding in check_tree(tmp_path)] == ["at.npy"]


KEYS: dict[str, Callable[[int], str]] = {
    "Anthropic": lambda seed: "sk-ant-" + "api03-" + drawn(80, ALPHANUMERIC + "-_", seed) + drawn(20, seed=seed),
    "OpenAI": lambda seed: "sk-" + drawn(48, seed=seed),
    "OpenAI ": lambda seed: "sk-" + "proj-" + drawn(40, seed=seed) + "_" + drawn(60, ALPHANUMERIC + "-_", seed),
    "ElevenLabs, Sarvam or Cartesia": lambda seed: "sk_" + drawn(48, HEX, seed),
    "ElevenLabs, Sarvam or Cartesia ": lambda seed: "sk_" + "car_" + drawn(22, seed=seed),
    "Google": lambda seed: "AIza" + drawn(35, ALPHANUMERIC + "-_", seed),
    "AWS": lambda seed: "AKIA" + drawn(16, seed=seed).upper(),
    "Hugging Face": lambda seed: "hf_" + drawn(34, seed=seed),
    "Groq": lambda seed: "gsk_" + drawn(52, seed=seed),
    "GitHub": lambda seed: "ghp_" + drawn(36, seed=seed),
    "bearer (JWT)": lambda seed: ".".join(["eyJ" + drawn(20), "eyJ" + drawn(40, seed=seed), drawn(43)]),
}
PLACES = ["{}", "KEY={}", 'key = "{}"', "- {}: x", "curl -H 'xi-api-key: {}' https://example.org", '{{"token": "{}"}}']


@given(owner=st.sampled_from(sorted(KEYS)), place=st.sampled_from(PLACES), seed=st.integers(0, 10_000))
def test_key_is_found_anywhere_and_never_shown(owner: str, place: str, seed: int) -> None:
    key = KEYS[owner](seed)
    found = list(check._keys_in(place.format(key), quoted_only=False))
    assert found == [f"a key of the kind {owner.strip()} ({key[:4]}\u2026)"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_finding_of_a_key_names_file_line_and_remedy(tmp_path: Path, encoding: str) -> None:
    key = KEYS["OpenAI"](1)
    text = f"# caf\u00e9\n\nOPENAI={key}\n"
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "setup.txt").write_text(text, encoding=encoding)
    (finding,) = check_tree(tmp_path)
    assert (finding.path, finding.line) == ("notes/setup.txt", 3)
    assert "revoke" in finding.remedy
    assert str(finding).startswith("notes/setup.txt:3: a key of the kind OpenAI (sk-a\u2026): ")
    assert key[4:10] not in str(finding)


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
def test_private_key_is_found(tmp_path: Path, kind: str) -> None:
    (tmp_path / "id").write_text(f"-----BEGIN {kind}PRIVATE {'KEY'}-----\nabc\n")
    assert whats(tmp_path) == ["a private key (PEM)"]


ASSIGNED = [
    'api_key = "{}"',
    "api-key: {}",
    "WANDB_API_KEY={}",
    "export SERVICE_SECRET='{}'",
    '"access_token": "{}",',
    "subscription_key: {}  # westeurope",
    "password={}",
    '"    api_key = \\"{}\\"\\n",',
]


@given(
    line=st.sampled_from(ASSIGNED),
    seed=st.integers(0, 10_000),
    alphabet=st.sampled_from([ALPHANUMERIC, HEX]),
)
def test_random_value_given_to_a_key_is_found(line: str, seed: int, alphabet: str) -> None:
    key = drawn(32, alphabet, seed)
    (found,) = check._keys_in(line.format(key), quoted_only=False)
    assert found == f"what looks like a key or a password ({key[:4]}\u2026)"


@pytest.mark.parametrize(
    "line",
    [
        "api_key_env: GEMINI_API_KEY",
        'api_key = os.environ["GEMINI_API_KEY_2ND_ACCOUNT"]',
        "api_key: ${oc.env:SARVAM_API_KEY}",
        'api_key = "your-api-key-goes-here-2026"',
        'api_key="test-key-1a2b3c4d5e6f7g8h"',
        "api_key=0000000000000000000000000a",
        "HF_TOKEN=hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "OPENAI_API_KEY=sk-...",
        "use sk-SK for Slovak, mask-task-risk-1234567890-abcdefghij-1",
        "token = tokenizer.encode(sentence_number_12)",
        "pad_token: <|endoftext|>",
        "sha256: 905e5bf8336bcc625ba4e33498d675a4b935504118c594d868c36e91a60c1a57",
        '"audio_sha256": "3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33"',
        "the secret of a good voice is rhythm_and_breath_2",
        "-----BEGIN CERTIFICATE-----",
        "the pattern -----BEGIN [A-Z ]*PRIVATE KEY-----",
    ],
)
def test_line_without_a_key_passes(line: str) -> None:
    assert list(check._keys_in(line, quoted_only=False)) == []


def test_bare_name_in_code_is_no_key_but_a_literal_is(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(f"token = {drawn(24)}\nother_token = '{drawn(24)}'\n")
    (tmp_path / "a.yaml").write_text(f"token: {drawn(24)}\n")
    assert [(finding.path, finding.line) for finding in check_tree(tmp_path)] == [("a.py", 2), ("a.yaml", 1)]


def test_placeholder_published_by_a_vendor_passes(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("AKIA" + "IOSFODNN7" + "EXAMPLE\n")
    assert whats(tmp_path) == []


@pytest.mark.parametrize(
    "name",
    [
        "uv.lock",
        "poetry.lock",
        "package-lock.json",
        "pylock.toml",
        "constraints.txt",
        "constraints/py311.txt",
        "requirements-dev.txt",
        "requirements.lock",
        "conda-lock.yml",
        "pip.conf",
    ],
)
def test_index_address_in_a_lock_file_is_refused_once_a_host(tmp_path: Path, name: str) -> None:
    lines = [
        "# from https://github.com/someone/thing",
        f"--index-url https://me:{drawn(20)}@packages.example.net/simple",
        "a @ https://packages.example.net/a.whl",
        "--trusted-host mirror.example.net",
        "b @ file:///home/me/b.whl",
    ]
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("\n".join(lines))
    assert [(finding.line, finding.what) for finding in check_tree(tmp_path)] == [
        (2, "an address in a lock file (packages.example.net)"),
        (4, "an address in a lock file (mirror.example.net)"),
        (5, "an address in a lock file (this machine)"),
    ]


@pytest.mark.parametrize("name", ["README.md", "clock.yaml", "deep/lock.py", "blocks.txt", "requirements.md"])
def test_address_elsewhere_passes(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("https://packages.example.net/simple\n")
    assert whats(tmp_path) == []


def notebook(outputs: list[object], count: int | None, indent: int | None) -> str:
    source = ['print("\\"outputs\\": [1]")']
    cell = {
        "cell_type": "code",
        "execution_count": count,
        "metadata": dict[str, str](),
        "outputs": outputs,
        "source": source,
    }
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=indent)


@pytest.mark.parametrize("indent", [1, None])
def test_notebook_must_be_without_outputs(tmp_path: Path, indent: int | None) -> None:
    (tmp_path / "clean.ipynb").write_text(notebook([], None, indent))
    (tmp_path / "ran.ipynb").write_text(notebook([], 3, indent))
    (tmp_path / "shown.ipynb").write_text(notebook([{"output_type": "stream"}], None, indent))
    (tmp_path / "shown.json").write_text(notebook([{"output_type": "stream"}], None, indent))
    assert [(finding.path, finding.what) for finding in check_tree(tmp_path)] == [
        ("ran.ipynb", "a notebook with outputs"),
        ("shown.ipynb", "a notebook with outputs"),
    ]


def test_audio_inside_a_page_is_refused_and_its_template_is_not(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("<audio src='data:audio/wav;base64," + "UklGRgAA" * 9 + "'>\n")
    (tmp_path / "template.html").write_text("<audio src='data:audio/wav;base64,{{ clip }}'>\n")
    assert [(finding.path, finding.what) for finding in check_tree(tmp_path)] == [
        ("report.html", "audio embedded in text")
    ]


def test_environment_file_is_refused_and_its_example_is_not(tmp_path: Path) -> None:
    for name in (".env", ".env.local", ".env.example", "environment.md"):
        (tmp_path / name).write_text("A=\n")
    assert [finding.path for finding in check_tree(tmp_path)] == [".env", ".env.local"]


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "-q")
    (root / ".gitignore").write_text("*.dat\n/runs/\n")
    return root


def test_git_decides_what_is_looked_at(repository: Path) -> None:
    for name in ("forced.dat", "ignored.dat", "fr\u00e9sh \u0915\n.wav", "gone.wav"):
        (repository / name).write_bytes(sound("WAV"))
    git(repository, "add", "-f", "forced.dat", "gone.wav")
    (repository / "gone.wav").unlink()
    (repository / "link.txt").symlink_to(repository / "ignored.dat")
    assert [finding.path for finding in check_tree(repository)] == ["forced.dat", "fr\u00e9sh \u0915\n.wav"]


def test_folder_inside_a_repository_is_checked_alone(repository: Path) -> None:
    (repository / "a").mkdir()
    for name in ("top.wav", "a/in.wav", "a/in.dat"):
        (repository / name).write_bytes(sound("WAV"))
    assert [finding.path for finding in check_tree(repository / "a")] == ["in.wav"]


def test_environment_of_a_hook_does_not_point_elsewhere(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository / "ignored.dat").write_bytes(sound("WAV"))
    (repository / "clip.wav").write_bytes(sound("WAV"))
    monkeypatch.setenv("GIT_DIR", str(ROOT / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(repository / "no-such-index"))
    assert [finding.path for finding in check_tree(repository)] == ["clip.wav"]


def test_without_git_the_folder_is_walked(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["a.wav", "src/store/b.wav", ".github/c.wav", "runs/d.wav", ".venv/e.wav", "src/__pycache__/f.wav"]
    for name in names:
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_bytes(sound("WAV"))
    monkeypatch.setenv("PATH", "")
    assert [finding.path for finding in check_tree(repository)] == [".github/c.wav", "a.wav", "src/store/b.wav"]


def test_nothing_to_look_at_is_an_error_and_no_pass(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no file to look at"):
        check_tree(tmp_path)
    with pytest.raises(ConfigError, match="is no folder"):
        check_tree(tmp_path / "missing")


def test_unreadable_file_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "a.txt").write_text("x\n")
    monkeypatch.setattr(check, "read_head", refuse)  # Modes don't stop the superuser, under whom containers test.
    assert whats(tmp_path) == ["a file that can't be read (Permission denied)"]


def test_run_prints_findings_and_a_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("fine\n")
    assert run(tmp_path) == 0
    assert capsys.readouterr().out == "PASS check: nothing to refuse\n"
    (tmp_path / "b.txt").write_bytes(sound("WAV"))
    assert run(tmp_path) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("b.txt: audio (WAV): take it out")
    assert lines[1:] == ["FAIL check: 1 found"]


def test_findings_come_by_path_and_line_without_doubles(tmp_path: Path) -> None:
    key = KEYS["Groq"](3)
    (tmp_path / "b.txt").write_text(f"{key}\n\n{key} {key}\n")
    (tmp_path / "a.wav").write_text("")
    findings = check_tree(tmp_path)
    assert [(finding.path, finding.line) for finding in findings] == [("a.wav", 0), ("b.txt", 1), ("b.txt", 3)]
    assert all(isinstance(finding, Finding) and finding.remedy for finding in findings)


def test_this_repository_passes() -> None:
    assert [str(finding) for finding in check_tree(ROOT)] == []
