"""Trackers: where a run is shown besides its own folder."""
