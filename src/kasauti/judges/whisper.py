"""Whisper, a recogniser for 14 of the 22 languages and English: through faster-whisper (CTranslate2), or transformers.

Conventions: one fixed language per clip, several clips at once, answers in any order. How a clip is decoded, and why
its length in tokens is capped, is said in `whisper_decoding`; what the other backend does is in `whisper_transformers`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from typing import Any

from kasauti import weights
from kasauti.cache import sha256_of
from kasauti.errors import JudgeError
from kasauti.identity import digest
from kasauti.judges.base import Answer, Judge, JudgeFacts, JudgeFailed, JudgeOptions, JudgeTask
from kasauti.judges.sound import samples_of
from kasauti.judges.whisper_decoding import LANGUAGES, RATE_HZ, Limits, decode, steady
from kasauti.judges.whisper_layout import converted_misfit
from kasauti.judges.whisper_preflight import lacking_engine
from kasauti.judges.whisper_transformers import TransformersEngine
from kasauti.paths import source_path
from kasauti.records import Finding, Outcome, Prompt
from kasauti.weights_table import TABLE

BACKENDS = ("faster-whisper", "transformers")

_MOST_BEAMS = 100
"""More take minutes for a clip, and memory without end."""

_MODEL_FILES = ("model.bin", "config.json", "tokenizer.json", "preprocessor_config.json", "vocabulary.*")
"""What CTranslate2 and faster-whisper read of a folder, as far as it is there."""


@dataclass
class WhisperOptions(JudgeOptions):
    """Options of Whisper.

    Attributes:
        backend: `faster-whisper` (None) or `transformers`: other arithmetic, hence another judge.
        model: `base` (None), `small`, `large-v3`, or the folder of a CTranslate2 conversion. With transformers
            `large-v3` (None), `OWNER/NAME` on the hub, or a folder in that layout.
        revision: With transformers, the commit on the hub of `OWNER/NAME`.
        compute_type: Name of the arithmetic (`int8`, `float32`; on a GPU `float16`); None = `int8`, and `float32` with
            transformers, which has no `int8`.
        beam_size: Hypotheses kept, 1 to 100; 1 = greedy.
        window_s: Seconds heard at once, 1 to 30. Shorter changes some texts, and is faster with faster-whisper.
        max_tokens_per_second: Cap on decoded tokens per second of sound, 1 to 1,000.
        device: `cpu`, `cuda`, or `auto`: the CPU for faster-whisper, which finds a GPU but not always its libraries; a
            GPU where there is one for transformers. No part of identity.
        workers: Clips at once: threads of faster-whisper, the batch of transformers; None = 2, and with transformers on
            a GPU 16. No part of identity.
    """

    _target_: str = "kasauti.judges.whisper.Whisper"
    id: str = "whisper"
    backend: str | None = None
    model: str | None = None
    revision: str | None = None
    compute_type: str | None = None
    beam_size: int = 5
    window_s: int = 30
    max_tokens_per_second: float = 60.0
    device: str = "auto"
    workers: int | None = None


class Whisper(Judge):
    """Transcribes with Whisper, several clips at once."""

    options_type = WhisperOptions

    def __init__(self, options: WhisperOptions) -> None:
        ranges = {"window_s": (1, 30), "beam_size": (1, _MOST_BEAMS), "max_tokens_per_second": (1, 1_000)}
        for name, (low, high) in ranges.items():
            if not low <= getattr(options, name) <= high:
                raise JudgeError(f"judge {options.id}: {name}={getattr(options, name)}: wanted {low} to {high}")
        if options.workers is not None and options.workers < 1:
            raise JudgeError(f"judge {options.id}: workers={options.workers}: wanted at least 1, or null")
        self._workers = options.workers or 2
        if options.backend not in (None, *BACKENDS):
            raise JudgeError(f"judge {options.id}: backend={options.backend}: wanted {' or '.join(BACKENDS)}")
        self.options = options
        self._limits = Limits(options.beam_size, options.window_s, options.max_tokens_per_second)
        self._batched = TransformersEngine(options, self._limits) if options.backend == "transformers" else None
        if self._batched is not None:
            self.facts = self._batched.facts
            return
        self._compute_type = options.compute_type or "int8"
        model = options.model or "base"
        self._name = f"whisper-{model}"
        self._folder = source_path(model)
        self._lock = threading.Lock()
        self._model: Any = None
        self.facts = JudgeFacts(
            revision=f"{self._weights_revision()}+faster-whisper",
            languages=LANGUAGES,
            settings={"compute_type": self._compute_type, **asdict(self._limits)},
            seconds_per_clip=0.6,
        )

    def check(self, prompts: Sequence[Prompt]) -> list[Finding]:
        if self._batched is not None:
            return self._batched.check(prompts)
        subject, known = f"judge {self.options.id}", self._name in TABLE
        fault = None if known else converted_misfit(self._folder, LANGUAGES)
        if fault is not None:
            names = ", ".join(name.removeprefix("whisper-") for name in TABLE if name.startswith("whisper-"))
            return [Finding("error", subject, f"{fault}.", f"Known by name: {names}.")]
        found = weights.lacking(subject, ["faster_whisper"], self._name if known else None)
        if any(finding.level == "error" for finding in found):
            return found
        return [*found, *lacking_engine(subject, self.options.device, self._compute_type)]

    def judge(self, tasks: Iterable[JudgeTask]) -> Iterator[Answer]:
        if self._batched is not None:
            yield from self._batched.judge(tasks)
            return
        one = super().judge
        self._load()
        pool = ThreadPoolExecutor(self._workers)
        waiting: set[Future[Answer]] = set()
        try:
            for task in tasks:
                waiting.add(pool.submit(lambda task: next(iter(one((task,)))), task))
                # A few ahead keep the workers busy; more would only hold tasks that a stop would lose.
                if len(waiting) >= 2 * self._workers:
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in done)
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        finally:
            pool.shutdown(cancel_futures=True)

    def answer(self, task: JudgeTask) -> Answer:
        samples = samples_of(task.clips[0], RATE_HZ)
        try:
            text, facts = decode(self._model, samples, task.lang, self._limits)
        except JudgeFailed:
            raise
        except Exception as error:  # whatever the engine throws at one clip is that clip's
            raise JudgeFailed(f"{type(error).__name__}: {error}", reason="engine_error", retryable=True) from error
        return Answer(task.judgment_id, Outcome(facts=facts), raw=text, transcript=text)

    def close(self) -> None:
        if self._batched is not None:
            self._batched.close()
        else:
            self._model = None

    def _try_out(self) -> None:
        """Encodes silence: the engine looks for its libraries of CUDA at the first use, which else is a clip's."""
        import numpy as np

        self._model.encode(self._model.feature_extractor(np.zeros(30 * RATE_HZ, np.float32))[:, :-1])

    def _weights_revision(self) -> str:
        """Name and revision of a known model; for a folder a hash of what is read of it, wherever it lies."""
        if self._name in TABLE:
            return f"{self._name}@{weights.revision(self._name)}"
        files = [path for pattern in _MODEL_FILES for path in self._folder.glob(pattern)]
        return f"whisper@{digest({path.name: sha256_of(path) for path in files}, 12)}"

    def _load(self) -> None:
        with self._lock:
            if self._model is not None:
                return
            import faster_whisper

            folder, fault = self._folder, None
            if self._name in TABLE:
                folder = weights.locate(self._name).folder
            else:
                fault = converted_misfit(folder, LANGUAGES)
            if fault is not None:
                raise JudgeError(f"judge {self.options.id}: {fault}")
            try:
                self._model = faster_whisper.WhisperModel(
                    str(folder),
                    device="cpu" if self.options.device == "auto" else self.options.device,
                    compute_type=self._compute_type,
                    cpu_threads=1,
                    num_workers=self._workers,
                )
                steady(self._model.feature_extractor)
                if self.options.device == "cuda":
                    self._try_out()
            except Exception as error:  # the engine's, and bare ones of the tokenizer's library
                self._model = None
                raise JudgeError(f"judge {self.options.id}: {folder} can't be loaded: {error}") from error
