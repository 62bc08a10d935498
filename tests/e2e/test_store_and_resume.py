"""Nothing is synthesised or judged twice: across restarts, judges, growing selections, retries and processes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kasauti.errors import ExitCode, StoreError
from kasauti.pipeline.folder import RunFolder
from kasauti.pipeline.plan import make_plan
from kasauti.records import Status
from runs import LINES, lines_of, prompt_file, result_tables, run_apart, run_here, settings, words
from runs import command as command_line


def clips(folder: Path) -> list[dict]:
    return lines_of(folder / "store" / "clips.jsonl")


def judgments(folder: Path) -> list[dict]:
    return lines_of(folder / "store" / "judgments.jsonl")


def test_a_run_has_one_row_for_everything_and_perfect_scores_from_a_perfect_voice(tmp_path: Path) -> None:
    ran = run_here(tmp_path)
    assert ran.result.exit_code is ExitCode.COMPLETE
    assert [row.prompt_id for row in ran.rows] == [line[0] for line in LINES]
    assert {row.status for row in ran.rows} == {Status.OK}
    assert {row.cer for row in ran.rows} == {0.0}
    assert len(clips(tmp_path)) == len(judgments(tmp_path)) == len(LINES)


def test_a_finished_run_does_nothing_and_says_so(tmp_path: Path) -> None:
    first = run_here(tmp_path)
    before = {path: path.read_bytes() for path in first.result.folder.iterdir() if path.is_file()}
    second = run_here(tmp_path)
    assert "already finished" in second.said
    assert second.result == first.result
    assert {path: path.read_bytes() for path in first.result.folder.iterdir() if path.is_file()} == before
    assert len(clips(tmp_path)) == len(judgments(tmp_path)) == len(LINES)


def test_a_second_judge_makes_no_synthesis(tmp_path: Path) -> None:
    run_here(tmp_path)
    other = run_here(tmp_path, "judge.slip_rate=0.5")
    assert len(clips(tmp_path)) == len(LINES)
    assert len(judgments(tmp_path)) == 2 * len(LINES)
    assert any(row.cer for row in other.rows)


def test_a_trial_run_grows_into_the_full_one(tmp_path: Path) -> None:
    small = run_here(tmp_path, "promptset.limit=1")
    assert len(small.rows) == len(clips(tmp_path)) == 4  # en hi ta ur
    full = run_here(tmp_path)
    assert len(full.rows) == len(clips(tmp_path)) == len(judgments(tmp_path)) == len(LINES)
    assert small.result.run_id != full.result.run_id


def test_the_same_selection_by_another_key_is_the_same_run(tmp_path: Path) -> None:
    by_limit = settings(tmp_path, "promptset.langs=[en]", "promptset.limit=1")
    by_id = settings(tmp_path, "promptset.ids=[p1]", "executor.workers=7", "paths.runs=elsewhere")
    assert make_plan(by_limit).run_id == make_plan(by_id).run_id


def test_a_deleted_clip_is_made_again_and_nothing_else(tmp_path: Path) -> None:
    before = run_here(tmp_path)
    gone = tmp_path / "store" / clips(tmp_path)[2]["path"]
    gone.unlink()
    after = run_here(tmp_path)
    assert gone.is_file()
    assert len(clips(tmp_path)) == len(LINES) + 1
    assert len(judgments(tmp_path)) == len(LINES)
    assert after.tables() == before.tables()


def test_only_failed_rows_that_a_retry_can_help_are_tried_again(tmp_path: Path) -> None:
    flawed = run_here(tmp_path, "system.fail_ids=[p1]", "system.refuse_ids=[p2]", "system.silent_ids=[p3]")
    assert flawed.result.exit_code is ExitCode.INCOMPLETE
    assert [row.status for row in flawed.rows[:3]] == [
        Status.SYNTHESIS_FAILED,
        Status.REFUSED,
        Status.AUDIO_INVALID,
    ]
    assert flawed.rows[2].reason == "silent"
    assert [row.cer for row in flawed.rows[:3]] == [None] * 3
    assert len(judgments(tmp_path)) == 3  # the recogniser is not asked about what is silent
    again = run_here(tmp_path, "system.refuse_ids=[p2]", "system.silent_ids=[p3]")
    assert [row.status for row in again.rows[:3]] == [Status.OK, Status.REFUSED, Status.AUDIO_INVALID]
    assert len(clips(tmp_path)) == len(LINES) + 1


def test_a_worker_that_is_killed_costs_its_own_clip_only(tmp_path: Path) -> None:
    ran = run_here(tmp_path, "system.workers=2", "system.kill_ids=[p4]", "executor.workers=2")
    assert {row.prompt_id: row.status for row in ran.rows if row.status is not Status.OK} == {
        "p4": Status.SYNTHESIS_FAILED
    }
    assert ran.rows[3].reason == "worker_died"


def test_budget_stops_the_spending_and_the_rest_is_not_run(tmp_path: Path) -> None:
    ran = run_here(tmp_path, "system.usd_per_1k_chars=100", "budget.max_usd=6")
    statuses = [row.status for row in ran.rows]
    spent = sum(clip["outcome"]["cost_usd"] for clip in clips(tmp_path))
    assert 0 < spent <= 6
    assert statuses.count(Status.NOT_RUN) == len(LINES) - len(clips(tmp_path)) > 0
    assert {row.reason for row in ran.rows if row.status is Status.NOT_RUN} == {"budget"}
    assert ran.result.exit_code is ExitCode.INCOMPLETE
    rest = run_here(tmp_path, "system.usd_per_1k_chars=100", "budget.max_usd=100")
    assert {row.status for row in rest.rows} == {Status.OK}
    assert len(clips(tmp_path)) == len(LINES)


def test_a_dry_run_counts_and_touches_nothing(tmp_path: Path) -> None:
    prompt_file(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    ran = run_here(tmp_path, "dry_run=true", "system.usd_per_1k_chars=10")
    assert sorted(tmp_path.rglob("*")) == before
    assert "$1.08" in ran.said  # 108 characters at $10 a thousand
    run_here(tmp_path)
    after = run_here(tmp_path, "dry_run=true")
    assert "0 " in after.said
    assert len(clips(tmp_path)) == len(LINES)


def test_a_second_writer_of_the_same_run_is_refused_by_name(tmp_path: Path) -> None:
    run_id = make_plan(settings(tmp_path)).run_id
    with RunFolder(tmp_path / "runs", run_id).locked(), pytest.raises(StoreError, match=rf"{run_id}.*process \d+"):
        run_here(tmp_path)


def test_two_processes_share_the_work_of_one_store(tmp_path: Path) -> None:
    lines = [(f"p{n}", "hi", f"यह वाक्य संख्या {n} है") for n in range(60)]
    prompt_file(tmp_path, lines)
    runs = [words(tmp_path), words(tmp_path, "judge.slip_rate=0.2"), words(tmp_path, "rejudges=2")]
    started = [
        subprocess.Popen(command_line(*run), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for run in runs
    ]
    ends = [(process.communicate()[0], process.returncode) for process in started]
    assert [code for _, code in ends] == [0, 0, 0], ends
    made = [clip["clip_id"] for clip in clips(tmp_path)]
    assert len(made) == len(set(made)) == 60
    judged = [judgment["judgment_id"] for judgment in judgments(tmp_path)]
    assert len(judged) == len(set(judged)) == 180


def test_an_edited_prompt_file_is_another_run_and_costs_one_clip(tmp_path: Path) -> None:
    first = run_here(tmp_path)
    prompt_file(tmp_path, [*LINES[:5], ("p6", "ur", "کل ملیں گے")])
    second = run_here(tmp_path)
    assert second.result.run_id != first.result.run_id
    assert len(clips(tmp_path)) == len(LINES) + 1


def test_output_that_cannot_be_written_names_the_folder(tmp_path: Path) -> None:
    prompt_file(tmp_path)
    (tmp_path / "runs").write_text("a file where a folder should be")
    ended = run_apart(*words(tmp_path))
    assert ended.returncode == 1
    assert str(tmp_path / "runs") in ended.stderr
    assert "Traceback" not in ended.stderr


def test_result_tables_do_not_depend_on_the_order_of_work(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir(), two.mkdir()
    straight = run_here(one, "rejudges=2", "judge.slip_rate=0.3")
    run_here(two, "promptset.ids=[p5]", "judge.slip_rate=0.3")
    prompt_file(two)
    crooked = run_here(two, "rejudges=2", "judge.slip_rate=0.3", "system.workers=2")
    assert result_tables(crooked.result.folder) == result_tables(straight.result.folder)


def test_the_budget_counts_what_earlier_tries_have_cost(tmp_path: Path) -> None:
    given = ["system.usd_per_1k_chars=100", "system.fail_ids=[p1,p2,p3,p4,p5,p6]", "budget.max_usd=12"]
    run_here(tmp_path, *given)  # 108 characters: $10.80, all failed and all billed
    again = run_here(tmp_path, *given)
    spent = max(clip["outcome"]["cost_usd"] for clip in clips(tmp_path) if clip["text"] == LINES[5][2])
    assert len(clips(tmp_path)) == len(LINES)
    assert spent == pytest.approx(1.5)
    assert {row.status for row in again.rows} == {Status.SYNTHESIS_FAILED}


def test_a_recording_that_was_replaced_is_another_run(tmp_path: Path) -> None:
    import shutil

    source = run_here(tmp_path).table("clips.tsv")
    recordings = tmp_path / "wavs"
    recordings.mkdir()
    for row in source:
        shutil.copy(tmp_path / "store" / row["path"], recordings / f"{row['prompt_id']}.wav")
    first = run_here(tmp_path, f"system.path={recordings}", system="audio_dir")
    shutil.copy(recordings / "p2.wav", recordings / "p1.wav")
    second = run_here(tmp_path, f"system.path={recordings}", system="audio_dir")
    assert second.result.run_id != first.result.run_id
    assert (first.rows[0].cer, second.rows[0].cer == 0) == (0.0, False)


def test_a_finished_run_whose_record_is_damaged_is_put_together_again(tmp_path: Path) -> None:
    first = run_here(tmp_path)
    (first.result.folder / "run.json").write_text("{", encoding="utf-8")
    again = run_here(tmp_path)
    assert again.tables() == first.tables()
    assert len(clips(tmp_path)) == len(judgments(tmp_path)) == len(LINES)


def test_a_text_of_which_nothing_is_left_has_no_pooled_rate(tmp_path: Path) -> None:
    prompt_file(tmp_path, [("p1", "hi", "।"), ("p2", "hi", "...")])
    ran = run_here(tmp_path)
    aggregates = (ran.result.folder / "aggregate.csv").read_text(encoding="utf-8")
    assert "nan" not in aggregates
    assert [(row.cer, row.ref_chars) for row in ran.rows] == [(0.0, 0)] * 2
