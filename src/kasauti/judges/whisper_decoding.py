"""How Whisper decodes one clip: temperature 0 without a ladder, no earlier text, no timestamps, nothing skipped.

A stretch of `window_s` seconds at a time, each padded to that length, as the model was trained on padded windows.
What hints at a loop or at invented text is kept beside the transcript for gates to use; it drops nothing here.

A stretch gets at most `24 + ceil(max_tokens_per_second * seconds)` tokens, and never more than fit into Whisper's own
context of 448 with the prompt. Speech stays under 25 code points a second, and Whisper's vocabulary spends up to 2.6
tokens on a code point (on running text: Gujarati 2.6, Malayalam 2.1, Bengali and Punjabi 2.0, Telugu 1.8, Hindi 1.0,
English 0.25). So 60 a second cuts no transcript that a clip can hold, and a loop in a short clip ends early.
`at_token_cap` marks a transcript that ran into either limit; in Gujarati 11 s of speech fill the context.
The engine's own `transcribe` stops at half the context: after 6 s in Gujarati, which no score should be made of.

Source: openai/whisper and SYSTRAN/faster-whisper; `faster_whisper.WhisperModel.transcribe` with the same settings gives
the same text for `window_s` 30, up to the 224 tokens where it stops.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kasauti.judges.base import no_numbers

LANGUAGES = frozenset({"as", "bn", "en", "gu", "hi", "kn", "ml", "mr", "ne", "pa", "sa", "sd", "ta", "te", "ur"})
"""Those of our codes that Whisper has a token for; a second script (`sd-Deva`) is not what it writes."""

RATE_HZ = 16_000
_FRAMES_PER_S = 100
_CONTEXT_TOKENS = 448
_SPARE_TOKENS = 24


@dataclass(frozen=True)
class Limits:
    """What bounds the search: hypotheses kept, seconds heard at once, tokens per second of sound."""

    beam_size: int
    window_s: int
    max_tokens_per_second: float


class _Filters(np.ndarray):
    """Mel filters that are applied in one order of sums, whatever BLAS has been given: a sum in another order has other
    last digits, and the fewest of them make another text.
    """

    def __matmul__(self, spectrum: Any) -> Any:
        return np.einsum("mf,ft->mt", np.asarray(self), np.asarray(spectrum))


def steady(extractor: Any) -> None:
    """Makes the features of an engine (`faster_whisper.WhisperModel.feature_extractor`) the same for any number of
    cores and threads of one machine.
    """
    extractor.mel_filters = np.asarray(extractor.mel_filters).view(_Filters)


def decode(model: Any, samples: NDArray[np.float32], lang: str, limits: Limits) -> tuple[str, dict[str, Any]]:
    """Transcribes a clip.

    Args:
        model: A `faster_whisper.WhisperModel`; may be shared by threads.
        samples: Mono [frames] at `RATE_HZ`.
        lang: A language code that Whisper knows.

    Returns:
        The transcript without outer spaces, and facts: `tokens`, `token_cap` and `at_token_cap` over all stretches, the
        worst `avg_logprob`, `no_speech_prob` and `compression_ratio`, and the number of `windows`.
    """
    from faster_whisper.audio import pad_or_trim
    from faster_whisper.tokenizer import Tokenizer
    from faster_whisper.transcribe import get_suppressed_tokens

    tokenizer = Tokenizer(model.hf_tokenizer, True, task="transcribe", language=lang)
    prompt = [*tokenizer.sot_sequence, tokenizer.no_timestamps]
    suppressed = get_suppressed_tokens(tokenizer, [-1])
    features = model.feature_extractor(samples)[:, :-1]
    window = limits.window_s * _FRAMES_PER_S
    texts, facts = [], []
    for start in range(0, features.shape[-1], window):
        stretch = features[:, start : start + window]
        cap = token_cap(stretch.shape[-1] / _FRAMES_PER_S, limits.max_tokens_per_second, len(prompt))
        result = model.model.generate(
            model.encode(pad_or_trim(stretch, window)),
            [prompt],
            beam_size=limits.beam_size,
            max_length=2 * cap,  # CTranslate2 takes half of this for what is generated
            return_scores=True,
            return_no_speech_prob=True,
            suppress_tokens=suppressed,
        )[0]
        tokens = result.sequences_ids[0]
        texts.append(tokenizer.decode(tokens))
        # The engine's score is per token; Whisper's own average counts the end of text as well.
        avg_logprob = result.scores[0] * len(tokens) / (len(tokens) + 1)
        facts.append(stretch_facts(len(tokens), cap, texts[-1], avg_logprob, result.no_speech_prob))
    return "".join(texts).strip(), worst(facts)


def token_cap(seconds: float, max_tokens_per_second: float, prompt_tokens: int) -> int:
    """Most tokens that a stretch of this length may be transcribed to."""
    return min(_CONTEXT_TOKENS - prompt_tokens, _SPARE_TOKENS + math.ceil(max_tokens_per_second * seconds))


def stretch_facts(
    tokens: int, cap: int, text: str, avg_logprob: float, no_speech_prob: float
) -> dict[str, float | int | bool]:
    """What is kept of one stretch, for gates.

    Raises:
        JudgeFailed: the model's scores are no numbers.
    """
    if not math.isfinite(avg_logprob):
        raise no_numbers("compute_type")
    encoded = text.strip().encode()
    return {
        "tokens": tokens,
        "token_cap": cap,
        "at_token_cap": tokens >= cap,
        "avg_logprob": avg_logprob,
        "no_speech_prob": no_speech_prob,
        "compression_ratio": len(encoded) / len(zlib.compress(encoded)),
    }


def worst(stretches: list[dict[str, Any]]) -> dict[str, Any]:
    """The facts of a clip from those of its stretches: counts are added, of hints the worst is kept."""
    if not stretches:
        return {"windows": 0}
    columns = {key: [stretch[key] for stretch in stretches] for key in stretches[0]}
    return {
        "windows": len(stretches),
        "tokens": sum(columns["tokens"]),
        "token_cap": sum(columns["token_cap"]),
        "at_token_cap": any(columns["at_token_cap"]),
        "avg_logprob": round(min(columns["avg_logprob"]), 4),
        "no_speech_prob": round(max(columns["no_speech_prob"]), 4),
        "compression_ratio": round(max(columns["compression_ratio"]), 4),
    }
