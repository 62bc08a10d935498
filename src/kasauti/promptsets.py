"""The prompts of a run: from a file of the user's own or of the repository, or from a data set that is fetched.

A data set's tables are small and are fetched when a run is planned; its recordings are fetched only for a run, not a
dry one, in which a system plays them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from kasauti.errors import PromptError, near_matches
from kasauti.paths import source_path
from kasauti.prompts import load_prompts
from kasauti.records import Prompt
from kasauti.settings import PromptsetSettings


class _Recordings(Protocol):
    def __call__(
        self, prompts: Sequence[Prompt], wanted: PromptsetSettings, mirror: str | None, *, fetch: bool
    ) -> list[Prompt]: ...


def read_prompts(wanted: PromptsetSettings, mirror: str | None, *, play_recordings: bool) -> list[Prompt]:
    """All prompts of a set, before some of them are selected.

    Args:
        wanted: The set. Languages are looked at only to fetch no others.
        mirror: `data.mirror`.
        play_recordings: Whether a system of the run plays the prompts' recordings: those that a file names must then
            be there.

    Raises:
        PromptError: there is no such source; a key that the set has no use for; as for `load_prompts`.
        DatasetError: a fetched set can't be had.
    """
    if wanted.source is not None:
        return _source(wanted.source)[0](wanted, mirror)
    for key, value in (("split", wanted.split), ("revision", wanted.revision)):
        if value is not None:
            raise PromptError(f"promptset.{key}={value}: only a set that is fetched has one (promptset=fleurs)")
    if wanted.path is None:
        raise PromptError("promptset.path is null; give a .jsonl, .csv or .tsv file")
    return load_prompts(source_path(wanted.path), wanted.lang, recordings_needed=play_recordings)


def with_recordings(
    prompts: Sequence[Prompt], wanted: PromptsetSettings, mirror: str | None, *, fetch: bool
) -> list[Prompt]:
    """The prompts with the paths of their recordings, as far as these are there or may be fetched.

    Raises:
        DatasetError: a recording's archive can't be had, or is torn.
    """
    if wanted.source is None:
        return list(prompts)
    return _source(wanted.source)[1](prompts, wanted, mirror, fetch=fetch)


def _source(name: str) -> tuple[Callable[[PromptsetSettings, str | None], list[Prompt]], _Recordings]:
    from kasauti.datasets import fleurs

    sources = {"fleurs": (fleurs.read, fleurs.with_recordings)}
    if name not in sources:
        raise PromptError(f"promptset.source: no source {name!r}; {near_matches(name, sources)}")
    return sources[name]
