"""Where models of torch and ONNX Runtime compute: which device, whether it is there, and what to do when it is full.

Nothing here loads a model. A device is never part of an identity; its arithmetic (`dtype`) is.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from kasauti.errors import KasautiError
from kasauti.records import Finding

DEVICES = ("auto", "cpu", "cuda")

_FULL = ("out of memory", "failed to allocate memory", "bad_alloc", "bfcarena", "not enough memory")
"""What torch, ONNX Runtime and C++ say when memory ends; the types differ, and some are plain RuntimeErrors."""


class DeviceError(KasautiError):
    """A device is unknown or not there."""


def choose(device: str) -> str:
    """`cpu` or `cuda` for one of `DEVICES`; `auto` is a GPU where torch sees one.

    Raises:
        DeviceError: the name is unknown, or there is no GPU where one is asked for.
    """
    if device not in DEVICES:
        raise DeviceError(f"device={device}: wanted one of {', '.join(DEVICES)}")
    if device == "cpu":
        return device
    import torch

    if torch.cuda.is_available():
        return "cuda"
    if device == "cuda":
        raise DeviceError(f"device=cuda: torch {torch.__version__} sees no GPU here; use device=cpu, or auto")
    return "cpu"


def lacking(subject: str, device: str, modules: Sequence[str] = ("torch",)) -> list[Finding]:
    """What preflight has to say about a device. It loads torch only where a GPU is asked for.

    Args:
        subject: What the finding is about (`judge nemo`).
        device: The option's value.
        modules: Packages the part needs; without torch, which others report, nothing is said.
    """
    from importlib.util import find_spec

    if device in ("cpu", "auto") or any(find_spec(name) is None for name in modules):
        return []
    try:
        choose(device)
    except DeviceError as error:
        return [Finding("error", subject, str(error))]
    return []


def is_full(error: BaseException) -> bool:
    """Whether an engine's error says that memory ended, so that less work at once may go through."""
    said = f"{type(error).__name__}: {error}".lower()
    return isinstance(error, MemoryError) or "outofmemory" in said or any(words in said for words in _FULL)


def release() -> None:
    """Hands back what dropped models held, so that the next one finds the device empty."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
