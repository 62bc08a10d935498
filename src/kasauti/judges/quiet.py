"""Silence around the set-up of an engine: what libraries tell developers would bury what a run tells its user.

An exception still comes through with its own words.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet() -> Iterator[None]:
    """Drops log records and warnings of everybody while an engine is imported and its model loaded."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
