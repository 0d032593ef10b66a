"""Manifold learning: the leading eigenvectors of the rpf-kernel unroll a sheet.

``python swiss_roll.py FILE.png`` also draws it. The same model gives coordinates of new rows; kernel PCA accepts the
same matrix.
"""

import sys

import numpy as np
from scipy.stats import spearmanr
from sklearn.datasets import make_swiss_roll
from sklearn.decomposition import KernelPCA

from rpfcluster import RPFEmbedding, RPForestKernel

SEEDS = range(5)


def main(picture: str | None = None) -> dict[str, list[float]]:
    """Print and return the rank correlation of the first coordinate with the position along the roll, per seed."""
    found: dict[str, list[float]] = {"training rows": [], "new rows": []}
    for seed in SEEDS:
        X, along = make_swiss_roll(2500, random_state=seed)
        model = RPFEmbedding(2, random_state=seed).fit(X[:2000])
        known, new = model.embedding_, model.transform(X[2000:])
        found["training rows"].append(abs(float(spearmanr(known[:, 0], along[:2000]).statistic)))
        found["new rows"].append(abs(float(spearmanr(new[:, 0], along[2000:]).statistic)))
        if picture is not None and seed == SEEDS[0]:
            draw(X[:2000], along[:2000], model, picture)
    for name, scores in found.items():
        print(f"rank correlation, {name:14} {np.mean(scores):.3f} ({min(scores):.3f} to {max(scores):.3f})")
    return found


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
