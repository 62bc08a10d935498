"""IndicConformer by the publisher's own class, one clip at a time: to compare our runner with.

It runs Python files of the checkpoint, which is why it is never the default. That class asks the hub for whatever name
it is loaded by, at no revision; here it is loaded from the fetched folder, which it is handed back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kasauti.cache import cache_folder
from kasauti.errors import JudgeError
from kasauti.judges.indicconformer_decoding import Floats
from kasauti.judges.quiet import quiet


class RemoteCode:
    """The publisher's class, loaded from a folder.

    Raises:
        JudgeError: it can't be loaded.
    """

    def __init__(self, folder: Path, decoder: str, device: str) -> None:
        from transformers import AutoModel, dynamic_module_utils

        if "HF_MODULES_CACHE" not in os.environ:  # copies of a checkpoint's code belong to our cache, not to the home
            dynamic_module_utils.HF_MODULES_CACHE = str(cache_folder() / "modules")

        self._decoder = decoder
        try:
            with quiet(), _folder_for_hub(folder):
                model: Any = AutoModel.from_pretrained(str(folder), trust_remote_code=True)
        except Exception as error:  # a stranger's code, at set-up: nothing can be heard without it
            raise JudgeError(
                f"backend=remote_code: {folder}: its class can't be loaded: {type(error).__name__}: {error}"
            ) from error
        self._model = model.eval().to(device)

    def hear(self, samples: Floats, lang: str) -> str:
        """The transcript of mono samples [frames] at 16 kHz in a language of the checkpoint."""
        import torch

        with torch.inference_mode():
            found = self._model(torch.from_numpy(samples)[None], lang, self._decoder)
        if not isinstance(found, str):
            raise TypeError(f"the publisher's class answered {type(found).__name__}, wanted a text")
        return found.strip()


@contextmanager
def _folder_for_hub(folder: Path) -> Iterator[None]:
    """Answers a call of `snapshot_download` for the folder with the folder."""
    import huggingface_hub

    fetch = huggingface_hub.snapshot_download

    def given(repo_id: str, *arguments: Any, **options: Any) -> Any:
        return str(folder) if repo_id == str(folder) else fetch(repo_id, *arguments, **options)

    huggingface_hub.snapshot_download = given
    try:
        yield
    finally:
        huggingface_hub.snapshot_download = fetch
