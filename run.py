"""Entry point: one run, or a sweep of runs, of whatever the command line composes. `python run.py --help`."""

from __future__ import annotations

import os
import sys

import hydra
from hydra.errors import HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from kasauti import hooks
from kasauti.config import explain, help_text, register
from kasauti.console import tolerate_any_encoding
from kasauti.errors import ExitCode

register()


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def job(cfg: DictConfig) -> None:
    """One job; Hydra calls it for every combination of a sweep."""
    hooks.run_job(cfg)


def main() -> int:
    """Runs the command line and returns the exit code."""
    tolerate_any_encoding()
    if {"--help", "-h"} & set(sys.argv[1:]):
        print(help_text(), end="")
        return ExitCode.COMPLETE
    # Hydra turns errors of the config into exit code 1 unless it is told to raise them; for us they are usage: 2.
    os.environ["HYDRA_FULL_ERROR"] = "1"
    try:
        job()
    # ValueError: what Hydra itself makes of system=null.
    except (HydraException, OmegaConfBaseException, ValueError) as error:
        print(f"error: {explain(error)}", file=sys.stderr)
        return ExitCode.USAGE
    except Exception as error:
        if not hooks.end_of_broken_sweep(error):
            raise
    except KeyboardInterrupt:
        # Threads that are in the middle of a call would be waited for. What was recorded is on disk, locks and workers
        # end with this process.
        sys.stdout.flush()
        os._exit(ExitCode.INTERRUPTED)
    return hooks.exit_code


if __name__ == "__main__":
    sys.exit(main())
