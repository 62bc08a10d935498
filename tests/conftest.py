"""Shared by all tests. Its place also puts this folder on the import path, so that `import audio_files` works."""

from hypothesis import settings

# A deadline per example is a timing assertion: it fails on a busy machine and says nothing about the code.
settings.register_profile("kasauti", deadline=None)
settings.load_profile("kasauti")
