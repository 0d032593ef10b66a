"""Approximate k-nearest-neighbour graph as a scikit-learn transformer, for estimators that take a precomputed graph.

Neighbours are ranked by the fraction of trees in which two samples share a leaf, or by Euclidean distance among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from ._common import Array, as_native, check_choice, check_data, check_int, float_type
from ._forest import ForestBase, co_leaf_neighbors

if TYPE_CHECKING:
    from ._rpfcluster import RerankCounts


class RPFNeighbors(ClassNamePrefixFeaturesOutMixin, ForestBase):  # type: ignore[misc, unused-ignore]
    """Transform samples into a sparse graph of nearest neighbours.

    Replaces ``sklearn.neighbors.KNeighborsTransformer`` with approximate neighbours from a random projection forest.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbours of each sample, not counting the sample itself.
    mode : {"distance", "similarity", "connectivity"}, default="distance"
        The weights of the graph: distances, similarities, or ones.
    metric : {"co-leaf", "euclidean"}, default="co-leaf"
        "co-leaf" is one minus the fraction of trees in which two samples share a leaf. "euclidean" re-ranks the
        ``n_candidates_exact`` most similar samples by their Euclidean distance; it requires mode "distance" or
        "connectivity".
    n_candidates_exact : int, default=50
        Number of candidates of metric "euclidean".
    n_estimators, min_samples_split, split, direction, n_candidates, random_state, n_jobs, verbose
        See `RPForest`.

    Attributes
    ----------
    n_samples_fit_ : int
        Number of training samples.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features seen during `fit`. Defined only when X has feature names that are all strings.

    Notes
    -----
    Random projection trees as an index for nearest neighbours: D. Yan, Y. Wang, J. Wang, H. Wang and Z. Li,
    "K-nearest Neighbor Search by Random Projection Forests", IEEE Trans. Big Data 7(1), 2021.

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
        """Grow the forest.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The training samples.
        y : Ignored
            Not used, present for API consistency.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        check_choice(self.mode, "mode", ("distance", "similarity", "connectivity"))
        metric = check_choice(self.metric, "metric", ("co-leaf", "euclidean"))
        if metric == "euclidean" and self.mode == "similarity":
            raise ValueError("mode='similarity' requires metric='co-leaf', not 'euclidean'")
        X = self._grow(X)
        # Only Euclidean distances need the training samples.
        self._fit_X = X if metric == "euclidean" else None
        return self

    @property
    def n_samples_fit_(self) -> int:
        """Number of training samples."""
        check_is_fitted(self)
        return self._forest.shape[0]

    @property
    def _n_features_out(self) -> int:
        return self.n_samples_fit_

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """Find the nearest training samples of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or None, default=None
            The query samples. None queries the training samples; a sample is then not its own neighbour.
        n_neighbors : int or None, default=None
            Number of neighbours of each sample. None uses the value passed to the constructor.
        return_distance : bool, default=True
            Whether to return the distances.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_neighbors)
            Distances in ascending order. Only returned if ``return_distance=True``.
        indices : ndarray of shape (n_samples, n_neighbors)
            Indices of the neighbours among the training samples. Ties go to the lowest index.
        """
        check_is_fitted(self)
        if X is not None:
            X = check_data(self, X, reset=False)
        count = self.n_neighbors if n_neighbors is None else n_neighbors
        distances, indices = self._nearest(X, count)
        return (distances, indices) if return_distance else indices

    def _nearest(self, X: Any, count: Any) -> tuple[Array, Array]:
        if self._fit_X is None:
            return co_leaf_neighbors(self._forest, X, count, *self._runtime())
        count = check_int(count, "n_neighbors", 1)
        candidates = max(count, check_int(self.n_candidates_exact, "n_candidates_exact", 1))
        if X is not None and float_type(X) != float_type(self._fit_X):
            X = X.astype(float_type(self._fit_X))
        rows = None if X is None else as_native(X)
        counts: RerankCounts = {"k": count, "candidates": candidates}
        indices, distances = self._forest.nearest(counts, as_native(self._fit_X), rows, *self._runtime())
        if (indices < 0).any():
            raise ValueError(
                f"some samples share a leaf with fewer than n_neighbors = {count} others; "
                "increase min_samples_split or n_estimators"
            )
        return distances, indices

    def transform(self, X: Any) -> sparse.csr_matrix:
        """Return the graph of the neighbours of X among the training samples.

        As in ``KNeighborsTransformer``, a training sample is its own nearest neighbour, and each row has
        ``n_neighbors + 1`` entries.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        graph : CSR matrix of shape (n_samples, n_samples_fit_)
            The weights given by ``mode``.
        """
        check_is_fitted(self)
        X = check_data(self, X, reset=False)
        count = min(check_int(self.n_neighbors, "n_neighbors", 1) + 1, self.n_samples_fit_)
        distances, indices = self._nearest(X, count)
        values = distances
        if self.mode != "distance":
            values = 1.0 - distances if self.mode == "similarity" else np.ones_like(distances)
        starts = np.arange(0, indices.size + 1, count)
        data = values.ravel().astype(float_type(X), copy=False)
        return sparse.csr_matrix((data, indices.ravel(), starts), shape=(len(indices), self.n_samples_fit_))
