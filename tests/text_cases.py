"""What the text tests share: rows of tests/cases, and hypothesis strategies for text in the scripts of India."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

CASES = Path(__file__).parent / "cases"

BLOCKS = {
    "Deva": (0x0900, 0x097F),
    "Beng": (0x0980, 0x09FF),
    "Guru": (0x0A00, 0x0A7F),
    "Gujr": (0x0A80, 0x0AFF),
    "Orya": (0x0B00, 0x0B7F),
    "Taml": (0x0B80, 0x0BFF),
    "Telu": (0x0C00, 0x0C7F),
    "Knda": (0x0C80, 0x0CFF),
    "Mlym": (0x0D00, 0x0D7F),
    "Arab": (0x0600, 0x06FF),
    "Olck": (0x1C50, 0x1C7F),
    "Mtei": (0xABC0, 0xABFF),
    "Latn": (0x0041, 0x017F),
}

AWKWARD = (
    "\u200c\u200d\u200b\ufeff\u00ad\u200e\u00a0 \t\n.,:;!?'’‘`-–—|।॥…()[]<>{}\"“”0123456789०१٣۴₹$%&/@#_\u0301\u093c"
)


def read_cases(name: str, *ops: str) -> list[dict[str, Any]]:
    """Rows of a case file, all of them or those of some operations."""
    lines = (CASES / name).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line]
    return [row for row in rows if not ops or row["op"] in ops]


def characters(script: str, categories: str = "LMN") -> str:
    """The assigned characters of a script's block, by first letter of their category."""
    first, last = BLOCKS[script]
    return "".join(c for c in map(chr, range(first, last + 1)) if unicodedata.category(c)[0] in categories)


def written_in(script: str, max_size: int = 40) -> st.SearchStrategy[str]:
    """Text in one script, with joiners, punctuation and Latin letters strewn in; not all of it well-formed."""
    letters = st.sampled_from(characters(script))
    return st.lists(st.one_of(letters, letters, letters, st.sampled_from(AWKWARD + "aBcé")), max_size=max_size).map(
        "".join
    )
