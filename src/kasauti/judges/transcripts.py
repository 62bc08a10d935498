"""Transcripts that a user already has: a file with one line a prompt. It needs no audio and asks nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kasauti.errors import JudgeError
from kasauti.identity import file_sha256
from kasauti.judges.base import Answer, Judge, JudgeFacts, JudgeFailed, JudgeOptions, JudgeTask
from kasauti.paths import source_path
from kasauti.records import Finding, Prompt, Status
from kasauti.rows import read_rows, text_field


@dataclass
class TranscriptsOptions(JudgeOptions):
    """Options of `judge=transcripts`.

    Attributes:
        path: TSV or CSV with columns `id` and `hypothesis`, or JSONL of the same. An empty cell is an empty transcript
            (every word was lost); a prompt without a line is `missing`.
        revision: What wrote them: recogniser and version, as you name it. Runs with the same name can be compared; null
            = not known, so that only transcripts of the same file can be.
    """

    path: str = "???"
    revision: str | None = None


class Transcripts(Judge):
    """Looks the transcript up by prompt id."""

    options_type = TranscriptsOptions

    def __init__(self, options: TranscriptsOptions) -> None:
        self._options = options
        path = source_path(options.path)
        self._heard: dict[str, str] = {}
        for line, row in read_rows(path, required=("id", "hypothesis")):
            where = f"{path}:{line}"
            identity = text_field(where, row, "id")
            if identity in self._heard:
                raise JudgeError(f"{where}: id {identity!r} comes twice; there must be one transcript a prompt")
            self._heard[identity] = text_field(where, row, "hypothesis")
        if not self._heard:
            raise JudgeError(f"{path}: no transcript in this file; expected one line a prompt, with id and hypothesis")
        answers = file_sha256(path)[:16]
        self.facts = JudgeFacts(
            revision=options.revision or answers,
            told=("prompt_id",),
            answers=answers,
            needs_audio=False,
            seconds_per_clip=0.0,
        )

    def check(self, prompts: Sequence[Prompt]) -> list[Finding]:
        """Prompts without a transcript, transcripts without a prompt."""
        subject = f"judge {self._options.id}"
        missing = [prompt.id for prompt in prompts if prompt.id not in self._heard]
        extra = len(self._heard.keys() - {prompt.id for prompt in prompts})
        found = []
        if missing:
            some = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
            found.append(Finding("warning", subject, f"{len(missing)} prompts have no transcript: {some}."))
        if extra:
            found.append(Finding("warning", subject, f"{extra} transcripts belong to no prompt of this run."))
        return found

    def answer(self, task: JudgeTask) -> Answer:
        """The transcript of the task's prompt."""
        hypothesis = self._heard.get(task.told["prompt_id"])
        if hypothesis is None:
            raise JudgeFailed("no line for this prompt", reason="no_transcript", status=Status.MISSING)
        return Answer(task.judgment_id, raw=hypothesis, transcript=hypothesis)
