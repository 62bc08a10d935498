"""kasauti (कसौटी, the touchstone): measures text-to-speech for the languages of India.

The names below are stable. Each is loaded when it is first used, so `import kasauti` costs nothing.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Engines that report home when they are loaded: ONNX Runtime from 1.32 on also writes an id into the user's cache.
# Nobody who compares voices asked for that; who wants it sets the variable to 0.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

_HOMES = {
    "normalize": "kasauti.text.levels",
    "expand_numbers": "kasauti.text.numbers",
    "to_iso15919": "kasauti.text.iso15919",
    "graphemes": "kasauti.text.units",
    "score_pair": "kasauti.metrics.score",
    "pool": "kasauti.metrics.score",
    "PairScore": "kasauti.metrics.score",
    "Pooled": "kasauti.metrics.score",
    "load_prompts": "kasauti.prompts",
    "Prompt": "kasauti.records",
    "probe_audio": "kasauti.audio",
    "AudioFacts": "kasauti.audio",
    "bootstrap": "kasauti.stats.bootstrap",
    "Interval": "kasauti.stats.bootstrap",
    "noise_floor": "kasauti.stats.noise",
    "Floor": "kasauti.stats.noise",
}

if TYPE_CHECKING:
    from kasauti.audio import AudioFacts, probe_audio
    from kasauti.metrics.score import PairScore, Pooled, pool, score_pair
    from kasauti.prompts import load_prompts
    from kasauti.records import Prompt
    from kasauti.stats.bootstrap import Interval, bootstrap
    from kasauti.stats.noise import Floor, noise_floor
    from kasauti.text.iso15919 import to_iso15919
    from kasauti.text.levels import normalize
    from kasauti.text.numbers import expand_numbers
    from kasauti.text.units import graphemes

__all__ = [
    "AudioFacts",
    "Floor",
    "Interval",
    "PairScore",
    "Pooled",
    "Prompt",
    "__version__",
    "bootstrap",
    "expand_numbers",
    "graphemes",
    "load_prompts",
    "noise_floor",
    "normalize",
    "pool",
    "probe_audio",
    "score_pair",
    "to_iso15919",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'kasauti' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
