"""A pytest plugin that puts this project's alignment and rates under jiwer's own API, for jiwer's own tests.

Loaded with `-p jiwer_shim` by `test_jiwer_suite.py`, in a process of its own. Not a test.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import groupby
from types import SimpleNamespace
from typing import Any

import jiwer
import jiwer.measures
import jiwer.process

from kasauti.metrics.edits import align

TAGS = {"hit": "equal", "substitution": "replace", "deletion": "delete", "insertion": "insert"}

_process_words = jiwer.process.process_words


def opcodes(reference: Sequence[Hashable], hypothesis: Sequence[Hashable]) -> Iterator[tuple[str, int, int, int, int]]:
    """The alignment of `kasauti.metrics.edits` as jiwer wants it."""
    said = heard = 0
    for kind, pairs in groupby(align(reference, hypothesis), key=lambda pair: pair.kind):
        places = list(pairs)
        n_said = sum(pair.reference is not None for pair in places)
        n_heard = sum(pair.hypothesis is not None for pair in places)
        yield TAGS[kind], said, said + n_said, heard, heard + n_heard
        said, heard = said + n_said, heard + n_heard


def process_words(*args: Any, **kwargs: Any) -> jiwer.WordOutput:
    """jiwer's result with the rate that `kasauti.metrics.score` defines."""
    out = _process_words(*args, **kwargs)
    out.wer = (out.substitutions + out.deletions + out.insertions) / max(1, sum(map(len, out.references)))
    return out


jiwer.process.rapidfuzz = SimpleNamespace(distance=SimpleNamespace(Levenshtein=SimpleNamespace(opcodes=opcodes)))
for module in (jiwer, jiwer.process, jiwer.measures):
    module.process_words = process_words
