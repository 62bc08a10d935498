"""Units: what an error is counted in.

All functions return a sequence of units, expect text that is already normalised, and change no character. `graphemes`
follows UAX 29 extended grapheme clusters with rule GB9c (Unicode 15.1 and later), which keeps a conjunct whole: हिन्दी
is हि + न्दी. An older library gives three clusters for that word, so its version is part of every score's signature.
"""

from __future__ import annotations

from functools import cache
from importlib import metadata

import regex

_find_clusters = regex.compile(r"\X").findall


def code_points(text: str) -> str:
    """Code points, spaces included (the unit of `cer`): the text itself, since a string is a sequence of them."""
    return text


def code_points_without_spaces(text: str) -> str:
    """Code points less the white space (the unit of `cer_nospace`)."""
    return "".join(text.split())


def graphemes(text: str) -> list[str]:
    """Extended grapheme clusters, spaces included (the unit of `gcer`).

    Source: Unicode Standard Annex 29, rules GB1 to GB999, through the `regex` package.
    """
    return list(_find_clusters(text))


def words(text: str) -> list[str]:
    """Runs of characters that are not white space (the unit of `wer`)."""
    return text.split()


@cache
def segmentation_rules() -> str:
    """Library, its version, and the version of Unicode it carries, e.g. `regex 2026.11.19 Unicode 18.0.0`."""
    package = metadata.metadata("regex").json
    stated = regex.search(r"supports Unicode (\d+(?:\.\d+)*)", str(package.get("description", "")))
    return f"regex {package['version']} Unicode {stated[1] if stated else 'unknown'}"
