"""Shared by all tests. Its place also puts this folder on the import path, so that `import audio_files` works."""

import os

import pytest
from hypothesis import settings

# A deadline per example is a timing assertion: it fails on a busy machine and says nothing about the code. In CI the
# examples are the same each time, so that a failure there is about the change.
settings.register_profile("kasauti", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "kasauti")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI a skipped test is a failure: whatever a test needs is installed there."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") and reporter is not None and reporter.stats.get("skipped"):
        print("\nCI: a skipped test is a failure")
        session.exitstatus = max(session.exitstatus, pytest.ExitCode.TESTS_FAILED)
