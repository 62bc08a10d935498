"""Serves a judge of this package to another interpreter: `python -m kasauti.judges.serve OPTIONS`.

OPTIONS is a JSON object with `_target_` and the judge's options. The protocol is in `kasauti.judges.remote`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from kasauti.judges.base import Answer, Heard, JudgeTask
from kasauti.judges.remote import PROTOCOL
from kasauti.parts import build, part_class


def serve(options: dict[str, Any], tasks: TextIO, answers: TextIO) -> None:
    """Answers tasks, line by line, until the input ends."""
    judge = build(part_class(options["_target_"]).options_type(**options))

    def say(value: dict[str, Any]) -> None:
        answers.write(json.dumps(value, ensure_ascii=False) + "\n")
        answers.flush()

    say({"protocol": PROTOCOL, "revision": judge.facts.revision})
    for answer in judge.judge(_tasks(tasks)):
        say(_encoded(answer))
    judge.close()


def _tasks(lines: TextIO) -> Iterator[JudgeTask]:
    for line in lines:
        value = json.loads(line)
        clips = tuple(Heard(**{**clip, "path": Path(clip["path"])}) for clip in value["clips"])
        yield JudgeTask(value["id"], value["lang"], value["rejudge"], clips, value["told"])


def _encoded(answer: Answer) -> dict[str, Any]:
    value = asdict(answer)
    outcome = value.pop("outcome")
    return {"id": value.pop("judgment_id"), **outcome, **value}


if __name__ == "__main__":
    serve(json.loads(sys.argv[1]), sys.stdin, sys.stdout)
