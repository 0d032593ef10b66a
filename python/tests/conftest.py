"""Set before anything imports scipy or matplotlib: check array-API input too, draw without a screen."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")
os.environ.setdefault("MPLBACKEND", "agg")
