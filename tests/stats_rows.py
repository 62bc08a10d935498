"""Rows and cases for the tests of `kasauti.stats`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kasauti.records import SampleRow, Status

CASES = {
    case["id"]: case
    for case in map(json.loads, (Path(__file__).parent / "cases/stats.jsonl").read_text("utf-8").splitlines())
}


def row(prompt: str = "p1", system: str = "a", cer: float | None = 0.1, **given: Any) -> SampleRow:
    """A row that is right where the test says nothing."""
    values: dict[str, Any] = {
        "run_id": "r1",
        "lang": "hi",
        "script": "Deva",
        "tags": "",
        "repeat": 0,
        "judge": "j",
        "judge_revision": "1",
        "rejudge": 0,
        "status": Status.OK if cer is not None else Status.SYNTHESIS_FAILED,
    }
    return SampleRow(prompt_id=prompt, system=system, cer=cer, **{**values, **given})
