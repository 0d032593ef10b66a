"""Outliers by co-leaf neighbours: a row whose nearest partners share few leaves with it lies alone."""

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score

from rpfcluster import RPForest
from rpfcluster.datasets import make_shape


def main() -> tuple[float, float]:
    """Print and return the area under the ROC curve for points scattered among moons, and isolation forest's."""
    X, _ = make_shape("moons", 950, random_state=0)
    random = np.random.default_rng(0)
    scattered = random.uniform(X.min(axis=0) - 0.3, X.max(axis=0) + 0.3, size=(50, 2))
    rows = np.vstack([X, scattered])
    outlier = np.repeat([0, 1], [950, 50])
    distances, _ = RPForest(300, min_samples_split=20, random_state=0).fit(rows).kneighbors(n_neighbors=10)
    ours = float(roc_auc_score(outlier, distances.mean(axis=1)))
    isolation = float(
        roc_auc_score(outlier, -IsolationForest(n_estimators=300, random_state=0).fit(rows).score_samples(rows))
    )
    print(f"area under the ROC curve: co-leaf neighbours {ours:.3f}, isolation forest {isolation:.3f}")
    return ours, isolation


if __name__ == "__main__":
    main()
