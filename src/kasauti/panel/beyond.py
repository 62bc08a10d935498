"""`+experiment=indicemo_beyond`: what the published IndicEmo table does not say, from the same judgments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kasauti.errors import ExitCode
from kasauti.panel.bundle import BundleOptions, locate
from kasauti.paths import product_path
from kasauti.settings import MISSING

if TYPE_CHECKING:
    from rich.console import Console


@dataclass
class BeyondOptions(BundleOptions):
    """Options of the study.

    Attributes:
        out: Folder of tables and page; relative to the repository unless absolute.
        draws: Bootstrap draws, and deals of the labels.
        seed: Seed of both.
    """

    out: str = MISSING
    draws: int = 10_000
    seed: int = 0


class Beyond:
    """The study. Its options are known at every start of the program, so its workings are imported when it runs."""

    options_type = BeyondOptions

    def __init__(self, options: BeyondOptions) -> None:
        self._options = options

    def run(self, console: Console) -> ExitCode:
        """Prints tables, and writes them with a page.

        Raises:
            BundleError: the bundle is not there, can't be fetched, or is not the published one.
            StoreError: the folder can't be written.
        """
        from kasauti.panel.explore import explore
        from kasauti.panel.intervals import Draws

        folder = locate(self._options, console)
        draws = Draws(self._options.draws, self._options.seed)
        return explore(folder, self._options.checksums_sha256, draws, product_path(self._options.out), console)
