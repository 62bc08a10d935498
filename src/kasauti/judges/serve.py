"""Serves a judge of this package to another interpreter: `python -m kasauti.judges.serve OPTIONS`.

OPTIONS is a JSON object with `_target_` and the judge's options. The protocol is in `kasauti.judges.protocol`.
"""

from __future__ import annotations

import json
import os
import select
import sys
import threading
from typing import Any, TextIO

from kasauti.judges.protocol import PROTOCOL, decode_task, encode_answer, line_of
from kasauti.parts import build, part_class


def serve(options: dict[str, Any], tasks: TextIO, answers: TextIO) -> None:
    """Answers tasks, line by line, until the input ends."""
    judge = build(part_class(options["_target_"]).options_type(**options))

    def say(value: dict[str, Any]) -> None:
        answers.write(line_of(value))
        answers.flush()

    say({"protocol": PROTOCOL, "revision": judge.facts.signature})
    for line in tasks:
        # One at a time, as they are asked: a judge that reads ahead would wait for a task that waits for its answer.
        for answer in judge.judge([decode_task(json.loads(line))]):
            say(encode_answer(answer))
    judge.close()


def main() -> None:
    """Serves on standard input and output, in UTF-8 wherever it runs."""
    # Answers have the output for themselves: what a library prints goes to standard error.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
    os.dup2(2, 1)
    threading.Thread(target=_end_unheard, args=(answers.fileno(),), daemon=True).start()
    with open(0, encoding="utf-8", closefd=False) as tasks, answers:
        serve(json.loads(sys.argv[1]), tasks, answers)


def _end_unheard(answers: int) -> None:
    """Ends this process once nobody can read its answers: a run that was killed can't tell it to stop."""
    watch = select.poll()
    watch.register(answers, 0)  # errors only: the other end of the pipe was closed
    watch.poll()
    os._exit(1)


if __name__ == "__main__":
    main()
