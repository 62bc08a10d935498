"""What a tracker is to a run: a place that is shown the finished products. The run folder never depends on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kasauti.records import Finding, VerdictRow
from kasauti.settings import RunSettings, TrackingSettings


@dataclass(frozen=True)
class Start:
    """What a tracker is told of a run before its work.

    Attributes:
        run_id: Identity of the run.
        folder: The run folder.
        settings: What was asked for.
        prompts: Language code -> number of prompts.
        planned_s: `system NAME` or `judge NAME` -> estimated seconds of what is left to do.
        planned_usd: The same -> estimated US dollars; None where a price is not known.
        spent_usd: What earlier invocations spent on clips and judgments of this run.
    """

    run_id: str
    folder: Path
    settings: RunSettings
    prompts: Mapping[str, int] = field(default_factory=dict)
    planned_s: Mapping[str, float] = field(default_factory=dict)
    planned_usd: Mapping[str, float | None] = field(default_factory=dict)
    spent_usd: float = 0.0


@dataclass
class End:
    """How a run ended.

    Attributes:
        exit_code: What the process will hand back.
        error: What stopped the run; None where it has products.
        baseline: Id of the earlier run that the verdicts are against; None where there is none.
        verdicts: On the systems of this run (`a`) against those of the earlier one (`b`).
    """

    exit_code: int = 0
    error: str | None = None
    baseline: str | None = None
    verdicts: Sequence[VerdictRow] = ()


class Tracker:
    """Base of all trackers; does nothing itself."""

    options_type: type[TrackingSettings] = TrackingSettings

    baseline: str | None = None
    """What a run is compared with where the user asks for nothing: `latest`, or None for no comparison."""

    def __init__(self, options: TrackingSettings) -> None:
        self.options = options

    def check(self) -> Iterable[Finding]:
        """What is missing for it to work; asked before anything is made."""
        return ()

    def follows(self, finished: bool) -> bool:
        """Whether to show a run at all.

        Args:
            finished: The run was finished before and has nothing to do.
        """
        return not finished

    def begin(self, start: Start) -> None:
        """Called before the work; an exception ends the tracking, not the run."""

    def finish(self, end: End) -> str:
        """Called once after `begin`, whichever way the run ended; an exception costs the run nothing.

        Returns:
            One line for the user, may be empty: where to look.
        """
        return ""


class NoTracker(Tracker):
    """The run folder is all there is."""
