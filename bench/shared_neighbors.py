"""Shared-neighbour (Jaccard) weights on the co-leaf neighbours of the forest, beside the default: ARI and NMI.

Two rows that are neighbours of each other weigh |N(i) & N(j)| / |N(i) | N(j)|, with each row in its own list (Jarvis
and Patrick, 1973). The graph is clustered by eigenvectors and by the Leiden algorithm at the true K.

    python bench/shared_neighbors.py pendigits letter wine wdbc imgseg
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import record
from scipy import sparse
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

NEIGHBORS = (20, 30)
POWERS = (1, 2)


def jaccard_graph(X: Any, k: int) -> Any:
    """Return the symmetric graph of k neighbours with Jaccard weights."""
    from rpfcluster import RPFNeighbors

    search = RPFNeighbors(n_neighbors=k, n_estimators=200, min_samples_split=24, random_state=0).fit(X)
    _, neighbors = search.kneighbors()
    n = len(X)
    starts = np.arange(0, neighbors.size + 1, neighbors.shape[1])
    named = sparse.csr_matrix((np.ones(neighbors.size), neighbors.ravel(), starts), shape=(n, n))
    lists = (named + sparse.identity(n)).tocsr()
    shared = (lists @ lists.T).multiply((named + named.T) > 0).tocsr()
    shared.data /= 2 * (k + 1) - shared.data
    shared.setdiag(0)
    shared.eliminate_zeros()
    return shared


def main() -> None:
    """Print a line for each set, number of neighbours, power and method."""
    from rpfcluster import RPFCluster
    from rpfcluster.datasets import load_catalogued

    for name in sys.argv[1:]:
        X, y = load_catalogued(name, record.data_folder(), return_X_y=True)
        k = len(set(y.tolist()))

        def line(what: str, labels: Any, y: Any = y, name: str = name) -> None:
            ari, nmi = adjusted_rand_score(y, labels), normalized_mutual_info_score(y, labels)
            print(f"{name}, {what}: {ari:.3f} / {nmi:.3f}", flush=True)

        line("default", RPFCluster(k, random_state=0).fit(X).labels_)
        for neighbors in NEIGHBORS:
            graph = jaccard_graph(X, neighbors)
            for power in POWERS:
                weighed = graph.power(power)
                for method in ("kway", "leiden"):
                    model = RPFCluster(k, affinity="precomputed", method=method, random_state=0).fit(weighed)
                    line(f"{neighbors} neighbours, power {power}, {method}", model.labels_)


if __name__ == "__main__":
    main()
