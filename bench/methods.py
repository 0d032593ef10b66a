"""The methods under test, by name. Each maps rows, number of clusters and seed to labels.

A method imports what it needs inside its function, so that the memory of a worker process is that of its method alone.
Peers run as in their documentation, on all cores where they support it; rpf runs through its Python package.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from field_methods import FIELD
from field_methods import SEEDLESS as FIELD_SEEDLESS

Labels = Any
Method = Callable[[Any, int, int], Labels]


class AbsentError(Exception):
    """The method is not installed."""


def rpf(**settings: Any) -> Method:
    """Return RPFCluster with these parameters."""

    def fit(X: Any, k: int, seed: int) -> Labels:
        from rpfcluster import RPFCluster

        return RPFCluster(n_clusters=k, random_state=seed, **settings).fit(X).labels_

    return fit


def _kmeans(X: Any, k: int, seed: int) -> Labels:
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=10, random_state=seed).fit_predict(X)


def _spectral(affinity: str, scaled: bool = False) -> Method:
    def fit(X: Any, k: int, seed: int) -> Labels:
        from sklearn.cluster import SpectralClustering

        gamma = 1.0 / (X.shape[1] * X.var()) if scaled else 1.0
        return SpectralClustering(k, affinity=affinity, gamma=gamma, random_state=seed, n_jobs=-1).fit_predict(X)

    return fit


def _embedding(X: Any, k: int, seed: int) -> Labels:
    from sklearn.cluster import KMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.ensemble import RandomTreesEmbedding

    leaves = RandomTreesEmbedding(100, random_state=seed, n_jobs=-1).fit_transform(X)
    coordinates = TruncatedSVD(k, random_state=seed).fit_transform(leaves)
    return KMeans(k, n_init=10, random_state=seed).fit_predict(coordinates)


def _hdbscan(X: Any, k: int, seed: int) -> Labels:
    from sklearn.cluster import HDBSCAN

    return HDBSCAN(n_jobs=-1, copy=True).fit_predict(X)


def _dask(X: Any, k: int, seed: int) -> Labels:
    import dask.array as da
    from dask_ml.cluster import SpectralClustering

    rows = da.from_array(X, chunks=(max(1, -(-len(X) // 8)), X.shape[1]))
    model = SpectralClustering(k, n_components=min(100, len(X) // 2), random_state=seed).fit(rows)
    return np.asarray(model.labels_)


# Data are exchanged in binary, since the time to parse text would count. The start of R, half a second, does count.
SPECC = """
a <- commandArgs(TRUE)
n <- as.integer(a[2]); d <- as.integer(a[3])
x <- matrix(readBin(a[1], "double", n * d), n, d, byrow = TRUE)
set.seed(as.integer(a[5]))
found <- kernlab::specc(x, centers = as.integer(a[4]))
writeBin(as.integer(found@.Data), a[6])
"""


def _specc(X: Any, k: int, seed: int) -> Labels:
    from record import kernlab

    if not kernlab():
        raise AbsentError("R with kernlab is not installed")
    with tempfile.TemporaryDirectory() as folder:
        rows, labels = Path(folder, "rows"), Path(folder, "labels")
        np.ascontiguousarray(X, dtype=np.float64).tofile(rows)
        given = [str(rows), *map(str, (*X.shape, k, seed)), str(labels)]
        done = subprocess.run(["Rscript", "-e", SPECC, *given], capture_output=True, text=True)
        if done.returncode:
            if "annot allocate" in done.stderr:
                raise MemoryError(done.stderr.strip().splitlines()[-1])
            raise RuntimeError(" ".join(done.stderr.split())[-200:])
        return np.fromfile(labels, dtype=np.int32)


def _mixture(X: Any, k: int, seed: int) -> Labels:
    from sklearn.mixture import GaussianMixture

    return GaussianMixture(k, random_state=seed).fit_predict(X)


def _ward(X: Any, k: int, seed: int) -> Labels:
    from sklearn.cluster import AgglomerativeClustering

    return AgglomerativeClustering(k, linkage="ward").fit_predict(X)


RPF: dict[str, Method] = {
    "rpf default": rpf(),
    "rpf auto": rpf(tune=True),
    "rpf sharp": rpf(affinity="top-k", n_neighbors=20, power=8.0, min_samples_split=24, n_estimators=400),
    "rpf linear, 100 trees": rpf(affinity="linear", n_estimators=100),
    "rpf top-k, 100 trees": rpf(affinity="top-k", n_estimators=100),
    "rpf top-k, 50 trees": rpf(affinity="top-k", n_estimators=50),
}

PEERS: dict[str, Method] = {
    "KMeans": _kmeans,
    "SpectralClustering rbf": _spectral("rbf"),
    # With the default gamma of 1 the kernel of unscaled data is nearly zero everywhere. This is the default of SVC.
    "SpectralClustering rbf, scaled gamma": _spectral("rbf", scaled=True),
    "SpectralClustering nearest_neighbors": _spectral("nearest_neighbors"),
    "RandomTreesEmbedding + SVD + KMeans": _embedding,
    "HDBSCAN": _hdbscan,
    "dask-ml SpectralClustering": _dask,
    "kernlab specc": _specc,
    "GaussianMixture": _mixture,
    "Ward": _ward,
}

METHODS = RPF | PEERS | FIELD

# Deterministic methods; one seed is enough.
SEEDLESS = ("HDBSCAN", "Ward", *FIELD_SEEDLESS)
