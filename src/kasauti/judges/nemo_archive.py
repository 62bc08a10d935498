"""What a `.nemo` archive says of itself before anything of it is loaded: which recogniser it is, and for whose NeMo.

A `.nemo` file is a tar archive, compressed or not, of `model_config.yaml`, weights and the tokenizer's files. The
config's `target` names the class; only recognisers that need no more than sound are taken.
"""

from __future__ import annotations

import re
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kasauti.cache import sha256_of
from kasauti.errors import JudgeError

Decoder = Literal["ctc", "rnnt"]

_CONFIG = "model_config.yaml"
_WEIGHTS = "model_weights.ckpt"
_MODELS = "nemo.collections.asr.models."
_DECODERS: dict[str, tuple[Decoder, ...]] = {
    "EncDecCTCModel": ("ctc",),
    "EncDecCTCModelBPE": ("ctc",),
    "EncDecRNNTModel": ("rnnt",),
    "EncDecRNNTBPEModel": ("rnnt",),
    "EncDecHybridRNNTCTCModel": ("rnnt", "ctc"),
    "EncDecHybridRNNTCTCBPEModel": ("rnnt", "ctc"),
}
"""Classes of NeMo that hear without being told more, and their decoders, the one they start with first."""

_TARGET = re.compile(r"^target: *['\"]?([\w.]+)", re.MULTILINE)
_FORK = re.compile(
    r"\b(multisoftmax|language_keys)\b|^ +type: *['\"]?(multilingual)\b|^ +(multilingual):", re.MULTILINE
)
"""Words that only configs written by AI4Bharat's fork of NeMo hold."""

FORK_REMEDY = (
    "stock NeMo can't restore the checkpoints of AI4Bharat's fork. Hear with judge=indicconformer, or run the fork in "
    "an environment of its own as a remote judge: docs/add-a-judge.md"
)


@dataclass(frozen=True)
class NemoArchive:
    """One archive that can be restored, as far as its config tells.

    Attributes:
        path: The file.
        sha256: Its hash: what the judge is.
        target: Dotted name of its class in NeMo.
        decoders: Those it has, the one it starts with first.
    """

    path: Path
    sha256: str
    target: str
    decoders: tuple[Decoder, ...]


def read_archive(path: Path) -> NemoArchive:
    """Looks into an archive.

    Raises:
        JudgeError: it is no file, no such archive, lacks a part, is no recogniser that can be used here, or was written
            by the fork.
        CacheError: it can't be read.
    """
    if path.is_dir():
        raise JudgeError(f"{path} is a folder; wanted one file NAME.nemo (an unpacked checkpoint: tar -cf it again)")
    if not path.is_file():
        raise JudgeError(f"{path}: there is no such file; wanted the path of a checkpoint NAME.nemo")
    config = _config_of(path)
    if _FORK.search(config):
        raise JudgeError(f"{path}: {FORK_REMEDY}")
    found = _TARGET.search(config)
    target = found[1] if found else "no class"
    name = target.rpartition(".")[2]
    if not target.startswith(_MODELS) or name not in _DECODERS:
        raise JudgeError(
            f"{path} holds {target}; wanted a recogniser that needs nothing but sound: {', '.join(_DECODERS)}"
        )
    return NemoArchive(path, sha256_of(path), target, _DECODERS[name])


def _config_of(path: Path) -> str:
    try:
        with tarfile.open(path) as archive:
            # Archives are packed from the folder itself, so that names start with "./".
            names = {name.removeprefix("./"): name for name in archive.getnames()}
            missing = [name for name in (_CONFIG, _WEIGHTS) if name not in names]
            if missing:
                raise JudgeError(f"{path}: the archive lacks {', '.join(missing)}; wanted a checkpoint of NeMo")
            member = archive.extractfile(names[_CONFIG])
            return member.read().decode("utf-8", errors="replace") if member else ""
    except (tarfile.TarError, EOFError, OSError) as error:
        raise JudgeError(f"{path} is no .nemo archive, or not all of it is there ({error}); fetch it again") from error
