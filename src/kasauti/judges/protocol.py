"""What a judge and another interpreter say to each other: JSON lines, checked on arrival.

Protocol 1, one object a line, UTF-8:

- the judge says first `{"protocol": 1, "revision": "...", "batch": 1}`, the revision another whenever its answers could
  be others; or `{"error": "..."}` if it can't be set up, and ends;
- it is sent `{"id", "lang", "rejudge", "told", "clips": [{"path", "sha256", "duration_s", "label"}]}`, and it lets pass
  fields that it does not know; one that said a `batch` above 1 is sent `{"tasks": [...]}`, at most so many at once;
- it answers each task, in any order, with `{"id", "status", "reason", "error", "retryable", "cost_usd", "facts", "raw",
  "transcript", "scores"}`; fields at their default may be left out, and `ok` is the default status;
- at any time, before the greeting as well, it may say `{"alive": true}` or `{"loading": "..."}`: it is at work, and the
  wait for its next line begins anew;
- it ends when its input ends.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kasauti.judges.base import Answer, Heard, JudgeTask
from kasauti.metrics.score import RATES
from kasauti.records import Outcome, Status

PROTOCOL = 1

FAILURES = frozenset({Status.JUDGE_FAILED, Status.JUDGE_INVALID, Status.REFUSED, Status.UNSUPPORTED_LANGUAGE})
"""How an answer may end besides `ok`; the other statuses are not a judge's to give."""

_MOST_LEVELS = 32
"""Objects and lists that lie deeper in each other are no line of the protocol: records are walked by recursion."""

_MOST_CHARS = 100_000
"""A longer text is no answer about a clip: speech stays under 25 code points a second."""

_MARK = re.compile(r"\S{1,64}")
"""Names of marks stand in tables beside those of error rates."""

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
    return value if isinstance(value, dict) and _shallow(value, _MOST_LEVELS) else None


def _shallow(value: Any, levels: int) -> bool:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels > 0 and all(_shallow(part, levels - 1) for part in parts)


def _refuse(number: str) -> None:
    raise ValueError(f"{number} is no JSON number")


def is_sign_of_life(value: Mapping[str, Any]) -> bool:
    """Whether a line says no more than that the judge is at work."""
    return "id" not in value and ("alive" in value or "loading" in value)


def encode_task(task: JudgeTask) -> dict[str, Any]:
    """A task as an object; which member of a router it is for is nothing to the member."""
    value = asdict(task)
    del value["member"]
    return {"id": value.pop("judgment_id"), **value}


def encode_batch(tasks: Sequence[JudgeTask], batch: int) -> dict[str, Any]:
    """Tasks as what is said to a judge that takes so many at once."""
    return encode_task(tasks[0]) if batch == 1 else {"tasks": [encode_task(task) for task in tasks]}


def decode_task(value: Mapping[str, Any]) -> JudgeTask:
    """A task from its object; fields of a later version are let pass."""
    clips = tuple(
        Heard(Path(clip["path"]), clip["sha256"], clip["duration_s"], clip["label"]) for clip in value["clips"]
    )
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
            raise ValueError(f"{name} is {repr(found)[:200]}")
        if isinstance(found, str) and len(found) > _MOST_CHARS:
            raise ValueError(f"{name} is {len(found)} characters long")
    if not 0 <= given.get("cost_usd", 0) <= sys.float_info.max:
        raise ValueError(f"cost_usd is {given['cost_usd']!r}")
    _check_marks(given.get("scores", {}))
    answer = {name: given.pop(name) for name in ("raw", "transcript", "scores") if name in given}
    status = Status(given.get("status", Status.OK))
    if status is not Status.OK and status not in FAILURES:
        raise ValueError(f"status is {status}, which is not a judge's to give")
    return Answer(value["id"], Outcome(**{**given, "status": status}), **answer)


def _check_marks(scores: Mapping[str, Any]) -> None:
    for label, marks in scores.items():
        # A whole number may be too large for a float, which arithmetic finds out too late.
        numbers = isinstance(marks, dict) and all(
            type(mark) in _NUMBER and abs(mark) <= sys.float_info.max for mark in marks.values()
        )
        if not numbers:
            raise ValueError(f"the marks of {label!r} are {str(marks)[:200]}")
        odd = [name for name in marks if name in RATES or not (_MARK.fullmatch(name) and name.isprintable())]
        if odd:
            raise ValueError(f"a mark is named {odd[0][:100]!r}, wanted one word that is no error rate")
