"""`+experiment=reproduce_indicemo`: the published IndicEmo tables, recomputed from the published judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kasauti.errors import ExitCode
from kasauti.panel.bundle import BundleOptions, locate

if TYPE_CHECKING:
    from rich.console import Console


class Reproduce:
    """The study. Its options are known at every start of the program, so its workings are imported when it runs."""

    options_type = BundleOptions

    def __init__(self, options: BundleOptions) -> None:
        self._options = options

    def run(self, console: Console) -> ExitCode:
        """Verifies everything and says PASS or FAIL.

        Raises:
            BundleError: the bundle is not there and can't be fetched.
        """
        from kasauti.panel.verify import verify

        return verify(locate(self._options, console), self._options.checksums_sha256, console)
