"""The files of the IndicEmo bundle as records: judgments, prompts, requests, result tables.

Every field that is used is checked, with file and line in the message; nothing is mended. Text stays byte for byte as
published.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from kasauti.panel import PanelError
from kasauti.panel.cases import Panel, Rating, panel_of
from kasauti.panel.indicemo import DELIVERIES, LABEL_OFFSETS, TABLE_ORDER

JUDGMENTS = "judgments.jsonl"
PROMPTS = "prompts.jsonl"

_Value = TypeVar("_Value", str, int, float, bool, dict[str, Any])


@dataclass(frozen=True)
class Judgment:
    """One line of `judgments.jsonl`: a rating and what stands beside it."""

    id: str
    rating: Rating
    judge_model: str
    system_name: str
    language_count: int
    in_common_set: bool
    win_credit: float


@dataclass(frozen=True)
class PublishedPrompt:
    """One line of `prompts.jsonl`."""

    id: str
    delivery: str
    language_count: int


@dataclass(frozen=True)
class Request:
    """What is used of one line of `requests/SYSTEM.jsonl`; `max_tokens` is None where the request sets no limit."""

    id: str
    duration_s: float
    max_tokens: int | None


def read_judgments(folder: Path) -> list[Judgment]:
    """All judgments, in the order of the file.

    Raises:
        PanelError: with the line: no JSON, a field is missing or of another type.
    """
    return [_judgment(where, row) for where, row in _rows(folder / JUDGMENTS, JUDGMENTS)]


def read_prompts(folder: Path) -> list[PublishedPrompt]:
    """All prompts, in the order of the file, by which labels go round.

    Raises:
        PanelError: as for `read_judgments`.
    """
    return [
        PublishedPrompt(
            _field(where, row, "id", str),
            _field(where, row, "target_delivery", str),
            _field(where, row, "language_count", int),
        )
        for where, row in _rows(folder / PROMPTS, PROMPTS)
    ]


def read_requests(folder: Path, system: str) -> list[Request]:
    """What a system was asked, and how long its clips became.

    Raises:
        PanelError: as for `read_judgments`.
    """
    name = f"requests/{system}.jsonl"
    found = []
    for where, row in _rows(folder / name, name):
        body = _field(where, row, "request", dict) if "request" in row else {}
        found.append(
            Request(
                _field(where, row, "id", str),
                _field(where, row, "duration_seconds", float),
                _field(where, body, "max_new_tokens", int) if "max_new_tokens" in body else None,
            )
        )
    return found


def read_csv(path: Path) -> list[dict[str, str]]:
    """Rows of a result table as text cells.

    Raises:
        PanelError: the file can't be read, or a row has another number of cells than the header.
    """
    rows = list(csv.DictReader(io.StringIO(_text(path, path.name), newline="")))
    for number, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            raise PanelError(f"{path.name}:{number}: another number of cells than the header has")
    return rows


def published_panel(judgments: Sequence[Judgment]) -> Panel:
    """The judgments as a panel, in the order of the published tables.

    Raises:
        PanelError: as for `panel_of`, or a delivery has no task that every judge has judged.
    """
    panel = panel_of(
        (judgment.rating for judgment in judgments),
        systems=TABLE_ORDER,
        judges=tuple(LABEL_OFFSETS),
        deliveries=DELIVERIES,
    )
    empty = [name for name in DELIVERIES if name not in panel.common().deliveries]
    if empty:
        raise PanelError(f"{JUDGMENTS}: no {empty[0]} task was judged by every judge")
    return panel


def _judgment(where: str, row: dict[str, Any]) -> Judgment:
    label = _field(where, row, "blind_label", str)
    if len(label) != 1 or not "A" <= label <= "Z":
        raise PanelError(f"{where}: blind_label is {label!r}; wanted one capital letter")
    return Judgment(
        id=_field(where, row, "id", str),
        rating=Rating(
            task=_field(where, row, "prompt_id", str),
            delivery=_field(where, row, "target_delivery", str),
            judge=_field(where, row, "judge_id", str),
            system=_field(where, row, "system_id", str),
            label=ord(label) - ord("A"),
            score=_field(where, row, "expression_quality_score", int),
            rank=_field(where, row, "rank", float),
        ),
        judge_model=_field(where, row, "judge_model", str),
        system_name=_field(where, row, "system_name", str),
        language_count=_field(where, row, "language_count", int),
        in_common_set=_field(where, row, "strict_common_set", bool),
        win_credit=_field(where, row, "win_credit", float),
    )


def _rows(path: Path, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """(file:line, object) of each line; lines end at LF only."""
    lines = _text(path, name).split("\n")
    for number, line in enumerate(lines, start=1):
        if line == "" and number == len(lines):
            break
        try:
            row = json.loads(line)
        except ValueError as error:
            raise PanelError(f"{name}:{number}: no JSON ({error})") from error
        if not isinstance(row, dict):
            raise PanelError(f"{name}:{number}: {type(row).__name__}; wanted an object")
        yield f"{name}:{number}", row


def _text(path: Path, name: str) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise PanelError(f"{name}: can't be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise PanelError(f"{name}: not UTF-8 at byte {error.start}") from error


def _field(where: str, row: dict[str, Any], name: str, kind: type[_Value]) -> _Value:
    """A field of exactly this type; a whole number may stand for a float, but a truth value for no number."""
    value = row.get(name)
    fits = type(value) in ((int, float) if kind is float else (kind,))
    if not fits:
        raise PanelError(f"{where}: {name} is {value!r}; wanted {kind.__name__}")
    return kind(value)  # type: ignore[arg-type]
