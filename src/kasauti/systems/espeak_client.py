"""eSpeak NG for the rest of the package: samples or phonemes of a text, each from a fresh child process.

Conventions: languages as codes, samples float32 mono with full scale at 1.0, phonemes as IPA with `^` between the
letters of one phoneme. A child (`espeak_engine`) costs about 0.05 s, and what it gives depends on the request alone.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kasauti.errors import SpeechSystemError
from kasauti.systems import espeak_engine
from kasauti.systems.base import SpeechFailed
from kasauti.weights import version_of

PACKAGE, MODULE = "espeakng-loader", "espeakng_loader"

VOICES: Mapping[str, str] = {
    "as": "as",
    "bn": "bn",
    "en": "en",
    "gu": "gu",
    "hi": "hi",
    "kn": "kn",
    "ml": "ml",
    "mr": "mr",
    "ne": "ne",
    "or": "or",
    "pa": "pa",
    "sd": "sd",
    "ta": "ta",
    "te": "te",
    "ur": "ur",
}
"""Language -> voice. eSpeak NG 1.52 has a voice for Konkani too, which spells vowel signs out; it is not offered."""

_FOREIGN_WORD = re.compile(r"\([^)]*\)")
_TIMEOUT_S, _TIMEOUT_S_PER_CHAR = 60.0, 0.01


def version() -> str:
    """Version of the installed eSpeak NG.

    Raises:
        WeightsError: it is not installed.
    """
    return version_of(PACKAGE)


def samples_of(text: str, voice: str, rate_wpm: int, pitch: int) -> tuple[NDArray[np.float32], int]:
    """Speaks a text.

    Args:
        text: Any text; control characters count as spaces.
        voice: eSpeak NG's name of the voice, with an optional variant (`hi`, `hi+f3`).
        rate_wpm: Words a minute, 80 to 450.
        pitch: 0 to 99.

    Returns:
        Samples [frames] and their rate in Hz.

    Raises:
        SpeechFailed: the engine crashed, took too long, or found nothing to say.
        SpeechSystemError: eSpeak NG has no such voice, or can't read its data.
        WeightsError: it is not installed.
    """
    reply = _ask({"do": "speak", "voice": voice, "texts": [text], "rate_wpm": rate_wpm, "pitch": pitch})
    rate_hz, pcm = int.from_bytes(reply[:4], "little"), np.frombuffer(reply[4:], dtype="<i2")
    if not pcm.any():
        raise SpeechFailed("the text has nothing that can be spoken", reason="nothing_spoken")
    return pcm.astype(np.float32) / np.float32(32768), rate_hz


def phonemes(texts: Sequence[str], voice: str) -> list[str]:
    """IPA of each text, without the marks that eSpeak NG puts around words it reads by another language's rules.

    Raises:
        SpeechFailed, SpeechSystemError, WeightsError: as `samples_of`.
    """
    reply = json.loads(_ask({"do": "phonemes", "voice": voice, "texts": list(texts)}))
    return [_FOREIGN_WORD.sub("", ipa) for ipa in reply]


def speakable(text: str) -> str:
    """A text that a C library can take: no control characters, of which a NUL would end it, and no lone surrogates."""
    plain = "".join(" " if unicodedata.category(char) == "Cc" else char for char in text)
    return plain.encode("utf-8", "replace").decode("utf-8")


def _ask(request: dict[str, Any]) -> bytes:
    version()
    import espeakng_loader

    request["texts"] = [speakable(text) for text in request["texts"]]
    request |= {"library": espeakng_loader.get_library_path(), "data": espeakng_loader.get_data_path()}
    timeout_s = _TIMEOUT_S + _TIMEOUT_S_PER_CHAR * sum(map(len, request["texts"]))
    try:
        child = subprocess.run(
            # Isolated and without site-packages: nothing of the user's environment reaches it, and it starts in 20 ms.
            [sys.executable, "-I", "-S", str(Path(espeak_engine.__file__))],
            input=json.dumps(request).encode(),
            capture_output=True,
            timeout=timeout_s,
            # Ctrl-C is for the run, which finishes the clip in hand.
            start_new_session=True,
        )
    except subprocess.TimeoutExpired as error:
        raise SpeechFailed(f"eSpeak NG took more than {timeout_s:.0f} s", reason="timeout", retryable=True) from error
    if child.returncode == espeak_engine.EXIT_NO_VOICE:
        raise SpeechSystemError(f"eSpeak NG has no voice {request['voice']!r}; `voice=null` takes the language's own")
    if child.returncode == espeak_engine.EXIT_NO_LIBRARY:
        raise SpeechSystemError(f"eSpeak NG can't read its data in {request['data']}; reinstall {PACKAGE}")
    if child.returncode != 0:
        detail = child.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        message = f"eSpeak NG ended with code {child.returncode} {detail}".strip()
        raise SpeechFailed(message, reason="engine_crashed", retryable=child.returncode < 0)
    return child.stdout
