"""Where relative paths start: products at the repository, the user's own files at the current folder first."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The repository: the folder of `run.py`, `conf` and `prompts`."""


def product_path(path: str) -> Path:
    """A folder that runs write to; relative to the repository unless absolute."""
    return ROOT / Path(path).expanduser()


def source_path(path: str) -> Path:
    """A file or folder that a run reads: as given from the current folder if it is there, else from the repository."""
    given = Path(path).expanduser()
    return given if given.exists() else ROOT / given
