"""Serves a checkpoint of AI4Bharat's fork of NeMo, in an environment where that is installed: `python FILE OPTIONS`.

OPTIONS is a JSON object: `checkpoint` (a .nemo file), `decoder` (`ctc` or `rnnt`), `device` (`auto`, `cpu`, `cuda`).
Stock NeMo can't load these checkpoints; the fork is branch `nemo-v2` of AI4Bharat/NeMo (NeMo 1.23.0rc0).
Source: AI4Bharat/IndicConformerASR, README.md and issue 32.
"""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any


def hearing(model: Any, tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Hears one clip: the fork decodes each batch in one language, and the results of other sizes are not the same."""
    [task] = tasks
    path, lang = task["clips"][0]["path"], task["lang"]
    text = _first(model.transcribe([path], batch_size=1, logprobs=False, language_id=lang))
    return [{"raw": text, "transcript": text.strip()}]


def _first(found: Any) -> str:
    """The text in what the fork gives: a list of texts for CTC; for RNNT a pair of such lists, best and all."""
    while not isinstance(found, str):
        found = found[0]
    return found


def load(options: dict[str, Any]) -> tuple[str, Any]:
    """Loads the checkpoint; gives what it is, and the model."""
    import nemo
    import nemo.collections.asr as nemo_asr
    import torch

    device = options["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    model = nemo_asr.models.ASRModel.restore_from(options["checkpoint"], map_location=torch.device(device))
    model.eval()
    model.cur_decoder = options["decoder"]
    return f"nemo@{_sha256(options['checkpoint'])[:12]}+ai4bharat-nemo-{nemo.__version__}", model


def _sha256(path: str) -> str:
    found = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            found.update(block)
    return found.hexdigest()


def main() -> None:
    """Serves on standard input and output."""
    from line_server import Ready, serve  # beside this file, where Python looks first

    options = json.loads(sys.argv[1])

    def ready() -> Any:
        revision, model = load(options)
        return Ready(revision, lambda tasks: hearing(model, tasks))

    serve(ready)


if __name__ == "__main__":
    main()
