"""Toy data sets clustered by scikit-learn's algorithms and by RPFCluster.

``python compare_clusterers.py FILE.png`` draws the grid. Every algorithm that accepts the number of clusters is given
it; nothing else is tuned per data set. Each panel shows the first seed with its adjusted Rand index and the time of
the fit; the table gives the mean over all seeds of data and algorithm, and the lowest value.
"""

import sys
import time
import warnings

import numpy as np
from sklearn import cluster, mixture
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from rpfcluster import RPFCluster
from rpfcluster.datasets import make_shape

SEEDS = range(5)
SETS = {"rings": 3, "moons": 2, "spirals": 3, "chains": 3, "anisotropic": 3, "densities": 3, "blobs": 3, "noise": 1}


def algorithms(k: int, seed: int) -> dict[str, object]:
    """Return the algorithms by name, for k clusters."""
    return {
        "K-means": cluster.KMeans(k, n_init=3, random_state=seed),
        "Ward": cluster.AgglomerativeClustering(k, linkage="ward"),
        "Spectral": cluster.SpectralClustering(k, affinity="nearest_neighbors", random_state=seed),
        "DBSCAN": cluster.DBSCAN(eps=0.15),
        "HDBSCAN": cluster.HDBSCAN(min_cluster_size=15, copy=True),
        "Mixture": mixture.GaussianMixture(k, random_state=seed),
        "RPFCluster": RPFCluster(k, random_state=seed),
    }


def main(
    picture: str | None = None, n_samples: int = 600, sets: tuple[str, ...] = tuple(SETS)
) -> dict[str, dict[str, list[float]]]:
    """Cluster every set with every algorithm; print and return the adjusted Rand indices, one value per seed."""
    found: dict[str, dict[str, list[float]]] = {}
    panels = {}
    for name in sets:
        k = SETS[name]
        for seed in SEEDS:
            X, truth = make_shape(name, n_samples, random_state=seed)
            X = StandardScaler().fit_transform(X)
            # Uniform noise has no clusters; three are requested to show what each algorithm returns.
            for title, model in algorithms(max(k, 3) if name == "noise" else k, seed).items():
                begun = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.filterwarnings("ignore", "Graph is not fully connected")
                    labels = model.fit_predict(X)
                score = float(adjusted_rand_score(truth, labels))
                found.setdefault(name, {}).setdefault(title, []).append(score)
                if seed == SEEDS[0]:
                    panels[name, title] = (X, labels, score, time.perf_counter() - begun)
    titles = list(algorithms(2, 0))
    print(" " * 12 + "".join(f"{title:>14}" for title in titles))
    for name, scores in found.items():
        print(f"{name:12}" + "".join(f"{f'{np.mean(scores[t]):.2f} ({min(scores[t]):.2f})':>14}" for t in titles))
    if picture is not None:
        draw(panels, sets, titles, picture)
    return found


def draw(panels: dict, sets: tuple[str, ...], titles: list[str], picture: str) -> None:
    """Draw the grid: one row per data set, one column per algorithm."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(
        len(sets), len(titles), figsize=(2 * len(titles), 2 * len(sets)), layout="constrained"
    )
    colors = pyplot.get_cmap("tab10")
    box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}
    for row, name in enumerate(sets):
        for column, title in enumerate(titles):
            X, labels, score, seconds = panels[name, title]
            ax = axes[row, column]
            paint = np.where(labels[:, None] < 0, (0.6, 0.6, 0.6, 1), colors(labels % 10))
            ax.scatter(*X[:, :2].T, c=paint, s=3)
            ax.set(xticks=[], yticks=[], title=title if row == 0 else None, ylabel=name if column == 0 else None)
            note = f"{seconds:.2f} s" if name == "noise" else f"{score:.2f}   {seconds:.2f} s"
            ax.text(0.98, 0.02, note, transform=ax.transAxes, ha="right", fontsize=8, bbox=box)
    figure.savefig(picture, dpi=72)
    pyplot.close(figure)


if __name__ == "__main__":
    main(*sys.argv[1:2])
