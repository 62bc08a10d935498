"""What is said about rows: signatures, who competes, which verdicts there are, and in which order they are shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kasauti.identity import score_signature, signature_parts
from kasauti.records import SampleRow, Status, VerdictRow
from kasauti.report import SystemInfo
from kasauti.report.summarising import noise_rows, references, rules_of_scoring, signature_of, summarise
from kasauti.report.verdicts import chosen_pairs, reasons, turned, verdict_cells
from kasauti.settings import ScoringSettings
from stats_rows import row

QUICK = ScoringSettings(draws=100)


def rows(**means: float | None) -> list[SampleRow]:
    return [
        row(f"{lang}{i}", name, None if mean is None else mean + 0.001 * i, lang=lang)
        for name, mean in means.items()
        for lang in ("hi", "ta")
        for i in range(8)
    ]


def systems(*names: str, **others: SystemInfo) -> dict[str, SystemInfo]:
    return {**{name: SystemInfo() for name in names}, **others}


def found(samples: list[SampleRow], facts: dict[str, SystemInfo]) -> dict[tuple[str, str, str], VerdictRow]:
    return {(v.key, v.a, v.b): v for v in summarise(samples, QUICK, facts, "f" * 64).verdicts if v.metric == "cer"}


def test_every_pair_by_language_and_over_them() -> None:
    verdicts = found(rows(a=0.1, b=0.3, c=0.1), systems("a", "b", "c"))
    assert list(verdicts) == [(key, x, y) for key in ("hi", "ta", "all") for x, y in ("ab", "ac", "bc")]
    assert [verdicts["all", x, y].verdict for x, y in ("ab", "ac", "bc")] == ["better", "within_noise", "worse"]
    assert verdicts["all", "a", "b"].difference == pytest.approx(-0.2)


def test_people_limit_what_can_be_told_and_do_not_compete() -> None:
    facts = systems("a", "b", "c", p=SystemInfo(role="human"))
    verdicts = found(rows(a=0.1, b=0.12, c=0.4, p=0.2), facts)
    assert not [key for key in verdicts if "p" in key]
    assert verdicts["hi", "a", "b"].verdict == verdicts["all", "a", "b"].verdict == "judge_limited"
    assert verdicts["all", "a", "c"].verdict == "better"
    assert verdicts["all", "a", "c"].human == pytest.approx(0.2035)


def test_people_heard_by_another_revision_limit_nothing() -> None:
    samples = [replace(r, judge_revision="2") if r.system == "p" else r for r in rows(a=0.1, b=0.12, p=0.2)]
    verdict = found(samples, systems("a", "b", p=SystemInfo(role="human")))["all", "a", "b"]
    assert (verdict.verdict, verdict.human) == ("better", None)


def test_rates_made_elsewhere_are_not_comparable_with_ours() -> None:
    facts = systems("a", b=SystemInfo(recorded="rates"))
    verdict = found(rows(a=0.1, b=0.3), facts)["all", "a", "b"]
    assert verdict.verdict == "not_comparable"
    assert "normaliser differs (a: 1, b: as recorded)" in verdict.reason
    assert references(facts) == {"b": "rates as recorded, made by other rules"}
    alike = systems(a=SystemInfo(recorded="rates"), b=SystemInfo(recorded="rates"))
    assert found(rows(a=0.1, b=0.3), alike)["all", "a", "b"].verdict == "better"
    assert references(alike) == {}


def test_a_judge_that_gives_marks_only_has_no_verdicts_and_one_that_failed_has() -> None:
    marks = [replace(r, judge="m", cer=None, status=Status.OK) for r in rows(a=0.1, b=0.2)]
    failed = [replace(r, judge="f", cer=None, status=Status.JUDGE_FAILED) for r in rows(a=0.1, b=0.2)]
    summary = summarise([*rows(a=0.1, b=0.2), *marks, *failed], QUICK, systems("a", "b"), "f")
    assert {v.judge: v.verdict for v in summary.verdicts if v.scope == "macro"} == {"j": "better", "f": "insufficient"}
    only = summarise(failed, QUICK, systems("a", "b"), "f").verdicts
    assert {v.verdict for v in only} == {"insufficient"}


def marked(**means: float) -> list[SampleRow]:
    return [
        replace(r, judge="ear", cer=None, status=Status.OK, marks={"mos": float(r.cer or 0)}) for r in rows(**means)
    ]


def test_of_marks_the_higher_is_better_and_a_failure_has_no_worst_value() -> None:
    failed = row("hi99", "a", None, judge="ear", status=Status.JUDGE_FAILED)
    summary = summarise([*marked(a=4.0, b=3.0), failed], QUICK, systems("a", "b"), "f")
    assert {line.metric for line in summary.aggregates} == {"mos"}
    mean = next(line for line in summary.aggregates if (line.system, line.scope, line.key) == ("a", "lang", "hi"))
    assert (mean.mean, mean.n_ok, mean.n_total, mean.mean_worst, mean.pooled) == (
        pytest.approx(4.0035),  # 4 + 0.001 * (0 + 1 + … + 7) / 8
        8,
        9,
        None,
        None,
    )
    verdict = next(v for v in summary.verdicts if v.key == "ta")
    assert (verdict.metric, verdict.verdict, verdict.difference) == ("mos", "better", pytest.approx(1.0))


def test_of_marks_human_speech_limits_from_above() -> None:
    facts = systems("a", "b", p=SystemInfo(role="human"))
    limited = summarise(marked(a=4.0, b=3.9, p=3.5), QUICK, facts, "f").verdicts
    assert {v.verdict for v in limited} == {"judge_limited"}
    assert {v.verdict for v in summarise(marked(a=4.0, b=3.0, p=3.5), QUICK, facts, "f").verdicts} == {"better"}


def test_a_mark_has_no_level_in_its_signature() -> None:
    parts = signature_parts(summarise(marked(a=4.0), QUICK, systems("a"), "f").aggregates[0].signature)
    assert (parts["metric"], parts["unit"], parts["level"], parts["normaliser"]) == ("mos", "mark", "none", "none")


def test_every_number_has_its_signature() -> None:
    summary = summarise(rows(a=0.1), QUICK, systems("a"), "0123456789abcdef")
    for line in summary.aggregates:
        parts = signature_parts(line.signature)
        assert (parts["metric"], parts["level"], parts["judge"]) == (line.metric, "numbers", "j@1")
        assert parts["prompts"] == "0123456789ab"
        assert parts["aggregation"] == ("macro_mean" if line.scope == "macro" else "mean")
        assert parts["numbers"] == "spoken-digits-digits-set"


def test_parts_of_a_signature_read_back() -> None:
    written = signature_of("wer", "lang", rules_of_scoring(QUICK), "w@a:b", "ab")
    assert score_signature(signature_parts(written)) == written
    assert signature_parts(written)["judge"] == "w@a:b"
    assert signature_parts("") == {}


def test_noise_by_prompt() -> None:
    takes = [row("p1", "a", 0.1, repeat=0), row("p1", "a", 0.3, repeat=1), row("p2", "a", 0.2, repeat=0)]
    noise = [line for line in noise_rows(takes) if line["metric"] == "cer"]
    assert [(line["prompt_id"], line["repeats"], line["mean"]) for line in noise] == [
        ("p1", 2, pytest.approx(0.2)),
        ("p2", 1, 0.2),
    ]
    assert [line["var_takes"] for line in noise] == [pytest.approx(0.02), None]  # (0.1² + 0.1²) / 1


def test_neighbours_and_the_first_against_each() -> None:
    verdicts = summarise(rows(a=0.3, b=0.1, c=0.2, d=0.4), QUICK, systems(*"abcd"), "f").verdicts
    macro = [v for v in verdicts if (v.metric, v.scope) == ("cer", "macro")]
    chosen = chosen_pairs(macro, ["b", "c", "a", "d"])
    assert [v.a + v.b for v in chosen] == ["bc", "ca", "ba", "ad", "bd"]
    assert {v.verdict for v in chosen} == {"better"}
    assert all((v.difference or 0) < 0 and (v.ci95_low or 0) <= (v.ci95_high or 0) for v in chosen)
    assert chosen_pairs(macro, ["b"]) == ()


def test_turning_twice_changes_no_number() -> None:
    verdict = found(rows(a=0.3, b=0.1), systems("a", "b"))["all", "a", "b"]
    assert turned(verdict).verdict == "better"
    assert replace(turned(turned(verdict)), reason=verdict.reason) == verdict
    same = found(rows(a=0.3, b=0.3), systems("a", "b"))["all", "a", "b"]
    assert verdict_cells(turned(same), is_rate=True)[2:4] == ["+0.0", "+0.0 to +0.0"]


def test_only_verdicts_that_numbers_do_not_explain_have_words() -> None:
    verdicts = found(rows(a=0.3, b=0.1, dead=None), systems("a", "b", "dead"))
    assert reasons([verdicts["all", "a", "b"]]) == []
    assert reasons([turned(verdicts["all", "a", "dead"])]) == ["dead – a: insufficient: dead: 0/16 scored."]
