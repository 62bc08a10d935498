"""`system=rumik`: speaks with rumik-oss-1, many clips at once.

What the seed promises: the tokens of a clip are drawn with its own numbers, so the clips beside it, the size of the
batch and the order of the work do not move them, as far as the arithmetic gives equal scores. In float32 on one
machine it does but for ties; in bfloat16, or on another device, near-equal scores may fall the other way.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from kasauti import devices
from kasauti.errors import KasautiError, SpeechSystemError, near_matches
from kasauti.records import Finding, Outcome, Prompt
from kasauti.systems.base import Speech, SpeechFailed, SpeechRequest, System, SystemFacts, SystemOptions
from kasauti.systems.rumik import clips
from kasauti.systems.rumik.clips import Script, Take
from kasauti.systems.rumik.codec import Codec, Decoded, Decoding
from kasauti.systems.rumik.draws import FIELDS, Draw, draw_of
from kasauti.systems.rumik.files import MODULES, Files, checkpoint, examine
from kasauti.systems.rumik.model import DTYPES, load
from kasauti.systems.rumik.prompt import DESCRIPTION, SPEAKER
from kasauti.systems.rumik.rollout import Rollout, Row
from kasauti.systems.rumik.tokenizer import WireTokenizer
from kasauti.text.languages import LANGUAGES

log = logging.getLogger(__name__)

RULES = 1
"""Of prompts, draws and frames: another number makes other clips of the same weights and seeds."""

_BATCH_CLIPS = {"cuda": 64, "cpu": 8}

_ON_THE_GPU = threading.Lock()
"""Two checkpoints in one run load and speak one after the other: beside a capture nothing else may run on the GPU."""

LICENCE = (
    "the weights of rumik-oss-1 are CC BY-NC 4.0 with Cohere's acceptable-use addendum: no commercial use; "
    "its codec is Kyutai's Mimi, CC BY 4.0"
)


@dataclass
class RumikOptions(SystemOptions):
    """Options of rumik.

    Attributes:
        model: A folder, or `OWNER/NAME` on the hub, of rumik-oss-1 or a checkpoint of its layout.
        revision: Commit on the hub; not used for a folder.
        speaker: Name of the voice; `control.speaker` of a prompt comes first.
        description: Tone, accent and pace, with `{lang}` for the language's English name; None leaves the delivery to
            the model. `control.description`, `.tone`, `.accent` and `.pace` come first.
        chunk_chars: Texts with more code points are spoken in pieces, cut at ends of sentences; None = never.
        tokenizer_sha: Hash that the ids of fixed sentences must have (`tokenizer_sha` in a clip's facts); None = any.
        dtype: Arithmetic of the decoder: `bfloat16` as published, `float16` or `float32`.
        device: `cpu`, `cuda` or `auto`; no part of identity.
        batch_clips: Clips at once; None = 64 on a GPU, 8 on a CPU; no part of identity.
    """

    _target_: str = "kasauti.systems.rumik.system.Rumik"
    id: str = "rumik"
    model: str = "rumik-ai/rumik-oss-1"
    revision: str | None = "0ed3c98684e14350c910129c0efa179841c41ad2"
    speaker: str = SPEAKER
    description: str | None = DESCRIPTION
    chunk_chars: int | None = None
    tokenizer_sha: str | None = None
    dtype: str = "bfloat16"
    device: str = "auto"
    batch_clips: int | None = None


class Rumik(System):
    """Speaks with one checkpoint."""

    options_type = RumikOptions

    def __init__(self, options: RumikOptions) -> None:
        if options.dtype not in DTYPES:
            raise SpeechSystemError(
                f"system {options.id}: dtype={options.dtype}: {near_matches(options.dtype, DTYPES)}"
            )
        for name in ("chunk_chars", "batch_clips"):
            value = getattr(options, name)
            if value is not None and value < 1:
                raise SpeechSystemError(f"system {options.id}: {name}={value}: wanted at least 1, or null")
        self.options = options
        self._checkpoint = checkpoint(options.model, options.revision)
        self._script = Script(options.speaker, options.description, options.chunk_chars)
        self._engine: _Engine | None = None
        self.facts = SystemFacts(
            languages=dict.fromkeys(LANGUAGES, "supported"),
            settings={
                "speaker": options.speaker,
                "description": options.description,
                "chunk_chars": options.chunk_chars,
                "dtype": options.dtype,
            },
            decoding_fields=FIELDS,
            seconds_per_char=0.3,
        )

    def fingerprint(self, prompt: Prompt | None = None) -> str:
        return f"rumik {self._checkpoint.identity()}, rules {RULES}"

    def settings_of(self, prompt: Prompt) -> Mapping[str, Any]:
        how = self._script.delivery(prompt)
        texts = self._script.texts(prompt)
        cut = {"pieces": texts} if len(texts) > 1 else {}
        return {"speaker": how.speaker, "description": how.description, "dtype": self.options.dtype, **cut}

    def check(self, prompts: Sequence[Prompt]) -> list[Finding]:
        subject = f"system {self.options.id}"
        found = self._checkpoint.lacking(subject, MODULES)
        if any(finding.level == "error" for finding in found):
            return found
        found += devices.lacking(subject, self.options.device, MODULES)
        folder = self._checkpoint.here()
        if folder is None:
            return found
        try:
            files = examine(folder)
            self._check_speakers(files, [prompt for prompt in prompts if self.refuse(prompt) is None])
        except KasautiError as error:
            found.append(Finding("error", subject, str(error)))
        return found

    def refuse(self, prompt: Prompt) -> Outcome | None:
        refusal = super().refuse(prompt)
        if refusal is not None:
            return refusal
        try:
            self._script.wires(prompt)
        except SpeechFailed as failure:
            return failure.outcome
        return None

    def synthesise(self, requests: Iterable[SpeechRequest]) -> Iterator[Speech]:
        with _turn(self.options.device):  # before a request is pulled, which claims it
            for draw, group in groupby(requests, key=lambda request: draw_of(request.decoding)):
                if self._engine is None:
                    self._engine = _Engine(self.options, examine(self._checkpoint.folder()))
                yield from self._speak_all(self._engine, draw, group)

    def close(self) -> None:
        self._engine = None
        devices.release()

    def _check_speakers(self, files: Files, prompts: Sequence[Prompt]) -> None:
        known = files.layout.speakers
        wanted = dict.fromkeys([self.options.speaker, *(self._script.delivery(prompt).speaker for prompt in prompts)])
        for speaker in wanted:
            if known and speaker not in known:
                raise SpeechSystemError(f"speaker={speaker}: {near_matches(speaker, known)}")

    def _speak_all(self, engine: _Engine, draw: Draw, requests: Iterable[SpeechRequest]) -> Iterator[Speech]:
        takes: dict[Row, Take] = {}
        refused: deque[Speech] = deque()

        def rows() -> Iterator[Row]:
            for request in requests:
                try:
                    take = clips.begin(request, self._script, engine.tokenizer.encode, draw, engine.layout)
                except SpeechFailed as failure:
                    refused.append(Speech(request.clip_id, failure.outcome))
                    continue
                takes.update(dict.fromkeys(take.rows, take))
                yield from take.rows

        with engine.decoding() as decoding:
            for ended in engine.rollout(draw).run(rows()):
                for row in ended:
                    codes = clips.end(row, takes[row], engine.layout)
                    if isinstance(codes, Outcome):
                        yield from takes.pop(row).fail(codes)
                    else:
                        decoding.put(row, codes)
                yield from engine.replies(takes, decoding.ready())
                while refused:
                    yield refused.popleft()
            yield from engine.replies(takes, decoding.rest())
        yield from refused


def _turn(device: str) -> AbstractContextManager[Any]:
    """On a GPU, the turn of one checkpoint; a stream keeps it until it ends or is closed."""
    return _ON_THE_GPU if devices.choose(device) == "cuda" else nullcontext()


class _Engine:
    """A loaded checkpoint.

    Raises:
        SpeechSystemError: it can't be loaded.
        DeviceError: there is no GPU where one is asked for.
    """

    def __init__(self, options: RumikOptions, files: Files) -> None:
        device = devices.choose(options.device)
        log.warning("system %s: %s", options.id, LICENCE)
        self.layout = files.layout
        try:
            self.tokenizer = WireTokenizer(files.folder, files.config, files.layout, options.tokenizer_sha)
            self._codec = Codec(files, device)
            self._model = load(files, device, options.dtype)
        except KasautiError:
            raise
        except Exception as error:
            full = f"the memory of {device} is too small for it" if devices.is_full(error) else "it can't be loaded"
            raise SpeechSystemError(f"{files.folder}: {full} ({type(error).__name__}: {error})") from error
        self._batch = options.batch_clips or _BATCH_CLIPS[device]
        self._draw: Draw | None = None
        self._rollout: Rollout | None = None
        if (options.device, device) == ("auto", "cpu"):
            log.warning("system %s: no GPU is seen here: it computes on the CPU", options.id)

    def rollout(self, draw: Draw) -> Rollout:
        """The rollout for one way of drawing, kept with its caches and graphs until another way is asked for."""
        if self._rollout is None or draw != self._draw:
            self._rollout, self._draw = None, draw
            self._rollout = Rollout(self._model, draw, self._batch)
        return self._rollout

    def decoding(self) -> Decoding[Row]:
        """The codec in a thread of its own."""
        return Decoding(self._codec)

    def replies(self, takes: dict[Row, Take], decoded: Iterable[Decoded[Row]]) -> Iterator[Speech]:
        """Replies that are whole now."""
        for one in decoded:
            take = takes.pop(one.key)
            take.decode_s += one.wall_s
            if one.samples is None:
                assert one.error is not None
                yield from take.fail(clips.failed(one.error))
                continue
            take.samples[one.key] = one.samples
            yield from take.whole(self.layout, self._codec.rate_hz, {"tokenizer_sha": self.tokenizer.sha})
