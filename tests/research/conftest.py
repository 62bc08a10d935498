"""matplotlib keeps a list of the machine's fonts in the user's home; here it keeps it in a folder of the tests."""

from __future__ import annotations

import atexit
import os
import tempfile

_FOLDER = tempfile.TemporaryDirectory(prefix="kasauti-matplotlib-")
atexit.register(_FOLDER.cleanup)
os.environ["MPLCONFIGDIR"] = _FOLDER.name
