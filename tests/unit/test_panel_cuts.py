"""Clips at the token cap, and their scores, by hand."""

from __future__ import annotations

from kasauti.panel.cuts import CutEffect, at_cap, cut_effects, without_cuts
from panel_ratings import panel


def test_as_long_as_the_cap_allows() -> None:
    durations = {"a": 20.48, "b": 20.47, "c": 20.4800000001, "d": 8.0, "e": 25.0}
    assert at_cap(durations, 2048, 100.0) == ["a", "c", "e"]
    assert at_cap(durations, 2048, 12.5) == []


def test_cut_against_whole_in_deliveries_that_have_a_cut_clip() -> None:
    cases = {
        ("t1", "x"): [1, 3, 5],
        ("t2", "x"): [2, 3, 4],
        ("t3", "x"): [4, 1, 2],
        ("t4", "x"): [5, 1, 1],
        ("t5", "x"): [3, 3, 3],
    }
    deliveries = {"t1": "Sad", "t2": "Sad", "t3": "Sad", "t4": "Angry", "t5": "Happy"}
    found = cut_effects(panel(cases, "abc", deliveries), "a", {"t1", "t2", "t5", "unknown"})
    assert found == [
        CutEffect("a", "Sad", 2, 1, cut=1.5, whole=4.0, others_cut=3.75, others_whole=1.5),
        CutEffect("a", "Happy", 1, 0, cut=3.0, whole=None, others_cut=3.0, others_whole=None),
    ]


def test_tasks_of_cut_clips_can_be_left_out() -> None:
    found = panel({("t1", "x"): [1, 2], ("t2", "x"): [3, 2], ("t3", "x"): [5, 2]})
    assert without_cuts(found, {"t2", "unknown"}).tasks == ("t1", "t3")


def test_no_cut_clip_no_row() -> None:
    assert cut_effects(panel({("t", "x"): [1, 2]}), "a", set()) == []
