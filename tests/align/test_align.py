"""Word times: the aligner's path against a slow reference, words put together from letters, and a run with its page."""

from __future__ import annotations

import csv
import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import mms_checkpoint
from audio_files import tone
from kasauti import audio
from kasauti.judges.align import Align, AlignOptions
from kasauti.judges.align_words import NotAligned, place_words, rows_of
from kasauti.judges.base import Heard, JudgeTask
from kasauti.metrics.timing import TimedWord
from kasauti.paths import ROOT
from kasauti.records import Status

VOCABULARY = {"<pad>": 0, "<s>": 1, "</s>": 2, "<unk>": 3, "|": 4, "a": 5, "b": 6, "c": 7}


def log_probs(frames: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(frames, len(VOCABULARY), generator=generator).mul(2).log_softmax(-1)


def peaked(rows: list[int]) -> torch.Tensor:
    """Frames that are nearly sure of one row each."""
    return torch.nn.functional.one_hot(torch.tensor(rows), len(VOCABULARY)).mul(20.0).log_softmax(-1)


def best_path(scores: np.ndarray, letters: list[int]) -> tuple[float, list[int]]:
    """The best of all CTC paths that collapse to `letters`, by trying every way to divide the frames."""
    best, found = -np.inf, []
    for path in itertools.product(sorted({0, *letters}), repeat=len(scores)):
        if [row for row, _ in itertools.groupby(path) if row] == letters:
            total = float(scores[np.arange(len(scores)), path].sum())
            if total > best:
                best, found = total, list(path)
    return best, found


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from([5, 6]), min_size=1, max_size=3), st.integers(0, 2), st.integers(0, 99))
def test_words_lie_on_the_best_of_all_paths(letters: list[int], more: int, seed: int) -> None:
    names = {5: "a", 6: "b"}
    frames = len(letters) + sum(a == b for a, b in itertools.pairwise(letters)) + more
    table = log_probs(frames, seed)
    without_bar = {name: row for name, row in VOCABULARY.items() if name != "|"}
    placed = place_words(table, [names[row] for row in letters], without_bar, 0, 1.0)
    total, path = best_path(table.numpy(), letters)
    mine = [0] * frames
    for word in placed:
        assert word.start_s is not None
        assert word.end_s is not None
        mine[int(word.start_s) : int(word.end_s)] = [VOCABULARY[word.word]] * int(word.end_s - word.start_s)
    assert [row for row, _ in itertools.groupby(mine) if row] == letters
    assert sum(float(table[i, row]) for i, row in enumerate(mine)) == pytest.approx(total, abs=1e-4), path


def test_letters_become_words() -> None:
    table = peaked([0, 5, 5, 6, 0, 4, 4, 7, 7, 7, 0])  # ab, bar, c
    placed = place_words(table, ["ab", "c"], VOCABULARY, 0, 0.02)
    assert [(word.word, word.start_s, word.end_s) for word in placed] == [("ab", 0.02, 0.08), ("c", 0.14, 0.2)]
    assert all(word.score is not None and word.score > 0.99 for word in placed)


def test_what_the_model_has_no_letters_for_has_no_place() -> None:
    placed = place_words(peaked([5, 4, 6]), ["a", "42", "b"], VOCABULARY, 0, 1.0)
    assert placed[1] == TimedWord("42")
    assert [(word.start_s, word.end_s) for word in placed if word.start_s is not None] == [(0.0, 1.0), (2.0, 3.0)]


def test_a_letter_known_in_parts_counts_as_its_parts() -> None:
    assert rows_of("क़", {"क": 1, "़": 2}) == rows_of("\u0958", {"क": 1, "़": 2}) == [1, 2]


@pytest.mark.parametrize(
    ("frames", "words", "reason"),
    [
        (1, ["ab"], "too_short_for_text"),
        (2, ["aa"], "too_short_for_text"),
        (9, ["42"], "no_letters"),
        (9, [], "no_letters"),
    ],
)
def test_what_cannot_be_placed_says_why(frames: int, words: list[str], reason: str) -> None:
    with pytest.raises(NotAligned) as failure:
        place_words(log_probs(frames), words, VOCABULARY, 0, 1.0)
    assert failure.value.reason == reason


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return mms_checkpoint.write_mms(tmp_path_factory.mktemp("mms"))


@pytest.fixture(scope="module")
def judge(folder: Path) -> Align:
    return Align(AlignOptions(model=str(folder), codes={"hi": "hin", "ta": "tam"}, device="cpu"))


def task(path: Path, text: str, lang: str = "hi", name: str = "t") -> JudgeTask:
    return JudgeTask(name, lang, 0, (Heard(path, "0" * 64, 1.0),), told={"text": text})


def clip(path: Path, seconds: float) -> Path:
    audio.write_wav(path, tone(seconds, 0.4, 16_000, hz=220) + 0.05 * tone(seconds, 1.0, 16_000, hz=1900), 16_000)
    return path


def test_times_stay_inside_the_clip_and_do_not_depend_on_the_batch(judge: Align, tmp_path: Path) -> None:
    assert judge.check([]) == []
    tasks = [
        task(clip(tmp_path / "a.wav", 2.0), "कमल जनता नदी, 12", name="a"),
        task(clip(tmp_path / "b.wav", 3.1), "अगर मय जपन", name="b"),
        task(clip(tmp_path / "c.wav", 0.05), "अगर मय जपन", name="c"),
        task(clip(tmp_path / "d.wav", 2.0), "कமல", lang="ta", name="d"),
    ]
    together = {answer.judgment_id: answer for answer in judge.judge(tasks)}
    for one in tasks:
        (alone,) = judge.judge([one])
        kept = together[one.judgment_id]
        assert (alone.outcome.status, alone.scores) == (kept.outcome.status, kept.scores)
        assert alone.outcome.facts == kept.outcome.facts
    assert (together["c"].outcome.status, together["c"].outcome.reason) == (Status.JUDGE_INVALID, "too_short_for_text")
    words = [TimedWord(*word) for word in together["a"].outcome.facts["words"]]
    assert [word.word for word in words][:3] == ["कमल", "जनता", "नदी"]
    placed = [(word.start_s, word.end_s) for word in words if word.start_s is not None and word.end_s is not None]
    assert placed == sorted(placed)
    assert all(0 <= start < end <= 2.0 for start, end in placed)
    assert 0 < together["a"].scores[""]["align_fit"] <= 1


def test_a_run_places_words_in_its_tables_and_on_its_page(folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "run.py"), "system=espeak", "judge=align", f"judge.model={folder}"]
    places = [f"paths.runs={tmp_path / 'runs'}", f"paths.store={tmp_path / 'store'}"]
    choice = ["promptset.limit=1", "promptset.langs=[hi,te]"]
    done = subprocess.run([*command, *choice, *places], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = (tmp_path / "runs").iterdir()
    with (run / "words.tsv").open(encoding="utf-8") as file:
        words = list(csv.DictReader(file, delimiter="\t"))
    assert words
    assert {odd for word in words for odd in word["odd"].split()} <= {"pause", "long", "unsure", "missing"}
    assert words[0]["word"] in (run / "report.html").read_text(encoding="utf-8")
    with (run / "per_sample.tsv").open(encoding="utf-8") as file:
        status = {row["lang"]: row["status"] for row in csv.DictReader(file, delimiter="\t")}
    assert status == {"hi": "ok", "te": "unsupported_language"}
