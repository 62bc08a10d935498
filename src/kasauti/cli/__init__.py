"""Subcommands of `python -m kasauti`; each works without Hydra."""
