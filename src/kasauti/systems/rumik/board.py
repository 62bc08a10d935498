"""All rows of a batch on the device: one step draws a token of each, and nothing comes back to the host in between.

A step feeds the last token of every row and asks the two heads. Before the least number of tokens `</audio>` is
masked and the stop head not asked; after it the stop head ends a row before anything is drawn; else one of the allowed
ids is drawn. On a GPU a step is captured as a graph for each shape, so that it costs one launch; elsewhere the same
function runs as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kasauti import devices
from kasauti.systems.rumik.attention import SlotCache
from kasauti.systems.rumik.draws import Draw
from kasauti.systems.rumik.model import RumikModel

RUNNING, STOP_HEAD, END_TOKEN, CAP, BROKEN = range(5)
"""How a row stands: it runs; its stop head fired; it drew `</audio>`; its tokens are used up; a score was no number."""


@dataclass(frozen=True)
class Start:
    """What a slot begins with.

    Attributes:
        slot: Its number.
        ids: The prompt, at least two tokens.
        chance: Numbers in [0, 1), one for each token that may be drawn.
    """

    slot: int
    ids: Sequence[int]
    chance: NDArray[np.float32]


class Board:
    """Slots, their caches and their counters.

    Args:
        model: The model.
        draw: How tokens are drawn.
        slots: Rows at once.
        length: Tokens that a row may have, prompt and sound together.
    """

    def __init__(self, model: RumikModel, draw: Draw, slots: int, length: int) -> None:
        import torch

        self._model = model
        self._draw = draw
        self.slots = slots
        self.length = length
        self._cache = SlotCache(model.config, slots, length, model.allowed.new_zeros(0, dtype=model.dtype))

        def counters() -> Any:
            return model.allowed.new_zeros(slots)

        self._rows = torch.arange(slots, device=model.allowed.device)
        self._last, self._position, self._made = counters(), counters(), counters()
        self._end = counters().fill_(STOP_HEAD)
        self._tokens = model.allowed.new_zeros(slots, draw.max_new_tokens)
        self._chance = torch.zeros(slots, draw.max_new_tokens, device=model.allowed.device)
        self._graphs = Graphs() if model.device == "cuda" else None

    def start(self, starts: Sequence[Start]) -> None:
        """Reads the prompts into their slots, all but the last token, which the next step feeds."""
        import torch

        device = self._rows.device
        longest = max(len(start.ids) for start in starts) - 1
        ids = torch.zeros(len(starts), longest, dtype=torch.long)
        for row, start in enumerate(starts):
            ids[row, : len(start.ids) - 1] = torch.tensor(start.ids[:-1])
        slots = torch.tensor([start.slot for start in starts], device=device)
        positions = torch.arange(longest, device=device).expand(len(starts), longest)
        self._cache.write(slots, positions)
        masks = self._cache.masks(positions, longest, self._model.dtype)
        self._model.hidden(ids.to(device), positions, self._cache, masks)
        self._last[slots] = torch.tensor([start.ids[-1] for start in starts], device=device)
        self._position[slots] = torch.tensor([len(start.ids) - 1 for start in starts], device=device)
        self._made[slots] = 0
        self._end[slots] = RUNNING
        self._chance[slots] = torch.from_numpy(np.stack([start.chance for start in starts])).to(device)

    def step(self, rows: int, length: int) -> None:
        """One token of each of the first `rows` slots, none of which has more than `length` tokens with it."""
        if self._graphs is None:
            self._step(rows, length)
        else:
            self._graphs.run((rows, length), lambda: self._step(rows, length))

    def standing(self) -> list[tuple[int, int]]:
        """Of every slot how it stands and how many tokens it has drawn; this waits for the device."""
        import torch

        ends, made = torch.stack([self._end, self._made]).tolist()
        return list(zip(ends, made, strict=True))

    def tokens(self, slot: int, count: int) -> list[int]:
        """The first tokens that a slot has drawn."""
        drawn: list[int] = self._tokens[slot, :count].tolist()
        return drawn

    def move(self, source: int, target: int, length: int) -> None:
        """Moves a row of at most `length` tokens to another slot; its own is then free."""
        self._cache.move(source, target, length)
        for held in (self._last, self._position, self._made, self._end, self._tokens, self._chance):
            held[target] = held[source]
        self.free(source)

    def clear(self, slot: int) -> None:
        """Takes out what a row that came to no numbers has left in its slot."""
        self._cache.clear(slot)
        self._last[slot] = 0
        self._position[slot] = 0

    def free(self, slot: int) -> None:
        """Lets a slot stand still."""
        self._end[slot] = STOP_HEAD

    def _step(self, rows: int, length: int) -> None:
        import torch

        model, draw, at = self._model, self._draw, self._rows[:rows]
        last, position, made = self._last[:rows], self._position[:rows], self._made[:rows]
        self._cache.extend(at, position[:, None], length)
        masks = self._cache.masks(position[:, None], length, model.dtype)
        hidden = model.hidden(last[:, None], position[:, None], self._cache, masks)[:, 0]
        logits = model.logits(hidden)
        early = made < draw.min_new_tokens
        logits[:, -1] = logits[:, -1].masked_fill(early, float("-inf"))
        place = made.clamp(max=draw.max_new_tokens - 1)
        column, best = pick(logits, draw, self._chance[at, place])
        token = model.allowed[column]
        running = self._end[:rows] == RUNNING
        broken = running & ~torch.isfinite(best)
        fired = running & ~broken & ~early & model.stops(hidden)
        speaks = running & ~broken & ~fired
        self._tokens[at, place] = torch.where(speaks, token, self._tokens[at, place])
        made += speaks
        position += speaks
        last.copy_(torch.where(speaks, token, last))
        ended = speaks & (token == model.layout.audio_end_token_id)
        end = self._end[:rows].masked_fill(speaks & (made == draw.max_new_tokens), CAP)
        end = end.masked_fill(ended, END_TOKEN).masked_fill(fired, STOP_HEAD).masked_fill(broken, BROKEN)
        self._end[:rows] = end


def pick(logits: Any, draw: Draw, chance: Any) -> tuple[Any, Any]:
    """Draws a column of each row from the softmax of its best ones.

    The candidates stand in order, most likely first, and the number says how much of their probability lies before
    the one that is taken: with the same scores, the same number takes the same column.

    Args:
        logits: float32 [rows, columns].
        draw: Temperature and how many candidates.
        chance: Numbers in [0, 1) [rows].

    Returns:
        The columns, and the score of the best candidate of each row [rows].
    """
    best, columns = logits.topk(min(draw.among, logits.shape[-1]), dim=-1)
    if draw.among == 1:
        return columns[:, 0], best[:, 0]
    edges = (best / draw.temperature).softmax(dim=-1).cumsum(dim=-1)
    place = (edges <= chance[:, None] * edges[:, -1:]).sum(dim=-1).clamp(max=columns.shape[-1] - 1)
    return columns.gather(1, place[:, None])[:, 0], best[:, 0]


@cache
def _stream() -> Any:
    """One for all captures of the process: torch has 32, dealt out in turn, and a 33rd is the codec's again."""
    import torch

    return torch.cuda.Stream()


class Graphs:
    """Steps captured on a GPU, one graph for each shape.

    The first step of a shape runs plainly, on the stream of the captures, which also makes the libraries allocate what
    they need; the second is captured. All graphs share one pool: they never run at once, and keep nothing in it.
    """

    def __init__(self) -> None:
        self._stream = _stream()
        self._pool: Any = None
        self._met: set[tuple[int, int]] = set()
        self._held: dict[tuple[int, int], Any] = {}

    def run(self, shape: tuple[int, int], step: Any) -> None:
        """Runs a step of a shape."""
        import torch

        if shape in self._held:
            self._held[shape].replay()
            return
        if shape not in self._met:
            self._met.add(shape)
            self._stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self._stream):
                step()
            torch.cuda.current_stream().wait_stream(self._stream)
            return
        graph = torch.cuda.CUDAGraph()
        capture = torch.cuda.graph(graph, pool=self._pool, stream=self._stream, capture_error_mode="thread_local")
        with devices.ONE_AT_A_TIME, capture:
            step()
        self._pool = self._pool or graph.pool()
        self._held[shape] = graph
        graph.replay()
