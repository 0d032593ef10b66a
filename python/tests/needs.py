"""Packages that some tests need and `make test` does not install."""

import importlib.util
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def require(package: str) -> None:
    """Skip the test if a package is missing, and record that; `make ecosystem` installs all of them."""
    if importlib.util.find_spec(package) is not None:
        return
    reason = f"tests with {package} do nothing; run `make ecosystem`"
    # Also with CI set: these packages are large. `make ecosystem` installs them and runs these tests.
    environment = os.environ | {"MAY_SKIP": f"{os.environ.get('MAY_SKIP', '')} {package}"}
    subprocess.run(["sh", str(ROOT / ".ci" / "needs"), "skip", package, reason], env=environment, capture_output=True)
    pytest.skip(reason)
