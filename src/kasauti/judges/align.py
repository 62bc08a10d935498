"""Where each word of a prompt is in its clip: forced alignment of the text with MMS, clip by clip.

The judge is told the text and finds the best path through it, so it always finds one: whether the words were said at
all is for a recogniser to tell. The mark `align_fit`, the mean probability of the text's letters where they were
placed, falls where they were not. Text is aligned as it is spoken (figures as words, punctuation out).

torchaudio computes the path; it must fit torch to the minor version and lives in an environment of its own (extra
`align`). Source: `torchaudio.functional.forced_align`; Pratap et al.: Scaling Speech Technology to 1,000+ Languages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from kasauti.judges.align_words import NotAligned, place_words
from kasauti.judges.base import JudgeFailed, JudgeTask
from kasauti.judges.batching import Samples, Transcript
from kasauti.judges.mms import Mms, MmsOptions
from kasauti.judges.mms_layout import BLANK
from kasauti.metrics.timing import TimedWord
from kasauti.records import Finding, Prompt, Status
from kasauti.text.levels import normalize

INSTALL = "pip install -e '.[align]' in an environment of its own, or make setup-align"
LEVEL = "numbers"


@dataclass
class AlignOptions(MmsOptions):
    """Options of the alignment; those of MMS, whose letters it follows."""

    _target_: str = "kasauti.judges.align.Align"
    id: str = "align"


class Align(Mms):
    """Places the words of a prompt in its clip."""

    options_type = AlignOptions

    def __init__(self, options: AlignOptions) -> None:
        super().__init__(options)
        settings = {**self.facts.settings, "level": LEVEL, "aligner": "ctc"}
        self.facts = replace(self.facts, settings=settings, told=("text",), seconds_per_clip=1.5)

    def check(self, prompts: Sequence[Prompt]) -> list[Finding]:
        from importlib.util import find_spec

        if find_spec("torchaudio") is None:
            subject = f"judge {self.options.id}"
            return [Finding("error", subject, "not installed: torchaudio.", f"Install it: {INSTALL}")]
        return super().check(prompts)

    def hear(self, clips: Sequence[Samples], tasks: Sequence[JudgeTask]) -> list[Transcript]:
        logits = self.frames(clips, tasks)
        vocabulary = self.vocabulary(tasks[0])
        placed = []
        for clip, task, rows in zip(clips, tasks, logits, strict=True):
            words = normalize(task.told["text"], task.lang, LEVEL).split()
            frame_s = clip.size / self.rate_hz / rows.shape[0]
            try:
                found = place_words(rows.float().log_softmax(-1), words, vocabulary, vocabulary[BLANK], frame_s)
            except NotAligned as failure:
                raise JudgeFailed(str(failure), reason=failure.reason, status=Status.JUDGE_INVALID) from failure
            facts = {"words": [list(asdict(word).values()) for word in found]}
            placed.append(Transcript(None, facts, {"align_fit": _fit(found)}))
        return placed


def _fit(words: Sequence[TimedWord]) -> float:
    """Mean score of the placed words, weighed by their letters."""
    placed = [(len(word.word), word.score) for word in words if word.score is not None]
    return round(sum(letters * score for letters, score in placed) / sum(letters for letters, _ in placed), 4)
