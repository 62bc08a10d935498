"""The words of a text placed in a clip: the best path of a CTC model through the text's letters, word by word.

Letters that the model's vocabulary lacks are left out of the path; a word of which none is left has no place. Words are
joined by the model's word delimiter where it has one.
"""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from kasauti.metrics.timing import TimedWord

DELIMITER = "|"


class NotAligned(Exception):  # noqa: N818 - one clip's outcome, not an error for the user
    """The text can't be placed: `reason` says why in a word."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


def rows_of(word: str, vocabulary: Mapping[str, int]) -> list[int]:
    """The model's rows for the letters of a word; a letter that it knows only in parts counts as its parts."""
    rows = []
    for letter in word:
        known = letter if letter in vocabulary else unicodedata.normalize("NFD", letter)
        rows += [vocabulary[part] for part in known if part in vocabulary]
    return rows


def place_words(
    log_probs: Any, words: Sequence[str], vocabulary: Mapping[str, int], blank: int, frame_s: float
) -> list[TimedWord]:
    """Places words in a clip.

    Args:
        log_probs: Log-probabilities of the model, a float32 tensor [frames, rows] on the CPU.
        words: The words of the text, in order.
        vocabulary: Letter -> row.
        blank: Row of the blank.
        frame_s: Seconds a frame.

    Raises:
        NotAligned: no letter of the text is in the vocabulary, or the clip has fewer frames than the text needs.
    """
    import torch

    spelled = [rows_of(word, vocabulary) for word in words]
    path = _joined([rows for rows in spelled if rows], vocabulary)
    if not path:
        raise NotAligned("no letter of the text is in the model's vocabulary", "no_letters")
    needed = len(path) + sum(first == second for first, second in pairwise(path))
    if log_probs.shape[0] < needed:
        raise NotAligned(
            f"{log_probs.shape[0]} frames can't hold the {needed} that the text needs", "too_short_for_text"
        )
    spans = _spans(log_probs, torch.tensor([path], dtype=torch.int32), blank)
    return _by_word(words, spelled, spans, vocabulary, frame_s)


def _spans(log_probs: Any, targets: Any, blank: int) -> Sequence[Any]:
    import torchaudio.functional as functional

    with warnings.catch_warnings():
        # The line of torchaudio that is asked for announces at every call that later ones lack these two.
        warnings.filterwarnings(
            "ignore", message=r"torchaudio\.functional\..* has been deprecated", category=UserWarning
        )
        tokens, scores = functional.forced_align(log_probs[None].contiguous(), targets, blank=blank)
        return functional.merge_tokens(tokens[0], scores[0].exp(), blank=blank)  # type: ignore[no-any-return]


def _joined(spelled: Sequence[Sequence[int]], vocabulary: Mapping[str, int]) -> list[int]:
    between = [vocabulary[DELIMITER]] if DELIMITER in vocabulary else []
    path: list[int] = []
    for rows in spelled:
        path += [*(between if path else []), *rows]
    return path


def _by_word(
    words: Sequence[str],
    spelled: Sequence[Sequence[int]],
    spans: Sequence[Any],
    vocabulary: Mapping[str, int],
    frame_s: float,
) -> list[TimedWord]:
    """Deals the spans of letters out to the words that they came from."""
    placed, used = [], 0
    for word, rows in zip(words, spelled, strict=True):
        if not rows:
            placed.append(TimedWord(word))
            continue
        if used and DELIMITER in vocabulary:
            used += 1
        mine = spans[used : used + len(rows)]
        used += len(rows)
        frames = sum(len(span) for span in mine)
        score = sum(span.score * len(span) for span in mine) / frames
        placed.append(
            TimedWord(word, round(mine[0].start * frame_s, 3), round(mine[-1].end * frame_s, 3), round(score, 4))
        )
    return placed
