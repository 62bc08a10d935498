"""jiwer's own tests, run against this project's alignment and rates.

jiwer's source distribution carries its tests. They are not copied here; fetch it and say where it is:

    pip download --no-deps --no-binary :all: jiwer==4.0.0
    KASAUTI_JIWER_SDIST=jiwer-4.0.0.tar.gz pytest tests/outside/test_jiwer_suite.py
"""

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

SDIST = os.environ.get("KASAUTI_JIWER_SDIST")
HERE = Path(__file__).parent
SUITES = ("test_measures.py", "test_cer.py", "test_empty_ref.py", "test_alignment.py", "test_count_errors.py")

pytestmark = pytest.mark.oracle


def test_jiwer_tests_pass_on_our_counts(tmp_path):
    assert SDIST is not None, "KASAUTI_JIWER_SDIST must say where jiwer's source distribution is: make test-outside"
    with tarfile.open(SDIST) as archive:
        archive.extractall(tmp_path, filter="data")
    [tests] = tmp_path.glob("jiwer-*/tests")
    search = os.pathsep.join([str(HERE), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "jiwer_shim", "-p", "no:cacheprovider", *SUITES],
        cwd=tests,
        env={**os.environ, "PYTHONPATH": search},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert done.returncode == 0, done.stdout
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed
    assert int(passed[1]) >= 40
