"""Real engines, one copy of their files for the whole session."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def cache() -> Iterator[None]:
    """Model files go to a folder that is gone afterwards, unless the caller has one to keep."""
    if "KASAUTI_CACHE" in os.environ:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="kasauti-cache-") as folder:
        os.environ["KASAUTI_CACHE"] = folder
        yield
        del os.environ["KASAUTI_CACHE"]
