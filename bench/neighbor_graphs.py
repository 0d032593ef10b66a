"""Other graphs of the forest's neighbours beside the default: ARI and NMI at the true K, by eigenvectors and by
Leiden.

Neighbours: the strongest co-leaf neighbours, or the nearest by Euclidean distance among 100 of them (re-ranked; Yan et
al. 2018). Weights: 1, the similarity S to a power, or shared neighbours: the Jaccard index of the two lists, with each
row in its own (Jarvis and Patrick, 1973). Wide tables are reduced to principal components, as by default.

    python bench/neighbor_graphs.py usps pendigits letter mnist
    python bench/neighbor_graphs.py --half design
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any

import leiden
import numpy as np
import record
import verdict
from scipy import sparse
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

Line = dict[str, Any]
CANDIDATES = 100
NEIGHBORS = (10, 20)
WEIGHTS = ("ones", "power 1", "power 8", "jaccard")
METHODS = ("kway", "leiden")
# Wider tables are reduced to this many principal components.
COMPONENTS = 50
KEY = ("set", "neighbors", "ranked", "weights", "method")


def lists_of(X: Any, seed: int = 0) -> tuple[Any, Any, Any]:
    """Return the strongest neighbours of each row, their similarities and their Euclidean distances."""
    from rpfcluster import RPFNeighbors

    trees = 200
    if X.shape[1] > COMPONENTS:
        centred = X - X.mean(axis=0)
        _, axes = np.linalg.eigh(centred.T.astype(float) @ centred)
        X, trees = np.ascontiguousarray(centred @ axes[:, -COMPONENTS:]), 2 * trees
    n = len(X)
    count = min(CANDIDATES, n - 1)
    node = 24 if n >= 48 else max(6, n // 2)
    search = RPFNeighbors(n_neighbors=count, n_estimators=trees, min_samples_split=node, random_state=seed).fit(X)
    apart, near = search.kneighbors()
    distances = np.empty(apart.shape)
    for start in range(0, n, 1000):
        rows = slice(start, start + 1000)
        distances[rows] = np.linalg.norm(X[rows, None, :] - X[near[rows]], axis=2)
    # A row with fewer neighbours is filled up with rows that share no leaf.
    distances[apart >= 1] = np.inf
    return near, 1 - apart, distances


def graphs(lists: tuple[Any, Any, Any], neighbors: int, ranked: str) -> Iterator[tuple[str, Any]]:
    """Yield the symmetric graph with each kind of weights."""
    near, similar, distances = lists
    n = len(near)
    if ranked == "re-ranked":
        order = np.argsort(distances, axis=1, kind="stable")[:, :neighbors]
        near, similar = (np.take_along_axis(values, order, 1) for values in (near, similar))
    else:
        near, similar = near[:, :neighbors], similar[:, :neighbors]
    rows = np.repeat(np.arange(n), near.shape[1])
    kept = similar.ravel() > 0

    def matrix(values: Any) -> Any:
        one = sparse.csr_matrix((values.ravel()[kept], (rows[kept], near.ravel()[kept])), shape=(n, n))
        return one.maximum(one.T)

    named = matrix(np.ones(near.shape))
    for weights in WEIGHTS:
        if weights == "jaccard":
            of_row = sparse.csr_matrix((np.ones(kept.sum()), (rows[kept], near.ravel()[kept])), shape=(n, n))
            listed = (of_row + sparse.identity(n)).tocsr()
            shared = (listed @ listed.T).multiply(named).tocsr()
            shared.data /= 2 * (neighbors + 1) - shared.data
            yield weights, shared
        elif weights == "ones":
            yield weights, named
        else:
            yield weights, matrix(similar ** float(weights.split()[1]))


def measure(name: str, X: Any, y: Any, asked: argparse.Namespace) -> Iterator[Line]:
    """Yield a line for each graph and method, and for the default."""
    from rpfcluster import RPFCluster

    k = len(set(y.tolist()))

    def line(of: Line, fit: Any) -> Line:
        clock = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                labels = fit().labels_
            except ValueError as error:
                return {"set": name, **of, "ari": 0.0, "nmi": 0.0, "failed": str(error)}
        ari, nmi = adjusted_rand_score(y, labels), normalized_mutual_info_score(y, labels)
        return {"set": name, **of, "ari": ari, "nmi": nmi, "cpu_seconds": time.process_time() - clock}

    default = dict.fromkeys(KEY[1:], "default")
    yield line(default, lambda: RPFCluster(k, random_state=0).fit(X))
    sharp = RPFCluster(k, affinity="top-k", tune=False, random_state=0)
    yield line(default | {"weights": "sharp"}, lambda: sharp.fit(X))
    lists = lists_of(X)
    for neighbors in NEIGHBORS:
        for ranked in ("co-leaf", "re-ranked"):
            for weights, graph in graphs(lists, neighbors, ranked):
                for method in METHODS:
                    if asked.method in (None, method) and asked.weights in (None, weights):
                        model = RPFCluster(k, affinity="precomputed", method=method, random_state=0)
                        of = dict(zip(KEY[1:], (neighbors, ranked, weights, method), strict=True))
                        yield line(of, lambda model=model, graph=graph: model.fit(graph))


def main() -> None:
    """Print a line for each set, graph and method, and the means over the sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", help="among " + ", ".join(leiden.LARGE))
    parser.add_argument("--half", choices=("design", "check"), help="this half of the battery")
    parser.add_argument("--method", choices=METHODS)
    parser.add_argument("--weights", choices=WEIGHTS)
    parser.add_argument("--store", action="store_true", help="append the lines to bench/results")
    asked = parser.parse_args()
    tables = [(name, *leiden.LARGE[name]()) for name in asked.sets]
    if asked.half:
        tables += [
            (name, X[y >= 0], y[y >= 0]) for _, name, X, y in verdict.battery() if verdict.half(name) == asked.half
        ]
    means: dict[tuple[Any, ...], list[float]] = {}
    for name, X, y in tables:
        for line in measure(name, X, y, asked):
            means.setdefault(tuple(line[part] for part in KEY[1:]), []).append(line["ari"])
            if asked.sets:
                print(", ".join(str(line[part]) for part in KEY), f"{line['ari']:.3f} / {line['nmi']:.3f}", flush=True)
            if asked.store:
                record.keep("graphs", line)
    for of, aris in sorted(means.items(), key=lambda item: -np.mean(item[1])):
        print(", ".join(map(str, of)), f"{np.mean(aris):.3f} ({len(aris)} sets)")


if __name__ == "__main__":
    main()
