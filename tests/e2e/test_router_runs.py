"""Runs judged by a router: rows, signatures and verdicts, and that nothing is heard twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from kasauti.__main__ import main
from kasauti.errors import ExitCode
from kasauti.identity import signature_parts
from kasauti.records import ROUTED, Status
from kasauti.report import load, merge
from kasauti.report.comparing import compare_runs
from kasauti.report.disagreement import disagreements
from runs import Ran, lines_of, run_here

FAKES = (
    "judge.router.table.en_Latn={first: plain, second: deaf}",
    "judge.router.table.hi_Deva={first: deaf, second: plain}",
    "judge.router.table.ta_Taml={first: plain, second: null}",
    "+judge.router.members={plain: {use: fake}, deaf: {use: fake, slip_rate: 0.25}}",
)
LANGS = "promptset.langs=[en,hi,ta,ur]"


def routed(folder: Path, *overrides: str, system: str = "fake") -> Ran:
    """A run whose Urdu has no row, so that nothing but the fake judges is needed."""
    return run_here(folder, *FAKES, "~judge.router.table.ur_Arab", *overrides, system=system, judge="router")


def judgments(folder: Path) -> list[dict]:
    return lines_of(folder / "store" / "judgments.jsonl")


def test_rows_say_who_heard_them_and_numbers_say_the_table(tmp_path: Path) -> None:
    ran = routed(tmp_path)
    assert ran.result.exit_code is ExitCode.COMPLETE
    [own] = {row.judge_revision for row in ran.rows if row.lang == "ur"}
    assert own.startswith("router@")
    by_lang = {lang: {row.judge_revision for row in ran.rows if row.lang == lang} for lang in ("en", "hi", "ta")}
    assert all(len(revisions) == 1 for revisions in by_lang.values())
    assert {revision.partition(ROUTED)[0] for [revision] in by_lang.values()} == {own}
    assert by_lang["en"] == by_lang["ta"] != by_lang["hi"]
    assert {row.status for row in ran.rows if row.lang == "ur"} == {Status.UNSUPPORTED_LANGUAGE}
    assert {row.reason for row in ran.rows if row.lang == "ur"} == {"no_route"}
    assert {row.cer for row in ran.rows if row.lang in ("en", "ta")} == {0.0}
    assert any(row.cer for row in ran.rows if row.lang == "hi")
    signatures = {signature_parts(row.signature)["judge"] for row in load(ran.result.folder).aggregates}
    assert signatures == {f"router@{own}"}
    assert "single judge: for ta" in ran.said
    assert "no route for ur in Arab (1 prompts)" in ran.said


def test_nothing_is_heard_twice(tmp_path: Path) -> None:
    run_here(tmp_path, "judge.slip_rate=0.25", "promptset.langs=[hi]", judge="fake")
    before = judgments(tmp_path)
    assert len(before) == 2
    ran = routed(tmp_path)
    assert len(judgments(tmp_path)) == 2 + 3  # the two Hindi clips were heard before
    assert {row.judgment_id for row in ran.rows if row.lang == "hi"} == {line["judgment_id"] for line in before}
    alone = run_here(tmp_path, judge="fake")
    heard = {row.judgment_id for row in ran.rows if row.lang in ("en", "ta")}
    assert heard <= {row.judgment_id for row in alone.rows}
    assert len(judgments(tmp_path)) == 5 + 3  # the other Hindi and Urdu


def test_voices_that_have_different_languages_are_compared(tmp_path: Path) -> None:
    # One was heard by both members, the other by one: the same table heard both.
    members = "system.members=[fake,{use: fake, id: other, langs: [hi], slip_rate: 0.5}]"
    ran = routed(tmp_path, members, system="lineup")
    verdicts = {row.key: row.verdict for row in load(ran.result.folder).verdicts if row.metric == "cer"}
    assert verdicts["hi"] != "not_comparable"
    assert "not_comparable" not in verdicts.values()


def test_two_judges_of_one_router_stand_side_by_side(tmp_path: Path) -> None:
    ran = routed(tmp_path, "judge.rank=both")
    cer = {(row.judge, row.lang): row.cer for row in ran.rows if row.prompt_id in ("p1", "p3")}
    assert cer["router", "en"] == cer["router_second", "hi"] == 0.0
    assert all([cer["router", "hi"], cer["router_second", "en"]])
    second = [row for row in ran.rows if row.judge == "router_second" and row.lang == "ta"]
    assert {(row.status, row.reason) for row in second} == {(Status.UNSUPPORTED_LANGUAGE, "single_judge")}
    assert len(judgments(tmp_path)) == 5 + 4


def test_runs_of_one_table_compare_and_of_another_do_not_stand_under_one_name(tmp_path: Path) -> None:
    first = routed(tmp_path, "system.id=a")
    second = routed(tmp_path, "system.id=b", "promptset.langs=[hi]")
    a, b = load(first.result.folder), load(second.result.folder)
    assert {row.verdict for row in compare_runs(a, b, [("a", "b")])} == {"within_noise"}
    other = routed(tmp_path, "system.id=b", "judge.router.table.hi_Deva.first=plain")
    merged = merge([a, load(other.result.folder)])
    assert list(merged.judges) == [f"router {run.result.run_id[:8]}" for run in (first, other)]


def test_how_far_two_judges_are_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = routed(tmp_path, "judge.rank=both")
    found = {one.lang: one for one in disagreements(load(ran.result.folder), "router", "router_second")}
    assert list(found) == ["en", "hi", "ta", "ur"]
    for lang in ("en", "hi"):
        rows = {(row.judge, row.prompt_id): row for row in ran.rows if row.lang == lang}
        firsts = [row for (judge, _), row in rows.items() if judge == "router"]
        pairs = [(row, rows["router_second", row.prompt_id]) for row in firsts]
        mean = [sum(row.cer or 0.0 for row in side) / len(pairs) for side in zip(*pairs, strict=True)]
        one = found[lang]
        assert (one.rows, one.both, one.other_script, one.single_judge) == (2, 2, 0, False)
        assert one.cer == pytest.approx(mean)
        # One of the two hears without a fault, so the two are apart by the other's edits; slips replace letters.
        assert one.apart == pytest.approx(max(mean))
    assert (found["ta"].rows, found["ta"].both, found["ta"].single_judge) == (1, 0, True)
    assert (found["ta"].cer, found["ta"].apart) == (None, None)
    assert (found["ur"].rows, found["ur"].both) == (0, 0)
    runs = f"--runs={tmp_path}/runs"
    assert main([runs, "disagreement", ran.result.run_id]) == ExitCode.COMPLETE
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == "language rows both cer router cer router_second apart".split()
    assert lines[3].split() == "ta 1 0 single judge".split()
    assert main([runs, "disagreement", "latest", "--judges", "router", "ruoter_second"]) == ExitCode.USAGE
    assert "no judge 'ruoter_second'; did you mean 'router_second'" in capsys.readouterr().err


def test_a_run_of_one_judge_has_no_two_to_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    routed(tmp_path)
    assert main([f"--runs={tmp_path}/runs", "disagreement"]) == ExitCode.USAGE
    assert "has one judge, router; two are compared: judge=router judge.rank=both" in capsys.readouterr().err
