"""Continuous batching: the same clip in any company, every row back once, and what happens when memory ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import pytest

from kasauti import devices
from kasauti.errors import SpeechSystemError
from kasauti.systems.rumik import board as board_module
from kasauti.systems.rumik.board import Board
from kasauti.systems.rumik.codec import Codec, Decoding
from kasauti.systems.rumik.draws import Draw, uniforms
from kasauti.systems.rumik.files import Files, examine
from kasauti.systems.rumik.model import RumikModel, load
from kasauti.systems.rumik.rollout import Rollout, Row
from processes import held
from rumik_checkpoint import AUDIO, BOS, END, FIRST_UNIT, LAST_UNIT, TEXT, make_checkpoint

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

DRAW = Draw(max_new_tokens=120)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return examine(make_checkpoint(tmp_path_factory.mktemp("rumik")))


@pytest.fixture(scope="module")
def model(files: Files) -> RumikModel:
    return load(files, "cpu", "float32")


def make_rows(count: int = 20, draw: Draw = DRAW, first: int = 0) -> list[Row]:
    """Prompts of 4 to 40 tokens; a row's prompt and numbers depend on its place alone."""
    rows = []
    for place in range(first, first + count):
        middle = [20 + (place * 31 + 7 * at) % 250 for at in range(1 + place * 13 % 37)]
        rows.append(Row([BOS, TEXT, *middle, AUDIO], uniforms(place, 0, draw.max_new_tokens), len(middle)))
    return rows


def roll(model: RumikModel, rows: list[Row], batch: int, draw: Draw = DRAW) -> list[tuple[list[int], str]]:
    back: Counter[Row] = Counter()
    for ended in Rollout(model, draw, batch).run(iter(rows)):
        back.update(ended)
    assert back == Counter(rows)
    return [(row.tokens, row.end) for row in rows]


@pytest.fixture(scope="module")
def alone(model: RumikModel) -> list[tuple[list[int], str]]:
    """Each row by itself."""
    return [roll(model, [row], 1)[0] for row in make_rows()]


def test_the_tiny_model_ends_in_every_way(alone: list[tuple[list[int], str]]) -> None:
    assert {end for _, end in alone} == {"stop_head", "end_token", "token_cap"}
    for tokens, end in alone:
        assert (tokens[-1] == END) == (end == "end_token")
        assert (len(tokens) == 120) == (end == "token_cap")
        assert len(tokens) >= 8
        assert all(FIRST_UNIT <= token <= LAST_UNIT for token in tokens[: len(tokens) - (end == "end_token")])


@pytest.mark.parametrize("batch", [1, 3, 8, 64])
def test_a_row_is_the_same_in_every_batch(model: RumikModel, alone: list[Any], batch: int) -> None:
    assert roll(model, make_rows(), batch) == alone


def test_a_row_is_the_same_in_any_company(model: RumikModel, alone: list[Any]) -> None:
    rows = make_rows()
    company = make_rows(11, first=100)
    mixed = [*company[:5], *reversed(rows), *company[5:]]
    roll(model, mixed, 4)
    assert [(row.tokens, row.end) for row in rows] == alone


def test_another_seed_is_another_clip(model: RumikModel) -> None:
    rows = make_rows(1) + make_rows(1)
    rows[1].chance = uniforms(999, 0, DRAW.max_new_tokens)
    first, second = roll(model, rows, 2)
    assert first != second


def test_greedy_needs_no_chance(model: RumikModel) -> None:
    for draw in (Draw(temperature=0, max_new_tokens=40), Draw(top_k=1, max_new_tokens=40)):
        rows = make_rows(2, draw) + make_rows(2, draw)
        for row in rows[2:]:
            row.chance = 1 - row.chance
        told = roll(model, rows, 4, draw)
        assert told[:2] == told[2:]


def test_a_lower_cap_cuts_the_same_clip(model: RumikModel, alone: list[tuple[list[int], str]]) -> None:
    draw = Draw(max_new_tokens=21)
    told = roll(model, make_rows(draw=draw), 8, draw)
    for (tokens, end), (whole, wholes_end) in zip(told, alone, strict=True):
        assert tokens == whole[:21]
        if len(whole) != 21:
            assert end == ("token_cap" if len(whole) > 21 else wholes_end)


def test_nothing_ends_before_the_least_number_of_tokens(model: RumikModel) -> None:
    draw = Draw(min_new_tokens=100, max_new_tokens=120)
    assert all(len(tokens) >= 100 for tokens, _ in roll(model, make_rows(draw=draw), 8, draw))


def test_rows_are_pulled_a_window_at_a_time(model: RumikModel) -> None:
    """At most two batches wait beside the one that runs; a stream that stops early is finished as far as it came."""
    pulled: list[Row] = []

    def stream() -> Iterator[Row]:
        for row in make_rows(40):
            pulled.append(row)
            yield row

    back = 0
    most = 0
    for ended in Rollout(model, DRAW, 3).run(stream()):
        back += len(ended)
        most = max(most, len(pulled) - back)
    assert back == 40
    assert most <= 3 * 3


def test_rows_keep_their_slots_while_others_join_and_leave(model: RumikModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows join before all of a batch have ended, and close up when nothing waits."""
    joined: list[int] = []
    moved: list[tuple[int, int]] = []
    start, move = Board.start, Board.move
    monkeypatch.setattr(Board, "start", lambda self, starts: (joined.append(len(starts)), start(self, starts))[1])
    monkeypatch.setattr(Board, "move", lambda self, a, b, n: (moved.append((a, b)), move(self, a, b, n))[1])
    roll(model, make_rows(40), 8)
    assert joined[0] == 8
    assert sum(joined) == 40
    assert len(joined) > 5
    assert moved
    assert all(target < source for source, target in moved)


def memory_for(slots: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Makes a step of more than so many rows run out of memory; returns the numbers of rows that were tried."""
    tried: list[int] = []
    step = Board.step

    def bounded(self: Board, rows: int, length: int) -> None:
        tried.append(rows)
        if rows > slots:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
        step(self, rows, length)

    monkeypatch.setattr(Board, "step", bounded)
    return tried


def test_when_memory_ends_the_batch_is_halved_and_nothing_changes(
    model: RumikModel, alone: list[Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tried = memory_for(3, monkeypatch)
    assert roll(model, make_rows(), 16) == alone
    assert tried[:2] == [16, 8]
    assert max(tried[3:]) <= 2
    assert "going on with 8 clips at once" in caplog.text


def test_a_row_that_memory_is_too_small_for_comes_back_with_the_error(
    model: RumikModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory_for(0, monkeypatch)
    rows = make_rows(5)
    roll(model, rows, 4)
    assert all("out of memory" in str(row.error) for row in rows)
    assert all(not row.tokens for row in rows)


def test_memory_that_ends_with_the_cache_halves_too(
    model: RumikModel, alone: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = board_module.SlotCache

    def cache(config: Any, slots: int, length: int, like: Any) -> Any:
        if slots > 5:
            raise MemoryError
        return real(config, slots, length, like)

    monkeypatch.setattr(board_module, "SlotCache", cache)
    assert roll(model, make_rows(), 16) == alone


def test_one_row_that_the_engine_chokes_on_costs_no_other(
    model: RumikModel, alone: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = make_rows()
    start = Board.start
    sizes: list[int] = []

    def choke(self: Board, starts: Any) -> None:
        sizes.append(self.slots)
        if any(list(one.ids) == rows[7].ids for one in starts):
            raise ValueError("bad row")
        start(self, starts)

    monkeypatch.setattr(Board, "start", choke)
    told = roll(model, rows, 8)
    assert str(rows[7].error) == "bad row"
    assert [one for place, one in enumerate(told) if place != 7] == [
        one for place, one in enumerate(alone) if place != 7
    ]
    assert sizes[-1] > 1  # and the batch is a batch again


def test_an_error_for_the_user_ends_the_run(model: RumikModel, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Board, starts: Any) -> None:
        raise SpeechSystemError("no")

    monkeypatch.setattr(Board, "start", refuse)
    with pytest.raises(SpeechSystemError, match="no"):
        roll(model, make_rows(2), 2)


def test_scores_that_are_no_numbers_end_a_row_by_name(files: Files) -> None:
    broken = load(files, "cpu", "float32")
    broken.backbone.norm.weight.data[3] = float("nan")
    assert {end for _, end in roll(broken, make_rows(3), 2)} == {"not_a_number"}


@pytest.mark.parametrize("batch", [1, 3])
def test_a_row_without_numbers_spoils_no_other_that_takes_its_place(
    files: Files, alone: list[tuple[list[int], str]], batch: int
) -> None:
    spoilt = load(files, "cpu", "float32")
    spoilt.backbone.embed_tokens.weight.data[19] = float("nan")  # no other prompt has it
    rows = make_rows(6)
    rows[5].ids[2] = 19
    told = roll(spoilt, rows, batch)
    assert told[5] == ([], "not_a_number")
    assert told[:5] == alone[:5]


def test_a_rollout_serves_stream_after_stream_also_after_one_that_was_given_up(
    model: RumikModel, alone: list[tuple[list[int], str]]
) -> None:
    rollout = Rollout(model, DRAW, 4)
    for first, count in ((0, 3), (3, 7), (10, 10)):  # the second has more rows than the first left slots for
        rows = make_rows(count, first=first)
        assert sum(map(len, rollout.run(iter(rows)))) == count
        assert [(row.tokens, row.end) for row in rows] == alone[first : first + count]
    given_up = rollout.run(iter(make_rows(6)))
    next(given_up)
    rows = make_rows(5)
    assert sum(map(len, rollout.run(iter(rows)))) == 5
    assert [(row.tokens, row.end) for row in rows] == alone[:5]


def test_half_precision_draws_and_ends_too(files: Files) -> None:
    """The same code in the arithmetic of the published weights; its tokens are not promised to be those of float32."""
    half = load(files, "cpu", "bfloat16")
    assert half.dtype == torch.bfloat16
    told = roll(half, make_rows(), 8)
    assert {end for _, end in told} <= {"stop_head", "end_token", "token_cap"}
    assert len({tuple(tokens) for tokens, _ in told}) > 15


class FakeGpu:
    """Stands in for `torch.cuda`: a capture takes note of the step and does not run it, a replay runs it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.said: list[str] = []
        self.capturing: FakeGpu.Graph | None = None
        monkeypatch.setattr(board_module, "_stream", FakeGpu.Stream)
        monkeypatch.setattr("torch.cuda.current_stream", FakeGpu.Stream)
        monkeypatch.setattr("torch.cuda.stream", lambda stream: nullcontext())
        monkeypatch.setattr("torch.cuda.CUDAGraph", lambda: FakeGpu.Graph(self))
        monkeypatch.setattr("torch.cuda.graph", self.capture)

    class Stream:
        def wait_stream(self, other: Any) -> None:
            assert isinstance(other, FakeGpu.Stream)

    class Graph:
        def __init__(self, gpu: FakeGpu) -> None:
            self.gpu = gpu
            self.name = ""

        def pool(self) -> str:
            return "pool"

        def replay(self) -> None:
            self.gpu.said.append(f"replay {self.name}")

    @contextmanager
    def capture(self, graph: FakeGpu.Graph, pool: Any, stream: Any, capture_error_mode: str) -> Iterator[None]:
        assert capture_error_mode == "thread_local"
        assert held(devices.ONE_AT_A_TIME), "the codec's thread may use the GPU"
        assert pool == (None if "captured" not in " ".join(self.said) else "pool")
        self.capturing = graph
        yield
        self.capturing = None

    def step(self, name: str) -> None:
        if self.capturing is None:
            self.said.append(f"plain {name}")
        else:
            self.capturing.name = name
            self.said.append(f"captured {name}")


def test_each_shape_runs_plainly_once_is_captured_once_and_replayed_from_then_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One step each time, whichever way it is taken: a capture alone runs nothing."""
    gpu = FakeGpu(monkeypatch)
    graphs = board_module.Graphs()
    for shape in ((8, 64), (8, 64), (4, 64), (8, 64), (4, 64), (8, 64)):
        graphs.run(shape, lambda shape=shape: gpu.step(str(shape)))
    assert gpu.said == [
        "plain (8, 64)",
        "captured (8, 64)",
        "replay (8, 64)",
        "plain (4, 64)",
        "replay (8, 64)",
        "captured (4, 64)",
        "replay (4, 64)",
        "replay (8, 64)",
    ]


# --- codec


@pytest.fixture(scope="module")
def codec(files: Files) -> Codec:
    return Codec(files, "cpu")


def test_on_a_gpu_the_codec_waits_for_captures_and_reads_no_shapes_from_it(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Codec(files, "cpu")
    plain = made.decode([codes(3)])
    seen: list[bool] = []
    decode = made._model.decode
    monkeypatch.setattr(
        made._model, "decode", lambda *a, **k: (seen.append(held(devices.ONE_AT_A_TIME)), decode(*a, **k))[1]
    )
    monkeypatch.setattr("torch.cuda.stream", lambda stream: nullcontext())
    made._stream = "a stream of its own"
    assert np.array_equal(made.decode([codes(3)])[0], plain[0])
    assert seen == [True]
    shapes = [
        held
        for layer in made._model.modules()
        for name, held in layer.named_buffers(recurse=False)
        if name in ("stride", "kernel_size", "padding_total")
    ]
    assert shapes, "the codec's layers keep no shapes as tensors any more: nothing is left to be kept on the host"
    assert {shape.device.type for shape in shapes} == {"cpu"}


def test_a_batch_that_was_halved_is_whole_again_in_the_next_stream(
    model: RumikModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    rollout, step, failures = Rollout(model, DRAW, 8), Board.step, [RuntimeError("CUDA out of memory")]

    def once(board: Board, rows: int, length: int) -> None:
        if failures:
            raise failures.pop()
        step(board, rows, length)

    monkeypatch.setattr(Board, "step", once)
    slots: list[int] = []
    for _ in range(2):
        assert sum(map(len, rollout.run(iter(make_rows(8))))) == 8
        assert rollout._board is not None
        slots.append(rollout._board.slots)
    assert slots == [4, 8]


def codes(frames: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).integers(0, 64, (8, frames))


def test_a_clip_sounds_the_same_beside_longer_ones(codec: Codec) -> None:
    clips = [codes(frames, seed) for seed, frames in enumerate((3, 11, 1, 7))]
    together = codec.decode(clips)
    for one, clip in zip(together, clips, strict=True):
        assert one.shape == (1920 * clip.shape[1],)
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, codec.decode([clip])[0], rtol=0, atol=1e-5)
    assert np.abs(together[1]).max() > 1e-3


def test_on_a_cpu_every_clip_is_decoded_alone(codec: Codec, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that its samples are the same, bit for bit, in any company."""
    sizes: list[int] = []
    decode = codec.decode
    monkeypatch.setattr(codec, "decode", lambda clips: (sizes.append(len(clips)), decode(clips))[1])
    clips = {frames: codes(frames) for frames in (1, 2, 9)}
    with Decoding[int](codec) as decoding:
        for key, clip in clips.items():
            decoding.put(key, clip)
        for one in decoding.rest():
            assert one.samples is not None
            assert np.array_equal(one.samples, decode([clips[one.key]])[0])
    assert sizes == [1, 1, 1]


def test_decoding_gives_every_clip_back_under_its_key(codec: Codec, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches hold at most so many frames with padding; a clip that is longer goes alone."""
    monkeypatch.setattr("kasauti.systems.rumik.codec._MOST_FRAMES", {"cpu": 20})
    sizes: list[tuple[int, int]] = []
    decode = codec.decode
    monkeypatch.setattr(
        codec, "decode", lambda clips: (sizes.append((len(clips), max(c.shape[1] for c in clips))), decode(clips))[1]
    )
    with Decoding[int](codec) as decoding:
        for key, frames in enumerate((9, 2, 30, 10, 1)):
            decoding.put(key, codes(frames, key))
        done = {one.key: one for one in [*decoding.ready(), *decoding.rest()]}
    assert {key: one.samples.size // 1920 for key, one in done.items() if one.samples is not None} == {
        0: 9, 1: 2, 2: 30, 3: 10, 4: 1,
    }  # fmt: skip
    assert sizes == [(1, 30), (2, 10), (2, 2)]


@pytest.mark.parametrize("error", [RuntimeError("CUDA out of memory"), ValueError("odd")])
def test_a_clip_that_can_not_be_decoded_costs_no_other(
    codec: Codec, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr("kasauti.systems.rumik.codec._MOST_FRAMES", {"cpu": 100})
    decode = codec.decode

    def choke(clips: Any) -> Any:
        if len(clips) > 1 or clips[0].shape[1] == 5:
            raise error
        return decode(clips)

    monkeypatch.setattr(codec, "decode", choke)
    with Decoding[int](codec) as decoding:
        for frames in (4, 5, 6):
            decoding.put(frames, codes(frames))
        done = {one.key: one for one in [*decoding.ready(), *decoding.rest()]}
    assert {key: one.samples is None for key, one in done.items()} == {4: False, 5: True, 6: False}
    assert done[5].error is error


def test_a_codec_of_another_frame_rate_is_refused(files: Files) -> None:
    from dataclasses import replace

    other = replace(files, layout=replace(files.layout, frame_rate_hz=25.0))
    with pytest.raises(SpeechSystemError, match="a frame has 1920 samples, and frame_rate_hz=25 at 24000 Hz"):
        Codec(other, "cpu")
