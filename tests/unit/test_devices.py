"""Devices: what is asked for, what is there, and when memory has ended."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from kasauti import devices
from kasauti.devices import DeviceError
from processes import held


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
        (
            RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 73 bytes. Error code 12"),
            True,
        ),
        (OSError(12, "Cannot allocate memory"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"), True),
        (RuntimeError("cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED"), True),
        (RuntimeError("shape mismatch"), False),
        (ValueError("no memory of it"), False),
    ],
)
def test_the_words_for_full_memory(error: Exception, full: bool) -> None:
    assert devices.is_full(error) is full


def test_releasing_nothing_does_nothing() -> None:
    devices.release()


class Gpu:
    """Stands in for torch on a machine with a GPU that an error may have broken."""

    def __init__(self) -> None:
        self.backends = self
        self.cuda: Any = self
        self.cudnn, self.matmul = SimpleNamespace(allow_tf32=True), SimpleNamespace(allow_tf32=True)
        self.cudnn_attends = True
        self.in_use = True
        self.broken = False
        self.emptied = 0

    def is_available(self) -> bool:
        return True

    def is_initialized(self) -> bool:
        return self.in_use

    def enable_cudnn_sdp(self, enabled: bool) -> None:
        self.cudnn_attends = enabled

    def synchronize(self) -> None:
        assert held(devices.ONE_AT_A_TIME), "another thread may be capturing"
        if self.broken:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")

    def empty_cache(self) -> None:
        assert held(devices.ONE_AT_A_TIME), "another thread may be capturing"
        self.emptied += 1


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Gpu:
    there = Gpu()
    monkeypatch.setitem(sys.modules, "torch", there)
    return there


def test_on_a_gpu_float32_is_float32(gpu: Gpu) -> None:
    """torch.backends.cudnn.allow_tf32 is true from the start; TORCH_ALLOW_TF32_CUBLAS_OVERRIDE=1 sets the other one."""
    assert devices.choose("cpu") == "cpu"
    assert gpu.cudnn.allow_tf32
    assert devices.choose("auto") == devices.choose("cuda") == "cuda"
    assert (gpu.cudnn.allow_tf32, gpu.matmul.allow_tf32, gpu.cudnn_attends) == (False, False, False)


def test_memory_is_handed_back_after_an_error(gpu: Gpu) -> None:
    devices.release(ValueError("one clip"))
    assert gpu.emptied == 1
    assert not held(devices.ONE_AT_A_TIME)


def test_a_process_that_has_used_no_gpu_leaves_it_alone(gpu: Gpu) -> None:
    """The first call would start CUDA, on a GPU that another program may have filled."""
    gpu.in_use, gpu.broken = False, True
    devices.release(RuntimeError("one clip"))
    assert gpu.emptied == 0


def test_an_error_that_has_broken_the_gpu_ends_the_run_and_a_clean_end_does_not(gpu: Gpu) -> None:
    gpu.broken = True
    devices.release()
    with pytest.raises(devices.DeviceBrokenError, match=r"can't be used any more .* \(CUDA error: an illegal"):
        devices.release(RuntimeError("CUDA error: an illegal memory access was encountered"))
    assert not held(devices.ONE_AT_A_TIME)
