"""What is said after a run on the smoke prompts, and when."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kasauti.pipeline.plan import Plan
from kasauti.pipeline.record_set import CHARS, SENTENCES, record_hint, record_seconds
from kasauti.settings import PromptsetSettings
from plans import listener, plan_for, voice

ROWS = [{"id": f"p{n}", "lang": lang, "text": "x"} for n, lang in enumerate(["hi", "hi", "ta", "sa", "ks"])]


def plan(folder: Path, *systems: Any, name: str = "smoke", **changes: Any) -> Plan:
    path = str(folder / "prompts.jsonl")
    return plan_for(folder, *systems, **{"rows": ROWS, "promptset": PromptsetSettings(name, path), **changes})


def test_two_of_these_languages_are_in_the_larger_set(tmp_path: Path) -> None:
    system, judge = 0.0001 * CHARS, 0.002  # the fakes' own figures
    assert record_seconds(plan(tmp_path), 2) == pytest.approx(2 * SENTENCES * (system + judge))
    more = plan(tmp_path, voice(repeats=3), voice("few", langs=["ta"]), rejudges=2)
    assert record_seconds(more, 2) == pytest.approx(SENTENCES * (2 * 3 + 1) * (system + 2 * judge))
    deaf = plan(tmp_path, judges=[listener(langs=["hi"]), listener("b")])
    assert record_seconds(deaf, 2) == pytest.approx(SENTENCES * (2 * system + 3 * judge))


def test_several_processes_need_less_time(tmp_path: Path) -> None:
    spoken = record_seconds(plan(tmp_path, voice(workers=0), judges=[listener(langs=[])]), 4)
    assert spoken == pytest.approx(2 * SENTENCES * 0.0001 * CHARS / 4)


def test_nothing_is_said_of_other_prompts_or_of_languages_that_it_lacks(tmp_path: Path) -> None:
    assert record_seconds(plan(tmp_path, name="mine"), 2) is None
    assert record_seconds(plan(tmp_path, rows=ROWS[3:]), 2) is None


def test_the_hint_names_the_set_and_its_time() -> None:
    hint = record_hint(7300)
    assert "promptset=fleurs" in hint
    assert "about 2 h 01 min" in hint
