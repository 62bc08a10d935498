"""Hydra's two ends: one job of the command line, and the end of a sweep.

A job never raises into Hydra: Hydra shows the first error of a sweep only and then leaves out its own end. Each job
of a sweep writes a record of how it ended (`kasauti.pipeline.sweep`); the end of the sweep is made from the records, as
`python -m kasauti aggregate --sweep` makes it again.
"""

from __future__ import annotations

import logging
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.core.hydra_config import HydraConfig
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig

from kasauti.errors import ConfigError, ExitCode, KasautiError

if TYPE_CHECKING:
    from kasauti.pipeline.sweep import Place

exit_code = ExitCode.COMPLETE
"""How the command ended; `run.py` hands it to the shell. The worst job of a sweep counts."""

_sweep: DictConfig | None = None
"""The config of the sweep whose jobs this process has sent, until its end was shown."""


def run_job(cfg: DictConfig) -> None:
    """Runs one composed config and records how it ended."""
    from kasauti.console import console
    from kasauti.pipeline.sweep import Job, Place, SweepFolder

    _let_warn()
    hydra = HydraConfig.get()
    overrides = list(hydra.overrides.task)
    if hydra.mode != RunMode.MULTIRUN:
        _note(ExitCode(_outcome(cfg, overrides)["exit_code"]))
        return
    place = Place(SweepFolder(Path(hydra.sweep.dir)), hydra.job.num)
    folder, begun = Path(hydra.runtime.output_dir), Job(place.number, tuple(overrides))
    place.sweep.write(begun, folder)
    console().print(f"\njob {place.number}: {' '.join(overrides)}", markup=False, highlight=False, soft_wrap=True)
    ended = replace(begun, **_outcome(cfg, overrides, place))
    place.sweep.write(ended, folder)
    _note(ExitCode(ended.exit_code))


def _outcome(cfg: DictConfig, overrides: list[str], place: Place | None = None) -> dict[str, Any]:
    """Runs one composed config, and how it ended, as fields of a `Job`."""
    from kasauti.config import run_settings, task_options
    from kasauti.console import console
    from kasauti.parts import build
    from kasauti.pipeline.run import run

    if exit_code is ExitCode.INTERRUPTED:  # Ctrl-C is meant for the whole sweep
        error = "not run: the sweep was interrupted"
        return {"state": "interrupted", "error": error, "exit_code": int(ExitCode.INTERRUPTED)}
    try:
        task = task_options(cfg)
        if task is not None and cfg.dry_run:
            raise ConfigError("dry_run: this study recomputes something and has no plan; it makes no clip and no call")
        if task is not None:
            return _ended(build(task).run(console()))
        result = run(run_settings(cfg, overrides), console(), place)
        ended = {"run_id": result.run_id, "folder": str(result.folder), "record_s": result.record_s}
        ended |= _ended(result.exit_code)
        if result.same_as is not None:
            ended |= {"state": "same", "same_as": result.same_as, "note": result.note}
        return ended
    except KasautiError as error:
        _complain(str(error))
        return {"state": "failed", "error": str(error), "exit_code": int(error.exit_code)}
    except Exception as error:
        traceback.print_exc()
        told = f"{type(error).__name__}: {error}"
        return {"state": "failed", "error": told, "exit_code": int(ExitCode.INCOMPLETE)}


def _ended(code: int) -> dict[str, Any]:
    states = {ExitCode.COMPLETE: "complete", ExitCode.INTERRUPTED: "interrupted"}
    return {"state": states.get(ExitCode(code), "incomplete"), "exit_code": int(code)}


class SweepEnd(Callback):
    """Begins the folder of a sweep, and shows what the whole sweep came to."""

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Before the first job, in the process that sends them."""
        from kasauti.pipeline.sweep import SweepFolder

        global _sweep
        SweepFolder(Path(config.hydra.sweep.dir)).begin()
        _sweep = config

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        """Reads the jobs' records; Hydra gives no results, and calls this only if every job came back."""
        _show_end(config)


def end_of_broken_sweep(error: Exception) -> bool:
    """Shows the end of a sweep whose launcher lost a job: its process died without a word (memory, a signal).

    Returns:
        False where there is no such sweep: the error is a fault of this program.
    """
    if _sweep is None:
        return False
    first = (str(error).strip().splitlines() or [""])[0]
    _complain(f"the process of a job ended before its job did ({type(error).__name__}: {first})")
    _show_end(_sweep)
    _note(ExitCode.INCOMPLETE)
    return True


def _show_end(config: DictConfig) -> None:
    from kasauti.cli.sweep import show_sweep
    from kasauti.console import console
    from kasauti.pipeline.sweep import SweepFolder

    global _sweep
    _sweep = None
    try:
        _note(show_sweep(SweepFolder(Path(config.hydra.sweep.dir)), console(), dry_run=config.dry_run))
    except KasautiError as error:  # Hydra would make a warning of it, and exit code 0
        _complain(f"the jobs of this sweep have no common table: {error}")
        _note(ExitCode.INCOMPLETE)


def _let_warn() -> None:
    """Hydra's `disabled` logging, which keeps others quiet, silences every logger there is; ours have things to say."""
    for name in ["kasauti", *logging.root.manager.loggerDict]:
        if name.partition(".")[0] == "kasauti":
            logging.getLogger(name).disabled = False
    logging.getLogger("kasauti").setLevel(logging.WARNING)


def _note(code: ExitCode) -> None:
    global exit_code
    exit_code = max(exit_code, code)


def _complain(message: str) -> None:
    print(f"error: {message}", file=sys.stderr)
