"""Figures beside the tables of a run or a sweep: drawn where the extra is installed, never the reason of a failure."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from kasauti.report.figures.all import figures_of
from kasauti.report.figures.plate import write_plates
from kasauti.report.figures.style import FigureError
from kasauti.report.loading import RunTables
from kasauti.report.names import read_names
from kasauti.report.studies import Study

FOLDER = "figures"
"""Where they lie, in the folder of the tables."""

_PACKAGES = ("matplotlib", "seaborn")


def draw_beside(runs: Sequence[RunTables], folder: Path) -> str:
    """Draws what can be drawn of runs into `folder/figures`.

    Returns:
        Why nothing was drawn; empty where something was.

    Raises:
        StoreError: the folder can't be written.
    """
    if any(find_spec(name) is None for name in _PACKAGES):
        return "not drawn: pip install -e '.[figures]'"
    try:
        write_plates(figures_of(Study(folder.name, folder, tuple(runs)), read_names()), folder / FOLDER)
    except FigureError as error:
        return f"not drawn: {error}"
    return ""
