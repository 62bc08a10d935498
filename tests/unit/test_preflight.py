"""Preflight: what would go wrong later is said before anything is paid for, and no part is asked in vain."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from audio_files import encoded, tone
from kasauti.errors import PreflightError
from kasauti.judges.transcripts import TranscriptsOptions
from kasauti.pipeline import preflight as module
from kasauti.pipeline.estimate import estimate
from kasauti.pipeline.judging import tasks_of
from kasauti.pipeline.plan import Plan
from kasauti.pipeline.preflight import preflight, refuse_errors
from kasauti.records import Finding, Judgment, Outcome, Prompt
from kasauti.systems.audio_dir import AudioDirOptions
from plans import ROWS, listener, panel, plan_for, put_clip, store_of, voice


@pytest.fixture(autouse=True)
def nowhere(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No `.env` file of this machine is in the way."""
    here = tmp_path_factory.mktemp("here")
    monkeypatch.chdir(here)
    monkeypatch.setattr(module, "ROOT", here)
    return here


def findings(plan: Plan, folder: Path) -> list[tuple[str, str, str]]:
    found = preflight(plan, estimate(plan, store_of(folder), cores=2))
    return [(finding.level, finding.subject, finding.message) for finding in found]


def recordings(path: Path | None, **options: Any) -> AudioDirOptions:
    given = None if path is None else str(path)
    return AudioDirOptions("kasauti.systems.audio_dir.AudioDir", "rec", path=given, **options)


def transcripts(folder: Path, *ids: str) -> TranscriptsOptions:
    path = folder / "h.tsv"
    path.write_text("id\thypothesis\n" + "".join(f"{identity}\tx\n" for identity in ids))
    return TranscriptsOptions("kasauti.judges.transcripts.Transcripts", "mine", str(path))


def test_nothing_to_say(tmp_path: Path) -> None:
    assert findings(plan_for(tmp_path), tmp_path) == []


def test_prompts_that_are_odd(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "lang": "hi", "text": "ஒன்று இரண்டு"},
        {"id": "b", "lang": "hi", "text": "Romanised Hindi is fine"},
        {"id": "c", "lang": "en", "text": "...!"},
        {"id": "d", "lang": "ks", "text": "अख कॉशुर"},  # its second script
        {"id": "e", "lang": "en", "text": "नमस्ते"},
    ]
    assert findings(plan_for(tmp_path, rows=rows), tmp_path) == [
        ("warning", "prompt a", "the text is mainly in Taml, which hi is not written in."),
        (
            "warning",
            "prompt c",
            "nothing of the text is left once punctuation is taken out; it will count no reference units.",
        ),
        ("warning", "prompt e", "the text is mainly in Deva, which en is not written in."),
    ]


def test_languages_that_a_part_lacks(tmp_path: Path) -> None:
    voices = [voice("a", langs=["hi"]), voice("b", langs=["bn"])]
    plan = plan_for(tmp_path, *voices, judges=[listener("j", langs=["hi", "en"])])
    assert findings(plan, tmp_path) == [
        ("warning", "system b", "it can speak none of these prompts (en, hi, ta)."),
        ("warning", "judge j", "it can't judge ta; these rows will be unsupported_language."),
    ]


def test_a_judge_that_hears_needs_something_to_hear(tmp_path: Path) -> None:
    [(level, subject, message)] = findings(plan_for(tmp_path, recordings(None)), tmp_path)
    assert (level, subject, message) == ("error", "judge fake", "it has to hear audio, and rec has none.")
    assert (
        findings(plan_for(tmp_path, recordings(None), judges=[transcripts(tmp_path, "p1", "p2", "p3")]), tmp_path) == []
    )


def test_transcripts_can_not_tell_systems_apart(tmp_path: Path) -> None:
    plan = plan_for(tmp_path, voice("a"), voice("b"), judges=[transcripts(tmp_path, "p1", "p2", "p3", "p4")])
    assert findings(plan, tmp_path) == [
        ("error", "judge mine", "it has one answer per prompt and can't tell several systems apart."),
        ("warning", "judge mine", "1 transcripts belong to no prompt of this run."),
    ]


@pytest.mark.parametrize(("count", "refused"), [(1, True), (2, False), (8, False), (9, True)])
def test_a_panel_compares_two_to_eight(tmp_path: Path, count: int, refused: bool) -> None:
    voices = [voice(f"s{n}", slip_rate=n / 10) for n in range(count)]
    found = findings(plan_for(tmp_path, *voices, judges=[panel()]), tmp_path)
    assert found == (
        [("error", "judge panel", f"it compares 2 to 8 systems, and there is {count}.")] if refused else []
    )


def test_recordings_that_are_missing_or_taken_twice(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "p1.wav").write_bytes(encoded(tone(0.3, 0.5), "WAV", "PCM_16"))
    (mine / "other.wav").write_bytes(b"x")
    assert findings(plan_for(tmp_path, recordings(mine, repeats=3)), tmp_path) == [
        ("error", "system rec", "a recording is one take."),
        ("warning", "system rec", "2 prompts have no recording: p2, p3."),
        ("warning", "system rec", "1 recordings are named by none of the chosen prompts: other."),
    ]
    rows = [{"id": "q", "lang": "hi", "text": "क"}]
    assert ("error", "system rec", "there is no recording of any of these prompts.") in findings(
        plan_for(tmp_path, recordings(mine), rows=rows), tmp_path
    )


def test_a_part_that_has_nothing_left_to_do_needs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, store = plan_for(tmp_path), store_of(tmp_path)

    def lacking(prompts: Sequence[Prompt]) -> list[Finding]:
        return [Finding("error", "part", f"no weights for {len(prompts)} prompts.", "Install them.")]

    monkeypatch.setattr(plan.systems["fake"], "check", lacking)
    monkeypatch.setattr(plan.judges["fake"], "check", lacking)
    lack = ("error", "part", "no weights for 3 prompts.")
    assert findings(plan, tmp_path) == [lack, lack]
    for take in plan.takes:
        put_clip(store, take)
    assert findings(plan, tmp_path) == [lack]  # the clips are made; the judge is still needed
    for task in tasks_of(plan, "fake", store):
        store.judgments.put(Judgment(task.judgment_id, "fake", "r", task.lang, 0, Outcome(), transcript="x"))
    assert findings(plan, tmp_path) == []


def test_errors_come_first_and_stop_the_run() -> None:
    warning = Finding("warning", "prompts", "odd.", "Look.")
    refuse_errors([warning])
    errors = [Finding("error", "system a", "no key.", "export KEY=..."), Finding("error", "judge b", "no weights.")]
    with pytest.raises(PreflightError) as told:
        refuse_errors([warning, *errors])
    assert str(told.value) == (
        "preflight found 2 problem(s); nothing was made and nothing was spent:\n"
        "  system a: no key. export KEY=...\n"
        "  judge b: no weights."
    )


def test_a_file_of_keys_that_is_not_read_is_named_with_what_to_do(
    tmp_path: Path, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KNOWN_KEY", "x")
    monkeypatch.delenv("MY_KEY", raising=False)
    path = nowhere / ".env"
    path.write_text("# COMMENT=1\nKNOWN_KEY=a\nexport MY_KEY = secret-value\nOTHER_KEY=\nno key here\n1BAD=x\n")
    plan = plan_for(tmp_path)
    [finding] = preflight(plan, estimate(plan, store_of(tmp_path), cores=2))
    assert (finding.level, finding.subject) == ("warning", str(path))
    assert finding.message == "this file is not read, and MY_KEY, OTHER_KEY is not set."
    assert finding.remedy == f"To use it: set -a; . {path}; set +a   (or: export MY_KEY=...)"
    assert "secret-value" not in f"{finding}"
    monkeypatch.setenv("MY_KEY", "x")
    monkeypatch.setenv("OTHER_KEY", "x")
    assert findings(plan, tmp_path) == []
    path.unlink()
    path.mkdir()
    assert findings(plan, tmp_path) == []
    path.rmdir()
    path.write_bytes(b"\xff\xfe\x00MY_KEY\n")
    assert findings(plan, tmp_path) == []


def test_repeated_rows_are_checked_like_any(tmp_path: Path) -> None:
    rows = [{**row, "id": f"{row['id']}{n}"} for row in ROWS for n in range(3)]
    assert findings(plan_for(tmp_path, rows=rows, judges=[transcripts(tmp_path, "p10")]), tmp_path) == [
        ("warning", "judge mine", "8 prompts have no transcript: p11, p12, p20, p21, p22, …."),
    ]
