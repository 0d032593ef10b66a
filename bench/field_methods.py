"""Methods that users of high-dimensional tables take today: neighbour graphs, embeddings and trees of distances.

Each runs as its documentation shows. HDBSCAN and EVoC find the number of clusters themselves and leave rows without a
cluster (label -1); all others are given K. `PCA + ...` keeps 50 components of wider tables, as users of images and
of single-cell counts do. `make field`, `make bench` and `make choosing` run them from this list. A method imports what
it needs inside its function, NumPy too: the tables of the pages need the names alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Labels = Any
Method = Callable[[Any, int, int], Labels]

# Components that are kept before a method of this list.
COMPONENTS = 50
# Neighbours of a row in the graph of Leiden; the default of umap-learn and scanpy.
NEIGHBORS = 15
# Share of the rows in the smallest cluster of HDBSCAN: 500 of the 70,000 digits of UMAP's page on clustering.
SMALLEST_SHARE = 1 / 140
# Halvings of the interval of resolutions in which Leiden is run until it finds K clusters.
HALVINGS = 20


def _smallest(n: int) -> int:
    return max(5, round(n * SMALLEST_SHARE))


def _evoc(about_k: bool) -> Method:
    def fit(X: Any, k: int, seed: int) -> Labels:
        import numpy as np
        from evoc import EVoC

        rows = np.asarray(X, dtype=np.float32)
        return EVoC(approx_n_clusters=k if about_k else None, random_state=seed).fit_predict(rows)

    return fit


def _umap(X: Any, seed: int) -> Any:
    import umap

    # The settings of UMAP's page on clustering. A seed makes it use one thread.
    return umap.UMAP(n_neighbors=30, min_dist=0.0, n_components=2, random_state=seed).fit_transform(X)


def _umap_hdbscan(X: Any, k: int, seed: int) -> Labels:
    import hdbscan

    return hdbscan.HDBSCAN(min_samples=10, min_cluster_size=_smallest(len(X))).fit_predict(_umap(X, seed))


def _umap_kmeans(X: Any, k: int, seed: int) -> Labels:
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=10, random_state=seed).fit_predict(_umap(X, seed))


def _fast_hdbscan(X: Any, k: int, seed: int) -> Labels:
    import fast_hdbscan
    import numpy as np

    rows = np.asarray(X, dtype=np.float32)
    return fast_hdbscan.HDBSCAN(min_samples=10, min_cluster_size=_smallest(len(X))).fit_predict(rows)


def _neighbors(X: Any) -> Any:
    """Return the exact Euclidean neighbours of each row without itself."""
    import faiss
    import numpy as np

    rows = np.ascontiguousarray(X, dtype=np.float32)
    index = faiss.IndexFlatL2(rows.shape[1])
    index.add(rows)
    return index.search(rows, NEIGHBORS + 1)[1][:, 1:]


def _leiden(weighted: bool) -> Method:
    """Return Leiden on the graph of nearest neighbours, at the resolution that gives K clusters."""

    def fit(X: Any, k: int, seed: int) -> Labels:
        import igraph
        import leidenalg
        import numpy as np
        from scipy.sparse import csr_matrix

        n, near = len(X), _neighbors(X)
        ends = np.arange(0, n * NEIGHBORS + 1, NEIGHBORS)
        directed = csr_matrix((np.ones(n * NEIGHBORS), near.ravel(), ends), shape=(n, n))
        graph = directed.maximum(directed.T).tocoo()
        once = graph.row < graph.col
        source, target = graph.row[once], graph.col[once]
        weights = None
        if weighted:
            # Jaccard index of the two lists of neighbours, as in PhenoGraph and scanpy's users do.
            shared = (directed @ directed.T).tocsr()
            common = np.asarray(shared[source, target]).ravel()
            weights = (common / (2 * NEIGHBORS - common) + 1e-6).tolist()
        edges = igraph.Graph(n, np.column_stack([source, target]).tolist())

        def at(resolution: float) -> Any:
            found = leidenalg.find_partition(
                edges,
                leidenalg.RBConfigurationVertexPartition,
                weights=weights,
                resolution_parameter=resolution,
                n_iterations=2,
                seed=seed,
            )
            return np.array(found.membership)

        low, high, best = 1e-3, 4.0, None
        for _ in range(HALVINGS):
            middle = (low * high) ** 0.5
            labels = at(middle)
            count = len(np.unique(labels))
            if best is None or abs(count - k) < best[0]:
                best = (abs(count - k), labels)
            if count == k:
                break
            low, high = (middle, high) if count < k else (low, middle)
        return best[1] if best else np.zeros(n, int)

    return fit


def _lumbermark(X: Any, k: int, seed: int) -> Labels:
    import lumbermark

    return lumbermark.Lumbermark(n_clusters=k).fit_predict(X)


def _genie(X: Any, k: int, seed: int) -> Labels:
    import genieclust

    return genieclust.Genie(n_clusters=k).fit_predict(X)


def _faiss(X: Any, k: int, seed: int) -> Labels:
    import faiss
    import numpy as np

    rows = np.ascontiguousarray(X, dtype=np.float32)
    most = max(256, -(-len(rows) // k))
    model = faiss.Kmeans(rows.shape[1], k, niter=50, nredo=10, seed=seed, max_points_per_centroid=most)
    model.train(rows)
    return model.index.search(rows, 1)[1].ravel()


def _components(method: Method) -> Method:
    def fit(X: Any, k: int, seed: int) -> Labels:
        import numpy as np
        from sklearn.decomposition import PCA

        keep = min(COMPONENTS, *X.shape)
        return method(PCA(keep, random_state=seed).fit_transform(np.asarray(X, dtype=float)), k, seed)

    return fit


# On the columns as they are.
PLAIN: dict[str, Method] = {
    "EVoC": _evoc(about_k=False),
    "EVoC, about K": _evoc(about_k=True),
    "UMAP + HDBSCAN": _umap_hdbscan,
    "UMAP + KMeans": _umap_kmeans,
    "Leiden at K": _leiden(weighted=False),
    "Leiden at K, shared neighbours": _leiden(weighted=True),
    "Lumbermark": _lumbermark,
    "Genie": _genie,
    "fast-hdbscan": _fast_hdbscan,
    "faiss KMeans": _faiss,
}

FIELD: dict[str, Method] = PLAIN | {f"PCA + {name}": _components(method) for name, method in PLAIN.items()}

# Deterministic methods; one seed is enough.
SEEDLESS = tuple(f"{before}{name}" for before in ("", "PCA + ") for name in ("Lumbermark", "Genie", "fast-hdbscan"))
