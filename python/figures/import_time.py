"""What importing the package costs beyond numpy, in fresh interpreters: the smallest of several tries.

``python python/figures/import_time.py``. The package loads its estimators, and with them scikit-learn, on first use;
both moments are shown, and scikit-learn alone beside them.
"""

import subprocess
import sys

STATEMENTS = {
    "import rpfcluster": "import rpfcluster",
    "from rpfcluster import RPFCluster": "from rpfcluster import RPFCluster",
    "from sklearn.cluster import SpectralClustering": "from sklearn.cluster import SpectralClustering",
}


def seconds(statement: str, tries: int) -> float:
    """Return the seconds a statement takes after numpy is there."""
    code = f"import time, numpy; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    runs = (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(tries)
    )
    return min(float(run.stdout) for run in runs)


def main(tries: int = 7) -> dict[str, float]:
    """Print and return the seconds of each statement."""
    found = {name: seconds(statement, tries) for name, statement in STATEMENTS.items()}
    for name, cost in found.items():
        print(f"{name:48} {cost:.3f} s beyond numpy")
    return found


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
