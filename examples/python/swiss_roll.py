"""Manifold learning: a rolled-up sheet laid flat by the leading eigenvectors of the rpf-kernel.

``python swiss_roll.py FILE.png`` also draws it. Coordinates of new rows come from the same model; kernel PCA takes the
same matrix.
"""

import sys

import numpy as np
from scipy.stats import spearmanr
from sklearn.datasets import make_swiss_roll
from sklearn.decomposition import KernelPCA

from rpfcluster import RPFEmbedding, RPForestKernel


def main(picture: str | None = None) -> tuple[float, float]:
    """Print and return how well the first coordinate orders the sheet, for training rows and for new ones."""
    X, along = make_swiss_roll(2500, random_state=0)
    model = RPFEmbedding(2, random_state=0).fit(X[:2000])
    known = abs(spearmanr(model.embedding_[:, 0], along[:2000]).statistic)
    new = abs(spearmanr(model.transform(X[2000:])[:, 0], along[2000:]).statistic)
    print(f"rank correlation with the position along the roll: training rows {known:.3f}, new rows {new:.3f}")
    if picture is not None:
        draw(X[:2000], along[:2000], model, picture)
    return float(known), float(new)


def draw(X: np.ndarray, along: np.ndarray, model: RPFEmbedding, picture: str) -> None:
    """Draw the roll, the embedding, and kernel PCA of the same similarity."""
    from matplotlib import pyplot

    kernel = RPForestKernel(min_samples_split=20, random_state=0).fit(X)
    pca = KernelPCA(2, kernel="precomputed").fit_transform(kernel(X))
    figure = pyplot.figure(figsize=(13, 4.2), layout="constrained")
    roll = figure.add_subplot(1, 3, 1, projection="3d")
    roll.scatter(*X.T, c=along, s=4)
    roll.set_title("the roll")
    for place, title, flat in ((2, "RPFEmbedding", model.embedding_), (3, "kernel PCA of the rpf-kernel", pca)):
        ax = figure.add_subplot(1, 3, place)
        ax.scatter(*flat.T, c=along, s=4)
        ax.set(title=title, xlabel="coordinate 1", ylabel="coordinate 2")
    figure.savefig(picture, dpi=80)
    pyplot.close(figure)


if __name__ == "__main__":
    main(*sys.argv[1:2])
