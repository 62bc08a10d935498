"""A small stand-in of FLEURS in its own file layout: tables without a header, recordings in a tar.gz.

The recordings are a fake system's: the fake judge reads their words back.
"""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kasauti.audio import wav_bytes
from kasauti.fakes import RATE_HZ, write_text


@dataclass(frozen=True)
class Reading:
    """One recording: whose sentence it is, its file, and what is heard in it (the sentence, unless `heard` differs)."""

    sentence: int
    file_name: str
    text: str
    heard: str | None = None

    @property
    def line(self) -> str:
        """A line of the table: id, file_name, raw_transcription, transcription, characters, num_samples, gender."""
        bare = self.text.strip(".?!।").lower()
        cells = (str(self.sentence), self.file_name, self.text, bare, " ".join(bare), "16000", "FEMALE")
        return "\t".join(cells) + "\n"

    @property
    def sound(self) -> bytes:
        """A WAV file."""
        return wav_bytes(write_text(self.text if self.heard is None else self.heard), RATE_HZ)


READINGS = {
    "hi_in": [
        Reading(1904, "1000941.wav", "आज मौसम अच्छा है।"),
        Reading(1675, "2203.wav", "मुझे पानी चाहिए।"),
        Reading(1904, "3317.wav", "आज मौसम अच्छा है।", heard="आज मौसम"),
        Reading(1700, "4410.wav", "राम घर गया, सीता नहीं।"),
    ],
    "ta_in": [
        Reading(1675, "77.wav", "நாளை மழை வரும்."),
        Reading(1904, "78.wav", "எனக்கு தண்ணீர் வேண்டும்."),
    ],
}
"""The Hindi sentence 1904 is read twice, by the second reader badly."""


def fleurs_copy(
    folder: Path, readings: Mapping[str, Sequence[Reading]] = READINGS, split: str = "test", *, audio: bool = True
) -> Path:
    """Writes `data/CONFIG/SPLIT.tsv` and `data/CONFIG/audio/SPLIT.tar.gz` for each config; returns `folder`."""
    for config, lines in readings.items():
        place = folder / "data" / config
        (place / "audio").mkdir(parents=True, exist_ok=True)
        (place / f"{split}.tsv").write_text("".join(reading.line for reading in lines), encoding="utf-8")
        if audio:
            members = [(f"{split}/{reading.file_name}", reading.sound) for reading in lines]
            (place / "audio" / f"{split}.tar.gz").write_bytes(tar_gz(members))
    return folder


def tar_gz(members: Sequence[tuple[str | tarfile.TarInfo, bytes]]) -> bytes:
    """A gzipped tar of (name or header, content), in order, with a folder in front as the published ones have."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        top = tarfile.TarInfo("test")
        top.type = tarfile.DIRTYPE
        tar.addfile(top)
        for named, content in members:
            header = tarfile.TarInfo(named) if isinstance(named, str) else named
            header.size = len(content) if header.isreg() else 0
            tar.addfile(header, io.BytesIO(content))
    return gzip.compress(buffer.getvalue(), mtime=0)
