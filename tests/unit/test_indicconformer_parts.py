"""IndicConformer without its graphs: decoding, cutting, tables. Slow references are written here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from indicconformer_checkpoint import LANGUAGES as MADE
from indicconformer_checkpoint import SCRIPTS, write_vocabulary
from kasauti.checkpoints import CheckpointError
from kasauti.judges.indicconformer_chunks import pieces
from kasauti.judges.indicconformer_decoding import ctc, transduce
from kasauti.judges.indicconformer_features import MIN_SAMPLES, log_mel, mel_filters
from kasauti.judges.indicconformer_files import (
    LANGUAGES,
    Vocabulary,
    languages_of,
    missing_weights,
    other_script,
    read_config,
    read_vocabularies,
    required_files,
    scripts_of,
)
from model_bytes import onnx_graph

Floats = NDArray[np.float32]

BLANK = 4
RATE = 1000


# --- CTC


def slow_ctc(scores: Floats, length: int, rows: list[int]) -> list[int]:
    """Frame by frame: the best of the language's rows; written where it is new and no blank."""
    written, before = [], None
    for frame in range(length):
        best = max(range(len(rows)), key=lambda number: (scores[frame, rows[number]], -number))
        if best != before and best != len(rows) - 1:
            written.append(best)
        before = best
    return written


@given(st.data())
def test_ctc_writes_what_a_walk_over_the_frames_writes(data: st.DataObject) -> None:
    draw = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    n_rows, n_frames, n_all = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 12)), 11
    rows = [*sorted(draw.choice(n_all - 1, BLANK, replace=False).tolist()), n_all - 1]
    scores = draw.standard_normal((n_rows, n_frames, n_all)).round(1).astype(np.float32)
    lengths = draw.integers(0, n_frames + 1, n_rows).tolist()
    found = ctc(scores, lengths, Vocabulary(("",) * BLANK, np.array(rows)))
    assert [one.pieces for one in found] == [
        slow_ctc(row, length, rows) for row, length in zip(scores, lengths, strict=True)
    ]
    assert [one.choices for one in found] == lengths


def test_ctc_repeats_only_across_a_blank_and_reads_no_padding() -> None:
    vocabulary = Vocabulary(("▁क", "ख", "ग"), np.array([0, 1, 2, 5]))  # rows 3 and 4 are another language's
    path = [0, 0, 3, 0, 1, 3, 2, 2]
    scores = np.full((1, len(path), 6), -9.0, np.float32)
    scores[0, :, 3] = 5.0
    scores[0, np.arange(len(path)), vocabulary.rows[path]] = 0.0
    [whole], [cut] = (ctc(scores, [length], vocabulary) for length in (8, 6))
    assert (whole.pieces, cut.pieces) == ([0, 0, 1, 2], [0, 0, 1])
    assert vocabulary.text(whole.pieces) == "क कखग"
    # Every frame's choice has probability 1 / (1 + 3 e^-9) among the language's four rows.
    assert whole.log_probability == pytest.approx(-8 * np.log1p(3 * np.exp(-9.0)), rel=1e-3)


# --- transducer


class Networks:
    """Networks small enough to read: the state is the sum of what was written, the scores a table's row."""

    def __init__(self, table: Floats) -> None:
        self.table = table
        self.calls = 0

    def start(self, rows: int) -> tuple[Floats, Floats]:
        return np.zeros((1, rows, 1), np.float32), np.zeros((1, rows, 1), np.float32)

    def predict(self, given: NDArray[np.int32], state: tuple[Floats, Floats]) -> tuple[Floats, tuple[Floats, Floats]]:
        self.calls += 1
        hidden, cell = state[0] + given[None, :, None], state[1] + 1
        return np.asarray(3 * hidden[0] + cell[0], np.float32), (hidden, cell)

    def join(self, encoded: Floats, predicted: Floats) -> Floats:
        return self.table[(encoded + predicted)[:, 0].astype(int) % len(self.table)]


def slow_transducer(frames: Floats, networks: Networks, start: int, most: int) -> tuple[list[int], list[float]]:
    """One row, one frame, one piece after the other; the prediction is asked for anew each time."""
    written, state, said = [start], networks.start(1), []
    for frame in frames:
        for _ in range(most):
            predicted, after = networks.predict(np.array(written[-1:], np.int32), state)
            scores = networks.join(frame[None], predicted)[0].astype(np.float64)
            best = int(scores.argmax())
            said.append(scores[best] - np.log(np.exp(scores).sum()))
            if best == BLANK:
                break
            written.append(best)
            state = after
    return written[1:], said


@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(0, 9), st.integers(1, 4))
def test_rows_of_a_transducer_step_together_and_write_what_each_writes_alone(
    seed: int, n_rows: int, n_frames: int, most: int
) -> None:
    draw = np.random.default_rng(seed)
    table = draw.standard_normal((13, BLANK + 1)).astype(np.float32)
    table[:, BLANK] += 1.0
    encoded = draw.integers(0, 13, (n_rows, n_frames, 1)).astype(np.float32)
    lengths = draw.integers(0, n_frames + 1, n_rows).tolist()
    found = transduce(encoded, lengths, Networks(table), blank=BLANK, start=7, max_symbols=most)
    for one, row, length in zip(found, encoded, lengths, strict=True):
        written, said = slow_transducer(row[:length], Networks(table), 7, most)
        assert one.pieces == written
        assert one.choices == len(said)
        assert one.log_probability == pytest.approx(sum(said), abs=1e-4)


def test_a_frame_that_never_says_blank_ends_at_the_limit() -> None:
    table = np.zeros((1, BLANK + 1), np.float32)
    table[0, 2] = 1.0
    networks = Networks(table)
    [found] = transduce(np.zeros((1, 3, 1), np.float32), [3], networks, blank=BLANK, start=0, max_symbols=10)
    assert found.pieces == [2] * 30
    assert networks.calls == 31  # once at the start, once for each piece


# --- cutting


@given(st.integers(0, 2**32), st.integers(0, 20_000), st.sampled_from([3.0, 3.5, 5.0, 15.0]))
@example(0, 3001, 3.0)  # a single sample lies where a cut may be
def test_pieces_are_the_clip_and_none_is_too_long_or_too_short(seed: int, n_samples: int, chunk_s: float) -> None:
    samples = np.random.default_rng(seed).standard_normal(n_samples).astype(np.float32)
    found = pieces(samples, RATE, chunk_s)
    assert np.array_equal(np.concatenate(found), samples)
    assert all(piece.size <= chunk_s * RATE for piece in found)
    if len(found) > 1:
        assert all(piece.size >= chunk_s * RATE * 2 / 3 for piece in found[:-1])
        assert found[-1].size >= RATE


@pytest.mark.parametrize(
    ("quiet", "cut_s"),
    [
        ([(12.0, 12.2)], 12.19),  # the last of the frames of silence, in its middle
        ([(11.0, 11.02), (13.0, 13.02)], 13.01),
        ([(5.0, 6.0)], None),  # before the place where a cut may be
        ([(14.98, 15.0)], 14.99),
    ],
)
def test_a_long_clip_is_cut_in_its_silence(quiet: list[tuple[float, float]], cut_s: float | None) -> None:
    samples = np.random.default_rng(3).uniform(0.5, 1.0, 20 * RATE).astype(np.float32)
    for start, end in quiet:
        samples[int(start * RATE) : round(end * RATE)] = 0.0
    first, rest = pieces(samples, RATE, 15.0)
    assert 10.0 <= first.size / RATE <= 15.0
    assert first.size + rest.size == samples.size
    assert cut_s is None or first.size / RATE == pytest.approx(cut_s)


def test_without_a_limit_and_at_it_a_clip_is_whole() -> None:
    samples = np.ones(15 * RATE, np.float32)
    assert [len(pieces(samples, RATE, limit)) for limit in (None, 15.0, 14.999)] == [1, 1, 2]


# --- features


def test_mel_filters_are_triangles_of_area_2_over_their_width() -> None:
    filters = mel_filters()
    assert filters.shape == (80, 257)
    centres = filters.argmax(axis=1) * 31.25
    assert (np.diff(centres) >= 0).all()
    # Slaney: 1 kHz is mel 15, 6.4 kHz is mel 42, 8 kHz is mel 45.2456; bands are evenly spaced on it.
    assert centres[-1] == pytest.approx(1000 * 6.4 ** ((45.2456 * 80 / 81 - 15) / 27), abs=31.25)
    assert filters[-1].sum() * 31.25 == pytest.approx(1.0, rel=0.02)  # a triangle of width w and height 2 / w


@pytest.mark.parametrize("n_samples", [MIN_SAMPLES, 320, 400, 16_000, 16_159, 16_160])
def test_features_have_a_frame_every_10_ms_and_each_band_mean_0_and_deviation_1(n_samples: int) -> None:
    samples = np.random.default_rng(0).normal(0, 0.1, n_samples).astype(np.float32)
    found = log_mel(samples)
    assert found.shape == (80, n_samples // 160 + 1)
    assert found.dtype == np.float32
    assert np.allclose(found.mean(axis=1), 0, atol=1e-5)
    # 1e-5 is added to the deviation, which in two frames may be as small as 0.001.
    assert np.allclose(found.std(axis=1, ddof=1), 1, atol=1e-2)


def test_silence_has_features_of_zeros_and_no_warning() -> None:
    assert np.allclose(log_mel(np.zeros(8000, np.float32)), np.zeros((80, 51)), atol=1e-6)


# --- tables


@pytest.fixture
def assets(tmp_path: Path) -> Path:
    (tmp_path / "assets").mkdir()
    write_vocabulary(tmp_path / "assets", SCRIPTS)
    return tmp_path / "assets"


def test_languages_are_those_of_the_published_table() -> None:
    assert LANGUAGES == MADE
    assert len(LANGUAGES) == 22
    assert "en" not in LANGUAGES


def test_vocabularies_have_their_own_rows_and_share_the_blank(assets: Path) -> None:
    found = read_vocabularies(assets.parent)
    assert list(found) == list(MADE)
    assert {vocabulary.blank for vocabulary in found.values()} == {256}
    assert {int(vocabulary.rows[-1]) for vocabulary in found.values()} == {5632}
    own = [row for vocabulary in found.values() for row in vocabulary.rows[:-1]]
    assert sorted(own) == list(range(5632))


def changed(path: Path, change: Any) -> None:
    value = json.loads(path.read_text(encoding="utf-8"))
    change(value)
    path.write_text(json.dumps(value), encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("vocab.json", lambda table: table.pop("hi"), r"different languages \(hi\)"),
        ("language_masks.json", lambda table: table.pop("ta"), r"different languages \(ta\)"),
        ("vocab.json", lambda table: table["hi"].__delitem__(slice(255, None)), "hi has 255 pieces .* for 256 rows"),
        ("vocab.json", lambda table: table.update(hi={"0": "a"}), "hi: wanted a list of pieces"),
        ("vocab.json", lambda table: table["hi"].__setitem__(3, 7), "hi: wanted a list of pieces"),
        ("vocab.json", lambda table: table.clear(), "wanted a table by language"),
        ("language_masks.json", lambda table: table["hi"].__setitem__(-1, False), "true for the last"),
        ("language_masks.json", lambda table: table.update(hi=[0, 1]), "wanted true or false for every row"),
        ("language_masks.json", lambda table: table.update(hi=[]), "wanted true or false for every row"),
    ],
)
def test_tables_that_do_not_fit_are_refused(assets: Path, name: str, change: Any, message: str) -> None:
    changed(assets / name, change)
    with pytest.raises(CheckpointError, match=message):
        read_vocabularies(assets.parent)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff\xfe"])
def test_a_table_that_is_none_is_refused(assets: Path, content: bytes) -> None:
    (assets / "vocab.json").write_bytes(content)
    with pytest.raises(CheckpointError, match=r"vocab\.json"):
        read_vocabularies(assets.parent)


def test_whole_numbers_of_the_config_are_read_and_nothing_else(tmp_path: Path) -> None:
    assert read_config(tmp_path) == {}
    (tmp_path / "config.json").write_text('{"BLANK_ID": 256, "auto_map": {"a": "b"}, "x": true, "y": 0.5}')
    assert read_config(tmp_path) == {"BLANK_ID": 256}


@pytest.mark.parametrize(
    ("decoder", "features", "backend", "wanted", "unwanted"),
    [
        ("ctc", "torchscript", "onnx", "assets/preprocessor.ts assets/ctc_decoder.onnx", "assets/rnnt_decoder.onnx"),
        ("ctc", "numpy", "onnx", "assets/ctc_decoder.onnx", "assets/preprocessor.ts"),
        ("rnnt", "numpy", "onnx", "assets/joint_enc.onnx assets/joint_post_net_ur.onnx", "assets/ctc_decoder.onnx"),
        ("ctc", "numpy", "remote_code", "config.json assets/preprocessor.ts assets/joint_pred.onnx", "model_onnx.py"),
    ],
)
def test_files_that_must_be_there(decoder: str, features: str, backend: str, wanted: str, unwanted: str) -> None:
    found = required_files(decoder, features, backend)
    assert {"assets/encoder.onnx", "assets/vocab.json", "assets/language_masks.json", *wanted.split()} <= set(found)
    assert unwanted not in found
    assert len(found) == len(set(found))


def test_scripts_are_those_of_the_vocabulary_and_open_second_codes(assets: Path) -> None:
    write_vocabulary(assets, {**SCRIPTS, "mni": "Mtei", "sd": "Deva"})
    scripts = scripts_of(read_vocabularies(assets.parent))
    assert (scripts["hi"], scripts["mni"], scripts["sd"], scripts["ks"]) == ("Deva", "Mtei", "Deva", "Arab")
    assert languages_of(scripts) == {*LANGUAGES, "mni-Mtei", "sd-Deva"}
    codes = ("mni", "mni-Mtei", "sd", "sd-Deva", "ks", "hi")
    assert [other_script(code, scripts) for code in codes] == ["Mtei", None, "Deva", None, None, None]


def test_before_the_vocabulary_is_known_only_plain_codes_are_taken() -> None:
    unknown = dict.fromkeys(LANGUAGES)
    assert languages_of(unknown) == set(LANGUAGES)
    assert other_script("sd", unknown) is None


def test_weights_outside_a_graph_are_looked_for(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "encoder.onnx").write_bytes(onnx_graph(location="weights.bin", offset="4", length="6"))
    (tmp_path / "assets" / "vocab.json").write_bytes(onnx_graph(location="other.bin"))
    required = ["assets/encoder.onnx", "assets/vocab.json"]
    assert missing_weights(tmp_path, required) == ["assets/weights.bin"]
    (tmp_path / "assets" / "weights.bin").write_bytes(b"w" * 9)
    assert missing_weights(tmp_path, required) == ["assets/weights.bin"]
    (tmp_path / "assets" / "weights.bin").write_bytes(b"w" * 10)
    assert missing_weights(tmp_path, required) == []
