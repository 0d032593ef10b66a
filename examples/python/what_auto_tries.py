"""The families of settings that RPFCluster knows, and the partition that each gives.

``python what_auto_tries.py FILE.png`` draws them.
"""

import sys

import numpy as np

from rpfcluster import RPFCluster
from rpfcluster.datasets import make_shape
from rpfcluster.metrics import scores

SEEDS = range(5)
COLOURS = np.array(["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"])


FAMILIES = {
    "sharp (default): 20 neighbours, power 8": {"n_neighbors": 20, "power": 8.0},
    "soft: 10 neighbours, power 2": {"n_neighbors": 10, "power": 2.0},
    "coarse: linear, leaves of an eighth of the rows": {"affinity": "linear"},
}


def main(picture: str | None = None, shape: str = "spirals", n: int = 300) -> list[float]:
    """Print and return the adjusted Rand index of the choice, one value per seed of data and forest."""
    found = []
    for seed in SEEDS:
        X, y = make_shape(shape, n, random_state=seed)
        auto = RPFCluster(len(set(y)), tune=True, random_state=seed).fit(X)
        found.append(float(scores(auto.labels_, y)["ari"]))
        if picture is not None and seed == SEEDS[0]:
            draw(X, auto.n_clusters_, picture)
    print(f"adjusted Rand index of the choice {np.mean(found):.3f} ({min(found):.3f} to {max(found):.3f})")
    return found


def draw(X: np.ndarray, k: int, picture: str) -> None:
    """Draw the partition of every family."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(FAMILIES), figsize=(3.4 * len(FAMILIES), 3.6), layout="constrained")
    for (name, given), place in zip(FAMILIES.items(), axes, strict=True):
        leaves = len(X) // 8 if "affinity" in given else 24
        labels = RPFCluster(k, random_state=0, min_samples_split=leaves, **given).fit_predict(X)
        place.scatter(*X.T, c=COLOURS[labels], s=4, linewidths=0)
        place.set_title(name, fontsize=9)
        place.set(xticks=[], yticks=[], aspect="equal")
        for side in place.spines.values():
            side.set(color="#cccccc")
    figure.savefig(picture, dpi=90)
    pyplot.close(figure)


if __name__ == "__main__":
    main(*sys.argv[1:2])
