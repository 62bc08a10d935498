"""Judges: the protocol (`base`) and one file per judge; a class comes in by `_target_` from its YAML file."""
