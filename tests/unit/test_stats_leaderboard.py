"""Ranking: only like against like, the others listed with the reason."""

from __future__ import annotations

import pytest

from kasauti.records import SampleRow, Status
from kasauti.stats.aggregate import aggregate
from kasauti.stats.leaderboard import leaderboard, per_language
from stats_rows import row


def systems() -> list[SampleRow]:
    """`good` and `poor` speak both languages, `few` one of them, `dead` never answers, `mute` supports neither."""
    rows = []
    for lang in ("hi", "ta"):
        for i in range(4):
            rows += [row(f"{lang}{i}", "poor", 0.3, lang=lang), row(f"{lang}{i}", "good", 0.1, lang=lang)]
            rows.append(row(f"{lang}{i}", "dead", None, lang=lang))
            unsupported = {"cer": None, "status": Status.UNSUPPORTED_LANGUAGE, "lang": lang}
            rows.append(row(f"{lang}{i}", "mute", **unsupported))
            rows.append(row(f"{lang}{i}", "few", **({"cer": 0.0, "lang": lang} if lang == "hi" else unsupported)))
    return rows


def test_only_full_and_sufficient_systems_are_ranked() -> None:
    board = leaderboard(aggregate(systems(), level="strict", draws=10))
    assert [(entry.system, entry.rank) for entry in board] == [
        ("good", 1),
        ("poor", 2),
        ("dead", None),
        ("mute", None),
        ("few", None),
    ]
    assert [entry.reason for entry in board] == [
        "",
        "",
        "insufficient: 0/8 scored",
        "unsupported language",
        "speaks 1 of 2 languages",
    ]
    assert board[0].value == pytest.approx(0.1)


def test_one_language_ranks_all_who_speak_it() -> None:
    board = leaderboard(aggregate(systems(), level="strict", draws=10), scope="lang", key="hi")
    assert [(entry.system, entry.rank) for entry in board[:3]] == [("few", 1), ("good", 2), ("poor", 3)]


def test_ties_share_the_mean_of_their_places_and_direction_can_turn() -> None:
    rows = [row("p1", system, cer) for system, cer in (("a", 0.2), ("b", 0.1), ("c", 0.1))]
    found = aggregate(rows, level="strict", draws=10)
    assert [(e.system, e.rank) for e in leaderboard(found)] == [("b", 1.5), ("c", 1.5), ("a", 3)]
    assert [(e.system, e.rank) for e in leaderboard(found, higher_is_better=True)] == [("a", 1), ("b", 2.5), ("c", 2.5)]


def test_each_judge_ranks_for_itself() -> None:
    rows = [
        row("p1", s, cer, judge=j) for s, j, cer in (("a", "x", 0.1), ("b", "x", 0.2), ("a", "y", 0.4), ("b", "y", 0.3))
    ]
    board = leaderboard(aggregate(rows, level="strict", draws=10))
    assert [(e.judge, e.system, e.rank) for e in board] == [("x", "a", 1), ("x", "b", 2), ("y", "b", 1), ("y", "a", 2)]


def test_table_by_language() -> None:
    found = per_language(aggregate(systems(), level="strict", draws=10), "cer", "j")
    assert list(found) == ["hi", "ta"]
    assert found["ta"]["few"].status == "unsupported_language"
    assert found["hi"]["good"].mean == pytest.approx(0.1)


def test_human_recordings_are_shown_and_do_not_take_part() -> None:
    """The humans recorded two prompts and one more language; neither costs the systems a prompt or a rank."""
    rows = [row(f"p{i}", system, cer) for i in range(4) for system, cer in (("a", 0.2), ("b", 0.1))]
    rows += [row(f"p{i}", "human", 0.05) for i in range(2)] + [row("q", "human", 0.05, lang="ta")]
    found = aggregate(rows, level="strict", humans=["human"], draws=10)
    board = leaderboard(found, humans=["human"])
    assert [(e.system, e.rank, e.reason) for e in board] == [
        ("b", 1, ""),
        ("a", 2, ""),
        ("human", None, "human reference"),
    ]
    assert [e.row.n_common for e in board] == [4, 4, 2]
    taking_part = leaderboard(aggregate(rows, level="strict", draws=10))
    assert [(e.system, e.rank) for e in taking_part] == [("human", 1), ("a", None), ("b", None)]
