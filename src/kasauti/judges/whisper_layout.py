"""What a folder in the layout of `openai/whisper-large-v3` holds, read without loading a model."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kasauti.errors import JudgeError

REQUIRED = ("config.json", "generation_config.json", "preprocessor_config.json", "tokenizer.json")
OPTIONAL = ("model.safetensors", "model.safetensors.index.json", "model-*.safetensors")
"""Weights, in one file or in several."""

_WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
_SPECIAL = ("<|endoftext|>", "<|startoftranscript|>", "<|transcribe|>", "<|notimestamps|>")
_NO_SPEECH = ("<|nospeech|>", "<|nocaptions|>")


def tokens_of(folder: Path) -> dict[str, int]:
    """Token -> id, of the tokenizer's vocabulary and what was added to it.

    Raises:
        JudgeError: `tokenizer.json` is none.
    """
    read = _read_json(folder / "tokenizer.json")
    try:
        added = {str(token["content"]): int(token["id"]) for token in read["added_tokens"]}
        return {**read["model"]["vocab"], **added}
    except (KeyError, TypeError, ValueError) as error:
        raise JudgeError(f"{folder / 'tokenizer.json'} is no tokenizer's file: {error!r}") from error


def misfit(folder: Path, languages: Iterable[str]) -> str | None:
    """What keeps a folder from being a multilingual Whisper; None when nothing does.

    Raises:
        JudgeError: a file can't be read.
    """
    config = _read_json(folder / "config.json")
    if config.get("model_type") != "whisper":
        return f"{folder}: config.json says model_type={config.get('model_type')}; wanted whisper"
    if not any((folder / name).is_file() for name in _WEIGHTS):
        return f"{folder}: the checkpoint lacks {_WEIGHTS[0]} (weights in another format: save them as safetensors)"
    tokens = tokens_of(folder)
    rows = config.get("vocab_size", 0)
    if max(tokens.values()) >= rows:
        return f"{folder}: tokenizer.json has ids up to {max(tokens.values())}, but the model has {rows} rows"
    wanted = [*_SPECIAL, *(f"<|{lang}|>" for lang in sorted(languages))]
    missing = [token for token in wanted if token not in tokens]
    if not any(token in tokens for token in _NO_SPEECH):
        missing.append(_NO_SPEECH[0])
    if missing:
        return f"{folder}: tokenizer.json lacks {', '.join(missing)}; wanted a multilingual Whisper"
    return None


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise JudgeError(f"{path} can't be read as JSON: {error}") from error
    if not isinstance(found, dict):
        raise JudgeError(f"{path}: wanted a JSON object")
    return found
