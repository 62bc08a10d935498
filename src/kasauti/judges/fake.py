"""Judges for tests: one hears what the fake system wrote into the samples, one compares the systems of a line-up."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from kasauti.audio import read_audio
from kasauti.errors import JudgeError
from kasauti.fakes import read_text
from kasauti.identity import seed_of
from kasauti.judges.base import Answer, Judge, JudgeFacts, JudgeFailed, JudgeOptions, JudgeTask
from kasauti.metrics.edits import edit_distance
from kasauti.records import Outcome, Status


@dataclass
class FakeJudgeOptions(JudgeOptions):
    """Options of `judge=fake`.

    Attributes:
        slip_rate: Share of the letters that it mishears, differently each time it is asked.
        langs: Languages it has; null = any.
        fail_words: It fails, retryable, on texts that hold one of these.
        usd_per_call: What a call costs.
        workers: Worker processes it allows; 1 = none.
    """

    slip_rate: float = 0.0
    langs: list[str] | None = None
    fail_words: list[str] = field(default_factory=list)
    usd_per_call: float = 0.0
    workers: int = 1


class FakeJudge(Judge):
    """Reads the text out of the samples."""

    options_type = FakeJudgeOptions

    def __init__(self, options: FakeJudgeOptions) -> None:
        if not 0 <= options.slip_rate <= 1:
            raise JudgeError(f"judge {options.id}: slip_rate={options.slip_rate}: wanted a share, 0 to 1")
        self._options = options
        self.facts = JudgeFacts(
            revision="fake-1",
            languages=None if options.langs is None else frozenset(options.langs),
            settings={"slip_rate": options.slip_rate},
            workers=options.workers,
            usd_per_call=options.usd_per_call,
            seconds_per_clip=0.002,
        )

    def answer(self, task: JudgeTask) -> Answer:
        """What was said, with slips where asked for."""
        text = _hear(task, 0)
        if any(word in text for word in self._options.fail_words):
            raise JudgeFailed("told to fail", reason="told_to", retryable=True)
        draw = random.Random(seed_of(task.judgment_id))
        slip_rate = self._options.slip_rate
        heard = "".join("x" if draw.random() < slip_rate and not c.isspace() else c for c in text)
        cost = Outcome(cost_usd=self._options.usd_per_call)
        return Answer(task.judgment_id, cost, raw=heard, transcript=heard)


class FakePanel(Judge):
    """Hears all systems of a prompt at once and marks each by how much of the text it said, 1 to 5."""

    options_type = FakeJudgeOptions

    def __init__(self, options: FakeJudgeOptions) -> None:
        self.facts = JudgeFacts(revision="fake-panel-1", told=("text",), compares=True, seconds_per_clip=0.002)

    def answer(self, task: JudgeTask) -> Answer:
        """One judgment, a mark for each blind label."""
        text = task.told["text"]
        scores = {}
        for place, clip in enumerate(task.clips):
            lost = edit_distance(text, _hear(task, place)) / max(1, len(text))
            scores[clip.label] = {"quality": round(5 - 4 * min(lost, 1.0), 3)}
        if not scores:
            raise JudgeFailed("nothing to compare", reason="no_clips", status=Status.JUDGE_INVALID)
        return Answer(task.judgment_id, raw=str(scores), scores=scores)


def _hear(task: JudgeTask, place: int) -> str:
    text = read_text(read_audio(task.clips[place].path).samples)
    if text is None:
        raise JudgeFailed("only what system=fake wrote can be heard by this judge", reason="not_written_by_fake")
    return text
