"""The public names in a typed program. mypy --strict checks this file; it is not run."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import rpfcluster
from rpfcluster import (
    NJW,
    ClusterForests,
    RPFCluster,
    RPFEmbedding,
    RPFNeighbors,
    RPForest,
    RPForestKernel,
    SweepResult,
    load,
    plot,
    save,
    sweep,
)
from rpfcluster.datasets import SHAPES, make_rings
from rpfcluster.metrics import clustering_accuracy, scores


def use(path: Path) -> float:
    """Use every public name once."""
    X, y = make_rings(300, random_state=0)
    model: RPFCluster = RPFCluster(n_clusters=3, beta1=0.1, min_samples_split="auto", random_state=0).fit(X)
    labels: NDArray[np.int64] = model.predict(X)
    chosen: dict[str, object] = model.chosen_
    leaves: NDArray[np.uint32] = RPForest(50, n_jobs=2).fit(X).apply(X)
    RPFEmbedding(2).fit(X).transform(X)
    RPForestKernel().fit(X)(X, X)
    RPFNeighbors(5, mode="distance").fit(X).kneighbors()
    rival: NJW = NJW(3, bandwidth="search").fit(X)
    sigma: float | None = rival.sigma_
    forests: ClusterForests = ClusterForests(3, beta2="auto").fit(X)
    found: SweepResult = sweep(X, 3, y, beta1=[0.1], methods=("kway",))
    picked: NDArray[np.int64] = found.labels()
    plot.sweep(found, "ncut").set_title("sweep")
    save(model, path)
    again: RPFCluster | RPForest = load(path)
    every: dict[str, float] = scores(labels, y)
    names: tuple[str, ...] = SHAPES
    version: str = rpfcluster.__version__
    print(sigma, forests.beta2_, picked, found.results["ncut"])
    print(chosen, leaves.shape, again, every, names, version)
    return clustering_accuracy(labels, y)
