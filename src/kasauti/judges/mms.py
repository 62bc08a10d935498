"""Meta's MMS: one wav2vec2 with CTC, and a small adapter and vocabulary for each language.

One base is loaded and adapters are swapped, so clips go by language. Greedy decoding, no language model. A clip's text
doesn't depend on its batch: padding is masked from the attention, and the frames that it makes are cut off. Where a
checkpoint normalises over the whole of its input (`feat_extract_norm: group`), no mask can hide padding, and each clip
is heard alone.

The weights of `facebook/mms-1b-all` are CC BY-NC 4.0. Source: https://huggingface.co/docs/transformers/model_doc/mms
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby
from typing import Any

from kasauti import devices
from kasauti.checkpoints import Checkpoint
from kasauti.errors import JudgeError
from kasauti.judges.base import JudgeFacts, JudgeFailed, JudgeOptions, JudgeTask, no_numbers
from kasauti.judges.batching import BatchJudge, Samples, Transcript
from kasauti.judges.mms_layout import BLANK, LAYOUT, adapter_file, code_of, misfit, rate_of, vocabularies_of
from kasauti.judges.quiet import quiet
from kasauti.records import Finding, Prompt, Status

_MODEL, _REVISION = "facebook/mms-1b-all", "3d33597edbdaaba14a8e858e2c8caa76e3cec0cd"
_LOG = logging.getLogger(__name__)
_SPACE = "|"
_NOT_TEXT = frozenset({BLANK, "<s>", "</s>", "<unk>"})
_PACKAGES = ("torch", "transformers", "safetensors")
_DTYPES = ("float32", "float16", "bfloat16")


@dataclass
class MmsOptions(JudgeOptions):
    """Options of MMS.

    Attributes:
        model: `OWNER/NAME` on the hub, or a folder in the same layout; None = the published one.
        revision: Commit on the hub; not used for a folder; None = that of the published one.
        codes: Our language code -> MMS code; several with spaces between: the first that the checkpoint has.
        dtype: Arithmetic: `float32`, `float16` or `bfloat16`.
        device: `cpu`, `cuda` or `auto`; no part of identity.
        batch_clips: At most so many clips at once; no part of identity.
    """

    _target_: str = "kasauti.judges.mms.Mms"
    id: str = "mms"
    model: str | None = None
    revision: str | None = None
    codes: dict[str, str] = field(default_factory=dict)
    dtype: str = "float32"
    device: str = "auto"
    batch_clips: int = 8


class Mms(BatchJudge):
    """Hears with MMS, one language after the other."""

    options_type = MmsOptions

    def __init__(self, options: MmsOptions) -> None:
        if options.dtype not in _DTYPES or options.batch_clips < 1:
            raise JudgeError(
                f"judge {options.id}: dtype={options.dtype}, batch_clips={options.batch_clips}: wanted one of "
                f"{', '.join(_DTYPES)}, and batches of at least 1 clip"
            )
        self.options = options
        self.batch_clips = options.batch_clips
        self._checkpoint = _checkpoint(options)
        revision = self._checkpoint.identity()
        self.facts = JudgeFacts(
            revision=f"mms@{revision}",
            languages=frozenset(options.codes) if self._checkpoint.on_hub else frozenset(self._codes()),
            settings={"codes": dict(options.codes), "dtype": options.dtype},
        )
        self._model: Any = None
        self._features: Any = None
        self._known: Mapping[str, str] = {}
        self._vocabularies: Mapping[str, Mapping[str, int]] = {}
        self._language = ""

    def check(self, prompts: Sequence[Prompt]) -> list[Finding]:
        subject = f"judge {self.options.id}"
        found = self._checkpoint.lacking(subject, _PACKAGES)
        if any(finding.level == "error" for finding in found):
            return found
        found += devices.lacking(subject, self.options.device)
        folder = self._checkpoint.here()
        if folder is None:
            return found
        rate_of(folder)
        codes, vocabularies = self._codes(), vocabularies_of(folder)
        wanted = {codes[prompt.lang] for prompt in prompts if prompt.lang in codes}
        faults = (misfit(folder, code, vocabularies[code]) for code in sorted(wanted))
        return [*found, *(Finding("error", subject, fault) for fault in faults if fault is not None)]

    def group(self, task: JudgeTask) -> str:
        return self._known.get(task.lang, "")

    def load(self) -> None:
        if self._model is not None:
            return
        device = devices.choose(self.options.device)
        folder = self._checkpoint.folder()
        self._vocabularies, self.rate_hz = vocabularies_of(folder), rate_of(folder)
        self._known = self._codes()
        with quiet():
            try:
                import torch
                from transformers import Wav2Vec2FeatureExtractor, Wav2Vec2ForCTC
                from transformers.utils import logging as chatter

                chatter.disable_progress_bar()
                self._features = Wav2Vec2FeatureExtractor.from_pretrained(folder, local_files_only=True)
                model, notes = Wav2Vec2ForCTC.from_pretrained(
                    folder, dtype=getattr(torch, self.options.dtype), local_files_only=True, output_loading_info=True
                )
                model.to(device)
            except Exception as error:  # a package that doesn't load, what transformers' parts raise, a full device
                raise JudgeError(f"judge {self.options.id}: {folder} can't be loaded: {error}") from error
        if notes["missing_keys"]:
            missing = ", ".join(sorted(notes["missing_keys"])[:5])
            raise JudgeError(f"judge {self.options.id}: {folder} lacks weights of a wav2vec2: {missing}, …")
        if model.config.feat_extract_norm == "group":
            self.batch_clips = 1
        self._model = model.eval()
        _say_licence(self._checkpoint.model)

    def hear(self, clips: Sequence[Samples], tasks: Sequence[JudgeTask]) -> list[Transcript]:
        rows = self.frames(clips, tasks)
        vocabulary = self.vocabulary(tasks[0])
        facts = {"adapter": self.group(tasks[0])}
        return [Transcript(collapsed(row.argmax(-1).tolist(), vocabulary), facts) for row in rows]

    def vocabulary(self, task: JudgeTask) -> Mapping[str, int]:
        """Token -> row of the head, of a task's language; after `frames` has heard it."""
        return self._vocabularies[self.group(task)]

    def frames(self, clips: Sequence[Samples], tasks: Sequence[JudgeTask]) -> list[Any]:
        """What the network makes of clips of one language, given as to `hear`.

        Returns:
            For each clip its logits, a tensor [frames, rows] on the CPU, padding cut off.

        Raises:
            JudgeFailed: the language has no adapter or one that does not fit; a clip is too short, or its logits are
                no numbers.
        """
        import torch

        self._adapt(tasks[0])
        frames = [int(self._model._get_feat_extract_output_lengths(clip.size)) for clip in clips]
        if min(frames) < 1:
            raise JudgeFailed(f"{min(clip.size for clip in clips)} samples make no frame", reason="too_short")
        inputs = self._features(
            list(clips), sampling_rate=self.rate_hz, padding=True, return_attention_mask=True, return_tensors="pt"
        )
        if self._model.config.feat_extract_norm == "group":
            del inputs["attention_mask"]  # such a model was never trained with one; the clip is alone
        with torch.inference_mode():
            given = {
                name: value.to(self._model.device, self._model.dtype if value.is_floating_point() else None)
                for name, value in inputs.items()
            }
            logits = self._model(**given).logits.cpu()
        rows = [row[:count] for row, count in zip(logits, frames, strict=True)]
        if not all(row.isfinite().all() for row in rows):
            raise no_numbers(f"dtype={self.options.dtype}")
        return rows

    def close(self) -> None:
        self._model, self._language = None, ""
        devices.release()

    def _codes(self) -> dict[str, str]:
        """Our code -> MMS code, of those that the files have."""
        folder = self._checkpoint.folder()
        vocabularies = vocabularies_of(folder)
        found = {lang: code_of(folder, names, vocabularies) for lang, names in self.options.codes.items()}
        return {lang: code for lang, code in found.items() if code is not None}

    def _adapt(self, task: JudgeTask) -> None:
        """Puts the adapter of a task's language in."""
        code = self._known.get(task.lang)
        if code is None:
            wanted = self.options.codes.get(task.lang)
            raise JudgeFailed(
                f"{self._checkpoint.model} has no adapter and vocabulary for {task.lang} ({wanted})",
                reason="judge",
                status=Status.UNSUPPORTED_LANGUAGE,
            )
        if code != self._language:
            fault = misfit(self._checkpoint.folder(), code, self._vocabularies[code])
            if fault is not None:
                raise JudgeFailed(fault, reason="vocabulary")
            self._language = ""
            with quiet():
                self._model.load_adapter(code, local_files_only=True, use_safetensors=True)
            self._language = code


def collapsed(rows: Sequence[int], vocabulary: Mapping[str, int]) -> str:
    """The text of a best path: repeats count once, blanks part repeats, the bar is a space.

    Args:
        rows: The best row of the head in each frame.
        vocabulary: Token -> row.
    """
    tokens = {row: token for token, row in vocabulary.items()}
    kept = (tokens[row] for row, _ in groupby(rows))
    return "".join(token.replace(_SPACE, " ") for token in kept if token not in _NOT_TEXT).strip()


def _checkpoint(options: MmsOptions) -> Checkpoint:
    """The checkpoint, with the adapters of all languages of the table; a folder may hold fewer."""
    adapters = {names: tuple(map(adapter_file, names.split())) for names in options.codes.values()}
    every = tuple(sorted({name for files in adapters.values() for name in files}))
    model = options.model or _MODEL
    found = Checkpoint(model, options.revision or (_REVISION if model == _MODEL else None), LAYOUT, every)
    if not found.on_hub:
        return found
    return replace(found, required=(*LAYOUT, *sorted({files[0] for files in adapters.values() if len(files) == 1})))


@cache
def _say_licence(model: str) -> None:
    _LOG.warning("the weights of MMS (%s) are licensed CC BY-NC 4.0: not for commercial use", model)
