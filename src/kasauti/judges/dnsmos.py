"""DNSMOS: how clean a clip sounds, 1 to 5, as a network predicts it that was trained on noisy, mostly English calls.

A detector of hiss, clicks and smeared speech; not naturalness, and not comparable with scores of listeners. The package
`speechmos` carries the models. A shorter clip is repeated until it fills 9.01 s, a longer one is heard in steps of one
second, and the marks are means over these windows. Silence would get a middling mark, so it is refused here.

Source: Reddy, Gopal, Cutler: DNSMOS P.835 (2022); `speechmos.dnsmos`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kasauti.audio.loudness import envelope_dbfs
from kasauti.cache import keep_compiled_code
from kasauti.checkpoints import INSTALL
from kasauti.judges.base import Answer, Judge, JudgeFacts, JudgeFailed, JudgeOptions, JudgeTask
from kasauti.judges.sound import samples_of
from kasauti.records import Finding, Outcome, Prompt, Status

RATE_HZ = 16_000
VERSION = "0.0.1.1"
"""Of `speechmos`, whose wheel holds the models: part of the revision, so another one is refused."""

_PACKAGES = ("speechmos", "librosa", "onnxruntime", "requests", "tqdm")
"""`speechmos` declares none of what it imports."""


@dataclass
class DnsmosOptions(JudgeOptions):
    """Options of DNSMOS.

    Attributes:
        silence_dbfs: A clip whose loudest 10 ms are quieter is not marked.
    """

    _target_: str = "kasauti.judges.dnsmos.Dnsmos"
    id: str = "dnsmos"
    silence_dbfs: float = -50.0


class Dnsmos(Judge):
    """Gives the marks `dnsmos_ovrl`, `dnsmos_sig` (the speech), `dnsmos_bak` (what is behind it), `dnsmos_p808`."""

    options_type = DnsmosOptions

    def __init__(self, options: DnsmosOptions) -> None:
        self._options = options
        self.facts = JudgeFacts(
            revision=f"speechmos-{VERSION}",
            settings={"silence_dbfs": options.silence_dbfs},
            seconds_per_clip=1.0,
        )

    def check(self, prompts: Sequence[Prompt]) -> list[Finding]:
        from importlib import metadata
        from importlib.util import find_spec

        subject = f"judge {self._options.id}"
        missing = [name for name in _PACKAGES if find_spec(name) is None]
        if missing:
            return [Finding("error", subject, f"not installed: {', '.join(missing)}.", f"Install it: {INSTALL}")]
        installed = metadata.version("speechmos")
        if installed != VERSION:
            message = f"speechmos {installed} is installed; its models are another judge than those of {VERSION}."
            return [Finding("error", subject, message, f"Install it: pip install speechmos=={VERSION}")]
        return []

    def answer(self, task: JudgeTask) -> Answer:
        samples = samples_of(task.clips[0], RATE_HZ)
        loudest_dbfs = float(envelope_dbfs(samples, RATE_HZ).max())
        if loudest_dbfs < self._options.silence_dbfs:
            message = f"the loudest 10 ms have {loudest_dbfs:.1f} dBFS, wanted {self._options.silence_dbfs} or more"
            raise JudgeFailed(message, reason="silent", status=Status.JUDGE_INVALID)
        keep_compiled_code()
        from speechmos import dnsmos

        # Resampling may overshoot full scale by a little, which the model refuses.
        found = dnsmos.run(np.clip(samples, -1.0, 1.0), RATE_HZ)
        marks = {f"dnsmos_{name}": round(float(found[f"{name}_mos"]), 4) for name in ("ovrl", "sig", "bak", "p808")}
        facts = {"loudest_dbfs": round(loudest_dbfs, 1)}
        return Answer(task.judgment_id, Outcome(facts=facts), raw=str(marks), scores={task.clips[0].label: marks})
