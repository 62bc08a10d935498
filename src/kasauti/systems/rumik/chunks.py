"""Long texts in pieces: cut at the end of a sentence, else of a clause, else between words, else between clusters."""

from __future__ import annotations

import re

from kasauti.text.units import graphemes

_ENDS = (
    re.compile(r"[.!?…।॥۔؟᱾꯫]+[\"'”’»)\]]*(?=\s)"),
    re.compile(r"[,;:،؛—–]+[\"'”’»)\]]*(?=\s)"),
    re.compile(r"\S(?=\s)"),
)
"""Where a text may be cut, best first."""


def pieces(text: str, limit: int) -> list[str]:
    """Cuts a text into pieces of at most `limit` code points, each as long as it can be; a cluster is never cut.

    Args:
        text: Any text.
        limit: At least 1; a single cluster that is longer makes a piece of its own.

    Returns:
        The pieces without white space at their ends, none of them empty.
    """
    rest = text.strip()
    found = []
    while len(rest) > limit:
        cut = _cut(rest, limit)
        found.append(rest[:cut].strip())
        rest = rest[cut:].strip()
    return [*found, rest] if rest else found


def _cut(text: str, limit: int) -> int:
    head = text[: limit + 1]
    for end in _ENDS:
        cuts = [match.end() for match in end.finditer(head) if match.end() <= limit]
        if cuts:
            return cuts[-1]
    size = 0
    for cluster in graphemes(text):
        if size and size + len(cluster) > limit:
            break
        size += len(cluster)
    return size
