"""Ids of sound and frames: the six rules of parsing, held against a reader that walks the stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasauti.errors import SpeechSystemError
from kasauti.systems.rumik.layout import PUBLISHED, Layout, parse_tokens, read_layout

RUMIK: dict[str, Any] = {"model_type": "rumik_oss", **PUBLISHED, "max_position_embeddings": 8192}
SMALL: dict[str, Any] = {
    **RUMIK,
    "vocab_size": 80,
    "first_unit_id": 40,
    "last_unit_id": 71,
    "num_quantizers": 4,
    "codebook_size": 8,
    "text_start_token_id": 72,
    "audio_start_token_id": 73,
    "audio_end_token_id": 74,
}
LAYOUT = read_layout(SMALL)
END = LAYOUT.audio_end_token_id


def unit(code: int, quantizer: int) -> int:
    return 40 + 4 * code + quantizer


def frame(*codes: int) -> list[int]:
    return [unit(code, quantizer) for quantizer, code in enumerate(codes)]


def walked(ids: Sequence[int], layout: Layout) -> tuple[list[list[int]], int, bool]:
    """Frames, dropped tokens, whether it ended: the rules one by one, a token at a time."""
    frames: list[list[int]] = []
    partial: list[int] = []
    dropped = 0
    for token in ids:
        if token == layout.audio_end_token_id:
            return frames, dropped + len(partial), True
        if not layout.first_unit_id <= token <= layout.last_unit_id:
            dropped += len(partial) + 1
            partial = []
            continue
        code, quantizer = divmod(token - layout.first_unit_id, layout.num_quantizers)
        if quantizer == len(partial):
            partial.append(code)
            if len(partial) == layout.num_quantizers:
                frames.append(partial)
                partial = []
        elif quantizer == 0:
            dropped += len(partial)
            partial = [code]
        else:
            dropped += len(partial) + 1
            partial = []
    return frames, dropped + len(partial), False


def test_the_published_numbers_agree_with_each_other() -> None:
    """Source: public readers of the model's config; 2048 codes x 8 quantizers = 16,384 units, 100 tokens a second."""
    layout = read_layout(RUMIK)
    allowed = layout.allowed()
    assert len(allowed) == 16_385
    assert (allowed[0], allowed[-2], allowed[-1]) == (261_008, 277_391, 277_394)
    assert layout.tokens_per_second == 100.0
    assert layout.speakers == ()
    assert read_layout({**RUMIK, "speakers": ["Ira", "Zoya"]}).speakers == ("Ira", "Zoya")
    assert read_layout({**RUMIK, "speakers": {"Ira": 0, "Zoya": 1}}).speakers == ("Ira", "Zoya")
    assert read_layout({**RUMIK, "speakers": 4}).speakers == ()


def test_ids_are_code_major_and_the_stream_is_frame_major() -> None:
    layout = read_layout(RUMIK)
    ids = [261_008 + 8 * code + quantizer for quantizer, code in enumerate((5, 0, 2047, 1, 2, 3, 4, 6))]
    assert parse_tokens(ids, layout).codes.tolist() == [[5], [0], [2047], [1], [2], [3], [4], [6]]


@pytest.mark.parametrize(
    ("ids", "frames", "dropped", "ended"),
    [
        pytest.param([*frame(1, 2, 3, 4), END, *frame(5, 6, 7, 0)], [[1, 2, 3, 4]], 0, True, id="1-end-ends"),
        pytest.param([*frame(1, 2)[:2], 72, *frame(5, 6, 7, 0)], [[5, 6, 7, 0]], 3, False, id="2-no-unit"),
        pytest.param([unit(1, 0), unit(2, 2), *frame(5, 6, 7, 0)], [[5, 6, 7, 0]], 2, False, id="3-out-of-order"),
        pytest.param([unit(1, 0), unit(2, 1), *frame(5, 6, 7, 0)], [[5, 6, 7, 0]], 2, False, id="4-zero-begins-anew"),
        pytest.param([*frame(1, 2, 3, 4), unit(7, 0)], [[1, 2, 3, 4]], 1, False, id="5-partial-at-the-end"),
        pytest.param([unit(1, 0), unit(2, 1), END], [], 2, True, id="6-no-frame"),
        pytest.param([], [], 0, False, id="nothing"),
        pytest.param([END], [], 0, True, id="end-alone"),
        pytest.param(frame(0, 0, 0, 0), [[0, 0, 0, 0]], 0, False, id="code-0-is-a-code"),
        pytest.param([unit(1, 1), unit(1, 2), unit(1, 3), *frame(1, 2, 3, 4)], [[1, 2, 3, 4]], 3, False, id="late"),
    ],
)
def test_rules(ids: list[int], frames: list[list[int]], dropped: int, ended: bool) -> None:
    parsed = parse_tokens(ids, LAYOUT)
    assert parsed.codes.T.tolist() == frames
    assert (parsed.frames, parsed.dropped, parsed.ended) == (len(frames), dropped, ended)
    assert walked(ids, LAYOUT) == (frames, dropped, ended)


units = st.builds(unit, st.integers(0, 7), st.integers(0, 3))
whole = st.tuples(*[st.integers(0, 7)] * 4).map(lambda codes: frame(*codes))
streams = st.lists(
    st.one_of(whole, units.map(lambda token: [token]), st.lists(st.one_of(st.integers(30, 80), st.integers())))
).map(lambda parts: [token for part in parts for token in part])


@given(streams)
def test_no_stream_raises_and_every_token_is_counted(ids: list[int]) -> None:
    parsed = parse_tokens(ids, LAYOUT)
    frames, dropped, ended = walked(ids, LAYOUT)
    assert parsed.codes.T.tolist() == frames
    assert (parsed.dropped, parsed.ended) == (dropped, ended)
    assert parsed.codes.shape == (4, len(frames))
    before = ids.index(END) if ended else len(ids)
    assert 4 * parsed.frames + parsed.dropped == before
    assert parsed.codes.dtype == np.int64
    assert ((parsed.codes >= 0) & (parsed.codes < 8)).all()


@given(st.lists(st.integers(-(10**30), 10**30)))
def test_any_number_is_a_token_that_is_dropped(ids: list[int]) -> None:
    assert 4 * parse_tokens(ids, LAYOUT).frames <= len(ids)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model_type": "llama"}, "model_type='llama': wanted rumik_oss or cohere2.*another architecture"),
        ({"model_type": None}, "another architecture"),
        ({"first_unit_id": None}, "no number under first_unit_id"),
        ({"codebook_size": True}, "no number under codebook_size"),
        ({"num_quantizers": "4"}, "no number under num_quantizers"),
        ({"vocab_size": 80.5}, "no number under vocab_size"),
        ({"num_quantizers": 0}, "must be above 0"),
        ({"frame_rate_hz": float("nan")}, "must be above 0"),
        ({"frame_rate_hz": float("inf")}, "must be above 0"),
        ({"last_unit_id": 70}, r"31 ids .* num_quantizers x codebook_size = 32"),
        ({"vocab_size": 74}, "outside the vocabulary of 74"),
        ({"first_unit_id": -1, "last_unit_id": 30}, "outside the vocabulary"),
        ({"audio_end_token_id": 71}, "must differ and be no units"),
        ({"audio_start_token_id": 72}, "must differ and be no units"),
    ],
)
def test_a_config_that_contradicts_itself_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(SpeechSystemError, match=said):
        read_layout({**SMALL, **changes})


def test_a_checkpoint_with_the_published_vocabulary_must_have_its_numbers() -> None:
    shifted = {"first_unit_id": 261_009, "last_unit_id": 277_392, "text_start_token_id": 277_395}
    with pytest.raises(SpeechSystemError, match=r"first_unit_id is 261009, but 261008 in rumik-oss-1"):
        read_layout({**RUMIK, **shifted})
    assert read_layout({**RUMIK, **shifted, "vocab_size": 277_405}).first_unit_id == 261_009
