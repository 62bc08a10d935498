"""What a judge and another interpreter say to each other: JSON lines, checked on arrival.

Protocol 1, one object a line, UTF-8:

- the judge says first `{"protocol": 1, "revision": "..."}`, the revision another whenever its answers could be others;
- it is sent `{"id", "lang", "rejudge", "told", "clips": [{"path", "sha256", "duration_s", "label"}]}`;
- it answers `{"id", "status", "reason", "error", "retryable", "cost_usd", "facts", "raw", "transcript", "scores"}`;
  fields at their default may be left out, and `ok` is the default status;
- it ends when its input ends.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kasauti.judges.base import Answer, Heard, JudgeTask
from kasauti.records import Outcome, Status

PROTOCOL = 1

_NUMBER = (int, float)
_FIELDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("status", "reason", "error", "raw", "transcript"), (str,)),
    **dict.fromkeys(("facts", "scores"), (dict,)),
    "retryable": (bool,),
    "cost_usd": _NUMBER,
}
"""Fields of an answer beside its id, and what each may be; a truth value is no number."""


def line_of(value: Mapping[str, Any]) -> str:
    """An object as one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=str) + "\n"


def object_of(line: str) -> dict[str, Any] | None:
    """The object on a line; None for anything else."""
    try:
        value = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse(number: str) -> None:
    raise ValueError(f"{number} is no JSON number")


def encode_task(task: JudgeTask) -> dict[str, Any]:
    """A task as an object."""
    value = asdict(task)
    return {"id": value.pop("judgment_id"), **value}


def decode_task(value: Mapping[str, Any]) -> JudgeTask:
    """A task from its object."""
    clips = tuple(Heard(**{**clip, "path": Path(clip["path"])}) for clip in value["clips"])
    return JudgeTask(value["id"], value["lang"], value["rejudge"], clips, value["told"])


def encode_answer(answer: Answer) -> dict[str, Any]:
    """An answer as an object."""
    value = asdict(answer)
    outcome = value.pop("outcome")
    return {"id": value.pop("judgment_id"), **outcome, **value}


def decode_answer(value: Mapping[str, Any]) -> Answer:
    """An answer from its object.

    Raises:
        ValueError: a field is not what it must be.
    """
    given = {name: value[name] for name in _FIELDS if value.get(name) is not None}
    for name, found in given.items():
        if type(found) not in _FIELDS[name]:
            raise ValueError(f"{name} is {found!r}")
    for label, marks in given.get("scores", {}).items():
        if not isinstance(marks, dict) or any(type(mark) not in _NUMBER for mark in marks.values()):
            raise ValueError(f"the marks of {label!r} are {marks!r}")
    answer = {name: given.pop(name) for name in ("raw", "transcript", "scores") if name in given}
    outcome = {**given, "status": Status(given.get("status", Status.OK))}
    return Answer(value["id"], Outcome(**outcome), **answer)
