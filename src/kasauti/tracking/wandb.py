"""Weights & Biases: one run there for each run here, under the same id. Package `wandb`, extra `tracking`.

Everything that the package writes lies in the folder `wandb` of the run, and goes with it. Host name, user, command
line, installed packages, code, terminal and system metrics stay here; settings and tables are sent without secrets and
without paths of the machine (`kasauti.tracking.shareable`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kasauti.errors import ConfigError, near_matches
from kasauti.paths import shown
from kasauti.records import Finding
from kasauti.settings import RunSettings, TrackingSettings
from kasauti.tracking.base import End, Start, Tracker
from kasauti.tracking.shareable import shareable

if TYPE_CHECKING:
    from kasauti.tracking.shown import Shown

MODES = ("online", "offline")
KEY = "WANDB_API_KEY"

_OF_THE_MACHINE = ("paths", "data", "tracking")
"""Sections of the config that say nothing of how numbers were made."""

_LONGEST_TAG = 64
_BEGIN_PATIENCE_S = 30.0
_FINISH_PATIENCE_S = 120.0
"""An upload that takes longer is given up; what was to be sent stays in the run folder, for `wandb sync`."""


@dataclass
class WandbOptions(TrackingSettings):
    """Options of the tracker.

    Attributes:
        project: Project at W&B.
        entity: User or team at W&B; None = the default of the account.
        mode: `online`, or `offline`: files in the run folder, sent later by `wandb sync`.
        tags: Further tags; systems, judges and the prompt set are tags anyway.
        again: Show a run that was finished before, too.
    """

    project: str = "kasauti"
    entity: str | None = None
    mode: str = "online"
    tags: list[str] = field(default_factory=list)
    again: bool = False


class WandbTracker(Tracker):
    """See the module."""

    options_type = WandbOptions
    options: WandbOptions
    baseline = "latest"

    def __init__(self, options: WandbOptions) -> None:
        super().__init__(options)
        if options.mode not in MODES:
            raise ConfigError(f"tracking.mode: no mode {options.mode!r}; {near_matches(options.mode, MODES)}")
        self._start: Start | None = None
        self._run: Any = None

    def check(self) -> Iterator[Finding]:
        """The package, and the key that sending needs."""
        if find_spec("wandb") is None:
            remedy = "Install it: pip install -e '.[tracking]'   (or leave it out: tracking=none)"
            yield Finding("error", "tracking wandb", "the package wandb is not installed.", remedy)
        if self.options.mode == "online" and not os.environ.get(KEY):
            remedy = f"export {KEY}=...   (or tracking=wandb_offline, which needs no account)"
            yield Finding("error", "tracking wandb", f"{KEY} is not set.", remedy)

    def follows(self, finished: bool) -> bool:
        """A finished run is shown again only when asked for."""
        return self.options.again or not finished

    def begin(self, start: Start) -> None:
        """Opens the run at W&B; a run that goes on does so under its id."""
        lacking = [finding.message for finding in self.check()]
        if lacking:
            raise ConfigError(" ".join(lacking))
        self._start = start
        with _inside(start.folder):
            import wandb

            try:
                self._run = wandb.init(
                    project=self.options.project,
                    entity=self.options.entity,
                    id=start.run_id,
                    resume="allow",
                    name=shareable(_name(start)),
                    group=shareable(start.settings.study),
                    job_type="evaluation",
                    tags=_tags(start.settings, self.options.tags),
                    config=_config(start),
                    reinit="create_new",
                    settings=wandb.Settings(**_discreet(), mode=self.options.mode, root_dir=str(start.folder)),
                )
            except BaseException:
                _end_session()
                raise

    def finish(self, end: End) -> str:
        """Sends what there is to show, and ends the run there with the exit code of the run here."""
        from kasauti.tracking.shown import shown_of  # reports: too much for `--help`, which reads the options here

        assert self._start is not None
        with _inside(self._start.folder):
            if self.options.mode == "online":
                told = f"W&B: {self._run.url}"
            else:
                told = f"W&B, offline; to send it: wandb sync {shown(Path(self._run.dir).parent)}"
            try:
                if end.error is None:
                    _send(self._run, shown_of(self._start, end))
                else:
                    self._run.summary.update(shareable({"error": end.error, "exit_code": end.exit_code}))
            finally:
                try:
                    self._run.finish(exit_code=end.exit_code)
                finally:
                    _end_session()
        return told


def _send(run: Any, what: Shown) -> None:
    import wandb

    run.summary.update(dict(what.summary))  # first: numbers must not be lost with a picture that can't be read
    for points in what.trend:
        run.log(dict(points))
    tables = {name: wandb.Table(columns=list(table.columns), data=table.rows) for name, table in what.tables.items()}
    run.log(tables | {f"figures/{name}": wandb.Image(str(path)) for name, path in what.pictures.items()})


def _discreet() -> dict[str, Any]:
    """Settings of the package: what it may not find out, save or say."""
    return {
        "host": "",
        "username": "",
        "email": "",
        "program": "run.py",
        "console": "off",
        "silent": True,
        "disable_code": True,
        "disable_git": True,
        "save_code": False,
        "symlink": False,
        "x_disable_meta": True,
        "x_disable_stats": True,
        "x_disable_machine_info": True,
        "x_save_requirements": False,
        "sagemaker_disable": True,
        "init_timeout": _BEGIN_PATIENCE_S,
        "finish_timeout": _FINISH_PATIENCE_S,
        "finish_timeout_raises": True,
    }


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Points every folder of the package below a run folder, and back."""
    own = folder / "wandb"
    wanted = {"WANDB_DIR": str(folder), "WANDB_ERROR_REPORTING": "false", "WANDB_SILENT": "true"}
    wanted |= {f"WANDB_{kind.upper()}_DIR": str(own / kind) for kind in ("cache", "data", "config", "artifact")}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _end_session() -> None:
    """Ends the package's helper process, so that the next run of this process gets one in its own folder."""
    import wandb

    if wandb.run is None:  # else somebody else's run is open in this process
        wandb.teardown()


def _name(start: Start) -> str:
    settings = start.settings
    systems, judges = ", ".join(s.id for s in settings.systems), ", ".join(j.id for j in settings.judges)
    return f"{systems} → {judges} · {settings.promptset.name} · {start.run_id[:8]}"


def _tags(settings: RunSettings, wished: list[str]) -> list[str]:
    parts = [*(system.id for system in settings.systems), *(judge.id for judge in settings.judges)]
    tags = shareable([*parts, settings.promptset.name, *wished])
    return list(dict.fromkeys(tag[:_LONGEST_TAG] for tag in tags))


def _config(start: Start) -> dict[str, Any]:
    settings = start.settings
    made_of = {name: section for name, section in settings.config.items() if name not in _OF_THE_MACHINE}
    config: dict[str, Any] = shareable(
        {**made_of, "overrides": settings.overrides, "run_id": start.run_id, "prompts": dict(start.prompts)}
    )
    return config
