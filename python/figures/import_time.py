"""Import time of the package beyond numpy, in new interpreters; the minimum of several runs.

``python python/figures/import_time.py [RUNS]``. The package imports its estimators, and scikit-learn with them, on
first use. Both imports are measured, and that of scikit-learn alone for comparison.
"""

import subprocess
import sys

STATEMENTS = {
    "import rpfcluster": "import rpfcluster",
    "from rpfcluster import RPFCluster": "from rpfcluster import RPFCluster",
    "from sklearn.cluster import SpectralClustering": "from sklearn.cluster import SpectralClustering",
}


def seconds(statement: str, tries: int) -> float:
    """Return the seconds of a statement after the import of numpy."""
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
