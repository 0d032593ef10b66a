"""Four plots of a clustering of Iris: affinity, embedding, eigenvalues, and a sweep over the paper's parameters.

``python pictures_of_a_fit.py FILE.png`` draws them side by side.
"""

import sys

import numpy as np

from rpfcluster import RPFCluster, plot, sweep
from rpfcluster.datasets import load_iris

SEEDS = range(5)


def main(picture: str | None = None) -> dict[str, list[float]]:
    """Print and return the accuracy of the label-free choice and of the best setting, one value per seed."""
    X, y = load_iris(return_X_y=True)
    sweeps = [sweep(X, 3, y, random_state=seed) for seed in SEEDS]
    found = {
        "chosen without labels": [float(one.results["rho_c"][one.label_free]) for one in sweeps],
        "best by labels": [float(one.results["rho_c"][one.best_by_labels]) for one in sweeps],
    }
    for name, scores in found.items():
        print(f"rho_c, {name:22} {np.mean(scores):.3f} ({min(scores):.3f} to {max(scores):.3f})")
    if picture is not None:
        draw(X, sweeps[0], picture)
    return found


def draw(X, found, picture: str) -> None:
    """Draw the plots of one fit and of one sweep."""
    from matplotlib import pyplot

    model = RPFCluster(3, affinity="linear", random_state=0).fit(X)
    figure, axes = pyplot.subplots(2, 2, figsize=(11, 9), layout="constrained")
    plot.heatmap(model, ax=axes[0, 0])
    plot.embedding(model, columns=(1, 2), ax=axes[0, 1])
    plot.eigengap(RPFCluster(8, affinity="linear", random_state=0).fit(X), ax=axes[1, 0])
    plot.sweep(found, ax=axes[1, 1])
    figure.savefig(picture, dpi=80)
    pyplot.close(figure)


if __name__ == "__main__":
    main(*sys.argv[1:2])
