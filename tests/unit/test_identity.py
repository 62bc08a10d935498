"""Identity: frozen ids, what must and what must not change each of them, and what is left out of a run's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.identity import (
    ID_LENGTH,
    RUN_ID_LENGTH,
    canonical_json,
    clip_id,
    digest,
    file_sha256,
    judgment_id,
    run_id,
    score_signature,
    seed_of,
    without,
)
from kasauti.settings import CANNOT_CHANGE_A_RESULT

CLIP: dict[str, Any] = {
    "text": "नमस्ते, world",
    "lang": "hi",
    "control": {"description": "calm", "speaker": "ravi"},
    "settings": {"voice": "hi+f3", "rate_wpm": 175},
    "decoding": {"temperature": 0.8, "top_k": 30},
    "repeat": 0,
    "fingerprint": "model@1",
}
JUDGMENT: dict[str, Any] = {
    "audio": ["a" * 64, "b" * 64],
    "lang": "hi",
    "told": {"text": "नमस्ते"},
    "settings": {"beam": 5},
    "judge": "kasauti.judges.whisper.Whisper",
    "revision": "base@1",
    "rejudge": 0,
}
CONFIG: dict[str, Any] = {
    "promptset": {"name": "smoke", "path": "prompts/smoke.jsonl", "limit": None},
    "systems": {"a": {"device": "cpu", "voice": "x"}},
    "judges": {"j": {"workers": 2, "beam": 5}},
    "paths": {"runs": "runs"},
}
RUN: dict[str, Any] = {
    "excluded": CANNOT_CHANGE_A_RESULT,
    "prompts_sha256": "c" * 64,
    "fingerprints": {"a": "model@1"},
    "revisions": {"j": "base@1"},
}

# Clips and judgments that were paid for are found again by these. If one of them has to be changed, every store that
# anybody has is orphaned: find another way.
GOLDEN_CLIP = "a0578b33fc1ef1bca6266aaf"
GOLDEN_JUDGMENT = "026c069ffc874d1b7efaf54a"
GOLDEN_RUN = "641116596ef4"

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


def test_golden_ids() -> None:
    assert clip_id(**CLIP) == GOLDEN_CLIP
    assert judgment_id(**JUDGMENT) == GOLDEN_JUDGMENT
    assert run_id(CONFIG, **RUN) == GOLDEN_RUN
    assert digest(["text", "hi", {}], 12) == "c8e0453a61f8"  # the id of a prompt that has none
    assert (
        canonical_json({"b": [1, 0.5, None, True], "a": "नमस्ते\u2028\n"})
        == '{"a":"नमस्ते\u2028\\n","b":[1,0.5,null,true]}'
    )


def test_ids_are_hex_of_a_fixed_length() -> None:
    for identity, length in ((clip_id(**CLIP), ID_LENGTH), (run_id(CONFIG, **RUN), RUN_ID_LENGTH)):
        assert len(identity) == length
        assert int(identity, 16) >= 0


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("text", "नमस्ते world"),
        ("text", "नमस्ते, world "),
        ("lang", "mr"),
        ("control", {"description": "calm"}),
        ("control", {"description": "calm", "speaker": "ravi", "style": ""}),
        ("settings", {"voice": "hi+f3", "rate_wpm": 176}),
        ("settings", {"voice": "hi+f3", "rate_wpm": "175"}),
        ("settings", {"voice": "hi+f3"}),
        ("decoding", {"temperature": 0.8}),
        ("decoding", {"temperature": 0.8, "top_k": None}),
        ("decoding", {"temperature": 0.80000001, "top_k": 30}),
        ("repeat", 1),
        ("fingerprint", "model@2"),
    ],
)
def test_what_changes_a_clip(field: str, other: Any) -> None:
    assert clip_id(**{**CLIP, field: other}) != GOLDEN_CLIP


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("audio", ["b" * 64, "a" * 64]),  # the order in which a panel hears them
        ("audio", ["a" * 64]),
        ("lang", "mr"),
        ("told", {}),
        ("told", {"text": "नमस्ते", "prompt_id": "p1"}),
        ("settings", {"beam": 1}),
        ("judge", "kasauti.judges.fake.FakeJudge"),
        ("revision", "base@2"),
        ("rejudge", 1),
    ],
)
def test_what_changes_a_judgment(field: str, other: Any) -> None:
    assert judgment_id(**{**JUDGMENT, field: other}) != GOLDEN_JUDGMENT


@pytest.mark.parametrize(
    ("field", "other"),
    [("prompts_sha256", "d" * 64), ("fingerprints", {"a": "model@2"}), ("revisions", {"j": "base@2"})],
)
def test_what_changes_a_run_beside_its_config(field: str, other: Any) -> None:
    assert run_id(CONFIG, **{**RUN, field: other}) != GOLDEN_RUN


def changed(config: dict[str, Any], dotted: str, value: Any) -> dict[str, Any]:
    """A deep copy of a config with one key set, made where it is missing."""
    copy: dict[str, Any] = json.loads(json.dumps(config))
    node = copy
    *parents, last = dotted.split(".")
    for name in parents:
        node = node.setdefault(name, {})
    node[last] = value
    return copy


@pytest.mark.parametrize(
    "key", [key.replace("*", "a" if key.startswith("systems") else "j") for key in CANNOT_CHANGE_A_RESULT]
)
def test_what_cannot_change_a_result_changes_no_run(key: str) -> None:
    ids = {run_id(changed(CONFIG, key, value), **RUN) for value in ("something", "something else")}
    assert len(ids) == 1
    # Members are parts of a router; naming one at all makes another judge of it.
    assert ids == {GOLDEN_RUN} or ".members." in key


@pytest.mark.parametrize(
    "key",
    [
        "used.a.temperature",
        "systems.a.voice",
        "systems.a.deep.device",  # only the key itself, at its own depth
        "systems.b.voice",
        "judges.j.beam",
        "scoring.level",
        "systems.a.repeats",
        "rejudges",
        "device",
    ],
)
def test_any_other_key_changes_the_run(key: str) -> None:
    assert run_id(changed(CONFIG, key, "something else"), **RUN) != GOLDEN_RUN


@given(JSON_VALUES)
def test_the_order_of_keys_never_matters(value: Any) -> None:
    def turned(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: turned(node[key]) for key in reversed(node)}
        return [turned(item) for item in node] if isinstance(node, list) else node

    assert digest(turned(value)) == digest(value)


@given(JSON_VALUES)
def test_canonical_json_is_one_line_that_reads_back(value: Any) -> None:
    spelled = canonical_json(value)
    assert "\n" not in spelled
    assert json.loads(spelled) == value
    assert canonical_json(json.loads(spelled)) == spelled


def test_equal_in_python_is_not_equal_in_json() -> None:
    assert len({digest(value) for value in (1, 1.0, True, "1", [1], None, "", 0, False)}) == 9


def test_texts_that_look_the_same_are_not_the_same() -> None:
    composed, decomposed = "\u0929", "\u0928\u093c"
    assert clip_id(**{**CLIP, "text": composed}) != clip_id(**{**CLIP, "text": decomposed})


def test_half_a_surrogate_pair_has_an_id_of_its_own() -> None:
    assert len({digest(text) for text in ("\ud800", "\udc00", "\ud800\udc00", "\ufffd", "?", "\U00010000")}) == 6


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_is_none_has_no_id(number: float) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        digest({"temperature": number})


def test_a_value_that_json_has_no_word_for_has_no_id() -> None:
    with pytest.raises(TypeError):
        digest({"path": Path("x")})


@pytest.mark.parametrize(
    ("excluded", "left"),
    [
        ([], {"a": {"x": 1, "y": {"x": 2}}, "b": {"x": 3}, "x": 4, "list": [{"x": 5}]}),
        (["x"], {"a": {"x": 1, "y": {"x": 2}}, "b": {"x": 3}, "list": [{"x": 5}]}),
        (["a.x"], {"a": {"y": {"x": 2}}, "b": {"x": 3}, "x": 4, "list": [{"x": 5}]}),
        (["*.x"], {"a": {"y": {"x": 2}}, "b": {}, "x": 4, "list": [{"x": 5}]}),
        (["*.*.x"], {"a": {"x": 1, "y": {}}, "b": {"x": 3}, "x": 4, "list": [{"x": 5}]}),
        (["a.*"], {"a": {}, "b": {"x": 3}, "x": 4, "list": [{"x": 5}]}),
        (["a", "b.x", "nothing.here"], {"b": {}, "x": 4, "list": [{"x": 5}]}),
        (["*"], {}),
    ],
)
def test_without(excluded: list[str], left: dict[str, Any]) -> None:
    config = {"a": {"x": 1, "y": {"x": 2}}, "b": {"x": 3}, "x": 4, "list": [{"x": 5}]}
    before = json.dumps(config)
    assert without(config, excluded) == left
    assert json.dumps(config) == before


def test_a_wildcard_covers_names_with_dots() -> None:
    assert without({"systems": {"piper.v1": {"device": "cpu", "voice": "x"}}}, ["systems.*.device"]) == {
        "systems": {"piper.v1": {"voice": "x"}}
    }


@given(st.text("0123456789abcdef", min_size=8, max_size=24))
def test_seeds_fit_everywhere(identity: str) -> None:
    assert 0 <= seed_of(identity) < 2**31
    assert seed_of(identity) == seed_of(identity[:8] + "another clip")


def test_seeds_of_takes_differ() -> None:
    assert len({seed_of(clip_id(**{**CLIP, "repeat": repeat})) for repeat in range(100)}) == 100


def test_signature_is_one_line_in_the_given_order() -> None:
    parts = {"metric": "cer", "judge": "whisper@base:1", "prompts": 12}
    assert score_signature(parts) == "metric:cer|judge:whisper@base:1|prompts:12"


@pytest.mark.parametrize("parts", [{"judge": "a|b"}, {"a|b": "c"}, {"a:b": "c"}])
def test_a_signature_that_could_be_read_in_two_ways_is_refused(parts: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="separator"):
        score_signature(parts)


def test_file_hash_is_that_of_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    # FIPS 180-2, appendix B.1.
    assert file_sha256(path) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
