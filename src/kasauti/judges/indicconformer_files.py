"""The files of an IndicConformer checkpoint: what there must be, what its vocabulary says, and how they fit together.

`assets/` holds the encoder (its large weights in files of their own), the CTC decoder, the transducer's prediction and
joint networks, `preprocessor.ts`, and two tables: `vocab.json`, language -> 257 pieces, the last of which is never
written; `language_masks.json`, language -> which rows of the CTC decoder are its own, 256 and the blank at the end.

Source: the published repository's file list, and its class in `model_onnx.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kasauti.checkpoints import CheckpointError
from kasauti.model_files import json_object, outside_weights
from kasauti.text.languages import LANGUAGES as ALL_LANGUAGES
from kasauti.text.languages import language
from kasauti.text.scripts import dominant_script

LANGUAGES = tuple("as bn brx doi kok gu hi kn ks mai ml mni mr ne or pa sa sat sd ta te ur".split())
"""Codes of the published checkpoint; English is not among them."""

_SHARED = ("assets/encoder.onnx", "assets/vocab.json", "assets/language_masks.json")
_TRANSDUCER = (
    *(f"assets/{name}.onnx" for name in ("rnnt_decoder", "joint_enc", "joint_pred", "joint_pre_net")),
    *(f"assets/joint_post_net_{lang}.onnx" for lang in LANGUAGES),
)
OPTIONAL = ("assets/*", "config.json")
"""Further files that are read: weights outside the graphs have names of their own choice."""


def required_files(decoder: str, features: str, backend: str) -> tuple[str, ...]:
    """Files that must be there for a decoder (`ctc`, `rnnt`), features (`torchscript`, `numpy`) and a backend."""
    if backend == "remote_code":
        return (*_SHARED, "assets/ctc_decoder.onnx", *_TRANSDUCER, "assets/preprocessor.ts", "config.json")
    front = ("assets/preprocessor.ts",) if features == "torchscript" else ()
    return (*_SHARED, *(("assets/ctc_decoder.onnx",) if decoder == "ctc" else _TRANSDUCER), *front)


def missing_weights(folder: Path, required: Sequence[str]) -> list[str]:
    """Weight files that the graphs point at and that are not there, or not all of them."""
    missing = []
    for name in required:
        if not name.endswith(".onnx"):
            continue
        for place, size in outside_weights(folder / name).items():
            path = (folder / name).parent / place
            if not path.is_file() or path.stat().st_size < size:
                missing.append((Path(name).parent / place).as_posix())
    return sorted(set(missing))


@dataclass(frozen=True)
class Vocabulary:
    """The vocabulary of one language.

    Attributes:
        pieces: The pieces by their number; `▁` begins a word.
        rows: Rows of the CTC decoder that are this language's, the blank last [257].
    """

    pieces: tuple[str, ...]
    rows: NDArray[np.intp]

    @property
    def blank(self) -> int:
        """Number of the blank among the language's rows."""
        return len(self.rows) - 1

    def text(self, numbers: Sequence[int]) -> str:
        """The text that pieces spell."""
        return "".join(self.pieces[number] for number in numbers).replace("▁", " ").strip()


def read_vocabularies(folder: Path) -> dict[str, Vocabulary]:
    """The vocabulary of every language.

    Raises:
        CheckpointError: a table is damaged, or the two don't fit together.
    """
    words = _table(folder / "assets" / "vocab.json")
    masks = _table(folder / "assets" / "language_masks.json")
    if set(words) != set(masks):
        odd = ", ".join(sorted(set(words) ^ set(masks)))
        raise CheckpointError(f"{folder}: vocab.json and language_masks.json have different languages ({odd})")
    return {lang: _vocabulary(folder, lang, words[lang], masks[lang]) for lang in words}


def _vocabulary(folder: Path, lang: str, pieces: Any, mask: Any) -> Vocabulary:
    if not (isinstance(pieces, list) and all(isinstance(piece, str) for piece in pieces)):
        raise CheckpointError(f"{folder}: vocab.json: {lang}: wanted a list of pieces")
    if not (isinstance(mask, list) and all(isinstance(own, bool) for own in mask) and mask and mask[-1]):
        raise CheckpointError(
            f"{folder}: language_masks.json: {lang}: wanted true or false for every row, true for the last (the blank)"
        )
    rows = np.flatnonzero(np.array(mask))
    if len(pieces) < len(rows) - 1:
        raise CheckpointError(
            f"{folder}: {lang} has {len(pieces)} pieces in vocab.json for {len(rows) - 1} rows in language_masks.json"
        )
    return Vocabulary(tuple(pieces), rows)


def _table(path: Path) -> dict[str, Any]:
    found = json_object(path, CheckpointError)
    if not found:
        raise CheckpointError(f"{path}: wanted a table by language")
    return found


def read_config(folder: Path) -> dict[str, int]:
    """The whole numbers in `config.json` (`RNNT_MAX_SYMBOLS`); nothing where there is no such file.

    Raises:
        CheckpointError: the file is damaged.
    """
    path = folder / "config.json"
    found = _table(path) if path.exists() else {}
    return {name: value for name, value in found.items() if type(value) is int}


def languages_of(scripts: Mapping[str, str | None]) -> frozenset[str]:
    """Our codes that a checkpoint can judge.

    A plain code stands for the language in any script: rows of another script than the text's are marked by scoring.
    A code with a script (`sd-Deva`) is taken only where the vocabulary is mainly in that script.

    Args:
        scripts: Language of the checkpoint -> script of its vocabulary; None where that is not known yet.
    """
    found = {lang for lang in scripts if lang in ALL_LANGUAGES}
    second = {code for code, entry in ALL_LANGUAGES.items() if "-" in code and scripts.get(entry.base) == entry.script}
    return frozenset(found | second)


def scripts_of(vocabularies: Mapping[str, Vocabulary]) -> dict[str, str | None]:
    """Language -> the script that most letters of its pieces are in."""
    return {lang: dominant_script("".join(found.pieces)) for lang, found in vocabularies.items()}


def other_script(lang: str, scripts: Mapping[str, str | None]) -> str | None:
    """The script that the checkpoint writes a language in, where it is not the one that the code stands for."""
    written = scripts.get(language(lang).base)
    return written if written is not None and written != language(lang).script else None
