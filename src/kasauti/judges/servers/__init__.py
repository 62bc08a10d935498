"""Programs that serve a judge from an interpreter of its own, where kasauti is not installed: run by path."""
