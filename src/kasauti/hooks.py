"""Hydra's two ends: one job of the command line, and the end of a sweep.

A job never raises into Hydra: Hydra shows the first error of a sweep only and then leaves out its own end. Each job
of a sweep writes a record of how it ended; the end of the sweep reads the records, shows one leaderboard over the
finished jobs, and names the failed ones.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig

from kasauti.errors import ConfigError, ExitCode, KasautiError

exit_code = ExitCode.COMPLETE
"""How the command ended; `run.py` hands it to the shell. The worst job of a sweep counts."""

_RECORD = "job_*.json"
"""`*` = number of the job: a sweep whose jobs were sent to one folder still has a record of each."""


def run_job(cfg: DictConfig) -> None:
    """Runs one composed config and records how it ended."""
    _let_warn()
    hydra = HydraConfig.get()
    overrides = list(hydra.overrides.task)
    record = {"overrides": overrides, **_outcome(cfg, overrides)}
    _note(ExitCode(record["exit_code"]))
    if hydra.mode == RunMode.MULTIRUN:
        folder = Path(hydra.runtime.output_dir)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / _RECORD.replace("*", str(hydra.job.num))
        path.write_text(json.dumps(record, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def _outcome(cfg: DictConfig, overrides: list[str]) -> dict[str, Any]:
    """Runs one composed config, and how it ended: exit code, folder, error."""
    from kasauti.config import run_settings, task_options
    from kasauti.console import console
    from kasauti.parts import build
    from kasauti.pipeline.run import run

    if exit_code is ExitCode.INTERRUPTED:  # Ctrl-C is meant for the whole sweep
        return {"error": "not run: the sweep was interrupted", "exit_code": int(ExitCode.INTERRUPTED)}
    try:
        task = task_options(cfg)
        if task is not None and cfg.dry_run:
            raise ConfigError("dry_run: this study recomputes something and has no plan; it makes no clip and no call")
        if task is not None:
            return {"exit_code": int(build(task).run(console()))}
        result = run(run_settings(cfg, overrides), console())
        return {"run_id": result.run_id, "folder": str(result.folder), "exit_code": int(result.exit_code)}
    except KasautiError as error:
        _complain(str(error))
        return {"error": str(error), "exit_code": int(error.exit_code)}
    except Exception as error:
        traceback.print_exc()
        return {"error": f"{type(error).__name__}: {error}", "exit_code": int(ExitCode.INCOMPLETE)}


class SweepEnd(Callback):
    """Shows what a whole sweep came to."""

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        """Reads the jobs' records; Hydra gives no results."""
        from kasauti.cli.aggregate import show_sweep
        from kasauti.console import console

        paths = sorted(Path(config.hydra.sweep.dir).glob(f"*/{_RECORD}"), key=lambda path: int(path.stem[4:]))
        records = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
        for record in records:
            _note(ExitCode(record["exit_code"]))
        if not records or config.dry_run:
            return
        try:
            show_sweep(records, console())
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
