"""The types that cross a stage border: prompts in, clips, judgments, one row per sample out.

Conventions: languages as codes (`hi`, `ks-Deva`), scripts as ISO 15924 (`Deva`), times in seconds, money in US
dollars, rates as fractions. Records hold facts only; nothing here reads a file or looks at a clock.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Literal


class Status(StrEnum):
    """What became of one (prompt, system, repeat, judge, rejudge). A failure is a row, never a hole or a score."""

    OK = "ok"
    SYNTHESIS_FAILED = "synthesis_failed"
    AUDIO_INVALID = "audio_invalid"
    JUDGE_FAILED = "judge_failed"
    JUDGE_INVALID = "judge_invalid"
    REFUSED = "refused"
    WRONG_SCRIPT = "wrong_script"
    UNSUPPORTED_LANGUAGE = "unsupported_language"
    MISSING = "missing"
    NOT_RUN = "not_run"


Role = Literal["machine", "human"]

ROUTED = " > "
"""In the revision of a row's judge, between the router's own and that of the member which heard the row."""

TAG_SEPARATOR = " "
"""Between the tags of a prompt in a table; a tag is one word."""

NOT_FETCHED = "fetch:"
"""What the `audio` of a prompt begins with while its recording is not on this machine; the rest says where it is."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One thing to be said.

    Attributes:
        id: Any non-empty text without control characters; never used as a path.
        lang: Language code.
        text: The words, byte for byte as written in the prompt file.
        script: ISO 15924 code of the script that most letters of `text` are in.
        tags: Free labels (`digits`, `code_switch`), sorted.
        control: How it is to be said, by field name (`description`, `speaker`); empty where nothing is asked.
        audio: Path of a human recording of this prompt, if there is one; or `NOT_FETCHED` and its place in a data set.
    """

    id: str
    lang: str
    text: str
    script: str
    tags: tuple[str, ...] = ()
    control: Mapping[str, str] = field(default_factory=dict)
    audio: str | None = None


@dataclass(frozen=True)
class Outcome:
    """How a call ended; the part that clips and judgments share.

    Attributes:
        status: `Status.OK` or what went wrong.
        reason: Short machine-readable detail (`silent`, `timeout`), None when ok.
        error: The message, scrubbed of secrets, None when ok.
        retryable: Whether the same call may end otherwise (a time-out may, a refusal may not).
        wall_s: Seconds the call took.
        ttfb_s: Seconds to the first byte of sound, where the system streams.
        cost_usd: What the call cost; None where it is not known.
        facts: Anything else worth keeping (tokens, frames, voice used), JSON values only. Three keys are read: by the
            gates `end`, why the model stopped (`token_cap` when its limit of new tokens did it, any other word when
            not), and `tokens_per_second`, how many tokens it spends on a second of sound; by the tables `words`, a
            judge's list of `[word, start_s, end_s, score]` in the order of the text (see `metrics.timing.TimedWord`).
    """

    status: Status = Status.OK
    reason: str | None = None
    error: str | None = None
    retryable: bool = False
    wall_s: float | None = None
    ttfb_s: float | None = None
    cost_usd: float | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # A record is JSON, which has no word for NaN; a system's odd figure must not cost its clip.
        for name in ("wall_s", "ttfb_s", "cost_usd", "facts"):
            object.__setattr__(self, name, _finite(getattr(self, name)))

    @property
    def final(self) -> bool:
        """Whether there is nothing to gain from making the call again."""
        return self.status is Status.OK or not self.retryable


def _finite(value: Any) -> Any:
    """A JSON value with every number that is not finite as None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(held) for name, held in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(held) for held in value]
    return value


def unexpected(status: Status, error: Exception) -> Outcome:
    """The outcome of a call that raised something nobody planned for: one failed row, tried again by the next run."""
    return Outcome(status, "exception", f"{type(error).__name__}: {error}", retryable=True)


@dataclass(frozen=True)
class Clip:
    """One synthesis, as recorded in the store. Times and costs are those of the call that made it."""

    clip_id: str
    system: str
    fingerprint: str
    lang: str
    text: str
    repeat: int
    outcome: Outcome
    path: str | None = None
    audio_sha256: str | None = None
    duration_s: float | None = None
    sample_rate_hz: int | None = None
    channels: int | None = None
    rms_dbfs: float | None = None
    clipped_fraction: float | None = None
    truncated: bool = False
    leading_silence_s: float | None = None
    trailing_silence_s: float | None = None
    created_at: str | None = None

    @property
    def status(self) -> Status:
        return self.outcome.status


@dataclass(frozen=True)
class Judgment:
    """One answer of one judge about one clip, or about one line-up of clips, kept raw.

    Attributes:
        labels: For a judge that compares: blind label -> SHA-256 of the clip; empty for a judge of single clips.
        raw: The answer as it came.
        transcript: What the judge heard, for recognisers; None for others.
        scores: For judges that give marks: blind label (`""` for a single clip) -> name of the mark -> value.
    """

    judgment_id: str
    judge: str
    judge_revision: str
    lang: str
    rejudge: int
    outcome: Outcome
    labels: Mapping[str, str] = field(default_factory=dict)
    raw: str | None = None
    transcript: str | None = None
    scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    created_at: str | None = None

    @property
    def status(self) -> Status:
        return self.outcome.status


@dataclass(frozen=True, slots=True)
class SampleRow:
    """One row of `per_sample.tsv`: exactly one per (prompt, system, repeat, judge, rejudge).

    Counts and rates are those of the headline level; None where the row has no score. Column order is frozen.

    Attributes:
        gates: Names of the gates that the row failed, with spaces between; empty when it passed all, None when there
            was neither a clip nor a transcript to measure.
        length_penalty: `metrics.length.length_penalty`; None without a clip or without a pace for the language.
        rubric: `metrics.rubric.rubric_terms`; None for a row that is not `ok` or lacks a part.
        switch_words: Words of the prompt beside a change of script; None without a transcript or such a change.
        switch_edits: Edits of those words, and words heard between two scripts.
        switch_share: Share of the row's word edits that these are; None where there is no edit.
        marks: Marks of a judge that gives them: name -> value, the higher the better. They are no columns of this
            table: `scores.tsv` holds them.
    """

    run_id: str
    prompt_id: str
    lang: str
    script: str
    tags: str
    system: str
    repeat: int
    judge: str
    judge_revision: str
    rejudge: int
    status: Status
    reason: str | None = None
    clip_id: str | None = None
    audio_sha256: str | None = None
    judgment_id: str | None = None
    duration_s: float | None = None
    hypothesis: str | None = None
    char_edits: int | None = None
    ref_chars: int | None = None
    nospace_edits: int | None = None
    ref_nospace: int | None = None
    grapheme_edits: int | None = None
    ref_graphemes: int | None = None
    word_edits: int | None = None
    ref_words: int | None = None
    phonetic_edits: int | None = None
    ref_phonetic: int | None = None
    cer: float | None = None
    cer_nospace: float | None = None
    gcer: float | None = None
    wer: float | None = None
    pcer: float | None = None
    gates: str | None = None
    length_penalty: float | None = None
    rubric: float | None = None
    switch_words: int | None = None
    switch_edits: int | None = None
    switch_share: float | None = None
    marks: Mapping[str, float] | None = None


SAMPLE_COLUMNS: tuple[str, ...] = tuple(f.name for f in fields(SampleRow) if f.name != "marks")


@dataclass(frozen=True)
class Finding:
    """One thing that preflight has to say about a part of the run.

    Attributes:
        level: `error` stops the run before anything is paid for; `warning` is shown.
        subject: What it is about (`system piper`, `judge whisper`, `prompts`).
        message: What is wrong, in one sentence.
        remedy: What to do about it.
    """

    level: Literal["error", "warning"]
    subject: str
    message: str
    remedy: str = ""


FloorKind = Literal["measured", "stored", "assumed", "none"]
"""How well a noise floor is known: from repeats of these very rows; from repeats of the same system in an earlier run
with an equal score signature; taken over from what was published for another system; not at all."""


@dataclass(frozen=True)
class AggregateRow:
    """One row of `aggregate.csv`: one metric of one system by one judge, over one group of prompts.

    Repeats and rejudges of a prompt are averaged first, so a prompt weighs the same however often it was taken.

    Attributes:
        scope: `lang`, `tag`, or over languages `macro` (mean of the language means) and `pooled` (all prompts alike).
        key: Language code or tag; `all` over languages.
        metric: `cer`, `cer_nospace`, `gcer`, `wer`, `pcer`, or the name of a judge's mark.
        level: Level of normalisation.
        n_langs: Languages with at least one scored row.
        n_prompts: Prompts with at least one scored row.
        n_ok: Scored rows. `n_total`: all rows that the system could have had (its `unsupported_language` rows are not
            among them).
        mean: Mean over prompts of the scored rows; for `macro` the mean of the languages' means.
        median: Median over prompts of the scored rows; for `macro` the mean of the languages' medians.
        pooled: Edits over reference units (corpus rate) of the scored rows; None for marks.
        mean_common: `mean` over the prompts that every compared system which supports the language has scored.
        n_common: How many prompts these are.
        mean_worst: `mean` with every failed row as 1.0 (error rates only).
        ci95_low: Lower end of the 95 % bootstrap interval of `mean`; `ci95_high` the upper one.
        floor95: Difference of two independent runs that is exceeded 5 % of the time, None where no floor is known.
        floor_kind: See `FloorKind`.
        largest_pair: Largest difference between two repeats (one take a prompt each); None with a single take.
        var_synthesis: Variance between takes of one prompt, mean over prompts; None with a single take.
        var_judge: Variance between rejudges of one clip, mean over clips; None with a single judgment.
        wrong_script_share: Share of the rows whose transcript is in another script than the reference.
        status: `ok`; `insufficient` (too small a share of scored rows to be ranked); `unsupported_language`; `no_rows`.
        signature: `identity.score_signature` of the row's numbers.
        floor_source: The earlier run that a stored floor is from, in words; empty for other floors.
    """

    system: str
    judge: str
    scope: Literal["lang", "tag", "macro", "pooled"]
    key: str
    metric: str
    level: str
    n_langs: int
    n_prompts: int
    n_ok: int
    n_total: int
    mean: float | None = None
    median: float | None = None
    pooled: float | None = None
    mean_common: float | None = None
    n_common: int = 0
    mean_worst: float | None = None
    ci95_low: float | None = None
    ci95_high: float | None = None
    floor95: float | None = None
    floor_kind: FloorKind = "none"
    largest_pair: float | None = None
    var_synthesis: float | None = None
    var_judge: float | None = None
    wrong_script_share: float | None = None
    status: Literal["ok", "insufficient", "unsupported_language", "no_rows"] = "ok"
    signature: str = ""
    floor_source: str = ""


AGGREGATE_COLUMNS: tuple[str, ...] = tuple(f.name for f in fields(AggregateRow))


VerdictName = Literal["not_comparable", "insufficient", "judge_limited", "within_noise", "better", "worse"]
"""In the order in which they are tried."""


@dataclass(frozen=True)
class VerdictRow:
    """One row of `verdicts.csv`: what can be said of system `a` against system `b`, by one judge and metric.

    Attributes:
        scope: `lang`, or over languages `macro`.
        key: Language code; `all` over languages.
        verdict: The first of these that applies: `not_comparable`, `insufficient`, `judge_limited`, `within_noise`,
            `better` (`a` is better), `worse`.
        difference: Mean of `a` less mean of `b` over the prompts that both have scored, `n_prompts` of them.
        ci95_low: Lower end of the paired 95 % interval of the difference; `ci95_high` the upper one.
        floor95: Difference that noise alone exceeds 5 % of the time; None where it is not known.
        floor_kind: See `FloorKind`.
        smallest: Smallest difference that could have been told; None where none of any size could.
        human: What the judge makes of human recordings in these languages; None where it is not known.
        reason: Why, in words.
        floor_source: As in `AggregateRow`.
    """

    judge: str
    scope: Literal["lang", "macro"]
    key: str
    metric: str
    level: str
    a: str
    b: str
    verdict: VerdictName
    mean_a: float | None = None
    mean_b: float | None = None
    difference: float | None = None
    ci95_low: float | None = None
    ci95_high: float | None = None
    n_prompts: int = 0
    floor95: float | None = None
    floor_kind: FloorKind = "none"
    smallest: float | None = None
    human: float | None = None
    reason: str = ""
    signature: str = ""
    floor_source: str = ""


VERDICT_COLUMNS: tuple[str, ...] = tuple(f.name for f in fields(VerdictRow))
