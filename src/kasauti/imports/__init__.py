"""Imports: results that others published, read into a run folder so that a new system stands beside them."""
