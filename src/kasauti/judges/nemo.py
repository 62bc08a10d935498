"""Any recogniser in a `.nemo` file that stock NeMo restores: CTC, RNNT, or a hybrid of both.

The file is its own identity: two files with the same bytes are the same judge. It doesn't say which languages it
hears, so `langs` must; nor is it told the language of a clip, so clips of all languages share a batch. Sound reaches
NeMo as arrays at the model's rate, mono: NeMo alone would resample in silence, lose a batch to one stereo file, and
write text for a clip without samples.
"""

from __future__ import annotations

import importlib
import logging
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any

from kasauti import checkpoints, devices
from kasauti.cache import keep_compiled_code
from kasauti.errors import JudgeError
from kasauti.judges.base import JudgeFacts, JudgeOptions, JudgeTask, no_numbers
from kasauti.judges.batching import BatchJudge, Samples, Transcript
from kasauti.judges.nemo_archive import FORK_REMEDY, read_archive
from kasauti.judges.quiet import quiet
from kasauti.paths import source_path
from kasauti.records import Finding, Prompt
from kasauti.text.languages import resolve_language

_MOST_LETTERS = 300


@dataclass
class NemoOptions(JudgeOptions):
    """Options of a recogniser in a `.nemo` file.

    Attributes:
        model: Path of the file; must be given.
        langs: Languages that it hears, by any name; must be given.
        decoder: `ctc` or `rnnt`, for a hybrid; null = rnnt for a hybrid, and what any other has.
        device: `cpu`, `cuda` or `auto`; no part of identity.
        batch_clips: At most so many clips at once; no part of identity.
    """

    _target_: str = "kasauti.judges.nemo.Nemo"
    id: str = "nemo"
    model: str | None = None
    langs: list[str] | None = None
    decoder: str | None = None
    device: str = "auto"
    batch_clips: int = 8


class Nemo(BatchJudge):
    """Hears with one checkpoint of NeMo."""

    options_type = NemoOptions

    def __init__(self, options: NemoOptions) -> None:
        if not options.model or not options.langs or options.batch_clips < 1:
            raise JudgeError(
                f"judge {options.id}: model={options.model}, langs={options.langs}, batch_clips={options.batch_clips}: "
                "wanted the path of a .nemo file (judge.model=MY.nemo), the languages that it hears (judge.langs=[hi]) "
                "and batches of at least 1 clip"
            )
        self.options = options
        self.batch_clips = options.batch_clips
        self._archive = read_archive(source_path(options.model))
        self._decoder = options.decoder or self._archive.decoders[0]
        if self._decoder not in self._archive.decoders:
            raise JudgeError(
                f"judge {options.id}: decoder={self._decoder}: {self._archive.path} has "
                f"{' and '.join(self._archive.decoders)}"
            )
        self._model: Any = None
        self.facts = JudgeFacts(
            revision=f"nemo@{self._archive.sha256[:12]}",
            languages=frozenset(map(resolve_language, options.langs)),
            settings={"decoder": self._decoder},
        )

    def check(self, prompts: Sequence[Prompt]) -> list[Finding]:
        from importlib.util import find_spec

        subject = f"judge {self.options.id}"
        missing = [name for name in ("torch", "nemo") if find_spec(name) is None]
        if missing:
            remedy = f"Install it: {checkpoints.INSTALL}"
            return [Finding("error", subject, f"not installed: {', '.join(missing)}.", remedy)]
        return devices.lacking(subject, self.options.device)

    def group(self, task: JudgeTask) -> str:
        return ""

    def load(self) -> None:
        if self._model is not None:
            return
        device = devices.choose(self.options.device)
        path = self._archive.path
        keep_compiled_code()
        with quiet():
            try:
                with _home_elsewhere():
                    importlib.import_module("lhotse")
                # NeMo's own choice of the class hides why it could not be built.
                module, _, name = self._archive.target.rpartition(".")
                model = getattr(importlib.import_module(module), name).restore_from(str(path), map_location=device)
                if len(self._archive.decoders) > 1:
                    model.change_decoding_strategy(decoder_type=self._decoder, verbose=False)
                self.rate_hz = int(model.cfg.preprocessor.sample_rate)
            except Exception as error:  # NeMo's constructors raise whatever their configs run into
                raise JudgeError(f"judge {self.options.id}: {path} can't be restored: {_told(error)}") from error
        logging.getLogger("nemo_logger").addFilter(_is_error)
        self._model = model.eval()

    def hear(self, clips: Sequence[Samples], tasks: Sequence[JudgeTask]) -> list[Transcript]:
        heard = self._model.transcribe(list(clips), batch_size=len(clips), num_workers=0, verbose=False)
        if not all(math.isfinite(one.score) for one in heard):
            raise no_numbers("float32")
        return [Transcript(one.text.strip()) for one in heard]

    def close(self) -> None:
        self._model = None
        devices.release()


@contextmanager
def _home_elsewhere() -> Iterator[None]:
    """For the import of what NeMo reads data with: it makes a folder in the home, for tools that nothing here needs."""
    home = os.environ.get("HOME")
    with TemporaryDirectory() as folder:
        os.environ["HOME"] = folder
        try:
            yield
        finally:
            if home is None:
                del os.environ["HOME"]
            else:
                os.environ["HOME"] = home


def _is_error(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.ERROR


def _told(error: Exception) -> str:
    told = f"{type(error).__name__}: {' '.join(str(error).split())[:_MOST_LETTERS]}"
    from_fork = isinstance(error, KeyError) and error.args == ("dir",)
    return f"{told}; {FORK_REMEDY}" if from_fork else told
