"""Outlier detection by co-leaf neighbours: a row that shares few leaves with its nearest neighbours is isolated."""

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score

from rpfcluster import RPForest
from rpfcluster.datasets import make_shape

SEEDS = range(5)


def main() -> dict[str, list[float]]:
    """Print and return the area under the ROC curve for uniform noise around two moons, one value per seed."""
    found: dict[str, list[float]] = {"co-leaf neighbours": [], "isolation forest": []}
    for seed in SEEDS:
        X, _ = make_shape("moons", 950, random_state=seed)
        noise = np.random.default_rng(seed).uniform(X.min(axis=0) - 0.3, X.max(axis=0) + 0.3, size=(50, 2))
        rows = np.vstack([X, noise])
        outlier = np.repeat([0, 1], [950, 50])
        forest = RPForest(300, min_samples_split=20, random_state=seed).fit(rows)
        distances, _ = forest.kneighbors(n_neighbors=10)
        isolation = IsolationForest(n_estimators=300, random_state=seed).fit(rows)
        found["co-leaf neighbours"].append(float(roc_auc_score(outlier, distances.mean(axis=1))))
        found["isolation forest"].append(float(roc_auc_score(outlier, -isolation.score_samples(rows))))
    for name, scores in found.items():
        print(f"area under the ROC curve, {name:19} {np.mean(scores):.3f} ({min(scores):.3f} to {max(scores):.3f})")
    return found


if __name__ == "__main__":
    main()
