"""Data sets that are fetched and never contained; from a model hub at one commit, or from a local copy."""
