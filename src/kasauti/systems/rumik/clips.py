"""From a request to the rows that speak it, and from what came of them to one reply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kasauti import devices
from kasauti.metrics.gates import TOKEN_CAP
from kasauti.records import Outcome, Prompt, Status
from kasauti.systems.base import Speech, SpeechFailed, SpeechRequest
from kasauti.systems.rumik.chunks import pieces
from kasauti.systems.rumik.draws import Draw, uniforms
from kasauti.systems.rumik.layout import Layout, Parsed, parse_tokens
from kasauti.systems.rumik.prompt import Delivery, delivery_of, wire
from kasauti.systems.rumik.rollout import Row


@dataclass(frozen=True)
class Script:
    """What a system's options make of a prompt.

    Attributes:
        speaker: Voice. `description`: tone, accent and pace; see `prompt.delivery_of`.
        chunk_chars: Longest piece of a text; None = a text is never cut.
    """

    speaker: str
    description: str | None
    chunk_chars: int | None

    def delivery(self, prompt: Prompt) -> Delivery:
        """How a prompt is said."""
        return delivery_of(prompt, self.speaker, self.description)

    def texts(self, prompt: Prompt) -> list[str]:
        """The text, or the pieces that it is spoken in."""
        return [prompt.text] if self.chunk_chars is None else pieces(prompt.text, self.chunk_chars)

    def wires(self, prompt: Prompt) -> list[str]:
        """What the model reads.

        Raises:
            SpeechFailed: as `prompt.wire`.
        """
        return [wire(text, self.delivery(prompt)) for text in self.texts(prompt)]


@dataclass(eq=False)
class Take:
    """One clip on its way.

    Attributes:
        request: What was asked for.
        rows: Its pieces, in order.
        facts: What is known of it before it is made.
        parsed: Frames of each piece that has ended.
        samples: Sound of each piece that has been decoded.
        decode_s: Time of the codec.
        answered: Whether its reply is out.
    """

    request: SpeechRequest
    rows: list[Row]
    facts: dict[str, Any]
    parsed: dict[Row, Parsed] = field(default_factory=dict)
    samples: dict[Row, NDArray[np.float32]] = field(default_factory=dict)
    decode_s: float = 0.0
    answered: bool = False

    def fail(self, outcome: Outcome) -> list[Speech]:
        """The reply of a clip that can't be made; only its first failure is told."""
        if self.answered:
            return []
        self.answered = True
        return [Speech(self.request.clip_id, outcome)]

    def whole(self, layout: Layout, rate_hz: int, facts: dict[str, Any]) -> list[Speech]:
        """The reply, once every piece has been decoded."""
        if self.answered or len(self.samples) < len(self.rows):
            return []
        self.answered = True
        told = {**self._counts(layout), **self.facts, **facts}
        wall_s = self.decode_s + sum(row.wall_s for row in self.rows)
        sound = np.concatenate([self.samples[row] for row in self.rows])
        return [Speech(self.request.clip_id, Outcome(wall_s=wall_s, facts=told), sound, rate_hz)]

    def _counts(self, layout: Layout) -> dict[str, Any]:
        parsed = [self.parsed[row] for row in self.rows]
        ends = [row.end for row in self.rows]
        return {
            "tokens": sum(len(row.tokens) for row in self.rows),
            "frames": sum(one.frames for one in parsed),
            "dropped": sum(one.dropped for one in parsed),
            "end": TOKEN_CAP if TOKEN_CAP in ends else ends[-1],
            "tokens_per_second": layout.tokens_per_second,
            "pieces": len(self.rows),
        }


def begin(
    request: SpeechRequest, script: Script, encode: Callable[[str], list[int]], draw: Draw, layout: Layout
) -> Take:
    """The rows of a request.

    Raises:
        SpeechFailed: the text breaks the format (`breaks_format`), or is too long for the model (`text_too_long`).
    """
    rows = []
    for piece, text in enumerate(script.wires(request.prompt)):
        ids = encode(text)
        if len(ids) + draw.max_new_tokens > layout.max_position_embeddings:
            raise SpeechFailed(
                f"the prompt has {len(ids)} tokens, and with up to {draw.max_new_tokens} new ones that is more than "
                f"the {layout.max_position_embeddings} that the model holds; cut the text (system.chunk_chars=400), or "
                "allow fewer (decoding.max_new_tokens)",
                reason="text_too_long",
            )
        chance = uniforms(request.seed, piece, draw.max_new_tokens)
        rows.append(Row(ids, chance, len(text)))
    how = script.delivery(request.prompt)
    return Take(request, rows, {"speaker": how.speaker, "description": how.description})


def end(row: Row, take: Take, layout: Layout) -> NDArray[np.int64] | Outcome:
    """Codes [quantizers, frames] of a row that has ended, or why there are none."""
    if row.error is not None:
        return failed(row.error)
    if row.end == "not_a_number":
        return Outcome(
            Status.SYNTHESIS_FAILED,
            "not_a_number",
            "the model's scores are no numbers; its weights or its arithmetic (system.dtype) are at fault",
        )
    parsed = take.parsed[row] = parse_tokens(row.tokens, layout)
    if parsed.frames == 0:
        told = f"{len(row.tokens)} tokens and no whole frame among them ({parsed.dropped} dropped, end: {row.end})"
        facts = {"tokens": len(row.tokens), "frames": 0, "dropped": parsed.dropped, "end": row.end}
        return Outcome(Status.SYNTHESIS_FAILED, "no_frames", told, facts=facts)
    return parsed.codes


def failed(error: Exception) -> Outcome:
    """The outcome of a clip that the engine gave up on."""
    reason = "out_of_memory" if devices.is_full(error) else "engine_error"
    return Outcome(Status.SYNTHESIS_FAILED, reason, f"{type(error).__name__}: {error}", retryable=True)
