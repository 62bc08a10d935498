"""Attention for rows of different ages, and where their keys and values lie.

Each row of a batch has a slot, fills it from place 0 and can be replaced without touching its neighbours, so nothing
is padded on the left and a row's keys stand where they would if it were alone. A place that a row has not reached is
masked until the row writes it.

Query heads that share a key are taken for further queries of one head, so that keys are read once and never copied.
"""

from __future__ import annotations

from typing import Any

NAME = "kasauti_grouped"


def register() -> None:
    """Tells transformers the name of this attention."""
    from transformers import AttentionInterface

    AttentionInterface.register(NAME, grouped)


def grouped(
    module: Any, query: Any, key: Any, value: Any, attention_mask: Any, scaling: float, **_: Any
) -> tuple[Any, None]:
    """Scaled dot-product attention with shared keys.

    Args:
        module: The layer; not used.
        query: [rows, heads, tokens, width].
        key: [rows, shared, keys, width]; `value` alike. Heads of one group stand side by side.
        value: See `key`.
        attention_mask: Added to the scores [rows, 1, tokens, keys].
        scaling: Factor of the scores.

    Returns:
        [rows, tokens, heads, width], and no weights.
    """
    from torch.nn import functional

    rows, heads, tokens, width = query.shape
    groups = heads // key.shape[1]
    queries = query.reshape(rows, key.shape[1], groups * tokens, width)
    mask = attention_mask if tokens == 1 else attention_mask.repeat(1, 1, groups, 1)
    out = functional.scaled_dot_product_attention(queries, key, value, attn_mask=mask, scale=scaling)
    return out.reshape(rows, heads, tokens, width).transpose(1, 2), None


class SlotCache:
    """Keys and values of all slots, by layer.

    Args:
        config: The `Cohere2Config`.
        slots: Rows that it holds.
        length: Tokens that each may have.
        like: A tensor of the arithmetic and on the device wanted.
    """

    def __init__(self, config: Any, slots: int, length: int, like: Any) -> None:
        self._width = (slots, int(config.num_key_value_heads), length, int(config.head_dim))
        # Zeros and not whatever is there: a masked place has weight 0, and 0 times NaN is NaN.
        self._keys = [like.new_zeros(self._width) for _ in range(config.num_hidden_layers)]
        self._values = [like.new_zeros(self._width) for _ in range(config.num_hidden_layers)]
        self._window = config.sliding_window
        self._rows: Any = None
        self._positions: Any = None
        self._seen: tuple[int, int] | None = None

    @property
    def length(self) -> int:
        """Tokens that a slot may have."""
        return self._width[2]

    def write(self, slots: Any, positions: Any) -> None:
        """From here on layers write these places and see only what they write: prompts, from their beginning.

        Args:
            slots: [rows].
            positions: [rows, tokens].
        """
        self._rows, self._positions, self._seen = slots, positions, None

    def extend(self, slots: Any, positions: Any, length: int) -> None:
        """From here on layers write one place of each of the first slots and see its first `length` places.

        Args:
            slots: 0, 1, … [rows].
            positions: [rows, 1].
            length: No row is longer.
        """
        self._rows, self._positions, self._seen = slots, positions, (len(slots), length)

    def update(self, keys: Any, values: Any, layer: int, **_: Any) -> tuple[Any, Any]:
        """Called by every layer of the decoder: stores [rows, shared, tokens, width], gives back what is to be seen."""
        places = self._rows[:, None], slice(None), self._positions
        self._keys[layer][places] = keys.transpose(1, 2)
        self._values[layer][places] = values.transpose(1, 2)
        if self._seen is None:
            return keys, values
        rows, length = self._seen
        return self._keys[layer][:rows, :, :length], self._values[layer][:rows, :, :length]

    def clear(self, slot: int) -> None:
        """Takes out what a slot holds: a NaN would reach its next row, through weights of 0."""
        for held in (*self._keys, *self._values):
            held[slot] = 0

    def move(self, source: int, target: int, length: int) -> None:
        """Copies the first places of one slot to another."""
        for held in (*self._keys, *self._values):
            held[target, :, :length] = held[source, :, :length]

    def masks(self, positions: Any, keys: int, dtype: Any) -> dict[str, Any]:
        """What is added to the attention of each kind of layer [rows, 1, tokens, keys]: 0 where it sees, else -inf.

        Args:
            positions: [rows, tokens].
            keys: Places that are looked at.
            dtype: Arithmetic of the scores.
        """
        import torch

        place = torch.arange(keys, device=positions.device)
        asked = positions[:, None, :, None]
        seen = place <= asked
        near = seen if self._window is None else seen & (place > asked - self._window)
        return {
            kind: torch.zeros_like(shown, dtype=dtype).masked_fill_(~shown, float("-inf"))
            for kind, shown in (("full_attention", seen), ("sliding_attention", near))
        }
