"""Settings that must precede the import of scipy and matplotlib, and fixtures of several files.

The settings are array-API checks, and drawing without a display.
"""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")
os.environ.setdefault("MPLBACKEND", "agg")

from engines import ray, spark  # noqa: F401
