"""FLEURS: sentences read aloud in 102 languages; here the 14 of India's scheduled languages that it has, and English.

Conneau et al., "FLEURS: Few-shot Learning Evaluation of Universal Representations of Speech" (arXiv 2205.12446),
CC BY 4.0. A sentence was read by up to three people; its first recording in file order is the prompt's, the others are
left out, so that a sentence counts once. The text is `raw_transcription`, with case and punctuation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from kasauti.cache import cache_folder, sha256_of
from kasauti.datasets.archives import unpack
from kasauti.datasets.hub import DataRepository
from kasauti.errors import PromptError, near_matches
from kasauti.records import NOT_FETCHED, Prompt
from kasauti.rows import read_text
from kasauti.settings import PromptsetSettings
from kasauti.text.languages import language, resolve_language
from kasauti.text.scripts import dominant_script

CONFIGS = {
    "as": "as_in",
    "bn": "bn_in",
    "en": "en_us",
    "gu": "gu_in",
    "hi": "hi_in",
    "kn": "kn_in",
    "ml": "ml_in",
    "mr": "mr_in",
    "ne": "ne_np",
    "or": "or_in",
    "pa": "pa_in",
    "sd": "sd_in",
    "ta": "ta_in",
    "te": "te_in",
    "ur": "ur_pk",
}
"""Language code -> folder. Source: the language map of the published loader (`google/fleurs`, `fleurs.py`)."""

SPLITS = ("test", "dev")
"""The parts that no published recogniser should have been trained on; `dev` is the one that is called validation."""

_COLUMNS = "id, file_name, raw_transcription, transcription, characters, num_samples, gender"
_ID = re.compile(r"[0-9]+")
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\.wav")


def read(wanted: PromptsetSettings, mirror: str | None) -> list[Prompt]:
    """The prompts of the languages asked for (all, if none is), in the order of the languages and of their files.

    Only tables are fetched. `audio` says where the recording is, behind `NOT_FETCHED`; see `with_recordings`.

    Raises:
        PromptError: a language or split that is not there; with file and line: a line of another form.
        DatasetError: a table can't be had.
    """
    repository = _repository(wanted, mirror)
    prompts: list[Prompt] = []
    for lang in _languages(wanted.langs):
        archive = f"data/{CONFIGS[lang]}/audio/{wanted.split}.tar.gz"
        prompts += _sentences(repository.file(f"data/{CONFIGS[lang]}/{wanted.split}.tsv"), lang, archive)
    return prompts


def with_recordings(
    prompts: Sequence[Prompt], wanted: PromptsetSettings, mirror: str | None, *, fetch: bool
) -> list[Prompt]:
    """The same prompts with the paths of their recordings, unpacked in the cache folder.

    Args:
        prompts: Some that `read` gave.
        wanted, mirror: As for `read`.
        fetch: False = nothing is fetched or unpacked, and prompts whose recording is not there stay as they are.

    Raises:
        DatasetError: an archive can't be had, or is torn. A recording that an archive lacks is no error here: its path
            leads nowhere, and its rows will be `missing`.
        CacheError: the cache folder can't be written.
    """
    repository = _repository(wanted, mirror)
    places = [(prompt.audio or "").removeprefix(NOT_FETCHED).partition("#") for prompt in prompts]
    folders: dict[str, Path] = {}
    for archive in dict.fromkeys(archive for archive, _, _ in places):
        path = repository.file(archive) if fetch else repository.here(archive)
        if path is not None:
            # By content: a local copy and the hub's file are one, and a changed archive is another.
            folders[archive] = cache_folder() / "recordings" / sha256_of(path)[:16]
            if fetch:
                unpack(path, [name for other, _, name in places if other == archive], folders[archive])
    found = []
    for prompt, (archive, _, name) in zip(prompts, places, strict=True):
        recording = folders[archive] / name if archive in folders else None
        there = recording is not None and (fetch or recording.is_file())
        found.append(replace(prompt, audio=str(recording)) if there else prompt)
    return found


def _repository(wanted: PromptsetSettings, mirror: str | None) -> DataRepository:
    if wanted.split not in SPLITS:
        raise PromptError(f"promptset.split: no split {wanted.split!r}; {near_matches(str(wanted.split), SPLITS)}")
    layout = f"data/CONFIG/{wanted.split}.tsv and data/CONFIG/audio/{wanted.split}.tar.gz (CONFIG: hi_in, ta_in, …)"
    return DataRepository("google/fleurs", wanted.revision, layout, mirror)


def _languages(names: Sequence[str]) -> list[str]:
    codes = list(dict.fromkeys(resolve_language(name) for name in names))
    lacking = [code for code in codes if code not in CONFIGS]
    if lacking:
        told = ", ".join(f"{language(code).name} ({code})" for code in lacking)
        raise PromptError(
            f"promptset.langs: FLEURS has no {told}; it has {', '.join(CONFIGS)}. For other languages take recordings "
            "of your own: promptset=file promptset.path=recordings.csv (columns id, text, lang, audio)"
        )
    return codes or list(CONFIGS)


def _sentences(path: Path, lang: str, archive: str) -> Iterator[Prompt]:
    """A prompt for each sentence of a table, by its first recording."""
    seen: set[str] = set()
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        cells = line.removesuffix("\r").split("\t")
        if len(cells) != len(_COLUMNS.split()):
            raise PromptError(f"{where}: {len(cells)} fields; wanted {len(_COLUMNS.split())} with tabs: {_COLUMNS}")
        sentence, name, text = cells[:3]
        if not _ID.fullmatch(sentence) or not _FILE_NAME.fullmatch(name):
            raise PromptError(f"{where}: id {sentence!r}, file_name {name!r}; wanted a number and the name of a .wav")
        if not text.strip():
            raise PromptError(f"{where}: raw_transcription is empty; every prompt needs words to say")
        if sentence not in seen:
            seen.add(sentence)
            script = dominant_script(text) or language(lang).scripts[0]
            yield Prompt(f"fleurs_{lang}_{sentence}", lang, text, script, audio=f"{NOT_FETCHED}{archive}#{name}")
    if not seen:
        raise PromptError(f"{path}: no sentence in this file")
