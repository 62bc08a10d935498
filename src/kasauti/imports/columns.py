"""Which column of a published table holds what: names vary, so they are recognised by their words.

A name is taken apart at everything that is no letter or digit; case doesn't matter. What is not recognised is told to
the user, never guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

METRICS = ("cer_nospace", "cer", "gcer", "wer", "pcer")

_NAMES = {
    "prompt_id": "id|prompt id|sample id|utterance id|utt id|item id|sentence id|key|prompt key|uid",
    "lang": "lang|language|lang code|language code|locale",
    "system": "system|model|provider|vendor|tts|tts model|tts system|system id|model id|engine|voice model",
    "judge": "judge|asr|asr model|recogniser|recognizer|judge model|stt",
    "judge_revision": "judge revision|asr revision|asr version|judge version",
    "repeat": "repeat|take|rep|trial|seed|run|sample idx|sample index",
    "reference": "reference|ref|text|prompt|prompt text|target|target text|ref text|reference text|sentence",
    "hypothesis": "hypothesis|hyp|transcript|transcription|asr text|asr output|hyp text|recognised|recognized",
    "status": "status|state",
    "error": "error|error message|failure",
    "duration_s": "duration|duration s|duration sec|audio s|audio duration|audio duration s|seconds|dur s",
    "tags": "tags|tag|category|subset|split",
    "role": "role|kind of speaker",
    "n": "n|count|num|n samples|num samples|n prompts|samples|n utts",
}

FIELDS = {name: field for field, names in _NAMES.items() for name in names.split("|")}
"""Words of a column -> the field that it holds."""

_PERCENT = frozenset({"pct", "percent", "percentage"})
_MEANS = frozenset({"mean", "avg", "average", "macro"})
_MEDIANS = frozenset({"median", "p50", "med"})


@dataclass(frozen=True)
class Rate:
    """A column or key that holds an error rate.

    Attributes:
        metric: One of `METRICS`.
        statistic: `mean` or `median`; empty where the name doesn't say.
        percent: The value is in per cent.
    """

    metric: str
    statistic: str = ""
    percent: bool = False

    def value(self, written: float) -> float:
        """As a fraction."""
        return written / 100 if self.percent else written


def words_of(name: str) -> list[str]:
    """The words of a name: `CER_pct` -> `cer`, `pct`."""
    marked = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.replace("%", " pct "))
    return re.findall(r"[^\W_]+", marked.casefold())


def field_of(name: str) -> str | None:
    """The field that a column holds; None where it is not known."""
    return FIELDS.get(" ".join(words_of(name)))


def rate_of(name: str) -> Rate | None:
    """The error rate that a column or key holds; None where a word in it says something else."""
    words = words_of(name)
    metric = next((word for word in words if word in METRICS), None)
    rest = set(words) - {metric}
    if metric == "cer" and "nospace" in rest:
        metric, rest = "cer_nospace", rest - {"nospace"}
    if metric is None or not rest <= _PERCENT | _MEANS | _MEDIANS | {"score"}:
        return None
    statistic = "median" if rest & _MEDIANS else "mean" if rest & _MEANS else ""
    return Rate(metric, statistic, bool(rest & _PERCENT))


def statistic_of(name: str) -> str | None:
    """`mean`, `median` or `n` for a key below a metric's; None for anything else."""
    words = set(words_of(name))
    if words and words <= _MEANS:
        return "mean"
    if words and words <= _MEDIANS:
        return "median"
    return "n" if field_of(name) == "n" else None


def several(names: Iterable[str]) -> str:
    """Names as a list in a message."""
    return ", ".join(names) or "none"
