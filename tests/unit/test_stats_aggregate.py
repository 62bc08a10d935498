"""Aggregates: counts, means, common sets, failures that stay visible.

Expected values: `tests/cases/stats.jsonl` (source in each case) or worked by hand in the test.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kasauti.errors import StatsError
from kasauti.records import AggregateRow, SampleRow, Status
from kasauti.stats.aggregate import aggregate
from stats_rows import CASES, row


def table(rows: list[SampleRow], **options: Any) -> dict[tuple[str, str, str], AggregateRow]:
    """(system, scope, key) -> row of `cer`."""
    found = aggregate(rows, **{"level": "strict", "metrics": ("cer",), "min_ok_share": 0.5, "draws": 200, **options})
    return {(r.system, r.scope, r.key): r for r in found}


def test_mean_median_and_pooled_are_three_numbers() -> None:
    case = CASES["stats-01"]
    rows = [
        row(f"p{i}", wer=errors / words, word_edits=errors, ref_words=words)
        for i, (errors, words) in enumerate(case["rows_errors_words"])
    ]
    found = table(rows, metrics=("wer",))["a", "lang", "hi"]
    expected = case["expected"]
    assert found.mean == pytest.approx(expected["mean_of_rates"], abs=1e-6)
    assert found.median == pytest.approx(expected["median_of_rates"])
    assert found.pooled == pytest.approx(expected["pooled"])


def test_macro_and_pooled_over_languages() -> None:
    case = CASES["stats-02"]
    rows = [
        row(
            f"{lang}{i}",
            lang=lang,
            cer=facts["errors"] / facts["chars"],
            char_edits=facts["errors"] if i == 0 else 0,
            ref_chars=facts["chars"] // facts["rows"],
        )
        for lang, facts in case["per_language"].items()
        for i in range(facts["rows"])
    ]
    found = table(rows)
    assert found["a", "macro", "all"].mean == pytest.approx(case["expected"]["macro"])
    assert found["a", "macro", "all"].pooled == pytest.approx(case["expected"]["macro"])
    assert found["a", "pooled", "all"].pooled == pytest.approx(case["expected"]["pooled"], abs=1e-6)
    assert found["a", "pooled", "all"].mean == pytest.approx((100 * 0.01 + 10 * 0.3) / 110)
    assert found["a", "macro", "all"].median == pytest.approx(0.155)
    assert found["a", "pooled", "all"].median == pytest.approx(0.01)
    assert found["a", "macro", "all"].n_langs == 2


def test_failures_do_not_make_a_system_look_better() -> None:
    case = CASES["stats-06"]
    rows = [row(prompt, system, cer) for system, cers in case["cer"].items() for prompt, cer in cers.items()]
    found = {system: table(rows)[system, "lang", "hi"] for system in case["cer"]}
    expected = case["expected"]
    for system, cell in found.items():
        assert cell.n_ok == expected["n_scored"][system]
        assert cell.n_total - cell.n_ok == expected["n_failed"][system]
        assert cell.mean == pytest.approx(expected["mean_of_scored"][system])
        assert cell.mean_common == pytest.approx(expected["mean_on_common"][system])
        assert cell.n_common == len(expected["common_prompts"])
        assert cell.mean_worst == pytest.approx(expected["mean_failed_as_1"][system])


def test_one_surviving_row_is_insufficient() -> None:
    case = CASES["stats-07"]
    rows = [row(f"p{i}", cer=0.0 if i == 0 else None) for i in range(case["n_prompts"])]
    found = table(rows, min_ok_share=0.95)["a", "lang", "hi"]
    assert found.status == case["expected"]["shown"]
    assert (found.n_ok, found.n_total, found.mean) == (1, 480, 0.0)
    assert found.mean_worst == pytest.approx(479 / 480)


def test_no_scored_row_is_no_number() -> None:
    found = table([row(cer=None)])["a", "lang", "hi"]
    assert CASES["stats-08"]["expected"]["value"] is None
    numbers = (found.mean, found.median, found.pooled, found.mean_common, found.ci95_low, found.ci95_high)
    assert numbers == (None,) * 6
    assert (found.n_prompts, found.n_langs, found.n_ok, found.n_total, found.mean_worst) == (0, 0, 0, 1, 1.0)
    assert found.status == "insufficient"


def test_repeats_and_rejudges_are_averaged_within_their_prompt() -> None:
    takes = [row("p1", cer=cer, repeat=i) for i, cer in enumerate((0.1, 0.2, 0.3))]
    found = table([*takes, row("p2", cer=0.6)])["a", "lang", "hi"]
    assert found.mean == pytest.approx(0.4)
    assert (found.n_prompts, found.n_ok) == (2, 4)


def test_equal_takes_give_exactly_their_value() -> None:
    rows = [row(f"p{p}", cer=0.1, repeat=r, rejudge=j) for p in range(7) for r in range(3) for j in range(3)]
    found = table(rows)["a", "macro", "all"]
    assert (found.mean, found.median, found.mean_common) == (0.1, 0.1, 0.1)


def test_a_language_that_is_not_supported_stays_visible_and_costs_nothing() -> None:
    rows = [row("p1"), row("p2", lang="ta", cer=None, status=Status.UNSUPPORTED_LANGUAGE)]
    rows += [row("p1", "b"), row("p2", "b", lang="ta")]
    found = table(rows)
    missing = found["a", "lang", "ta"]
    assert (missing.status, missing.n_total, missing.mean, missing.mean_worst) == (
        "unsupported_language",
        0,
        None,
        None,
    )
    assert found["a", "macro", "all"].n_total == 1
    assert found["a", "macro", "all"].mean_worst == pytest.approx(0.1)
    assert (found["a", "macro", "all"].n_langs, found["b", "macro", "all"].n_langs) == (1, 2)
    assert (found["b", "macro", "all"].n_common, found["b", "lang", "ta"].n_common) == (2, 1)


def test_a_system_that_supports_nothing_still_has_its_rows() -> None:
    found = table([row("p1"), row("p1", "mute", None, status=Status.UNSUPPORTED_LANGUAGE)])
    assert [key for key in found if key[0] == "mute"] == [
        ("mute", "lang", "hi"),
        ("mute", "macro", "all"),
        ("mute", "pooled", "all"),
    ]
    assert {found[key].status for key in found if key[0] == "mute"} == {"unsupported_language"}


def test_wrong_script_is_outside_cer_and_inside_pcer() -> None:
    rows = [
        row("p1", cer=0.2, pcer=0.1),
        row("p2", cer=1.0, pcer=0.3, status=Status.WRONG_SCRIPT),
    ]
    found = {r.metric: r for r in aggregate(rows, level="strict", min_ok_share=0.95, draws=10) if r.scope == "lang"}
    assert (found["cer"].mean, found["cer"].n_ok, found["cer"].status) == (0.2, 1, "insufficient")
    assert found["cer"].mean_worst == pytest.approx(0.6)
    assert found["pcer"].mean == pytest.approx(0.2)
    assert (found["pcer"].n_ok, found["pcer"].status) == (2, "ok")
    assert {found[m].wrong_script_share for m in ("cer", "pcer")} == {0.5}


def test_a_metric_that_was_not_computed_is_not_a_failure() -> None:
    found = table([row()], metrics=("pcer",))["a", "lang", "hi"]
    assert (found.status, found.mean, found.mean_worst, found.n_ok) == ("no_rows", None, None, 0)


def test_a_dead_system_does_not_empty_the_common_set() -> None:
    rows = [row(f"p{i}", s, 0.1 * i if s != "dead" else None) for s in ("a", "b", "dead") for i in range(4)]
    rows[0] = replace(rows[0], cer=None, status=Status.JUDGE_FAILED)
    found = table(rows)
    assert {s: found[s, "lang", "hi"].n_common for s in ("a", "b", "dead")} == {"a": 3, "b": 3, "dead": 0}
    assert found["b", "macro", "all"].mean_common == pytest.approx(0.2)


def test_a_system_of_fewer_languages_does_not_shrink_the_macro_comparison() -> None:
    full = [row(f"{lang}{i}", s, 0.1, lang=lang) for s in ("a", "b") for lang in ("hi", "ta") for i in range(4)]
    partial = [row(f"hi{i}", "c", 0.1 if i < 3 else None) for i in range(4)]
    found = table(full + partial)
    assert {s: found[s, "macro", "all"].n_common for s in ("a", "b", "c")} == {"a": 8, "b": 8, "c": 3}
    assert {s: found[s, "lang", "hi"].n_common for s in ("a", "b", "c")} == {"a": 3, "b": 3, "c": 3}


def test_tags_gather_prompts_across_languages() -> None:
    rows = [row("p1", cer=0.1, tags="digits names"), row("p2", cer=0.3), row("p3", cer=0.5, lang="ta", tags="digits")]
    found = table(rows)
    assert [key for key in found if key[1] == "tag"] == [("a", "tag", "digits"), ("a", "tag", "names")]
    digits = found["a", "tag", "digits"]
    assert (digits.mean, digits.n_prompts, digits.n_langs) == (pytest.approx(0.3), 2, 2)


def test_order_is_that_of_first_appearance() -> None:
    rows = [row(p, s, lang=lang, judge=j) for p, lang in (("z", "ta"), ("a", "hi")) for j in "yx" for s in "ba"]
    found = aggregate(rows, level="raw", metrics=("wer", "cer"), draws=10)
    assert list(dict.fromkeys((r.system, r.judge) for r in found)) == [(s, j) for s in "ba" for j in "yx"]
    first = [(r.scope, r.key, r.metric) for r in found[:8]]
    places = [("lang", "ta"), ("lang", "hi"), ("macro", "all"), ("pooled", "all")]
    assert first == [(*place, metric) for place in places for metric in ("wer", "cer")]
    assert {r.level for r in found} == {"raw"}


def test_runs_that_share_a_judgment_count_it_once() -> None:
    same = [row(run_id=run, judgment_id="x", repeat=r) for run in ("r1", "r2") for r in (0, 0)]
    failed = row(run_id="r3", cer=None, judgment_id="x", status=Status.JUDGE_FAILED)
    found = table([failed, same[0], same[2]])["a", "lang", "hi"]
    assert (found.n_ok, found.n_total) == (1, 1)


def test_two_answers_for_one_question_are_refused_by_name() -> None:
    rows = [row(run_id="r1", judgment_id="x"), row(run_id="r2", judgment_id="y", cer=0.4)]
    with pytest.raises(StatsError, match=r"2 different judgments by j of prompt 'p1'.*runs r1, r2"):
        aggregate(rows, level="strict")


def test_nothing_gives_nothing() -> None:
    assert aggregate([], level="strict") == []


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("abc"),
            st.sampled_from(["hi", "ta"]),
            st.integers(0, 4),
            st.integers(0, 1),
            st.one_of(st.none(), st.floats(0, 3)),
        ),
        unique_by=lambda item: item[:4],
        min_size=1,
    )
)
def test_counts_add_up_and_numbers_are_finite(items: list[tuple[str, str, int, int, float | None]]) -> None:
    rows = [row(f"{lang}{p}", s, cer, lang=lang, repeat=r) for s, lang, p, r, cer in items]
    found = table(rows, draws=20)
    for system in {r.system for r in rows}:
        languages = [cell for (s, scope, _), cell in found.items() if (s, scope) == (system, "lang")]
        pooled = found[system, "pooled", "all"]
        assert pooled.n_total == sum(r.system == system for r in rows) == sum(cell.n_total for cell in languages)
        assert pooled.n_ok == sum(cell.n_ok for cell in languages)
        assert pooled.n_common <= pooled.n_prompts
        scored = [r.cer for r in rows if r.system == system and r.cer is not None]
        if scored:
            assert pooled.mean is not None
            assert min(scored) - 1e-9 <= pooled.mean <= max(scored) + 1e-9
            by_prompt = {
                p: [r.cer for r in rows if r.system == system and r.prompt_id == p and r.cer is not None]
                for p in {r.prompt_id for r in rows}
            }
            assert pooled.mean == pytest.approx(np.mean([np.mean(v) for v in by_prompt.values() if v]))
        assert (pooled.mean is None) == (not scored)
        assert pooled.mean_worst is not None
