"""RPFNeighbors: co-leaf neighbours as a sparse graph, for estimators that take a precomputed one."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from ._common import Array, check_data, native, one_of, whole
from ._forest import ForestBase, co_leaf_neighbors


class RPFNeighbors(ClassNamePrefixFeaturesOutMixin, ForestBase):  # type: ignore[misc, unused-ignore]
    """Nearest neighbours by shared leaves, as a graph: a stand-in for ``KNeighborsTransformer``.

    Parameters
    ----------
    n_neighbors : int, default=5
        Neighbours of each row, besides itself.
    mode : {"distance", "similarity", "connectivity"}, default="distance"
        What the graph holds.
    metric : {"co-leaf", "euclidean"}, default="co-leaf"
        What near means: 1 minus the share of trees in which two rows share a leaf, or the Euclidean distance among
        the ``n_candidates_exact`` strongest co-leaf neighbours (only with mode "distance" or "connectivity").
    n_candidates_exact : int, default=50
        Candidates of metric "euclidean".
    n_estimators, min_samples_split, split, direction, n_candidates, random_state, n_jobs, verbose
        As in `RPForest`.

    Attributes
    ----------
    n_samples_fit_ : int
        Training rows.
    n_features_in_ : int
        Columns seen during fit.
    feature_names_in_ : ndarray of str
        Their names, where there were any.

    Examples
    --------
    >>> from rpfcluster import RPFNeighbors
    >>> from rpfcluster.datasets import make_shape
    >>> from sklearn.cluster import DBSCAN
    >>> from sklearn.pipeline import make_pipeline
    >>> X, _ = make_shape("moons", 400, random_state=0)
    >>> graph = RPFNeighbors(n_neighbors=10, random_state=0)
    >>> graph.fit_transform(X).shape
    (400, 400)
    >>> labels = make_pipeline(graph, DBSCAN(eps=0.6, metric="precomputed")).fit_predict(X)
    >>> labels.shape
    (400,)
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        mode: str = "distance",
        metric: str = "co-leaf",
        n_candidates_exact: int = 50,
        n_estimators: int = 200,
        min_samples_split: int = 30,
        split: str = "uniform",
        direction: str = "gaussian",
        n_candidates: int = 1,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.mode = mode
        self.metric = metric
        self.n_candidates_exact = n_candidates_exact
        self.n_estimators = n_estimators
        self.min_samples_split = min_samples_split
        self.split = split
        self.direction = direction
        self.n_candidates = n_candidates
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> RPFNeighbors:
        """Grow the forest on X; y is not used."""
        one_of(self.mode, "mode", ("distance", "similarity", "connectivity"))
        metric = one_of(self.metric, "metric", ("co-leaf", "euclidean"))
        if metric == "euclidean" and self.mode == "similarity":
            raise ValueError("mode='similarity' needs metric='co-leaf': a Euclidean distance is no similarity")
        X = self._grow(X)
        # Only true distances need the rows themselves again.
        self._fit_X = X if metric == "euclidean" else None
        return self

    @property
    def n_samples_fit_(self) -> int:
        """Training rows."""
        check_is_fitted(self)
        return self._forest.shape[0]

    @property
    def _n_features_out(self) -> int:
        return self.n_samples_fit_

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """Return each row's nearest training rows, as ``sklearn.neighbors`` does.

        Parameters
        ----------
        X : array-like or None
            Rows to look for; None means the training rows, each without itself.
        n_neighbors : int or None
            How many; None is the number given at the start.
        return_distance : bool, default=True
            Whether distances are returned too.

        Returns
        -------
        distances, indices : ndarrays of shape (n_samples, n_neighbors)
            Nearest first, ties to the lowest row number.
        """
        check_is_fitted(self)
        if X is not None:
            X = check_data(self, X, reset=False)
        count = self.n_neighbors if n_neighbors is None else n_neighbors
        distances, indices = self._nearest(X, count)
        return (distances, indices) if return_distance else indices

    def _nearest(self, X: Any, count: Any) -> tuple[Array, Array]:
        if self._fit_X is None:
            return co_leaf_neighbors(self._forest, X, count, *self._how())
        count = whole(count, "n_neighbors", 1)
        candidates = max(count, whole(self.n_candidates_exact, "n_candidates_exact", 1))
        rows = None if X is None else native(X.astype(self._fit_X.dtype, copy=False))
        counts: RerankCounts = {"k": count, "candidates": candidates}
        indices, distances = self._forest.nearest(counts, native(self._fit_X), rows, *self._how())
        if (indices < 0).any():
            raise ValueError(
                f"some rows share leaves with fewer than n_neighbors = {count} others; "
                "take a larger min_samples_split or more n_estimators"
            )
        return distances, indices

    def transform(self, X: Any) -> sparse.csr_matrix:
        """Return the graph from the rows of X to the training rows, a CSR matrix.

        As in ``KNeighborsTransformer``, a training row is its own nearest neighbour, so that each row has
        ``n_neighbors + 1`` entries.
        """
        check_is_fitted(self)
        X = check_data(self, X, reset=False)
        count = min(whole(self.n_neighbors, "n_neighbors", 1) + 1, self.n_samples_fit_)
        distances, indices = self._nearest(X, count)
        values = distances
        if self.mode != "distance":
            values = 1.0 - distances if self.mode == "similarity" else np.ones_like(distances)
        starts = np.arange(0, indices.size + 1, count)
        data = values.ravel().astype(X.dtype, copy=False)
        return sparse.csr_matrix((data, indices.ravel(), starts), shape=(len(indices), self.n_samples_fit_))
