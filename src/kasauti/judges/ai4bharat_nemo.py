"""IndicConformer checkpoints of AI4Bharat's fork of NeMo, one per language, in an environment of the fork.

Stock NeMo can't load them (`judge=nemo` says so), and the fork needs an older Python and torch; so it runs as a remote
judge in an interpreter of its own (`judge.python`). The same recogniser for all languages, without the fork, is
`judge=indicconformer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kasauti import devices
from kasauti.cache import sha256_of
from kasauti.errors import JudgeError
from kasauti.judges.base import JudgeOptions
from kasauti.judges.remote import Remote, RemoteOptions, lacking_python, server_command
from kasauti.paths import source_path
from kasauti.records import Finding, Prompt

DECODERS = ("ctc", "rnnt")


@dataclass
class Ai4BharatNemoOptions(JudgeOptions):
    """Options of a checkpoint of the fork.

    Attributes:
        python: Interpreter of the environment that has the fork.
        checkpoint: Path of the .nemo file.
        langs: Languages that it hears; the file doesn't say.
        decoder: `ctc` or `rnnt`; the checkpoints have both.
        package: `nemo.__version__` of the fork; another one is another judge.
        device: `cpu`, `cuda` or `auto`; no part of identity.
        timeout_s, limit_s: As for a remote judge.
    """

    _target_: str = "kasauti.judges.ai4bharat_nemo.Ai4BharatNemo"
    id: str = "ai4bharat_nemo"
    python: str | None = None
    checkpoint: str = "???"
    langs: list[str] | None = None
    decoder: str = "rnnt"
    package: str = "1.23.0rc0"
    device: str = "auto"
    timeout_s: float = 600.0
    limit_s: float = 3600.0


class Ai4BharatNemo(Remote):
    """Transcribes with a checkpoint of the fork."""

    options_type = Ai4BharatNemoOptions

    def __init__(self, options: Ai4BharatNemoOptions) -> None:
        subject, file = f"judge {options.id}", source_path(options.checkpoint)
        if not file.is_file():
            raise JudgeError(f"{subject}: checkpoint={options.checkpoint}: there is no such file; give a .nemo file")
        if not options.langs:
            raise JudgeError(f"{subject}: langs is empty; say which languages this checkpoint hears: judge.langs=[hi]")
        if options.decoder not in DECODERS or options.device not in devices.DEVICES:
            wanted = f"decoder one of {', '.join(DECODERS)}, device one of {', '.join(devices.DEVICES)}"
            raise JudgeError(f"{subject}: wanted {wanted}: {options}")
        self._python = options.python
        told = {"checkpoint": str(file), "decoder": options.decoder, "device": options.device}
        super().__init__(
            RemoteOptions(
                options._target_,
                options.id,
                command=server_command(options.python, "ai4bharat_nemo", told),
                revision=f"nemo@{sha256_of(file)[:12]}+ai4bharat-nemo-{options.package}",
                langs=options.langs,
                timeout_s=options.timeout_s,
                limit_s=options.limit_s,
            )
        )
        self.facts = replace(self.facts, settings={"decoder": options.decoder}, seconds_per_clip=2.0)

    def check(self, prompts: Sequence[Prompt]) -> list[Finding]:
        return lacking_python(f"judge {self._options.id}", self._python, "AI4Bharat's NeMo (branch nemo-v2)")
