"""The prompt files that ship: their manifest, their bytes, and what the smoke set promises to the default run."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kasauti.prompts import load_prompts
from kasauti.text.languages import resolve_language

PROMPTS = Path(__file__).parents[2] / "prompts"
FILES: dict[str, dict[str, Any]] = json.loads((PROMPTS / "MANIFEST.json").read_text(encoding="utf-8"))["files"]
SMOKE = [json.loads(line) for line in (PROMPTS / "smoke.jsonl").read_text(encoding="utf-8").splitlines()]
BLOCKS = {  # first and last code point of the block, from the Unicode code charts
    "en": (0x0041, 0x007A),
    "hi": (0x0900, 0x097F),
    "mr": (0x0900, 0x097F),
    "bn": (0x0980, 0x09FF),
    "ta": (0x0B80, 0x0BFF),
    "te": (0x0C00, 0x0C7F),
}
TAGS = {"plain", "digits", "code_switch", "names", "question", "number_words", "currency", "date"}
FIRST_FOUR = {"plain", "digits", "code_switch", "names"}
DANDA = "\u0964"


def letters_of(text: str) -> str:
    return "".join(char for char in text if unicodedata.category(char)[0] in "LM")


def test_manifest_names_every_prompt_file() -> None:
    assert sorted(FILES) == sorted(path.name for path in PROMPTS.glob("*.jsonl"))


@pytest.mark.parametrize("name", sorted(FILES))
def test_manifest_matches_the_file(name: str) -> None:
    entry = FILES[name]
    prompts = load_prompts(PROMPTS / name)
    assert hashlib.sha256((PROMPTS / name).read_bytes()).hexdigest() == entry["sha256"], (
        f"prompts/{name} was edited: raise its version, and record its new sha256 and count in prompts/MANIFEST.json"
    )
    assert len(prompts) == entry["count"]
    assert list(dict.fromkeys(prompt.lang for prompt in prompts)) == entry["languages"]
    assert set(entry["native_reviewed"]) <= set(entry["languages"])
    assert entry["version"]
    assert entry["licence"] == "CC-BY-4.0"


@pytest.mark.parametrize("name", sorted(FILES))
def test_bytes_are_utf8_nfc_with_plain_line_ends(name: str) -> None:
    data = (PROMPTS / name).read_bytes()
    text = data.decode("utf-8")
    assert unicodedata.is_normalized("NFC", text)
    assert data.endswith(b"\n")
    assert b"\r" not in data
    assert b"\n\n" not in data
    assert not [char for char in text if char != "\n" and unicodedata.category(char)[0] == "C"], "invisible character"


def test_smoke_has_ten_prompts_a_language_with_regular_ids() -> None:
    assert Counter(row["lang"] for row in SMOKE) == dict.fromkeys(BLOCKS, 10)
    numbers: Counter[str] = Counter()
    for row in SMOKE:
        numbers[row["lang"]] += 1
        assert list(row) == ["id", "lang", "text", "tags"]
        assert row["id"] == f"smoke_{row['lang']}_{numbers[row['lang']]:02d}"
        assert resolve_language(row["lang"]) == row["lang"]


@pytest.mark.parametrize("lang", BLOCKS)
def test_smoke_shows_every_kind_within_the_first_four(lang: str) -> None:
    rows = [row for row in SMOKE if row["lang"] == lang]
    assert {tag for row in rows[:4] for tag in row["tags"]} >= FIRST_FOUR
    assert {tag for row in rows for tag in row["tags"]} == TAGS


@pytest.mark.parametrize("row", SMOKE, ids=lambda row: str(row["id"]))
def test_smoke_sentence_is_speakable_and_tagged_by_what_is_in_it(row: dict[str, Any]) -> None:
    text, tags = str(row["text"]), set(row["tags"])
    assert 6 <= len(text.split()) <= 16
    assert text == " ".join(text.split())
    assert text[-1] in {".", "?", DANDA}
    assert ("question" in tags) == (text[-1] == "?")
    assert ("digits" in tags) == any(char.isdecimal() for char in text)
    assert "digits" in tags or not tags & {"currency", "date"}
    assert "plain" not in tags or len(tags) == 1
    assert len(tags) == len(row["tags"])


@pytest.mark.parametrize("row", SMOKE, ids=lambda row: str(row["id"]))
def test_smoke_sentence_is_in_the_script_of_its_language(row: dict[str, Any]) -> None:
    first, last = BLOCKS[row["lang"]]
    foreign = [char for char in letters_of(row["text"]) if not first <= ord(char) <= last]
    assert all(char.isascii() for char in foreign), "letters of a third script"
    if row["lang"] != "en":
        assert bool(foreign) == ("code_switch" in row["tags"])
        assert len(foreign) < len(letters_of(row["text"])) / 2


def test_no_sentence_comes_twice() -> None:
    assert len({row["text"].casefold() for row in SMOKE}) == len(SMOKE)
