"""The files of a checkpoint, and what can be told from them before anything is loaded.

config.json  tokenizer.json  model.safetensors.index.json + model-*.safetensors (or one model.safetensors)
codec/config.json  codec/model.safetensors
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kasauti.checkpoints import Checkpoint
from kasauti.errors import SpeechSystemError
from kasauti.model_files import json_object, unfinished
from kasauti.systems.rumik.layout import Layout, read_layout

MODULES = ("torch", "transformers", "tokenizers", "safetensors")
INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
CODEC = "codec"


def checkpoint(model: str, revision: str | None) -> Checkpoint:
    """A checkpoint of this layout."""
    return Checkpoint(
        model,
        revision,
        required=("config.json", "tokenizer.json", f"{CODEC}/config.json", f"{CODEC}/{SINGLE}"),
        optional=(INDEX, "*.safetensors"),
    )


@dataclass(frozen=True)
class Files:
    """A checkpoint that has everything it needs.

    Attributes:
        folder: Where it lies.
        config: Its `config.json`.
        layout: What that says about tokens of sound.
        rate_hz: Sample rate of its codec.
        shards: Its files of weights.
    """

    folder: Path
    config: Mapping[str, Any]
    layout: Layout
    rate_hz: int
    shards: tuple[Path, ...]


def examine(folder: Path) -> Files:
    """Reads the small files of a checkpoint and looks for the big ones.

    Raises:
        SpeechSystemError: another architecture, a missing file, fields that contradict each other, or a codec that
            does not fit.
    """
    config = json_object(folder / "config.json", SpeechSystemError)
    try:
        layout = read_layout(config)
    except SpeechSystemError as error:
        raise SpeechSystemError(f"{folder}: {error}") from error
    json_object(folder / "tokenizer.json", SpeechSystemError)
    codec = json_object(folder / CODEC / "config.json", SpeechSystemError)
    return Files(folder, config, layout, _rate(folder, layout, codec), _shards(folder))


def _rate(folder: Path, layout: Layout, codec: Mapping[str, Any]) -> int:
    """The codec's sample rate, if it is one that the layout's tokens are for."""
    wanted = {"codebook_size": layout.codebook_size, "num_quantizers": layout.num_quantizers}
    found = {name: codec.get(name) for name in wanted}
    rate = codec.get("sampling_rate")
    fits = (
        codec.get("model_type") == "mimi"
        and found["codebook_size"] == wanted["codebook_size"]
        and isinstance(found["num_quantizers"], int)
        and found["num_quantizers"] >= wanted["num_quantizers"]
        and type(rate) is int
        and rate > 0
    )
    if not fits:
        raise SpeechSystemError(
            f"{folder / CODEC}: model_type={codec.get('model_type')!r}, {found}, sampling_rate={rate}: the tokens of "
            f"config.json need a mimi codec with codebook_size {wanted['codebook_size']}, at least "
            f"{wanted['num_quantizers']} quantizers and a sample rate"
        )
    assert isinstance(rate, int)
    return rate


def _shards(folder: Path) -> tuple[Path, ...]:
    if not (folder / INDEX).is_file():
        names = {SINGLE}
    else:
        placed = json_object(folder / INDEX, SpeechSystemError).get("weight_map")
        if not isinstance(placed, dict) or not placed:
            raise SpeechSystemError(f"{folder / INDEX}: wanted weight names and their files under weight_map")
        names = {str(name) for name in placed.values()}
    missing = sorted(name for name in names if not (folder / name).is_file())
    if missing:
        raise SpeechSystemError(
            f"{folder}: the checkpoint lacks {', '.join(missing)}; if a download was cut short, delete the folder and "
            "start again"
        )
    shards = tuple(folder / name for name in sorted(names))
    for shard in shards:
        fault = unfinished(shard)
        if fault is not None:
            raise SpeechSystemError(fault)
    return shards
