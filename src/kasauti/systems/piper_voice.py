"""The two files of a Piper voice: a known one from the weights table, or the user's own by path.

Conventions: the config of `NAME.onnx` is `NAME.onnx.json` beside it, as Piper writes it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from kasauti import weights
from kasauti.cache import sha256_of
from kasauti.errors import SpeechSystemError
from kasauti.identity import digest
from kasauti.paths import source_path
from kasauti.records import Finding
from kasauti.weights_table import TABLE

_PREFIX = "piper-"
_MODULES = ("piper", "onnxruntime")


@dataclass(frozen=True)
class PiperFiles:
    """Where a voice is and what it is, without loading it.

    Attributes:
        voice: Name of a known voice (`en_US-joe-medium`), or path of a .onnx file.
    """

    voice: str

    @property
    def known(self) -> bool:
        """Whether it is in the weights table."""
        return _PREFIX + self.voice in TABLE

    def paths(self) -> tuple[Path, Path]:
        """Model and config; a known voice is put in the cache first.

        Raises:
            WeightsError: as `weights.locate`.
        """
        if self.known:
            files = weights.locate(_PREFIX + self.voice).files
            return files["voice.onnx"], files["voice.onnx.json"]
        return source_path(self.voice), source_path(f"{self.voice}.json")

    def revision(self) -> str:
        """Hash of the two files, with the name of a known voice; the name of a file is no part of what it says.

        Raises:
            CacheError: they are not there.
        """
        if self.known:
            return f"{self.voice}@{weights.revision(_PREFIX + self.voice)}"
        return f"piper@{digest([sha256_of(path) for path in self.paths()], 12)}"

    def language(self) -> str | None:
        """Code of the language it speaks; None while its config is not there.

        Raises:
            SpeechSystemError: the config is not one of Piper's.
        """
        if self.known:
            return self.voice.partition("_")[0]
        config = self.paths()[1]
        if not config.is_file():
            return None
        try:
            return str(json.loads(config.read_text(encoding="utf-8"))["espeak"]["voice"]).partition("-")[0]
        except (ValueError, KeyError, TypeError) as error:
            raise SpeechSystemError(
                f"{config}: not the config of a Piper voice ({type(error).__name__}: {error})"
            ) from error

    def lacking(self, subject: str) -> list[Finding]:
        """What is missing before it can speak."""
        if self.known:
            return weights.lacking(subject, _MODULES, _PREFIX + self.voice)
        missing = [str(path) for path in self.paths() if not path.is_file()]
        if missing:
            known = ", ".join(name.removeprefix(_PREFIX) for name in TABLE if name.startswith(_PREFIX))
            return [Finding("error", subject, f"voice={self.voice}: there is no file {missing[0]}", f"or take {known}")]
        return weights.lacking(subject, _MODULES)
