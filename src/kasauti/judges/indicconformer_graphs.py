"""IndicConformer's graphs as sessions of ONNX Runtime, checked for the names of their inputs and outputs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from kasauti.errors import JudgeError
from kasauti.judges.quiet import quiet

_CUDA_OPTIONS = {
    # The usual search tries all algorithms anew for every length, and lengths of clips hardly repeat.
    "cudnn_conv_algo_search": "DEFAULT",
    # Without it cuDNN takes a slow kernel for depthwise convolutions in one dimension, of which each layer has one.
    "cudnn_conv1d_pad_to_nc1d": "1",
    # Float32 in ten bits would be another answer than a CPU's, and one that differs from batch to batch.
    "use_tf32": "0",
    "arena_extend_strategy": "kSameAsRequested",
}
"""Source: ONNX Runtime, CUDA execution provider, configuration options."""


class Graphs:
    """Sessions over the files of one folder."""

    def __init__(self, assets: Path, device: str, threads: int) -> None:
        self._assets = assets
        self._threads = threads
        self._cuda = device == "cuda"
        self._providers: list[Any] = []
        if device != "cpu" and has_cuda():
            _load_libraries()
            self._providers = [("CUDAExecutionProvider", _CUDA_OPTIONS)]

    def load(self, name: str, inputs: Sequence[str], outputs: Sequence[str], *, small: bool = False) -> Any:
        """A session.

        Args:
            name: Of the file, without its ending.
            inputs: Names that it must have.
            outputs: Names that it must have.
            small: Whether a run takes less than handing it to a GPU or to a second thread would.

        Raises:
            JudgeError: it can't be loaded, has other inputs or outputs, or is not on the device that was asked for.
        """
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1 if small else self._threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # A plan of the memory would be kept for every shape of batch, and few come twice.
        options.enable_mem_pattern = False
        # Threads that spin while they wait take the cores from whatever else runs.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        path = self._assets / f"{name}.onnx"
        try:
            with quiet():
                providers = ["CPUExecutionProvider"] if small else [*self._providers, "CPUExecutionProvider"]
                # Falling back, it would print a banner and try the same once more.
                session = onnxruntime.InferenceSession(str(path), options, providers, enable_fallback=0)
        except Exception as error:  # ONNX Runtime's own types, one for each way a file can be wrong
            raise JudgeError(f"{path}: ONNX Runtime can't load it: {str(error).splitlines()[0]}") from error
        for kind, wanted, found in (
            ("inputs", inputs, session.get_inputs()),
            ("outputs", outputs, session.get_outputs()),
        ):
            names = [value.name for value in found]
            if not set(wanted) <= set(names):
                raise JudgeError(
                    f"{path}: wanted {kind} {', '.join(wanted)}, got {', '.join(names)}: another model's graph"
                )
        if self._cuda and not small and "CUDAExecutionProvider" not in session.get_providers():
            raise JudgeError(f"device=cuda: ONNX Runtime could not use the GPU for {path}; use device=cpu, or auto")
        return session


def _load_libraries() -> None:
    """Loads CUDA's libraries from the packages that brought them: the loader of the system doesn't know them."""
    import onnxruntime

    if hasattr(onnxruntime, "preload_dlls"):  # from 1.21; before it only torch, imported first, brought them
        with redirect_stdout(None):  # it prints what it doesn't find; a session without the GPU says so itself
            onnxruntime.preload_dlls()


def has_cuda() -> bool:
    """Whether the installed ONNX Runtime was built for CUDA."""
    import onnxruntime

    return "CUDAExecutionProvider" in onnxruntime.get_available_providers()
