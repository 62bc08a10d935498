"""Meta's Omnilingual ASR as a second judge of another family, in an environment of its own.

The package needs fairseq2, which goes with few versions of torch; so it runs as a remote judge in an interpreter of its
own (`judge.python`), and nothing of it is imported here. Only its LLM models are taken: they are told the language,
while the CTC models choose a script by themselves, Devanagari for Urdu among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kasauti import devices
from kasauti.errors import JudgeError
from kasauti.judges.base import JudgeOptions
from kasauti.judges.remote import Remote, RemoteOptions, lacking_python, server_command
from kasauti.judges.servers.omnilingual import LANGUAGE_IDS
from kasauti.records import Finding, Prompt


@dataclass
class OmnilingualOptions(JudgeOptions):
    """Options of Omnilingual ASR.

    Attributes:
        python: Interpreter of the environment that has `omnilingual-asr`.
        model: Name of one of its LLM models; the weights are fetched by the package when first used.
        package: Version of the package that is installed there; another one is another judge.
        dtype: torch's name of the arithmetic.
        device: `cpu`, `cuda` or `auto`; no part of identity.
        batch_clips: Clips sent at once; no part of identity.
        timeout_s, limit_s: As for a remote judge; weights of gigabytes are loaded meanwhile.
    """

    _target_: str = "kasauti.judges.omnilingual.Omnilingual"
    id: str = "omnilingual"
    python: str | None = None
    model: str = "omniASR_LLM_7B_v2"
    package: str = "0.2.0"
    dtype: str = "bfloat16"
    device: str = "auto"
    batch_clips: int = 8
    timeout_s: float = 600.0
    limit_s: float = 3600.0


class Omnilingual(Remote):
    """Transcribes with Omnilingual ASR."""

    options_type = OmnilingualOptions

    def __init__(self, options: OmnilingualOptions) -> None:
        subject = f"judge {options.id}"
        if "_LLM_" not in options.model or options.model.endswith("_ZS"):
            raise JudgeError(
                f"{subject}: model={options.model}: wanted an LLM model (omniASR_LLM_7B_v2): the CTC models can't be "
                "told the language and choose its script themselves, the zero-shot one needs examples"
            )
        if options.device not in devices.DEVICES or options.batch_clips < 1:
            raise JudgeError(
                f"{subject}: wanted device one of {', '.join(devices.DEVICES)}, batch_clips from 1: {options}"
            )
        self._python = options.python
        told = {name: getattr(options, name) for name in ("model", "dtype", "device", "batch_clips")}
        super().__init__(
            RemoteOptions(
                options._target_,
                options.id,
                command=server_command(options.python, "omnilingual", told),
                revision=f"{options.model}+omnilingual-asr-{options.package}",
                langs=sorted(LANGUAGE_IDS),
                timeout_s=options.timeout_s,
                limit_s=options.limit_s,
            )
        )
        self.facts = replace(self.facts, settings={"dtype": options.dtype}, seconds_per_clip=5.0)

    def check(self, prompts: Sequence[Prompt]) -> list[Finding]:
        return lacking_python(f"judge {self._options.id}", self._python, "omnilingual-asr")
