"""Ten labels per class on PenDigits: label spreading over the rpf-kernel, over nearest neighbours, and no spreading.

RPF_DATA must name a folder that contains large/pendigits. Every seed draws other labelled rows and grows another
forest. Nothing is tuned on the hidden labels; every setting that was tried is printed.
"""

import os
from pathlib import Path

import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

from rpfcluster import RPForestKernel

SEEDS = range(5)
POWERS = (1, 2, 4)


def load(folder: str | None) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the 10,992 rows and their digits; None where there is no data."""
    files = [Path(folder or "") / "large" / "pendigits" / f"pendigits.{part}" for part in ("tra", "tes")]
    if not folder or not all(file.exists() for file in files):
        return None
    table = np.vstack([np.loadtxt(file, delimiter=",") for file in files])
    return table[:, :-1], table[:, -1].astype(int)


def classifiers(X: np.ndarray, seed: int) -> dict[str, object]:
    """Return the classifiers by name."""
    # Similarities below 0.05 are dropped, so that the graph is sparse.
    forest = RPForestKernel(min_similarity=0.05, sparse_output=True, random_state=seed).fit(X)
    graph = forest(X, X)
    spread = {
        f"spreading, rpf-kernel to the power {power}": LabelSpreading(
            kernel=lambda a, b, power=power: graph.power(power), alpha=0.5
        )
        for power in POWERS
    }
    return {
        **spread,
        "spreading, 7 nearest neighbours": LabelSpreading(kernel="knn", n_neighbors=7, alpha=0.5),
        "no spreading, nearest neighbour": KNeighborsClassifier(1),
        "no spreading, RBF kernel": SVC(C=10),
    }


def main() -> dict[str, list[float]] | None:
    """Print and return the accuracy on the hidden labels, one value per seed."""
    data = load(os.environ.get("RPF_DATA"))
    if data is None:
        print("skipped: no data")
        return None
    X, truth = data
    found: dict[str, list[float]] = {}
    for seed in SEEDS:
        random = np.random.default_rng(seed)
        known = np.concatenate([random.choice(np.flatnonzero(truth == c), 10, replace=False) for c in range(10)])
        given = np.full(len(truth), -1)
        given[known] = truth[known]
        hidden = given == -1
        for name, model in classifiers(X, seed).items():
            if isinstance(model, LabelSpreading):
                guess = model.fit(X, given).transduction_[hidden]
            else:
                guess = model.fit(X[known], truth[known]).predict(X[hidden])
            found.setdefault(name, []).append(float((guess == truth[hidden]).mean()))
    for name, scores in found.items():
        print(f"{name:40} {np.mean(scores):.3f} ({min(scores):.3f} to {max(scores):.3f})")
    return found


if __name__ == "__main__":
    main()
