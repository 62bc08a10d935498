"""Numbers and names as people read them; the same wording on the terminal and in the page."""

from __future__ import annotations

from collections.abc import Iterable

from kasauti.records import AggregateRow, FloorKind, VerdictRow
from kasauti.text.languages import LANGUAGES

NOTHING = "–"

METRIC_NAMES = {
    "cer": "CER",
    "cer_nospace": "CER, spaces removed",
    "gcer": "grapheme error rate",
    "wer": "WER",
    "pcer": "phonetic CER",
}


MARK_NAMES = {
    "dnsmos_ovrl": "DNSMOS overall",
    "dnsmos_sig": "DNSMOS speech",
    "dnsmos_bak": "DNSMOS background",
    "dnsmos_p808": "DNSMOS P.808",
}
"""Marks of the package's own judges; those of others are named as they name them."""


_MARKS: dict[FloorKind, str] = {"assumed": "*", "stored": "†"}


def value_of(value: float | None, *, is_rate: bool) -> str:
    """An error rate in per cent with one decimal, a mark with two; a dash for None."""
    if value is None:
        return NOTHING
    # A limit a hair below 0 is 0.0, not -0.0.
    return f"{round(100 * value, 1) + 0.0:.1f}" if is_rate else f"{round(value, 2) + 0.0:.2f}"


def floor_of(row: AggregateRow, *, is_rate: bool) -> str:
    """The noise floor, marked where it was not measured here."""
    return floor_value(row.floor95, row.floor_kind, is_rate=is_rate)


def floor_value(floor95: float | None, kind: FloorKind, *, is_rate: bool) -> str:
    """A noise floor: `0.6*` for an assumed one, `0.6†` for one of an earlier run."""
    return NOTHING if floor95 is None else value_of(floor95, is_rate=is_rate) + _MARKS.get(kind, "")


def floor_notes(rows: Iterable[AggregateRow | VerdictRow]) -> list[str]:
    """What the marks of noise floors mean; only those that occur."""
    marked = [row for row in rows if row.floor95 is not None]
    notes = []
    if any(row.floor_kind == "assumed" for row in marked):
        notes.append("*: floor assumed, not measured here (one take of each prompt).")
    if sources := dict.fromkeys(row.floor_source for row in marked if row.floor_kind == "stored"):
        notes.append(f"†: floor measured before, on the same prompts by the same rules ({'; '.join(sources)}).")
    return notes


def interval_of(row: AggregateRow, *, is_rate: bool) -> str:
    """The 95 % interval of the mean."""
    if row.ci95_low is None or row.ci95_high is None:
        return NOTHING
    return f"{value_of(row.ci95_low, is_rate=is_rate)}–{value_of(row.ci95_high, is_rate=is_rate)}"


def metric_name(metric: str) -> str:
    """`CER` for `cer`; a mark without a name here keeps the one that its judge gave it."""
    return METRIC_NAMES.get(metric) or MARK_NAMES.get(metric, metric)


def language_name(code: str) -> str:
    """The English name of a language; the code itself where the table has none."""
    return LANGUAGES[code].name if code in LANGUAGES else code


def count_of(number: int, noun: str, plural: str = "") -> str:
    """`1 prompt`, `60 prompts`, `2,100 prompts`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def level_of(metric: str, level: str) -> str:
    """`, level numbers` for a title; nothing for sounds and marks, which are the same at every level."""
    return f", level {level}" if metric in METRIC_NAMES and metric != "pcer" else ""


def share_of(share: float) -> str:
    """A share in whole per cent, but never 0 % for something or 100 % for not all."""
    percent = round(100 * share)
    if share > 0 and percent == 0:
        return "<1 %"
    if share < 1 and percent == 100:
        return ">99 %"
    return f"{percent} %"


def duration_of(seconds: float | None) -> str:
    """`0.42 s`, `3.1 s`, `4 min 5 s`, `2 h 10 min`."""
    if seconds is None:
        return NOTHING
    if seconds < 60:
        return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def money_of(usd: float | None) -> str:
    """Dollars: as many digits as tell something."""
    if usd is None:
        return NOTHING
    return f"${usd:,.2f}" if usd >= 1 or usd == 0 else f"${usd:.4f}"
