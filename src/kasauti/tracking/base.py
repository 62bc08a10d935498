"""What a tracker is to a run: a place that is shown the finished products. The run folder never depends on it."""

from __future__ import annotations

from pathlib import Path

from kasauti.settings import TrackingSettings


class Tracker:
    """Base of all trackers; does nothing itself."""

    options_type: type[TrackingSettings] = TrackingSettings

    def __init__(self, options: TrackingSettings) -> None:
        self.options = options

    def finish(self, folder: Path, exit_code: int) -> None:
        """Called once at the end of a run, whichever way it ended.

        Args:
            folder: The run folder; its tables are there unless the run failed before it had any.
            exit_code: What the process will hand back.
        """


class NoTracker(Tracker):
    """The run folder is all there is."""
