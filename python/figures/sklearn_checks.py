"""Number of scikit-learn checks that each estimator passes: the table of docs/notes/2026-11-python-package.md.

``python python/figures/sklearn_checks.py`` exits with 1 if a check fails or is skipped.
"""

import os
import sys
import warnings
from collections import Counter

# Otherwise scikit-learn skips its check of array-API input.
os.environ["SCIPY_ARRAY_API"] = "1"

import sklearn
from sklearn.utils.estimator_checks import check_estimator

from rpfcluster import NJW, ClusterForests, RPFCluster, RPFEmbedding, RPFNeighbors, RPForest, RPForestKernel


def main() -> int:
    """Print one line for each estimator and return the number of checks that did not pass."""
    print(f"scikit-learn {sklearn.__version__}\n")
    print("| estimator | checks | passed | failed | skipped |\n|---|---|---|---|---|")
    left = 0
    for estimator in (
        RPFCluster(),
        RPForest(),
        RPForestKernel(),
        RPFEmbedding(),
        RPFNeighbors(),
        NJW(),
        ClusterForests(),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = check_estimator(estimator, on_skip=None, on_fail=None)
        ended = Counter(result["status"] for result in results)
        counts = len(results), ended["passed"], ended["failed"] + ended["xfail"], ended["skipped"]
        print(f"| `{type(estimator).__name__}` | {' | '.join(map(str, counts))} |", flush=True)
        left += counts[0] - counts[1]
    return left


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
