"""Where relative paths start: products at the repository, the user's own files at the current folder first."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The repository: the folder of `run.py`, `conf` and `prompts`."""


def product_path(path: str) -> Path:
    """A folder that runs write to; relative to the repository unless absolute."""
    return ROOT / os.path.expanduser(path)


def shown(path: Path) -> str:
    """A path as it can be opened from the current folder: relative if it is below it."""
    absolute = path.resolve()
    return str(absolute.relative_to(Path.cwd())) if absolute.is_relative_to(Path.cwd()) else str(absolute)


def source_path(path: str) -> Path:
    """A file or folder that a run reads: as given from the current folder if it is there, else from the repository."""
    # Paths come from users' files too: os.path answers where pathlib raises (a name too long, no such home).
    given = os.path.expanduser(path)
    return Path(given) if os.path.exists(given) else ROOT / given
