"""Continuous batching: rows join when others have ended, and none waits for the slowest of its batch.

Waiting rows are taken longest first, so that those beside each other are of like length and the short ones fill the
end. The host looks at the device once a frame; what it finds ended leaves its slot. When memory ends, the batch is
halved and its rows begin again: a row's tokens come from its own numbers, so they are the same.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from kasauti import devices
from kasauti.errors import KasautiError
from kasauti.systems.rumik.board import BROKEN, CAP, END_TOKEN, RUNNING, STOP_HEAD, Board, Start
from kasauti.systems.rumik.draws import Draw
from kasauti.systems.rumik.model import RumikModel

log = logging.getLogger(__name__)

ENDS = {STOP_HEAD: "stop_head", END_TOKEN: "end_token", CAP: "token_cap", BROKEN: "not_a_number"}

_WINDOW_BATCHES = 2
"""Rows read ahead: enough to sort, few enough that a stop finishes soon."""

_STRIDE = {"cuda": 256, "cpu": 64}
"""Keys are looked at in multiples of this: few shapes for captured graphs, little waste where there are none."""


_JOIN_SHARE = 4
"""Rows join when one in so many slots is free."""


@dataclass(eq=False)
class Row:
    """One text on its way.

    Attributes:
        ids: The prompt.
        chance: Numbers in [0, 1), one for each token that may be drawn.
        expected: Its length, in whatever unit rows are sorted by.
        tokens: What was drawn. `end`: why it ended, a word of `ENDS`.
        wall_s: Its share of the time of the steps that it took part in.
        error: Why it could not be rolled out.
    """

    ids: list[int]
    chance: NDArray[np.float32]
    expected: float
    tokens: list[int] = field(default_factory=list)
    end: str = ""
    wall_s: float = 0.0
    error: Exception | None = None


@dataclass(eq=False)
class _Seat:
    """A row in a slot, and how many tokens it may have by now."""

    row: Row
    length: int


class Rollout:
    """Rolls rows out with one way of drawing.

    Args:
        model: The model.
        draw: How tokens are drawn.
        batch: At most so many rows at once.
    """

    def __init__(self, model: RumikModel, draw: Draw, batch: int) -> None:
        self._model = model
        self._draw = draw
        self._batch = self._limit = batch
        self._look = model.layout.num_quantizers
        self._stride = _STRIDE[model.device]
        self._waiting: list[Row] = []
        self._seats: dict[int, _Seat] = {}
        self._board: Board | None = None
        self._drained = False

    def run(self, rows: Iterator[Row]) -> Iterator[list[Row]]:
        """Rolls out a stream of rows, pulled a window at a time.

        Yields:
            After every look at the device the rows that have ended, perhaps none, so that the caller can see to
            others meanwhile. Every row comes back once.
        """
        if self._seats:  # the stream before was given up in the middle
            self._seats, self._board = {}, None
        self._waiting, self._drained, self._limit = [], False, self._batch
        while True:
            self._pull(rows)
            if not self._waiting and not self._seats:
                return
            try:
                ended = self._stretch()
            except KasautiError:
                raise
            except Exception as error:  # memory, or whatever the device throws; other rows go on
                ended = self._stopped_by(error)
            yield ended

    def _pull(self, rows: Iterator[Row]) -> None:
        """Reads ahead when less than a batch is waiting."""
        if not self._drained and len(self._waiting) < self._batch:
            wanted = _WINDOW_BATCHES * self._batch - len(self._waiting)
            pulled = list(islice(rows, wanted))
            self._drained = len(pulled) < wanted
            self._wait(pulled)

    def _wait(self, rows: list[Row]) -> None:
        self._waiting = sorted([*self._waiting, *rows], key=lambda row: row.expected)

    def _stretch(self) -> list[Row]:
        """Lets rows join, takes the steps of one frame, and gives back what has ended."""
        import torch

        started = time.perf_counter()
        with torch.inference_mode():
            board = self._admit()
            if not self._waiting:
                self._close_up(board)
            rows, keys = self._shape(board)
            for _ in range(self._look):
                board.step(rows, keys)
            for seat in self._seats.values():
                seat.length += self._look
            standing = board.standing()
            ended = []
            for slot, seat in list(self._seats.items()):
                stands, made = standing[slot]
                if stands != RUNNING:
                    seat.row.end, seat.row.tokens = ENDS[stands], board.tokens(slot, made)
                    if stands == BROKEN:
                        board.clear(slot)
                    ended.append(self._seats.pop(slot).row)
        share = (time.perf_counter() - started) / (len(ended) + len(self._seats))
        for row in (*ended, *(seat.row for seat in self._seats.values())):
            row.wall_s += share
        return ended

    def _admit(self) -> Board:
        """Fills free slots, several at once: reading a prompt costs as much as many steps."""
        slots = min(self._limit, len(self._waiting))
        if self._board is None or (
            not self._seats and (self._needed(self._waiting) > self._board.length or slots > self._board.slots)
        ):
            self._board = None
            self._board = Board(self._model, self._draw, slots, self._needed(self._waiting))
        board = self._board
        free = [slot for slot in range(board.slots) if slot not in self._seats]
        if self._seats and len(free) < max(1, board.slots // _JOIN_SHARE):
            return board
        starts = []
        while free and self._waiting and self._needed(self._waiting[-1:]) <= board.length:
            row = self._waiting.pop()
            slot = free.pop(0)
            self._seats[slot] = _Seat(row, len(row.ids))
            starts.append(Start(slot, row.ids, row.chance))
        if starts:
            board.start(starts)
        return board

    def _needed(self, rows: list[Row]) -> int:
        """Tokens that the longest of some rows may have, in whole strides."""
        return self._strides(max(len(row.ids) for row in rows) + self._draw.max_new_tokens)

    def _strides(self, tokens: int) -> int:
        return -(-tokens // self._stride) * self._stride

    def _close_up(self, board: Board) -> None:
        """Moves rows to the first slots when nothing waits any more, so that a step has fewer."""
        for slot in sorted(self._seats, reverse=True):
            target = next(free for free in range(slot + 1) if free not in self._seats or free == slot)
            if target == slot:
                return
            seat = self._seats[target] = self._seats.pop(slot)
            board.move(slot, target, min(seat.length, board.length))

    def _shape(self, board: Board) -> tuple[int, int]:
        """How many slots the next steps have, and how many keys they look at."""
        rows = max(self._seats) + 1
        if self._model.device == "cuda":
            rows = min(1 << (rows - 1).bit_length(), board.slots)
        keys = max(seat.length for seat in self._seats.values()) + self._look
        return rows, min(self._strides(keys), board.length)

    def _stopped_by(self, error: Exception) -> list[Row]:
        """Halves the batch after an error; a row that was alone when it came is the one that it belongs to."""
        rows = [seat.row for seat in self._seats.values()]
        self._seats, self._board = {}, None
        devices.release(error)
        full = devices.is_full(error)
        if not rows and self._limit == 1:
            rows = [self._waiting.pop()]
        if len(rows) == 1:
            rows[0].error = error
            if not full:
                self._limit = self._batch
            return rows
        self._limit = max(1, (len(rows) or self._limit) // 2)
        log.warning("%s: going on with %d clips at once (%s)", type(error).__name__, self._limit, error)
        self._wait(rows)
        return []
