"""The four pictures of the package on Iris: affinity, embedding, eigenvalues, and a search over the paper's parameters.

``python pictures_of_a_fit.py FILE.png`` draws them side by side.
"""

import sys

from rpfcluster import RPFCluster, plot, sweep
from rpfcluster.datasets import load_iris


def main(picture: str | None = None) -> float:
    """Draw, and print and return the accuracy of the setting that was picked without labels."""
    from matplotlib import pyplot

    X, y = load_iris(return_X_y=True)
    model = RPFCluster(3, affinity="linear", random_state=0).fit(X)
    found = sweep(X, 3, y, random_state=0)
    figure, axes = pyplot.subplots(2, 2, figsize=(11, 9), layout="constrained")
    plot.heatmap(model, ax=axes[0, 0])
    plot.embedding(model, columns=(1, 2), ax=axes[0, 1])
    plot.eigengap(RPFCluster(8, affinity="linear", random_state=0).fit(X), ax=axes[1, 0])
    plot.sweep(found, ax=axes[1, 1])
    picked = float(found.results["rho_c"][found.label_free])
    best = float(found.results["rho_c"][found.best_by_labels])
    print(f"rho_c of the setting picked without labels {picked:.3f}, of the best by labels {best:.3f}")
    if picture is not None:
        figure.savefig(picture, dpi=80)
    pyplot.close(figure)
    return picked


if __name__ == "__main__":
    main(*sys.argv[1:2])
