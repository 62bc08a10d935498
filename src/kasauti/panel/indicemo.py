"""Names and facts of the IndicEmo benchmark, version 1.0.0, as published.

Source: ira-rumik/IndicEmo, commit aaf0bf20a57e1f280b0a4fd3fa0d82eba83143d7 (Rumik Intelligence, Apache-2.0).
"""

from __future__ import annotations

VERSION = "1.0.0"

DELIVERIES = ("Happy", "Sad", "Angry", "Excited", "Professional")

EMOTIONS = ("Happy", "Sad", "Angry", "Excited")

SCOPES: dict[str, tuple[str, ...]] = {
    "emotion_only": EMOTIONS,
    "all_deliveries": DELIVERIES,
    **{delivery.lower(): (delivery,) for delivery in DELIVERIES},
}
"""Groups of deliveries that the published tables have rows for, in their order."""

LABEL_ORDER = ("rumik_oss_1", "gemini", "elevenlabs", "cartesia_sonic_3_5", "cartesia_sonic_preview")
"""Systems in the order that blind labels go round."""

TABLE_ORDER = ("gemini", "rumik_oss_1", "cartesia_sonic_preview", "cartesia_sonic_3_5", "elevenlabs")
"""Systems in the order of published tables."""

LABEL_OFFSETS = {"gemini": 0, "qwen": 1, "openai": 2}
"""Judges in their order, and how far each starts into the rotation."""

FAMILIES = {"gemini": "gemini"}
"""Judge -> the system of the same maker: Gemini 3.1 Pro judges Gemini 3.1 Flash TTS (both Google)."""

CAPPED_SYSTEM, TOKENS_PER_S = "rumik_oss_1", 100.0
"""The one system whose requests say how many tokens it may speak; eight codebooks at 12.5 frames a second."""

FACTS: dict[str, str] = {
    "common tasks": "98",
    "tasks left out": "cs_0046 cs_0098",
    "valid tasks of gemini, qwen, openai": "100/100/98",
    "common tasks of Happy, Sad, Angry, Excited, Professional": "20/20/19/20/19",
    "common tasks of the four emotions": "79",
    "mean score of Gemini TTS by gemini, qwen, openai": "4.73/4.66/3.73",
    "clips of Rumik-OSS 1 cut at the token cap": "20",
}
"""What was published about the data (the last line: what its requests imply), as `reproduce` words it."""
