"""Devices: what is asked for, what is there, and when memory has ended."""

from __future__ import annotations

import pytest

from kasauti import devices
from kasauti.devices import DeviceError


def test_an_unknown_device_is_refused_with_the_known_ones() -> None:
    with pytest.raises(DeviceError, match="device=tpu: wanted one of auto, cpu, cuda"):
        devices.choose("tpu")
    (finding,) = devices.lacking("judge x", "tpu", modules=())
    assert (finding.level, finding.subject) == ("error", "judge x")


def test_the_cpu_needs_no_torch() -> None:
    assert devices.choose("cpu") == "cpu"
    assert devices.lacking("judge x", "cpu") == devices.lacking("judge x", "auto") == []


@pytest.mark.parametrize(
    ("error", "full"),
    [
        (MemoryError(), True),
        (RuntimeError("CUDA out of memory. Tried to allocate 20.00 MiB"), True),  # torch
        (RuntimeError("[ONNXRuntimeError] : 6 : Failed to allocate memory for requested buffer of size 1"), True),
        (RuntimeError("std::bad_alloc"), True),
        (RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 1 bytes"), True),  # torch
        (RuntimeError("shape mismatch"), False),
        (ValueError("no memory of it"), False),
    ],
)
def test_the_words_for_full_memory(error: Exception, full: bool) -> None:
    assert devices.is_full(error) is full


def test_releasing_nothing_does_nothing() -> None:
    devices.release()
