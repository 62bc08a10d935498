"""What IndicConformer can say before it is loaded: a device, weights or scripts that are not what the run needs."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from kasauti import devices
from kasauti.judges.indicconformer_files import missing_weights, other_script
from kasauti.judges.indicconformer_graphs import has_cuda
from kasauti.records import Finding

_SHOWN = 3


def device(subject: str, name: str, backend: str) -> list[Finding]:
    """A GPU that is asked for and not there, or that the installed ONNX Runtime was not built for."""
    found = devices.lacking(subject, name)
    idle = name == "auto" and shutil.which("nvidia-smi") is None
    if found or name == "cpu" or idle or backend != "onnx" or has_cuda():
        return found
    told = f"device={name}: the installed ONNX Runtime is the one for CPUs."
    if name == "cuda":
        return [Finding("error", subject, told, "pip install onnxruntime-gpu in its place, or device=cpu")]
    remedy = "It will not use the GPU that seems to be here; pip install onnxruntime-gpu in its place."
    return [Finding("warning", subject, told, remedy)]


def weights(subject: str, folder: Path | None, required: Sequence[str]) -> list[Finding]:
    """Weight files outside the graphs that a folder that is here lacks, or holds a part of."""
    missing = missing_weights(folder, required) if folder is not None else []
    if not missing:
        return []
    named = ", ".join(missing[:_SHOWN]) + (f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else "")
    told = f"{folder}: weights are missing or cut short: {named}."
    return [Finding("error", subject, told, "Fetch or copy the whole folder assets again.")]


def scripts(subject: str, written: Mapping[str, str | None], langs: Iterable[str]) -> list[Finding]:
    """Languages of the prompts that the checkpoint writes in another script than their code stands for."""
    odd = ((lang, other_script(lang, written)) for lang in langs)
    return [
        Finding(
            "warning",
            subject,
            f"it writes {lang} in {script}; such rows will be wrong_script, compared by sound only.",
        )
        for lang, script in odd
        if script is not None
    ]
