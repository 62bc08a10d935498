"""Serves a judge of this package to another interpreter: `python -m kasauti.judges.serve OPTIONS`.

OPTIONS is a JSON object with `_target_` and the judge's options. The protocol is in `kasauti.judges.protocol`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from kasauti.devices import DeviceBrokenError
from kasauti.judges.protocol import decode_task, encode_answer
from kasauti.judges.servers.line_server import Ready, serve
from kasauti.parts import build, part_class


def ready(options: Mapping[str, Any]) -> Ready:
    """The judge of these options as the line server wants it."""
    judge = build(part_class(options["_target_"]).options_type(**options))

    def hear(tasks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        # Lists, not streams: a judge that reads ahead would wait for a task that waits for its answer.
        try:
            answers = {answer.judgment_id: answer for answer in judge.judge([decode_task(task) for task in tasks])}
        except DeviceBrokenError as error:  # another process may use it: we are started again, and asked task by task
            raise SystemExit(str(error)) from error
        return [encode_answer(answers[task["id"]]) for task in tasks]

    return Ready(judge.facts.signature, hear, getattr(judge, "batch_clips", 1))


if __name__ == "__main__":
    serve(lambda: ready(json.loads(sys.argv[1])))
