"""The picture of the README: 2-D shapes, clustered by four methods.

`python shapes_picture.py FILE.png` draws it. The number of clusters is given to every method that takes one; nothing
else is set. The number in a panel is the adjusted Rand index: 1 for the true clusters, 0 for chance.
"""

from __future__ import annotations

import sys

import matplotlib
import numpy as np
from methods import METHODS
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix

from rpfcluster.datasets import make_shape

SHAPES = ("rings", "moons", "spirals", "chains", "anisotropic", "densities")
SHOWN = {"KMeans": "K-means", "GaussianMixture": "Gaussian mixture", "HDBSCAN": "HDBSCAN", "rpf default": "RPFCluster"}
ROWS = 900
# The palette of Okabe and Ito; grey is noise or a surplus cluster.
COLOURS = np.array(["#0072B2", "#D55E00", "#009E73", "#bbbbbb"])


def colours(labels: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return a colour for each row, that of the class matched to its cluster."""
    table = contingency_matrix(truth, labels)
    classes, clusters = linear_sum_assignment(table, maximize=True)
    colour = np.full(table.shape[1], len(COLOURS) - 1)
    colour[clusters] = classes
    names, index = np.unique(labels, return_inverse=True)
    colour[names < 0] = len(COLOURS) - 1
    return COLOURS[colour[index]]


def main(path: str) -> None:
    """Cluster every shape with every method and draw the results."""
    matplotlib.use("agg")
    from matplotlib import pyplot

    size = (1.75 * len(SHAPES), 1.8 * len(SHOWN))
    figure, axes = pyplot.subplots(len(SHOWN), len(SHAPES), figsize=size, layout="constrained")
    for column, shape in enumerate(SHAPES):
        X, truth = make_shape(shape, ROWS, random_state=0)
        for row, (method, title) in enumerate(SHOWN.items()):
            labels = METHODS[method](X, len(set(truth.tolist())), 0)
            panel = axes[row, column]
            panel.scatter(*X.T, c=colours(labels, truth), s=2, linewidths=0)
            panel.set(xticks=[], yticks=[], title=shape if row == 0 else None)
            panel.set_ylabel(title if column == 0 else "", fontweight="bold" if row == len(SHOWN) - 1 else None)
            score = f"{adjusted_rand_score(truth, labels):.2f}"
            box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}
            panel.text(0.97, 0.03, score, transform=panel.transAxes, ha="right", fontsize=8, bbox=box)
    figure.savefig(path, dpi=100, metadata={"Software": None})


if __name__ == "__main__":
    main(sys.argv[1])
