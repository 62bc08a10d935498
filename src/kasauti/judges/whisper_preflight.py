"""What faster-whisper can say before it is loaded: a device that is not there, or can't compute as it is asked to."""

from __future__ import annotations

import sys

from kasauti import devices
from kasauti.records import Finding

_CUBLAS = "libcublas.so.12"
"""What CTranslate2 loads at its first use on a GPU: CUDA 12, whatever torch was built for. The name is Linux's."""


def lacking_engine(subject: str, device: str, compute_type: str) -> list[Finding]:
    """What keeps CTranslate2 from working here.

    Args:
        subject: What the finding is about (`judge whisper`).
        device: One of `devices.DEVICES`; `auto` is the CPU.
        compute_type: Name of the arithmetic.
    """
    if device not in devices.DEVICES:
        return [Finding("error", subject, f"device={device}: wanted one of {', '.join(devices.DEVICES)}")]
    import ctranslate2

    if device == "cuda" and ctranslate2.get_cuda_device_count() == 0:
        return [Finding("error", subject, "device=cuda: CTranslate2 sees no GPU here; use device=cpu, or auto")]
    able = {"default", *ctranslate2.get_supported_compute_types("cuda" if device == "cuda" else "cpu")}
    if compute_type not in able:
        told = f"compute_type={compute_type}: wanted one that this device has: {', '.join(sorted(able))}"
        return [Finding("error", subject, told)]
    if device == "cuda" and not _has_cublas():
        told = f"device=cuda: CTranslate2 needs {_CUBLAS}, which is not found; the run would end there."
        remedy = "pip install nvidia-cublas-cu12, and name its folder lib in LD_LIBRARY_PATH; or device=cpu"
        return [Finding("warning", subject, told, remedy)]
    return []


def _has_cublas() -> bool:
    """Whether the library is found; a warning's worth, since another package may load it for the engine."""
    import ctypes

    if sys.platform != "linux":
        return True
    try:
        ctypes.CDLL(_CUBLAS)
    except OSError:
        return False
    return True
