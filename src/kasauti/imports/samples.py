"""Published scores by sample: a table with a line for each sample, as rows of ours.

Where a line has a reference and a transcript, it is scored anew with today's code; where it has a rate only, the rate
is taken as recorded. Both in one file would be numbers of two kinds under one name, and is refused.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kasauti.errors import PromptError, TextError
from kasauti.imports.columns import Rate, field_of, rate_of, several
from kasauti.metrics.score import row_values, score_pair
from kasauti.prompts import load_prompts
from kasauti.records import TAG_SEPARATOR, Prompt, SampleRow, Status
from kasauti.rows import read_rows
from kasauti.settings import ScoringSettings
from kasauti.text.languages import resolve_language
from kasauti.text.scripts import dominant_script


@dataclass(frozen=True)
class Given:
    """What the user says of a table that doesn't say it itself; empty = the table must."""

    system: str = ""
    judge: str = ""
    judge_revision: str = ""
    humans: tuple[str, ...] = ()
    prompts: Path | None = None


@dataclass
class Mapped:
    """What was made of a table.

    Attributes:
        fields: Field -> column. `rates`: column -> rate. `unknown`: columns that nothing was made of.
        recorded: The rates were taken as recorded, there are no transcripts.
        differing: How many recorded rates differ from ours by more than 0.0005 (texts only), of `checked`; `farthest`
            is the largest difference.
    """

    fields: dict[str, str] = field(default_factory=dict)
    rates: dict[str, Rate] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    prompts: dict[str, Prompt] = field(default_factory=dict)
    rows: list[SampleRow] = field(default_factory=list)
    recorded: bool = False
    checked: int = 0
    differing: int = 0
    farthest: float = 0.0


AS_RECORDED = "as recorded"
"""Revision of a judge that the table doesn't name."""


def read_samples(path: Path, given: Given, scoring: ScoringSettings) -> Mapped:
    """Reads a table of published scores.

    Args:
        path: `.tsv`, `.csv` or `.jsonl`.
        given: What the table doesn't say.
        scoring: How texts are scored.

    Raises:
        PromptError: with file and line: no such column, an unknown language, no number where one is needed, two lines
            for one thing, one prompt with two texts.
    """
    mapped, reader = Mapped(), None
    for line, raw in read_rows(path, required=()):
        if reader is None:
            _map_columns(path, list(raw), mapped, given)
            reader = _Reader(path, mapped, given, scoring)
        reader.add(line, raw)
    if not mapped.rows:
        raise PromptError(f"{path}: no sample in this file")
    return mapped


def _map_columns(path: Path, columns: list[str], mapped: Mapped, given: Given) -> None:
    for name in columns:
        kind, rate = field_of(name), rate_of(name)
        if kind is not None and kind in mapped.fields:
            raise PromptError(
                f"{path}:1: columns {mapped.fields[kind]!r} and {name!r} both read as {kind}; take one out or rename it"
            )
        if kind is not None:
            mapped.fields[kind] = name
        elif rate is not None and rate.metric not in {known.metric for known in mapped.rates.values()}:
            mapped.rates[name] = rate
        else:
            mapped.unknown.append(name)
    found = f"found {several(columns)}"
    if "prompt_id" not in mapped.fields:
        raise PromptError(f"{path}:1: no column for the prompt's id (id, prompt_id, utt_id …); {found}")
    if "lang" not in mapped.fields and given.prompts is None:
        raise PromptError(f"{path}:1: no column for the language (lang, language …), and no --prompts; {found}")
    if "system" not in mapped.fields and not given.system:
        raise PromptError(f"{path}:1: no column for the system (system, model, provider …): add --system NAME; {found}")
    has_text = "hypothesis" in mapped.fields and ("reference" in mapped.fields or given.prompts is not None)
    if not has_text and not mapped.rates:
        raise PromptError(
            f"{path}:1: nothing to score: no column with a rate (cer, wer …), and no transcript with its reference "
            f"(hypothesis and text, or --prompts FILE); {found}"
        )
    mapped.recorded = not has_text


class _Reader:
    """Makes rows of lines, one after another."""

    def __init__(self, path: Path, mapped: Mapped, given: Given, scoring: ScoringSettings) -> None:
        self.path, self.mapped, self.given, self.scoring = path, mapped, given, scoring
        self.ladder = scoring.ladder()
        self.lines: dict[tuple[Any, ...], int] = {}
        self.known = {p.id: p for p in load_prompts(given.prompts)} if given.prompts is not None else {}
        self.takes: Counter[tuple[str, str, str]] = Counter()

    def add(self, line: int, raw: Mapping[str, Any]) -> None:
        where = f"{self.path}:{line}"
        prompt = self._prompt(where, raw)
        system = self._text(raw, "system") or self.given.system
        judge = self._text(raw, "judge") or self.given.judge or "published"
        if not system:
            raise PromptError(f"{where}: no system in this line")
        repeat = self._repeat(where, raw, (prompt.id, system, judge))
        key = (prompt.id, system, judge, repeat)
        if key in self.lines:
            raise PromptError(
                f"{where}: {system}, {prompt.id!r} is already in line {self.lines[key]}; wanted one line each, or a "
                "column for the take (repeat, take, seed …)"
            )
        self.lines[key] = line
        rates = {rate.metric: self._number(where, raw, name, rate) for name, rate in self.mapped.rates.items()}
        hypothesis, status, values = self._scored(prompt, raw, rates)
        self.mapped.rows.append(
            SampleRow(
                run_id="",
                prompt_id=prompt.id,
                lang=prompt.lang,
                script=prompt.script,
                tags=TAG_SEPARATOR.join(prompt.tags),
                system=system,
                repeat=repeat,
                judge=judge,
                judge_revision=self._text(raw, "judge_revision") or self.given.judge_revision or AS_RECORDED,
                rejudge=0,
                status=status,
                reason=None if status in (Status.OK, Status.WRONG_SCRIPT) else "as_recorded",
                duration_s=self._duration(where, raw),
                hypothesis=hypothesis,
                **values,
            )
        )

    def _scored(
        self, prompt: Prompt, raw: Mapping[str, Any], rates: Mapping[str, float | None]
    ) -> tuple[str | None, Status, dict[str, Any]]:
        """Transcript, status, and counts and rates of a line."""
        status = _status(self._text(raw, "status"), self._text(raw, "error"))
        if status is not Status.OK:
            return None, status, {}
        known = {metric: value for metric, value in rates.items() if value is not None}
        if self.mapped.recorded:
            return None, Status.OK if known else Status.MISSING, known
        hypothesis = self._text(raw, "hypothesis")
        if not hypothesis and not known and not self._text(raw, "status"):
            return None, Status.MISSING, {}  # an empty cell may be silence or no answer at all; only a rate tells
        score = score_pair(prompt.text, hypothesis, prompt.lang, self.scoring.level, ladder=self.ladder)
        if "cer" in known:
            apart = abs(known["cer"] - score.cer)
            self.mapped.checked += 1
            self.mapped.differing += apart > 0.0005
            self.mapped.farthest = max(self.mapped.farthest, apart)
        found = Status.WRONG_SCRIPT if score.status == "wrong_script" else Status.OK
        return hypothesis, found, row_values(score)

    def _prompt(self, where: str, raw: Mapping[str, Any]) -> Prompt:
        name = self._text(raw, "prompt_id")
        if not name.strip():
            raise PromptError(f"{where}: no prompt id in this line")
        known = self.known.get(name)
        if self.known and known is None:
            raise PromptError(f"{where}: prompt {name!r} is not in {self.given.prompts}")
        text = known.text if known else self._text(raw, "reference")
        lang = known.lang if known else self._lang(where, raw)
        if not self.mapped.recorded and not text.strip():
            raise PromptError(f"{where}: prompt {name!r} has no reference text")
        tags = known.tags if known else tuple(sorted(set(self._text(raw, "tags").replace(";", " ").split())))
        prompt = Prompt(name, lang, text, dominant_script(text) or "Zyyy", tags)
        first = self.mapped.prompts.setdefault(name, prompt)
        if (first.lang, first.text) != (lang, text):
            raise PromptError(
                f"{where}: prompt {name!r} is {text!r} ({lang}) here but {first.text!r} ({first.lang}) before; ids of "
                "different prompts must differ"
            )
        return first

    def _lang(self, where: str, raw: Mapping[str, Any]) -> str:
        try:
            return resolve_language(self._text(raw, "lang"))
        except TextError as error:
            raise PromptError(f"{where}: {error}") from error

    def _repeat(self, where: str, raw: Mapping[str, Any], key: tuple[str, str, str]) -> int:
        """The take: takes are counted from 0 in the order of the file, whatever a seed or a run is called in it."""
        if "repeat" not in self.mapped.fields:
            return 0
        label = (*key, self._text(raw, "repeat"))
        if label in self.lines:
            raise PromptError(
                f"{where}: {key[1]}, {key[0]!r}, take {label[3]!r} is already in line {self.lines[label]}"
            )
        self.lines[label] = int(where.rpartition(":")[2])
        self.takes[key] += 1
        return self.takes[key] - 1

    def _duration(self, where: str, raw: Mapping[str, Any]) -> float | None:
        name = self.mapped.fields.get("duration_s")
        return None if name is None else self._number(where, raw, name, Rate("duration"))

    def _text(self, raw: Mapping[str, Any], kind: str) -> str:
        value = raw.get(self.mapped.fields.get(kind, ""))
        return "" if value is None else str(value)

    def _number(self, where: str, raw: Mapping[str, Any], name: str, rate: Rate) -> float | None:
        written = str(raw.get(name) if raw.get(name) is not None else "").strip()
        if written.casefold() in ("", "nan", "na", "n/a", "null", "none", "-"):
            return None
        try:
            value = float(written.removesuffix("%"))
        except ValueError as error:
            raise PromptError(f"{where}: {name} is {written!r}; wanted a number or an empty cell") from error
        if not math.isfinite(value) or value < 0:
            raise PromptError(f"{where}: {name} is {written!r}; wanted a number of 0 or more")
        return value / 100 if written.endswith("%") else rate.value(value)


def _status(status: str, error: str) -> Status:
    """A recorded status: ours by its name, anything that means success, or missing."""
    word = status.strip().casefold()
    if word in {str(known) for known in Status}:
        return Status(word)
    if word in ("", "ok", "success", "succeeded", "done", "complete", "completed", "true", "1"):
        return Status.MISSING if error.strip() else Status.OK
    return Status.MISSING
