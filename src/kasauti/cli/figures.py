"""`figures`: all figures of studies as PNG and SVG; what `make figures` calls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kasauti.errors import ConfigError, ExitCode
from kasauti.paths import shown
from kasauti.report.figures import figures_of, write_plates
from kasauti.report.names import NAMES, read_names
from kasauti.report.studies import is_study, load_study


def figures(
    studies: Sequence[str], out: Path, results: Path, runs: Path, *, names: Path = NAMES, native: bool = False
) -> ExitCode:
    """Draws studies and says where.

    Args:
        studies: As for `kasauti.report.load_study`; none = all in `results`.
        out: A folder for each study is made in it.
        results: The folder of all finished studies.
        runs: The folder of all runs.
        names: The YAML file of names for people.
        native: Languages in their own letters too.

    Raises:
        ConfigError: there is no such study.
        FigureError: a study holds nothing to draw, or libraries or fonts are missing.
    """
    wanted = list(studies) or [folder.name for folder in sorted(results.glob("*/")) if is_study(folder)]
    if not wanted:
        raise ConfigError(f"figures: no study in {results}; name one, or keep one: python -m kasauti keep STUDY")
    shown_names = read_names(names, native=native)
    for name in wanted:
        study = load_study(name, results, runs)
        folder = out / study.name
        written = write_plates(figures_of(study, shown_names), folder)
        print(f"{shown(folder)}: {', '.join(dict.fromkeys(path.stem for path in written))} (png, svg)")
    return ExitCode.COMPLETE
