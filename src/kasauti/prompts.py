"""Prompt files: JSONL, CSV or TSV in, checked prompts out; and the selection of some of them.

Every cell is text, byte for byte: `007`, `NA` and `nan` are an id and two words. A byte-order mark and CRLF line ends
are accepted; bytes that aren't UTF-8 are an error with the line. An id is any text without control characters and is
never used as a path.
"""

from __future__ import annotations

import os
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kasauti.errors import KasautiError, PromptError, near_matches
from kasauti.identity import digest
from kasauti.paths import source_path
from kasauti.records import Prompt
from kasauti.rows import read_rows, read_text, text_field, whole_text
from kasauti.settings import PromptsetSettings
from kasauti.text.languages import language, resolve_language
from kasauti.text.scripts import dominant_script

TAG_SEPARATOR = ";"


def load_prompts(path: str | Path, lang: str | None = None, *, recordings_needed: bool = False) -> list[Prompt]:
    """Reads a prompt file.

    Args:
        path: `.jsonl` (an object a line), `.csv` or `.tsv` (a header line, any order and case).
            Fields: `text` (required), `id` (made from the content where the file has none), `lang`, `tags` (a list; in
            a table separated by `;`), `control` (an object, or a text, which becomes `{"description": text}`), `audio`
            (path of a human recording, from the folder of this file, else from where any path starts). Other fields
            are ignored.
        lang: Language of prompts that name none.
        recordings_needed: Whether a recording that is named must be there.

    Returns:
        The prompts in file order; at least one.

    Raises:
        PromptError: with file, line and id: the file is missing or not UTF-8, a field is missing, a text is empty, an
            id comes twice, a language is unknown, a recording that is needed is not there.
    """
    path = Path(path)
    if lang is not None:
        lang = _language(f"{path}: language of the file", lang)
    prompts: list[Prompt] = []
    lines: dict[str, int] = {}
    for line, row in read_rows(path, required=("text",)):
        prompt = _prompt(path, line, row, lang)
        if prompt.id in lines:
            raise PromptError(f"{path}:{line}: {_twice(prompt, lines[prompt.id], given='id' in row)}")
        lines[prompt.id] = line
        if recordings_needed and prompt.audio is not None and not os.path.isfile(source_path(prompt.audio)):
            raise PromptError(
                f"{path}:{line}: audio {prompt.audio!r} (id {prompt.id!r}): there is no such file; wanted its path "
                f"from {path.parent.resolve()} or from the current folder. Leave it empty where nothing was recorded"
            )
        prompts.append(prompt)
    if not prompts:
        raise PromptError(f"{path}: no prompt in this file")
    return prompts


def select(prompts: Sequence[Prompt], wanted: PromptsetSettings) -> list[Prompt]:
    """Takes some of the prompts: by language, tag, id and count, in file order.

    Raises:
        PromptError: a value that no prompt has (with near matches), or nothing is left.
    """
    langs = [_language("promptset.langs", name) for name in wanted.langs]
    ids = [*wanted.ids, *_ids_in(wanted.ids_file)]
    deliveries = {p.control["delivery"] for p in prompts if "delivery" in p.control}
    _check_known("langs", langs, {p.lang for p in prompts})
    _check_known("ids", ids, {p.id for p in prompts})
    tags = {tag for p in prompts for tag in p.tags}
    _check_known("tags", wanted.tags, tags)
    _check_known("exclude_tags", wanted.exclude_tags, tags)
    if wanted.per_delivery is not None and not deliveries:
        raise PromptError("promptset.per_delivery: no prompt of this set asks for a delivery (control.delivery)")
    kept: list[Prompt] = []
    per_lang: Counter[str] = Counter()
    per_delivery: Counter[str] = Counter()
    for prompt in prompts:
        delivery = prompt.control.get("delivery", "")
        fits = (
            (not langs or prompt.lang in langs)
            and (not ids or prompt.id in ids)
            and (not wanted.tags or bool(set(wanted.tags) & set(prompt.tags)))
            and not set(wanted.exclude_tags) & set(prompt.tags)
            and (wanted.limit is None or per_lang[prompt.lang] < wanted.limit)
            and (wanted.per_delivery is None or (bool(delivery) and per_delivery[delivery] < wanted.per_delivery))
        )
        if fits:
            kept.append(prompt)
            per_lang[prompt.lang] += 1
            per_delivery[delivery] += 1
    if not kept:
        raise PromptError("promptset: the selection leaves no prompt; loosen langs, tags, exclude_tags, ids or limit")
    return kept


def prompts_sha256(prompts: Iterable[Prompt]) -> str:
    """Hash of what is said and how, in order: part of a run's identity and of every score's signature."""
    return digest([[p.id, p.lang, p.text, dict(p.control), list(p.tags)] for p in prompts], 64)


def _check_known(key: str, wanted: Iterable[str], known: set[str]) -> None:
    for value in wanted:
        if value not in known:
            raise PromptError(f"promptset.{key}: no prompt has {value!r}; {near_matches(value, known)}")


def _ids_in(path: str | None) -> list[str]:
    if path is None:
        return []
    lines = read_text(source_path(path)).split("\n")
    ids = [line.removesuffix("\r") for line in lines if line.strip()]
    if not ids:
        raise PromptError(
            f"{path}: no id in this file; expected one a line (promptset.ids_file=null takes all prompts)"
        )
    return ids


def _language(where: str, name: str) -> str:
    try:
        return resolve_language(name)
    except KasautiError as error:
        raise PromptError(f"{where}: {error}") from error


def _prompt(path: Path, line: int, row: Mapping[str, Any], lang: str | None) -> Prompt:
    where = f"{path}:{line}"
    text = text_field(where, row, "text")
    if not text.strip():
        named = f" (id {row['id']!r})" if "id" in row else ""
        raise PromptError(f"{where}: the text is empty{named}; every prompt needs words to say")
    code = _optional(where, row, "lang") or lang
    if code is None:
        raise PromptError(f"{where}: no language; add a field 'lang', or give promptset.lang for the whole file")
    code = _language(where, code)
    control = _control(where, row.get("control"))
    identity = text_field(where, row, "id") if "id" in row else digest([text, code, control], 12)
    if not identity.strip() or any(unicodedata.category(char) == "Cc" for char in identity):
        raise PromptError(f"{where}: id {identity!r}: an id is non-empty text without control characters")
    return Prompt(
        id=identity,
        lang=code,
        text=text,
        script=dominant_script(text) or language(code).scripts[0],
        tags=_tags(where, row.get("tags")),
        control=control,
        audio=_recording(path, _optional(where, row, "audio")),
    )


def _twice(prompt: Prompt, line: int, *, given: bool) -> str:
    """What is wrong with a prompt whose id another line has: a given id, or the same content where ids are made."""
    if given:
        return f"id {prompt.id!r} is already used in line {line}; ids must differ"
    return (
        f"the same prompt as in line {line} (same text, language and control); ids are made from these where the file "
        "gives none. Drop one of the lines, or add a field 'id' to tell them apart"
    )


def _optional(where: str, row: Mapping[str, Any], name: str) -> str | None:
    """A field that may be missing, null or empty, and else must be text."""
    return text_field(where, row, name) if row.get(name) not in (None, "") else None


def _recording(path: Path, audio: str | None) -> str | None:
    """A recording's path: beside the file that names it, if it is there, else as given."""
    # os.path answers where pathlib raises (a name too long).
    beside = None if audio is None else os.path.join(path.parent, audio)
    return beside if beside is not None and os.path.isfile(beside) else audio


def _tags(where: str, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    tags = value.split(TAG_SEPARATOR) if isinstance(value, str) else value
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise PromptError(f"{where}: tags is {value!r}; expected a list of texts")
    names = {whole_text(where, "tags", tag.strip()) for tag in tags if tag.strip()}
    for name in names:
        if name.split() != [name]:  # tables list tags with spaces between them
            raise PromptError(f"{where}: tag {name!r}: a tag is one word; write {'_'.join(name.split())!r}")
    return tuple(sorted(names))


def _control(where: str, value: Any) -> dict[str, str]:
    if value is None or value == "":
        return {}
    fields = {"description": value} if isinstance(value, str) else value
    if not isinstance(fields, dict) or not all(isinstance(v, str) for v in fields.values()):
        raise PromptError(f"{where}: control is {value!r}; expected a text or an object of texts")
    return {whole_text(where, "control", k): whole_text(where, "control", v) for k, v in fields.items()}
