"""What a judge is to the pipeline: a thing that hears one clip, or the clips of a whole line-up, and answers.

A judge never learns which system it hears: clips come under blind labels. Answers are kept raw; text is normalised
when it is scored, never here. Like systems, judges are built from plain options where they run, load on the first
task, and work on streams.
"""

from __future__ import annotations

import time
from abc import ABC
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kasauti.errors import AudioError, KasautiError
from kasauti.identity import digest
from kasauti.records import Finding, Outcome, Prompt, Status, unexpected


@dataclass
class JudgeOptions:
    """Options that every judge has; the schema of its node in `conf/judge`."""

    _target_: str = "???"
    id: str = "???"


@dataclass(frozen=True)
class JudgeFacts:
    """What a judge is, known without loading it.

    Attributes:
        revision: Model id and revision; part of every score's signature. Never "latest".
        languages: Languages it can judge; None = any.
        settings: Settings that change the answer, as JSON values.
        told: Prompt fields that it is told besides the language: of `text`, `control`, `prompt_id`.
        answers: Hash of the answers of a judge that has them already: part of a judgment's identity, not of the name.
        needs_audio: False for a judge that has its answers already.
        compares: True for a judge that hears the clips of all systems for one prompt at once.
        label_offset: For a judge that compares: where its rotation of the blind labels starts.
        workers: At most so many copies side by side; 1 = one process (it may use threads), 0 = as many as cores.
        usd_per_call: List price, for the plan; None where unknown.
        seconds_per_clip: Work per clip on the reference machine (two cores), for the plan's estimate.
    """

    revision: str
    languages: frozenset[str] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    told: tuple[str, ...] = ()
    answers: str = ""
    needs_audio: bool = True
    compares: bool = False
    label_offset: int = 0
    workers: int = 1
    usd_per_call: float | None = 0.0
    seconds_per_clip: float = 1.0

    @property
    def signature(self) -> str:
        """The judge as tables and signatures name it: its revision, and a hash of the settings that change answers."""
        return f"{self.revision}+{digest(dict(self.settings), 8)}" if self.settings else self.revision


@dataclass(frozen=True)
class Asked:
    """What a judge asks about one prompt, and of whom: itself, or the member of a router that the prompt goes to.

    Attributes:
        facts: Of whom is asked; a judgment's identity and price are made of them.
        lang: Language code given to it.
        member: Name of the member; empty for the judge itself.
        target: Class of the member, as in its `_target_`; empty likewise.
    """

    facts: JudgeFacts
    lang: str
    member: str = ""
    target: str = ""


@dataclass(frozen=True)
class Heard:
    """One clip as the judge gets it: a file, its hash, its length, and a blind label (empty for a single clip)."""

    path: Path
    sha256: str
    duration_s: float
    label: str = ""


@dataclass(frozen=True)
class JudgeTask:
    """One judgment to make. `told` holds the declared fields only; `member` is for a router, which sends it on."""

    judgment_id: str
    lang: str
    rejudge: int
    clips: tuple[Heard, ...] = ()
    told: Mapping[str, Any] = field(default_factory=dict)
    member: str = ""


@dataclass(frozen=True)
class Answer:
    """One reply of a judge.

    Attributes:
        raw: The answer as it came (a transcript, a JSON text).
        transcript: What was heard, for recognisers. An empty transcript is an answer: all words were lost.
        scores: For judges that give marks: blind label -> name of the mark -> value.
    """

    judgment_id: str
    outcome: Outcome = field(default_factory=Outcome)
    raw: str | None = None
    transcript: str | None = None
    scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


class JudgeFailed(Exception):  # noqa: N818 - an event in the stream, caught and stored, not an error for the user
    """Raised by `Judge.answer` to end one task with a status; the run goes on."""

    def __init__(
        self,
        message: str,
        *,
        reason: str,
        status: Status = Status.JUDGE_FAILED,
        retryable: bool = False,
        cost_usd: float | None = None,
    ) -> None:
        super().__init__(message)
        self.outcome = Outcome(status, reason, message, retryable, cost_usd=cost_usd)


def no_numbers(arithmetic: str) -> JudgeFailed:
    """The failure of a clip whose scores are not finite: the best of such scores would be text, or silence, by chance.

    Args:
        arithmetic: What the model computes in, as its option says it.
    """
    told = f"the model's scores are no numbers; its weights or its arithmetic ({arithmetic}) are at fault"
    return JudgeFailed(told, reason="not_a_number")


class Judge(ABC):
    """Base of all judges."""

    facts: JudgeFacts
    options_type: type[JudgeOptions]

    def check(self, prompts: Sequence[Prompt]) -> list[Finding]:
        """What is missing before the first task: package, weights, key, licence gate.

        Args:
            prompts: All prompts of the run, those that are refused among them.
        """
        return []

    def refuse(self, prompt: Prompt) -> Outcome | None:
        """Why this judge can't judge this prompt at all; None when it can."""
        languages = self.facts.languages
        if languages is None or prompt.lang in languages:
            return None
        return Outcome(Status.UNSUPPORTED_LANGUAGE, "judge")

    def asks(self, prompt: Prompt) -> Asked:
        """Whom it asks about a prompt that it does not refuse, and as what language."""
        return Asked(self.facts, prompt.lang)

    def judge(self, tasks: Iterable[JudgeTask]) -> Iterator[Answer]:
        """Answers a stream of tasks; every task gets exactly one answer, in any order."""
        for task in tasks:
            started = time.perf_counter()
            try:
                answer = self.answer(task)
            except JudgeFailed as failure:
                answer = Answer(task.judgment_id, failure.outcome)
            except AudioError as error:  # one clip's file is gone or damaged
                answer = Answer(task.judgment_id, unexpected(Status.JUDGE_FAILED, error))
            except KasautiError:
                raise  # the judge can't be set up at all
            except Exception as error:
                answer = Answer(task.judgment_id, unexpected(Status.JUDGE_FAILED, error))
            if answer.outcome.wall_s is None:
                wall_s = time.perf_counter() - started
                answer = replace(answer, outcome=replace(answer.outcome, wall_s=wall_s))
            yield answer

    def answer(self, task: JudgeTask) -> Answer:
        """Answers one task.

        Raises:
            JudgeFailed: no answer came; the row gets the failure's status.
        """
        raise NotImplementedError(f"{type(self).__name__} must define answer or judge")

    def close(self) -> None:  # noqa: B027 - most judges hold nothing
        """Gives back memory, devices and processes."""
