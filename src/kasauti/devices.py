"""Where models of torch and ONNX Runtime compute: which device, whether it is there, and what to do when it is full.

Nothing here loads a model. A device is never part of an identity; its arithmetic (`dtype`) is.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Sequence

from kasauti.errors import KasautiError
from kasauti.records import Finding

DEVICES = ("auto", "cpu", "cuda")

_FULL = (
    "out of memory",
    "failed to allocate memory",
    "can't allocate memory",
    "cannot allocate memory",
    "bad_alloc",
    "bfcarena",
    "not enough memory",
    "alloc_failed",
    "allocation_failed",
)
"""What torch, CUDA's libraries, ONNX Runtime and C++ say when memory ends; some of their errors have no type of their
own."""


ONE_AT_A_TIME = threading.RLock()
"""Held while a thread captures a graph on a GPU, by rumik's codec while it decodes on one, and by `release`.

What runs beside a capture ends up in it or breaks it. Source: "CUDA Graphs" in torch's notes on CUDA semantics.
"""


class DeviceError(KasautiError):
    """A device is unknown or not there."""


class DeviceBrokenError(DeviceError):
    """An error has broken the GPU for this process; another process may use it."""


def choose(device: str) -> str:
    """`cpu` or `cuda` for one of `DEVICES`; `auto` is a GPU where torch sees one.

    A GPU is set to compute float32 as float32: convolutions and recurrent layers would be rounded to TF32, ten bits,
    which torch takes for them unless it is told otherwise, and for products of matrices where the environment says so.
    Attention is kept off cuDNN, which makes a plan for every new shape; here hardly one comes twice.

    Raises:
        DeviceError: the name is unknown, or there is no GPU where one is asked for.
    """
    if device not in DEVICES:
        raise DeviceError(f"device={device}: wanted one of {', '.join(DEVICES)}")
    if device == "cpu":
        return device
    import torch

    if torch.cuda.is_available():
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cuda.enable_cudnn_sdp(False)
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


def release(error: BaseException | None = None) -> None:
    """Hands back what dropped models, or the work that an error stopped, held, so that what comes next finds room.

    Args:
        error: Its tracebacks are taken off it: they hold every tensor of the work.

    Raises:
        DeviceBrokenError: the error has broken the GPU for this process, so that nothing more would go through.
    """
    stopped = error is not None
    while error is not None and error.__traceback__ is not None:
        error.__traceback__ = None
        error = error.__cause__ or error.__context__
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():  # what never used a GPU has nothing to hand back
        return
    try:
        with ONE_AT_A_TIME:
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
    except RuntimeError as broken:  # a GPU that an error has broken answers every call with that error
        if stopped:
            raise DeviceBrokenError(
                f"the GPU can't be used any more by this process ({broken}); run the same command again, it goes on "
                "from here (if it comes again, one clip does it: batch_clips=1, or workers=1, finds it)"
            ) from broken
