"""One leaderboard over several runs: what is one thing is put together, what is two things is told apart."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import report_example
from kasauti.errors import StoreError
from kasauti.records import Status
from kasauti.report import RunTables, load, merge

LANGS = ("en", "hi")


def run(root: Path, run_id: str, *systems: str, **given: object) -> RunTables:
    folder = report_example.build(
        root / run_id,
        run_id=run_id,
        systems=systems,
        langs=LANGS,
        tone_s=0.05,
        **given,  # type: ignore[arg-type]
    )
    return load(folder)


def ended(tables: RunTables, at: str) -> RunTables:
    return replace(tables, runs=(replace(tables.runs[0], finished_at=at),))


def test_runs_over_different_systems_equal_one_run_over_all(tmp_path: Path) -> None:
    together = run(tmp_path, "all", "espeak", "piper")
    merged = merge([run(tmp_path, "one", "espeak"), run(tmp_path, "two", "piper")])
    assert list(merged.systems) == ["espeak", "piper"]
    assert merged.aggregates == together.aggregates
    assert {replace(row, run_id="") for row in merged.samples} == {replace(row, run_id="") for row in together.samples}
    assert [one.run_id for one in merged.runs] == ["one", "two"]
    assert all(path.is_file() for path in merged.audio.values())


def test_one_run_stays_as_it_is(tmp_path: Path) -> None:
    alone = run(tmp_path, "one", "espeak")
    assert merge([alone]) is alone


def test_the_same_voice_in_two_runs_is_one_system(tmp_path: Path) -> None:
    first, second = run(tmp_path, "first", "espeak"), run(tmp_path, "second", "espeak")
    merged = merge([first, second])
    assert list(merged.systems) == ["espeak"]
    assert len(merged.samples) == len(first.samples)
    assert merged.aggregates == first.aggregates


def test_the_run_that_ended_last_wins(tmp_path: Path) -> None:
    older = ended(run(tmp_path, "a", "espeak"), "2026-01-01T00:00:00+00:00")
    newer = ended(run(tmp_path, "b", "espeak"), "2026-02-01T00:00:00+00:00")
    for parts in ([older, newer], [newer, older]):
        merged = merge(parts)
        assert {row.run_id for row in merged.samples} == {"b"}
        assert {path.is_relative_to(tmp_path / "b") for path in merged.audio.values()} == {True}


def test_a_row_that_was_not_run_replaces_nothing(tmp_path: Path) -> None:
    older = ended(run(tmp_path, "a", "espeak"), "2026-01-01T00:00:00+00:00")
    newer = ended(run(tmp_path, "b", "espeak"), "2026-02-01T00:00:00+00:00")
    cut = [replace(row, status=Status.NOT_RUN, reason="budget", cer=None) for row in newer.samples]
    merged = merge([older, replace(newer, samples=cut)])
    assert {row.status for row in merged.samples} == {Status.OK}


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"fingerprint": "retrained "}, id="another checkpoint under the same name"),
        pytest.param({"settings": {"speed": 1.2}}, id="another setting"),
        pytest.param({"clip_id": "0" * 32}, id="another clip for the same prompt: decoding differed"),
    ],
)
def test_one_name_for_two_voices_is_split(tmp_path: Path, changed: dict[str, object]) -> None:
    first, second = run(tmp_path, "aaaa1111xx", "espeak", "piper"), run(tmp_path, "bbbb2222xx", "espeak")
    if "clip_id" in changed:
        clips = [replace(clip, clip_id=str(changed["clip_id"])) for clip in second.clips]
        second = replace(second, clips=clips)
    else:
        second = replace(second, systems={"espeak": replace(second.systems["espeak"], **changed)})  # type: ignore[arg-type]
    merged = merge([first, second])
    assert list(merged.systems) == ["espeak aaaa1111", "piper", "espeak bbbb2222"]
    assert {row.system for row in merged.aggregates} == set(merged.systems)
    assert {clip.system for clip in merged.clips} == set(merged.systems)


def test_one_name_for_two_revisions_of_a_judge_is_split(tmp_path: Path) -> None:
    first, second = run(tmp_path, "aaaa1111xx", "espeak"), run(tmp_path, "bbbb2222xx", "piper")
    second = replace(second, judges={"whisper": "whisper-large@3"})
    merged = merge([first, second])
    assert list(merged.judges) == ["whisper aaaa1111", "whisper bbbb2222"]
    assert set(merged.signatures) == set(merged.judges)
    assert {row.judge for row in merged.samples} == set(merged.judges)


def asked(tables: RunTables, fingerprint: str = "", judge: dict[str, Any] | None = None, **options: Any) -> RunTables:
    """A run in which `espeak` was asked for with options (those of decoding apart), and the judge likewise."""
    drawn = {name: options.pop(name) for name in ("temperature", "top_k") if name in options}
    voice = replace(tables.systems["espeak"], settings=options, decoding=drawn, fingerprint=fingerprint)
    clips = [replace(clip, clip_id=f"{clip.clip_id}{options}{drawn}{fingerprint}") for clip in tables.clips]
    run = replace(tables.runs[0], options={"espeak": {"id": "espeak", "device": tables.runs[0].run_id, **options}})
    heard = {} if judge is None else {"whisper": judge}
    judges = {"whisper": f"whisper+{judge['beam']}"} if judge is not None else tables.judges
    run = replace(run, judge_options=heard)
    return replace(tables, runs=(run,), systems={"espeak": voice}, clips=clips, judges=judges)


@pytest.mark.parametrize(
    ("meanings", "names"),
    [
        ([{"temperature": 0.6}, {"temperature": 0.8}], ["espeak temperature=0.6", "espeak temperature=0.8"]),
        ([{"temperature": None}, {"temperature": 0.8}], ["espeak temperature=null", "espeak temperature=0.8"]),
        (
            [{"temperature": 0.6, "top_k": 20}, {"temperature": 0.6, "top_k": 30}],
            ["espeak top_k=20", "espeak top_k=30"],
        ),
        (
            [{"temperature": 0.6, "speed": 1}, {"temperature": 0.8, "speed": 1}, {"temperature": 0.6, "speed": 2}],
            ["espeak speed=1 temperature=0.6", "espeak speed=1 temperature=0.8", "espeak speed=2 temperature=0.6"],
        ),
        ([{"temperature": 0.6}, {"temperature": 0.6}], ["espeak"]),
        (
            [{"checkpoint": "/models/step-1/"}, {"checkpoint": "/models/step-2"}],
            ["espeak checkpoint=step-1", "espeak checkpoint=step-2"],
        ),
        (
            [{"checkpoint": "/a/last"}, {"checkpoint": "/b/last"}],
            ["espeak checkpoint=/a/last", "espeak checkpoint=/b/last"],
        ),
        ([{"voices": {"hi": "x"}}, {"voices": {"hi": "y"}}], ["espeak voices.hi=x", "espeak voices.hi=y"]),
        ([dict.fromkeys("abcd", n) for n in (1, 2)], ["espeak run0000x", "espeak run1000x"]),
        ([{"speed": 1, "fingerprint": "1"}, {"speed": 1, "fingerprint": "2"}], ["espeak run0000x", "espeak run1000x"]),
        (
            [{"speed": 1, "fingerprint": "1"}, {"speed": 1, "fingerprint": "2"}, {"speed": 2}],
            ["espeak speed=1 run0000x", "espeak speed=1 run1000x", "espeak speed=2"],
        ),
    ],
    ids=str,
)
def test_a_split_name_says_which_option_differs(
    tmp_path: Path, meanings: list[dict[str, Any]], names: list[str]
) -> None:
    parts = [asked(run(tmp_path, f"run{n}000xx", "espeak"), **options) for n, options in enumerate(meanings)]
    merged = merge(parts)
    assert list(merged.systems) == names
    assert [row.system for row in merged.aggregates if (row.scope, row.metric) == ("macro", "cer")] == names
    assert {row.system for row in merged.samples} == {clip.system for clip in merged.clips} == set(names)


def test_one_voice_before_two_judges_keeps_one_name(tmp_path: Path) -> None:
    cold = [asked(run(tmp_path, f"run{n}000xx", "espeak"), temperature=0.6) for n in range(2)]
    hot = asked(run(tmp_path, "run2000xx", "espeak"), temperature=0.8)
    assert list(merge([*cold, hot]).systems) == ["espeak temperature=0.6", "espeak temperature=0.8"]


def test_a_judge_is_split_by_its_options_too(tmp_path: Path) -> None:
    parts = [
        asked(run(tmp_path, f"run{n}000xx", "espeak"), judge={"beam": beam, "threads": n})
        for n, beam in enumerate((1, 5, 1))
    ]
    merged = merge(parts)
    assert list(merged.judges) == ["whisper beam=1", "whisper beam=5"]
    assert {row.judge for row in merged.aggregates} == set(merged.judges)


def test_different_levels_are_refused(tmp_path: Path) -> None:
    first, second = run(tmp_path, "a", "espeak"), run(tmp_path, "b", "piper")
    for part, value, told in (
        ("level", "raw", r"a different level \(b at 'raw', a at 'strict'\)"),
        ("normaliser", "0", r"a different normaliser \(b at '0', a at '1'\)"),
    ):
        signatures = {
            name: re.sub(f"{part}:[^|]*", f"{part}:{value}", text) for name, text in second.signatures.items()
        }
        with pytest.raises(StoreError, match=told):
            merge([first, replace(second, signatures=signatures)])


def test_one_prompt_id_with_two_texts_is_refused(tmp_path: Path) -> None:
    first, second = run(tmp_path, "a", "espeak"), run(tmp_path, "b", "piper")
    prompts = [replace(second.prompts[0], text="Something else."), *second.prompts[1:]]
    with pytest.raises(StoreError, match=r"prompt 'en_01' is .* in run a but 'Something else.' in run b"):
        merge([first, replace(second, prompts=prompts)])


def test_nothing_to_merge_is_refused() -> None:
    with pytest.raises(StoreError, match="no run to merge"):
        merge([])
