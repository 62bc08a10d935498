"""Which earlier noise floors are found: same voice, same signature, newest first."""

from __future__ import annotations

import pytest

from kasauti.report.floor_history import Voice

MODEL = Voice("checkpoint 1", {"speed": 1}, {"temperature": 0.6, "seed": 0})


@pytest.mark.parametrize(
    ("other", "like"),
    [
        (Voice("checkpoint 1", {"speed": 1}, {"temperature": 0.6, "seed": 0}), True),
        (Voice("checkpoint 1", {"speed": 1.0}, {"temperature": 0.6, "seed": 0}), False),
        (Voice("checkpoint 2", {"speed": 1}, {"temperature": 0.6, "seed": 0}), True),
        (Voice("checkpoint 1", {"speed": 1}, {"temperature": 0.6, "seed": 7}), True),
        (Voice("checkpoint 1", {"speed": 1}, {"temperature": 0.8, "seed": 0}), False),
        (Voice("checkpoint 1", {"speed": 2}, {"temperature": 0.6, "seed": 0}), False),
        (Voice("checkpoint 1", {"speed": 1}, {}), False),
    ],
    ids=["itself", "another spelling", "another checkpoint", "another seed", "hotter", "faster", "draws nothing"],
)
def test_a_voice_is_like_another_when_it_draws_in_the_same_way(other: Voice, like: bool) -> None:
    assert MODEL.is_like(other) is like
    assert other.is_like(MODEL) is like


def test_recordings_and_deterministic_voices_are_themselves_only() -> None:
    assert Voice("wavs 1").is_like(Voice("wavs 1"))
    assert not Voice("wavs 1").is_like(Voice("wavs 2"))
