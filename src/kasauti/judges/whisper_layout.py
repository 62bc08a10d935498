"""What a folder in the layout of `openai/whisper-large-v3` holds, read without loading a model."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

from kasauti.errors import JudgeError
from kasauti.model_files import json_object, unfinished

REQUIRED = ("config.json", "generation_config.json", "preprocessor_config.json", "tokenizer.json")
OPTIONAL = ("model.safetensors", "model.safetensors.index.json", "model-*.safetensors")
"""Weights, in one file or in several."""

CONVERTED = ("model.bin", "config.json", "tokenizer.json")

_WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
_SPECIAL = ("<|endoftext|>", "<|startoftranscript|>", "<|transcribe|>", "<|notimestamps|>")
_BANDS = 80
"""Of both files where they name none."""

_NO_SPEECH = ("<|nospeech|>", "<|nocaptions|>")

_BINARY_VERSION = 6
"""Of CTranslate2's files of weights; how another is laid out is not known here."""

_VERSIONS = 256
"""A file that begins with a larger number is none of CTranslate2's."""


def tokens_of(folder: Path) -> dict[str, int]:
    """Token -> id, of the tokenizer's vocabulary and what was added to it.

    Raises:
        JudgeError: `tokenizer.json` is none.
    """
    read = json_object(folder / "tokenizer.json", JudgeError)
    try:
        added = {str(token["content"]): int(token["id"]) for token in read["added_tokens"]}
        return {**{str(token): int(row) for token, row in read["model"]["vocab"].items()}, **added}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise JudgeError(f"{folder / 'tokenizer.json'} is no tokenizer's file: {error!r}") from error


def misfit(folder: Path, languages: Iterable[str]) -> str | None:
    """What keeps a folder from being a multilingual Whisper; None when nothing does.

    Raises:
        JudgeError: a file can't be read.
    """
    config = json_object(folder / "config.json", JudgeError)
    if config.get("model_type") != "whisper":
        return f"{folder}: config.json says model_type={config.get('model_type')}; wanted whisper"
    fault = _weights_fault(folder)
    if fault is not None:
        return fault
    # An unreadable one would be taken for none, which hears otherwise.
    json_object(folder / "generation_config.json", JudgeError)
    bands = json_object(folder / "preprocessor_config.json", JudgeError).get("feature_size", _BANDS)
    if bands != config.get("num_mel_bins", _BANDS):
        told = f"config.json has num_mel_bins={config.get('num_mel_bins')}"
        return f"{folder}: preprocessor_config.json has feature_size={bands}, but {told}"
    tokens = tokens_of(folder)
    rows = config.get("vocab_size")
    last = max(tokens.values(), default=0)
    if type(rows) is not int or last >= rows:
        return f"{folder}: tokenizer.json has ids up to {last}, but the model has {rows} rows"
    return _tokens_fault(folder, tokens, languages)


def converted_misfit(folder: Path, languages: Iterable[str]) -> str | None:
    """What keeps a folder from being a multilingual Whisper that was converted for CTranslate2; None when nothing does.

    Without a tokenizer of its own the engine would ask a hub for that of another model.

    Raises:
        JudgeError: a file can't be read.
    """
    missing = [name for name in CONVERTED if not (folder / name).is_file()]
    if missing:
        return (
            f"model={folder}: no such folder with {', '.join(missing)}; wanted what ct2-transformers-converter writes "
            "with --copy_files tokenizer.json preprocessor_config.json"
        )
    json_object(folder / "config.json", JudgeError)
    weights = folder / "model.bin"
    if not _is_whole(weights):
        return f"{weights}: not all of it is there, or it is no file of CTranslate2; fetch or copy it again"
    return _tokens_fault(folder, tokens_of(folder), languages)


def _is_whole(path: Path) -> bool:
    """Whether a file of CTranslate2 ends behind its last entry.

    Version, the model's name, its revision; the tensors: name, dimensions, type, size in bytes, content; then pairs of
    names. Source: `ctranslate2/specs/model_spec.py`, `ModelSpec._serialize`.
    """
    try:
        with path.open("rb") as file:
            version = _number(file, "I")
            if version != _BINARY_VERSION:
                return 0 < version < _VERSIONS
            _skip_name(file)
            _number(file, "I")
            for _ in range(_number(file, "I")):
                _skip_name(file)
                file.seek(4 * _number(file, "B"), 1)
                _number(file, "B")
                file.seek(_number(file, "I"), 1)
            for _ in range(2 * _number(file, "I")):
                _skip_name(file)
            return file.tell() == path.stat().st_size
    except struct.error:
        return False


def _number(file: BinaryIO, kind: str) -> int:
    """The next number, in bytes as `struct` names them."""
    return int(struct.unpack(f"<{kind}", file.read(struct.calcsize(f"<{kind}")))[0])


def _skip_name(file: BinaryIO) -> None:
    file.seek(_number(file, "H"), 1)


def _tokens_fault(folder: Path, tokens: Mapping[str, int], languages: Iterable[str]) -> str | None:
    wanted = [*_SPECIAL, *(f"<|{lang}|>" for lang in sorted(languages))]
    missing = [token for token in wanted if token not in tokens]
    if not any(token in tokens for token in _NO_SPEECH):
        missing.append(_NO_SPEECH[0])
    if missing:
        return f"{folder}: tokenizer.json lacks {', '.join(missing)}; wanted a multilingual Whisper"
    return None


def _weights_fault(folder: Path) -> str | None:
    """What is wrong with the files of weights; None when nothing is."""
    single, index = (folder / name for name in _WEIGHTS)
    if single.is_file():
        return unfinished(single)
    if not index.is_file():
        return f"{folder}: the checkpoint lacks {single.name} (weights in another format: save them as safetensors)"
    placed = json_object(index, JudgeError).get("weight_map")
    names = sorted({str(name) for name in placed.values()}) if isinstance(placed, dict) else []
    missing = [name for name in names if not (folder / name).is_file()]
    if missing or not names:
        return f"{folder}: the checkpoint lacks {', '.join(missing) or 'weights'}, says {index.name}"
    return next(filter(None, (unfinished(folder / name) for name in names)), None)
