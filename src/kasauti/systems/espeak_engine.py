"""The child process that runs eSpeak NG, once per clip: a script that imports the standard library only.

eSpeak NG keeps state between utterances, so the second synthesis of a text in one process differs from the first. The
first one in a new process is the same bit for bit, and a crash of the library costs one clip. Request: one JSON object
on standard input; reply: on standard output, 16-bit little-endian mono PCM for `speak`, a JSON list for `phonemes`.

Not for import by anything but `espeak_client`, which starts it.

Source: espeak_ng/speak_lib.h of eSpeak NG 1.52 for the constants and signatures.
"""

from __future__ import annotations

import ctypes
import json
import sys
from typing import Any

EXIT_NO_LIBRARY, EXIT_NO_VOICE, EXIT_NO_SPEECH = 3, 4, 5

_RETRIEVAL, _DONT_EXIT, _CHARS_UTF8 = 1, 0x8000, 1
_RATE, _PITCH = 1, 3
_IPA_WITH_TIES = 0x02 | 0x80 | (ord("^") << 8)
"""Phoneme mode: IPA, with `^` between the letters of one phoneme (`t^ʃ`)."""

_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)


def open_library(library: str, data: str) -> tuple[ctypes.CDLL, int]:
    """Loads and initialises eSpeak NG; returns it with its sample rate in Hz."""
    speak = ctypes.CDLL(library)
    speak.espeak_Initialize.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_int]
    speak.espeak_TextToPhonemes.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, ctypes.c_int]
    speak.espeak_TextToPhonemes.restype = ctypes.c_char_p
    speak.espeak_Synth.argtypes = [
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_uint,
        ctypes.c_int,
        ctypes.c_uint,
        ctypes.c_uint,
        ctypes.c_void_p,
        ctypes.c_void_p,
    ]
    rate_hz = speak.espeak_Initialize(_RETRIEVAL, 0, data.encode(), _DONT_EXIT)
    if rate_hz <= 0:
        sys.exit(EXIT_NO_LIBRARY)
    return speak, rate_hz


def pcm_of(speak: ctypes.CDLL, text: bytes, rate_wpm: int, pitch: int) -> bytes:
    """Speaks `text` (UTF-8 without NUL) with the voice that is set."""
    pcm = bytearray()

    def keep(samples: Any, count: int, _events: Any) -> int:
        if samples and count > 0:
            pcm.extend(ctypes.string_at(samples, 2 * count))
        return 0

    callback = _CALLBACK(keep)  # held until the synthesis is over: the library has only its address
    speak.espeak_SetSynthCallback(callback)
    speak.espeak_SetParameter(_RATE, rate_wpm, 0)
    speak.espeak_SetParameter(_PITCH, pitch, 0)
    if speak.espeak_Synth(text, len(text) + 1, 0, 0, 0, _CHARS_UTF8, None, None) != 0:
        sys.exit(EXIT_NO_SPEECH)
    speak.espeak_Synchronize()
    return bytes(pcm)


def phonemes_of(speak: ctypes.CDLL, text: bytes) -> str:
    """IPA of `text`; each call of the library gives one clause and moves the pointer, which ends up empty."""
    buffer = ctypes.create_string_buffer(text)
    pointer = ctypes.c_void_p(ctypes.addressof(buffer))
    clauses = []
    while pointer.value:
        clause = speak.espeak_TextToPhonemes(ctypes.byref(pointer), _CHARS_UTF8, _IPA_WITH_TIES)
        clauses.append((clause or b"").decode("utf-8", "replace").strip())
    return " ".join(clause for clause in clauses if clause)


def main() -> None:
    """Answers one request."""
    request = json.load(sys.stdin)
    speak, rate_hz = open_library(request["library"], request["data"])
    if speak.espeak_SetVoiceByName(request["voice"].encode()) != 0:
        sys.exit(EXIT_NO_VOICE)
    texts = [text.encode("utf-8", "replace") for text in request["texts"]]
    if request["do"] == "phonemes":
        reply = json.dumps([phonemes_of(speak, text) for text in texts]).encode()
    else:
        pcm = b"".join(pcm_of(speak, text, request["rate_wpm"], request["pitch"]) for text in texts)
        reply = rate_hz.to_bytes(4, "little") + pcm
    sys.stdout.buffer.write(reply)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
