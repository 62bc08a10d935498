"""What later parts need from the pipeline, each held by a fake: panels, remote judges, streams and bills, rejudging."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kasauti.__main__ import main
from kasauti.errors import PreflightError
from kasauti.judges.fake import FakeJudgeOptions
from kasauti.judges.remote import RemoteOptions
from kasauti.parts import build
from kasauti.pipeline import run as pipeline_run
from kasauti.pipeline.executors import Executor, Job
from kasauti.records import Status
from kasauti.settings import ExecutorSettings
from runs import LINES, lines_of, run_here

MEMBERS = ("{use: fake, id: good}", "{use: fake, id: bad, slip_rate: 0.6}", "{use: fake, id: worse, slip_rate: 0.9}")
LINE_UP = f"system.members=[{', '.join(MEMBERS)}]"


def swap_judge(monkeypatch: pytest.MonkeyPatch, options: Any) -> None:
    """Puts a judge that has no file in `conf` in the place of the configured one."""
    real = pipeline_run.make_plan

    def make_plan(settings: Any) -> Any:
        settings.judges = [options]
        settings.config["judges"] = {options.id: vars(options)}
        return real(settings)

    monkeypatch.setattr(pipeline_run, "make_plan", make_plan)


def test_a_judge_hears_all_systems_of_a_prompt_at_once_under_blind_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swap_judge(monkeypatch, FakeJudgeOptions("kasauti.judges.fake.FakePanel", "panel"))
    ran = run_here(tmp_path, LINE_UP, system="lineup")
    judgments = lines_of(tmp_path / "store" / "judgments.jsonl")
    assert len(judgments) == len(LINES)  # one judgment a prompt, three scores each
    assert len(ran.rows) == 3 * len(LINES)
    assert {row.status for row in ran.rows} == {Status.OK}
    scores = ran.table("scores.tsv")
    assert len(scores) == 3 * len(LINES)
    mean = {
        system: sum(float(row["value"]) for row in scores if row["system"] == system) / len(LINES)
        for system in ("good", "bad", "worse")
    }
    assert mean["good"] == 5.0 > mean["bad"] > mean["worse"]
    # Over three prompts every system stands once under each label, so that no label is an advantage.
    first_three = [row for row in scores if row["prompt_id"] in ("p1", "p2", "p3")]
    assert {(row["system"], row["label"]) for row in first_three} == {
        (system, label) for system in mean for label in "ABC"
    }


def test_a_line_up_with_a_failed_member_is_not_judged_and_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swap_judge(monkeypatch, FakeJudgeOptions("kasauti.judges.fake.FakePanel", "panel"))
    members = "system.members=[{use: fake, id: a}, {use: fake, id: b, slip_rate: 0.1, fail_ids: [p2]}]"
    ran = run_here(tmp_path, members, system="lineup")
    second = {row.system: row for row in ran.rows if row.prompt_id == "p2"}
    assert second["b"].status is Status.SYNTHESIS_FAILED
    assert (second["a"].status, second["a"].reason) == (Status.NOT_RUN, "incomplete_line_up")
    assert len(ran.rows) == 2 * len(LINES)


def test_members_speak_side_by_side_and_give_what_they_give_alone(tmp_path: Path) -> None:
    together, alone = tmp_path / "together", tmp_path / "alone"
    together.mkdir(), alone.mkdir()
    ran = run_here(together, LINE_UP, "max_parallel_systems=3", system="lineup")
    bad = run_here(alone, "system.id=bad", "system.slip_rate=0.6")
    mine = {(row.prompt_id, row.clip_id, row.cer) for row in ran.rows if row.system == "bad"}
    assert mine == {(row.prompt_id, row.clip_id, row.cer) for row in bad.rows}


def test_a_judge_in_another_interpreter_gives_the_same_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"_target_": "kasauti.judges.fake.FakeJudge", "id": "fake"}
    served = [sys.executable, "-m", "kasauti.judges.serve", json.dumps(options)]
    revision = build(FakeJudgeOptions(**options)).facts.signature
    here = run_here(tmp_path, "system.slip_rate=0.3")
    swap_judge(monkeypatch, RemoteOptions("kasauti.judges.remote.Remote", "remote", served, revision))
    apart = run_here(tmp_path, "system.slip_rate=0.3")
    assert [(row.status, row.hypothesis, row.cer) for row in apart.rows] == [
        (row.status, row.hypothesis, row.cer) for row in here.rows
    ]
    assert {row.judge for row in apart.rows} == {"remote"}


def test_a_system_that_bills_and_streams_shows_in_clips_and_provenance(tmp_path: Path) -> None:
    ran = run_here(tmp_path, "system.usd_per_1k_chars=50", "system.ttfb_s=0.25")
    rows = ran.table("clips.tsv")
    assert {row["ttfb_s"] for row in rows} == {"0.25"}
    assert [float(row["cost_usd"]) for row in rows] == [50 * len(text) / 1000 for _, _, text in LINES]
    run_json = json.loads((ran.result.folder / "run.json").read_text(encoding="utf-8"))
    assert run_json["cost_usd"] == pytest.approx(sum(50 * len(text) / 1000 for _, _, text in LINES))


def test_a_clip_is_heard_twice_and_the_two_answers_are_two_rows(tmp_path: Path) -> None:
    ran = run_here(tmp_path, "rejudges=2", "judge.slip_rate=0.4")
    assert [row.rejudge for row in ran.rows] == [0, 1] * len(LINES)
    assert len(lines_of(tmp_path / "store" / "clips.jsonl")) == len(LINES)
    heard = {(row.prompt_id, row.hypothesis) for row in ran.rows}
    assert len(heard) > len(LINES)


def test_takes_that_sound_the_same_are_judged_once(tmp_path: Path) -> None:
    ran = run_here(tmp_path, "repeats=3")
    assert len(ran.rows) == 3 * len(LINES)
    assert len(lines_of(tmp_path / "store" / "clips.jsonl")) == 3 * len(LINES)
    assert len(lines_of(tmp_path / "store" / "judgments.jsonl")) == len(LINES)
    varied = run_here(tmp_path, "repeats=3", "system.stochastic=true", "system.slip_rate=0.3")
    assert len({row.audio_sha256 for row in varied.rows if row.prompt_id == "p1"}) == 3


def test_a_decoding_value_that_a_system_ignores_makes_no_second_clip(tmp_path: Path) -> None:
    run_here(tmp_path, "decoding.temperature=0.5")
    run_here(tmp_path, "decoding.temperature=0.9")
    assert len(lines_of(tmp_path / "store" / "clips.jsonl")) == len(LINES)
    run_here(tmp_path, "decoding.temperature=0.5", "system.stochastic=true")
    run_here(tmp_path, "decoding.temperature=0.9", "system.stochastic=true")
    assert len(lines_of(tmp_path / "store" / "clips.jsonl")) == 3 * len(LINES)


class ThreadedExecutor(Executor):
    """Another place for work: threads that each build a part of their own, replies in whatever order they come."""

    def run(self, job: Job, tasks: Iterable[Any], share: int = 1) -> Iterator[Any]:
        def work(task: Any) -> list[Any]:
            return list(getattr(build(job.options), job.method)([task]))

        with ThreadPoolExecutor(3) as threads:
            for replies in reversed([threads.submit(work, task) for task in tasks]):
                yield from replies.result()


def test_another_executor_needs_no_change_of_the_pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir(), there.mkdir()
    local = run_here(here, "judge.slip_rate=0.2")
    monkeypatch.setattr(
        pipeline_run, "build", lambda o: ThreadedExecutor(o) if isinstance(o, ExecutorSettings) else build(o)
    )
    other = run_here(there, "judge.slip_rate=0.2")
    assert other.tables() == local.tables()


def test_a_voice_without_a_language_has_rows_and_does_not_shrink_the_others(tmp_path: Path) -> None:
    members = "system.members=[{use: fake, id: all}, {use: fake, id: english, langs: [en], slip_rate: 0.1}]"
    ran = run_here(tmp_path, members, system="lineup")
    english = [row for row in ran.rows if row.system == "english"]
    assert [row.status for row in english] == [Status.OK] * 2 + [Status.UNSUPPORTED_LANGUAGE] * 4
    assert {row.reason for row in english[2:]} == {"system"}
    assert ran.result.exit_code == 0
    assert all(row.status is Status.OK for row in ran.rows if row.system == "all")


def test_the_order_of_a_line_up_changes_no_judgment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    swap_judge(monkeypatch, FakeJudgeOptions("kasauti.judges.fake.FakePanel", "panel"))
    members = ["{use: fake, id: a}", "{use: fake, id: b, slip_rate: 0.3}"]
    one = run_here(tmp_path, f"system.members=[{', '.join(members)}]", system="lineup")
    other = run_here(tmp_path, f"system.members=[{', '.join(reversed(members))}]", system="lineup")
    assert other.result.run_id == one.result.run_id
    assert len(lines_of(tmp_path / "store" / "judgments.jsonl")) == len(LINES)


def test_a_line_up_that_a_member_cannot_speak_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    swap_judge(monkeypatch, FakeJudgeOptions("kasauti.judges.fake.FakePanel", "panel"))
    members = "system.members=[{use: fake, id: a}, {use: fake, id: b, slip_rate: 0.1, langs: [en]}]"
    ran = run_here(tmp_path, members, system="lineup")
    assert ran.result.exit_code == 0
    assert {(row.system, row.status, row.reason) for row in ran.rows if row.lang != "en"} == {
        ("a", Status.UNSUPPORTED_LANGUAGE, "line_up"),
        ("b", Status.UNSUPPORTED_LANGUAGE, "system"),
    }


def test_a_judge_that_compares_needs_the_same_takes_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    swap_judge(monkeypatch, FakeJudgeOptions("kasauti.judges.fake.FakePanel", "panel"))
    members = "system.members=[{use: fake, id: a}, {use: fake, id: b, repeats: 2}]"
    with pytest.raises(PreflightError, match=r"a 1, b 2.*repeats=1"):
        run_here(tmp_path, members, system="lineup")


def test_settings_of_a_judge_are_part_of_its_name_in_tables(tmp_path: Path) -> None:
    sharp, dull = run_here(tmp_path), run_here(tmp_path, "judge.slip_rate=0.3")
    assert {row.judge_revision for row in sharp.rows} != {row.judge_revision for row in dull.rows}
    signatures = [json.loads((ran.result.folder / "run.json").read_text())["signature"] for ran in (sharp, dull)]
    assert signatures[0] != signatures[1]


@pytest.mark.parametrize("more", ["repeats=2", "rejudges=2"])
def test_one_transcript_is_no_noise_floor(tmp_path: Path, more: str) -> None:
    (tmp_path / "hyps.tsv").write_text("id\thypothesis\np1\tthe train\n", encoding="utf-8")
    given = ["system.path=null", f"judge.path={tmp_path}/hyps.tsv", more]
    with pytest.raises(PreflightError, match="at 1"):
        run_here(tmp_path, *given, system="audio_dir", judge="transcripts")


def test_transcripts_of_a_named_recogniser_can_be_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = []
    for name, heard in (("good", "the train leaves at seven"), ("bad", "the rain leafs at seven")):
        path = tmp_path / f"{name}.tsv"
        path.write_text(f"id\thypothesis\np1\t{heard}\n", encoding="utf-8")
        given = ["system.path=null", f"judge.path={path}", "judge.revision=my-asr-2", "promptset.ids=[p1]"]
        folders.append(run_here(tmp_path, *given, system="audio_dir", judge="transcripts").result.folder)
    assert folders[0] != folders[1]
    assert len(lines_of(tmp_path / "store" / "judgments.jsonl")) == 2
    assert main(["--runs", str(tmp_path / "runs"), "compare", *map(str, folders)]) == 0
    assert "differs" not in capsys.readouterr().err


def test_people_without_recordings_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(PreflightError, match=r"no recording.*system\.path"):
        run_here(tmp_path, system="human")
    assert not (tmp_path / "runs").exists()
