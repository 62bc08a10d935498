"""`keep` and `figures`: the two commands that work on studies, not on single runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from kasauti.paths import ROOT, product_path, source_path

_STUDY = "a folder of results/, the study= that runs were given, or a path"


def add_study_commands(commands: Any) -> None:
    """Adds both to the parser of `python -m kasauti`."""
    keep = commands.add_parser("keep", help="put the small tables of finished runs into results/, to be committed")
    keep.add_argument("names", metavar="STUDY_OR_RUN", nargs="+", help=f"runs, or {_STUDY}")
    keep.add_argument("--as", dest="name", required=True, metavar="NAME", help="folder in results/; written anew")
    keep.add_argument("--results", type=Path, default=ROOT / "results", metavar="DIR", help=argparse.SUPPRESS)
    keep.set_defaults(run=_keep)

    figures = commands.add_parser("figures", help="draw studies for paper, as PNG and SVG")
    figures.add_argument("names", metavar="STUDY", nargs="*", help=f"{_STUDY} (default: all of results/)")
    figures.add_argument("--out", type=Path, metavar="DIR", help="where to (default: figures/, not committed)")
    figures.add_argument("--native", action="store_true", help="languages in their own letters too")
    figures.add_argument(
        "--names", dest="names_file", type=Path, metavar="FILE", help="names (default: conf/names.yaml)"
    )
    figures.add_argument("--results", type=Path, default=ROOT / "results", metavar="DIR", help=argparse.SUPPRESS)
    figures.set_defaults(run=_figures)


def _keep(options: argparse.Namespace) -> int:
    from kasauti.cli.keep import keep

    return keep(options.names, options.name, _runs(options), options.results)


def _figures(options: argparse.Namespace) -> int:
    from kasauti.cli.figures import figures
    from kasauti.report.names import NAMES

    names, out = options.names_file or NAMES, options.out or ROOT / "figures"
    return figures(options.names, out, options.results, _runs(options), names=names, native=options.native)


def _runs(options: argparse.Namespace) -> Path:
    return source_path(options.runs) if options.runs else product_path("runs")
