"""Recordings that exist already: a folder of WAV or FLAC files named by prompt id, or the `audio` field of the prompts.

The originals are read and never written. With neither a folder nor recordings the system is a place holder without
audio, for judges that need none. `role: human` makes the recordings a measure of the judge.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from kasauti.errors import SpeechSystemError
from kasauti.identity import digest, file_sha256
from kasauti.paths import source_path
from kasauti.records import NOT_FETCHED, Finding, Outcome, Prompt, Status
from kasauti.systems.base import Speech, SpeechFailed, SpeechRequest, System, SystemFacts, SystemOptions

SUFFIXES = (".wav", ".flac")

_ONE_TAKE = "Leave repeats at 1; other members of a line-up can have their own: {use: piper, repeats: 3}."


@dataclass
class AudioDirOptions(SystemOptions):
    """Options of `system=audio_dir` and `system=human`.

    Attributes:
        path: The folder; null = no folder.
        prompt_audio: Whether the `audio` field of a prompt names its recording.
    """

    path: str | None = "???"
    prompt_audio: bool = False


class AudioDir(System):
    """Plays recordings back."""

    options_type = AudioDirOptions

    def __init__(self, options: AudioDirOptions) -> None:
        self._options = options
        self._hashes: dict[Path, str] = {}
        self.facts = SystemFacts(
            speaks=options.path is not None or options.prompt_audio,
            plays_recordings=options.prompt_audio,
            seconds_per_char=0.0005,
        )

    def fingerprint(self, prompt: Prompt | None = None) -> str:
        """Hash of the prompt's recording; of all recordings of the folder for the system as a whole."""
        if prompt is None:
            return digest(sorted((name, self._hash(path)) for name, path in self._files.items()))
        path = self._find(prompt)
        return self._hash(path) if path is not None else ""

    def refuse(self, prompt: Prompt) -> Outcome | None:
        """A prompt without a recording is `missing`; one whose recording is still to be fetched is not."""
        if not self.facts.speaks or self._is_promised(prompt) or self._find(prompt) is not None:
            return None
        return Outcome(Status.MISSING, "no_recording")

    def check(self, prompts: Sequence[Prompt]) -> list[Finding]:
        """Prompts without a recording, and the recordings that may be theirs under another name."""
        subject = f"system {self._options.id}"
        found = []
        if self._options.repeats != 1:
            found.append(Finding("error", subject, "a recording is one take.", _ONE_TAKE))
        missing = [prompt.id for prompt in prompts if self.refuse(prompt) is not None]
        if missing:
            found.append(Finding("warning", subject, f"{len(missing)} prompts have no recording: {_some(missing)}."))
        # Recordings of prompts that were not chosen are nothing to tell; beside a gap they may be a wrong name.
        extra = sorted(self._files.keys() - {_key(prompt.id) for prompt in prompts})
        if missing and extra:
            message = f"{len(extra)} recordings are named by none of the chosen prompts: {_some(extra)}."
            found.append(Finding("warning", subject, message, "Look for a misspelt id."))
        return found

    def speak(self, request: SpeechRequest) -> Speech:
        """Reads the recording's bytes."""
        path = self._find(request.prompt)
        try:
            content = path.read_bytes() if path is not None else None
        except OSError as error:
            raise SpeechFailed(f"{path}: {error.strerror}", reason="unreadable", retryable=True) from error
        if path is None or content is None:
            raise SpeechFailed("the recording is gone", reason="no_recording", status=Status.MISSING, retryable=True)
        return Speech(request.clip_id, encoded=content, suffix=path.suffix.lower())

    @cached_property
    def _files(self) -> dict[str, Path]:
        if self._options.path is None:
            return {}
        folder = source_path(self._options.path)
        if not folder.is_dir():
            raise SpeechSystemError(
                f"system.path: {folder} is not a folder; expected one with {' or '.join(SUFFIXES)} files"
            )
        files: dict[str, Path] = {}
        for path in sorted(folder.iterdir()):
            if path.suffix.lower() in SUFFIXES and path.is_file():
                key = _key(path.stem)
                if key in files:
                    raise SpeechSystemError(
                        f"{folder}: {files[key].name} and {path.name} are for the same prompt; keep one"
                    )
                files[key] = path
        if not files:
            raise SpeechSystemError(f"{folder}: no {' or '.join(SUFFIXES)} file in it; name them by prompt id")
        return files

    def _is_promised(self, prompt: Prompt) -> bool:
        return self._options.prompt_audio and (prompt.audio or "").startswith(NOT_FETCHED)

    def _find(self, prompt: Prompt) -> Path | None:
        if self._options.prompt_audio and prompt.audio is not None:
            path = source_path(prompt.audio)
            return path if os.path.isfile(path) else None  # pathlib would raise for a name that is too long
        if self._options.path is None:
            return None
        if "/" in prompt.id or "\\" in prompt.id or prompt.id in (".", ".."):
            raise SpeechSystemError(
                f"prompt {prompt.id!r}: this id can't be a file name, so no recording can be named by it; "
                "give such prompts an `audio` field (system.prompt_audio=true), or rename them"
            )
        return self._files.get(_key(prompt.id))

    def _hash(self, path: Path) -> str:
        if path not in self._hashes:
            self._hashes[path] = file_sha256(path)
        return self._hashes[path]


def _key(name: str) -> str:
    """File systems spell the same name in different normal forms."""
    return unicodedata.normalize("NFC", name)


def _some(names: Sequence[str]) -> str:
    # A file name may be any bytes, and a terminal takes text only.
    readable = [os.fsencode(name).decode("utf-8", "backslashreplace") for name in names[:5]]
    return ", ".join(readable) + (", …" if len(names) > 5 else "")
