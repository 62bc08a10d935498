"""What a folder in the layout of `facebook/mms-1b-all` holds, read without loading a model.

`config.json` of a wav2vec2 with adapters, `vocab.json` nested by language, `preprocessor_config.json`,
`model.safetensors`, and one `adapter.CODE.safetensors` a language, whose head has a row for each entry of its
vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kasauti.audio.reading import RATE_RANGE_HZ
from kasauti.errors import JudgeError
from kasauti.model_files import json_object, safetensors_header, unfinished

LAYOUT = ("config.json", "vocab.json", "preprocessor_config.json", "model.safetensors")

BLANK = "<pad>"
_HEAD = "lm_head.weight"


def adapter_file(code: str) -> str:
    """The name of the file with a language's adapter."""
    return f"adapter.{code}.safetensors"


def vocabularies_of(folder: Path) -> Mapping[str, Mapping[str, int]]:
    """MMS code -> its vocabulary (token -> row of the head).

    Raises:
        JudgeError: the folder holds another architecture, or a vocabulary that is not nested by language.
    """
    config = json_object(folder / "config.json", JudgeError)
    if config.get("model_type") != "wav2vec2" or config.get("adapter_attn_dim") is None:
        raise JudgeError(
            f"{folder}: config.json says model_type={config.get('model_type')}, "
            f"adapter_attn_dim={config.get('adapter_attn_dim')}; wanted a wav2vec2 with adapters by language"
        )
    vocabularies = json_object(folder / "vocab.json", JudgeError)
    if not vocabularies or not all(map(_is_vocabulary, vocabularies.values())):
        raise JudgeError(
            f"{folder}: vocab.json is not nested by language (token -> row); wanted the layout of facebook/mms-1b-all"
        )
    return vocabularies


def _is_vocabulary(entry: Any) -> bool:
    return isinstance(entry, dict) and all(type(row) is int for row in entry.values())


def rate_of(folder: Path) -> int:
    """The sample rate that the model was trained for.

    Raises:
        JudgeError: there is none, or none that sound can have.
    """
    found = json_object(folder / "preprocessor_config.json", JudgeError).get("sampling_rate", 16_000)
    low, high = RATE_RANGE_HZ
    if type(found) is not int or not low <= found <= high:
        raise JudgeError(f"{folder}: preprocessor_config.json says sampling_rate={found}; wanted {low} to {high}")
    return found


def code_of(folder: Path, candidates: str, vocabularies: Mapping[str, Any]) -> str | None:
    """The first of the candidates (MMS codes with spaces between) that has a vocabulary and an adapter here."""
    there = (code for code in candidates.split() if code in vocabularies and (folder / adapter_file(code)).is_file())
    return next(there, None)


def misfit(folder: Path, code: str, vocabulary: Mapping[str, int]) -> str | None:
    """What is wrong between a language's adapter and its vocabulary; None when they fit."""
    path = folder / adapter_file(code)
    fault = unfinished(path)
    if fault is not None:
        return fault
    rows = _head_rows(path)
    if rows is None:
        return f"{path} is no adapter: it has no {_HEAD}"
    if sorted(vocabulary.values()) != list(range(rows)):
        return f"{path}: its head has {rows} rows, but vocab.json has {len(vocabulary)} entries for {code}"
    if BLANK not in vocabulary:
        return f"{folder}: vocab.json has no {BLANK} for {code}, which stands for the blank"
    return None


def _head_rows(path: Path) -> int | None:
    """Rows of the head."""
    try:
        return int(safetensors_header(path)[_HEAD]["shape"][0])
    except (ValueError, KeyError, IndexError, TypeError):
        return None
