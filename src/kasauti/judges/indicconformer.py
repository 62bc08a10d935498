"""IndicConformer 600M: a recogniser for the 22 scheduled languages, from its published ONNX files, in batches.

The publisher's class hears one clip at a time and fetches its files itself; this one batches clips of all languages by
length, takes a folder or a pinned revision, and runs none of the checkpoint's code (`backend=remote_code` does, to
compare). English is not among its languages. It writes native scripts only; how long clips are cut is said in
`indicconformer_chunks`, how features and text are made in `indicconformer_features` and `indicconformer_decoding`.

A transcript depends on its clip alone: features are made clip by clip, padding is masked by the encoder (looked at when
it is loaded) and cut off before decoding. What is left is the last digit of float32, which differs with the size of a
batch and could tip a choice between two pieces that are equally likely to that digit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kasauti import devices
from kasauti.checkpoints import Checkpoint
from kasauti.errors import JudgeError, KasautiError
from kasauti.judges import indicconformer_preflight as preflight
from kasauti.judges.base import JudgeFacts, JudgeFailed, JudgeOptions, JudgeTask, no_numbers
from kasauti.judges.batching import BatchJudge, Samples, Transcript
from kasauti.judges.indicconformer_chunks import SHORTEST_S, pieces
from kasauti.judges.indicconformer_decoding import Decoded
from kasauti.judges.indicconformer_features import MIN_SAMPLES, RATE_HZ
from kasauti.judges.indicconformer_files import (
    LANGUAGES,
    OPTIONAL,
    Vocabulary,
    languages_of,
    read_vocabularies,
    required_files,
    scripts_of,
)
from kasauti.records import Finding, Prompt
from kasauti.text.languages import language

MODEL = "ai4bharat/indic-conformer-600m-multilingual"
REVISION = "e9b71b369c048e2c6b634d4c131061c34e441179"

_MOST_THREADS = 1024
"""ONNX Runtime starts them all for each graph, whatever the machine has."""

_CHOICES = {"decoder": ("ctc", "rnnt"), "backend": ("onnx", "remote_code"), "features": ("torchscript", "numpy")}


@dataclass
class IndicConformerOptions(JudgeOptions):
    """Options of IndicConformer.

    Attributes:
        model: `OWNER/NAME` on the hub, or a folder with `assets/`; None = the published one.
        revision: Commit on the hub; not used for a folder. None = the one that the published model was read at.
        decoder: `ctc`, or `rnnt` for the transducer: slower, mostly a little better. None = `ctc`.
        backend: `onnx`, or `remote_code` for the publisher's own class. None = `onnx`.
        features: `torchscript` for the checkpoint's own front end, or `numpy`, which needs no torch.
        chunk_s: Longest piece in seconds that is heard at once, at least 3; None = clips whole.
        device: `cpu`, `cuda` or `auto`; no part of identity.
        batch_clips: Clips at once; no part of identity.
        threads: Threads of ONNX Runtime, 0 = as many as cores; no part of identity.
    """

    _target_: str = "kasauti.judges.indicconformer.IndicConformer"
    id: str = "indicconformer"
    model: str | None = None
    revision: str | None = None
    decoder: str | None = None
    backend: str | None = None
    features: str = "torchscript"
    chunk_s: float | None = 15.0
    device: str = "auto"
    batch_clips: int = 8
    threads: int = 0


class IndicConformer(BatchJudge):
    """Transcribes with IndicConformer."""

    options_type = IndicConformerOptions
    rate_hz = RATE_HZ

    def __init__(self, options: IndicConformerOptions) -> None:
        _check(options)
        self.options = options
        self.batch_clips = options.batch_clips
        self._decoder, self._backend = options.decoder or "ctc", options.backend or "onnx"
        self._required = required_files(self._decoder, options.features, self._backend)
        code = ("*.py",) if self._backend == "remote_code" else ()
        model = options.model or MODEL
        revision = options.revision or (REVISION if model == MODEL else None)
        self.checkpoint = Checkpoint(model, revision, self._required, (*OPTIONAL, *code), gated=True)
        self._scripts = self._known_scripts()
        self._vocabularies: dict[str, Vocabulary] = {}
        self._engine: Any = None
        settings = {"decoder": self._decoder, "chunk_s": options.chunk_s}
        if self._backend == "onnx":
            settings["features"] = options.features
        self.facts = JudgeFacts(
            revision=f"{self.checkpoint.identity()}+{self._backend}",
            languages=languages_of(self._scripts),
            settings=settings,
            seconds_per_clip=2.0,
        )

    def check(self, prompts: Sequence[Prompt]) -> list[Finding]:
        subject = f"judge {self.options.id}"
        torch = ["torch"] if self.options.features == "torchscript" else []
        remote = ["torch", "transformers", "onnxruntime"]
        found = self.checkpoint.lacking(subject, remote if self._backend == "remote_code" else [*torch, "onnxruntime"])
        if any(finding.level == "error" for finding in found):
            return found
        judged = dict.fromkeys(prompt.lang for prompt in prompts if self.refuse(prompt) is None)
        return [
            *found,
            *preflight.device(subject, self.options.device, self._backend),
            *preflight.weights(subject, self.checkpoint.here(), self._required),
            *preflight.scripts(subject, self._scripts, judged),
        ]

    def load(self) -> None:
        if self._engine is not None:
            return
        options = self.options
        folder = self.checkpoint.folder()
        self._vocabularies = read_vocabularies(folder)
        if self._backend == "remote_code":
            from kasauti.judges.indicconformer_remote import RemoteCode

            self._engine = RemoteCode(folder, self._decoder, devices.choose(options.device))
            return
        from kasauti.judges.indicconformer_engine import Engine
        from kasauti.judges.indicconformer_features import front_end
        from kasauti.judges.indicconformer_graphs import Graphs

        try:
            graphs = Graphs(folder / "assets", options.device, options.threads)
            front = front_end(options.features, folder / "assets")
            engine = Engine(folder, graphs, front, self._decoder)
            engine.check(self._vocabularies)
        except KasautiError:
            raise
        except Exception as error:  # a first run of the graphs raises whatever its engines do, a full device among it
            told = f"{type(error).__name__}: {' '.join(str(error).split())}"
            raise JudgeError(f"judge {options.id}: {folder} can't be set up: {told}") from error
        self._engine = engine

    def group(self, task: JudgeTask) -> str:
        return ""  # the encoder knows no languages; only what is read off it does

    def hear(self, clips: Sequence[Samples], tasks: Sequence[JudgeTask]) -> list[Transcript]:
        for clip, task in zip(clips, tasks, strict=True):
            if clip.size < MIN_SAMPLES:
                told = f"{task.clips[0].path}: {clip.size} samples at {RATE_HZ} Hz, the model needs {MIN_SAMPLES}"
                raise JudgeFailed(told, reason="too_short")
        cut = [pieces(clip, RATE_HZ, self.options.chunk_s) for clip in clips]
        if self._backend == "remote_code":
            langs = [language(task.lang).base for task in tasks]
            said = [[self._engine.hear(piece, lang) for piece in own] for own, lang in zip(cut, langs, strict=True)]
            return [Transcript(" ".join(filter(None, texts)), self._facts(len(texts))) for texts in said]
        return self._heard(cut, [language(task.lang).base for task in tasks])

    def close(self) -> None:
        self._engine = None
        devices.release()

    def _heard(self, cut: Sequence[Sequence[Samples]], langs: Sequence[str]) -> list[Transcript]:
        """Hears the pieces of all clips, like lengths together, as many at once as there are clips."""
        places = [(clip, place) for clip, own in enumerate(cut) for place in range(len(own))]
        places.sort(key=lambda at: -cut[at[0]][at[1]].size)
        decoded: dict[tuple[int, int], Decoded] = {}
        for start in range(0, len(places), len(cut)):
            group = places[start : start + len(cut)]
            spoken = [(langs[clip], self._vocabularies[langs[clip]]) for clip, _ in group]
            found = self._engine.hear([cut[clip][place] for clip, place in group], spoken)
            decoded.update(zip(group, found, strict=True))
        transcripts = []
        for clip, own in enumerate(cut):
            said = [decoded[clip, place] for place in range(len(own))]
            texts = [self._vocabularies[langs[clip]].text(one.pieces) for one in said]
            choices, total = sum(one.choices for one in said), sum(one.log_probability for one in said)
            if not math.isfinite(total):
                raise no_numbers("float32")
            mean = round(total / choices, 4) if choices else None
            transcripts.append(Transcript(" ".join(filter(None, texts)), self._facts(len(own), mean_logprob=mean)))
        return transcripts

    def _facts(self, chunks: int, **more: Any) -> dict[str, Any]:
        return {"decoder": self._decoder, "chunks": chunks, **more}

    def _known_scripts(self) -> dict[str, str | None]:
        """Languages with the scripts that they are written in, as far as the checkpoint is here to tell."""
        folder = self.checkpoint.here()
        return scripts_of(read_vocabularies(folder)) if folder is not None else dict.fromkeys(LANGUAGES)


def _check(options: IndicConformerOptions) -> None:
    name = f"judge {options.id}"
    for key, known in {**_CHOICES, "device": devices.DEVICES}.items():
        if getattr(options, key) not in (*known, None):
            raise JudgeError(f"{name}: {key}={getattr(options, key)}: wanted one of {', '.join(known)}")
    if options.batch_clips < 1:
        raise JudgeError(f"{name}: batch_clips={options.batch_clips}: wanted at least 1")
    if not 0 <= options.threads <= _MOST_THREADS:
        raise JudgeError(f"{name}: threads={options.threads}: wanted 0 to {_MOST_THREADS}")
    if options.chunk_s is not None and not options.chunk_s >= SHORTEST_S:
        raise JudgeError(f"{name}: chunk_s={options.chunk_s}: wanted at least {SHORTEST_S:g} seconds, or null")
