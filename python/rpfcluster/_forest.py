"""Random projection forest as a scikit-learn transformer: leaves, feature map, decision paths and neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from . import _rpfcluster
from ._common import (
    Array,
    as_native,
    check_data,
    check_int,
    float_type,
    forest_params,
    make_progress,
    resolve_seed,
    resolve_threads,
)


class ForestBase(TransformerMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """Base class of estimators that grow a forest."""

    _forest: _rpfcluster.Forest

    def _grow(self, X: Any, *, min_samples: int = 1) -> Any:
        X = check_data(self, X, reset=True, min_samples=min_samples)
        self._forest = _rpfcluster.Forest.grow(
            as_native(X, self),
            forest_params(self, resolve_seed(self.random_state)),
            resolve_threads(self.n_jobs),
            make_progress(self.verbose),
        )
        return X

    def _runtime(self) -> tuple[int, Any]:
        """Return thread count and progress display, the last arguments of native calls."""
        return resolve_threads(self.n_jobs), make_progress(self.verbose)

    def _features(self, X: Any, dtype: Any) -> sparse.csr_matrix:
        """Return Z, the indicator matrix of the leaf of each row in each tree."""
        check_is_fitted(self)
        columns = self._forest.features(as_native(X, self), *self._runtime())
        trees = len(self._forest.offsets) - 1
        n = X.shape[0]
        starts = np.arange(0, n * trees + 1, trees, dtype=columns.dtype)
        ones = np.ones(n * trees, dtype=dtype)
        return sparse.csr_matrix((ones, columns, starts), shape=(n, self._forest.offsets[-1]))

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether the forest is grown."""
        return hasattr(self, "_forest")

    def __sklearn_tags__(self) -> Any:
        """Declare support for sparse input, and that float32 and float64 are preserved."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.allow_nan = getattr(self, "missing", "error") in ("mean", "native")
        tags.input_tags.categorical = getattr(self, "categorical_features", None) is not None
        return tags


class RPForest(ForestBase):  # type: ignore[misc, unused-ignore]
    """Random projection forest.

    Each tree splits the samples along random directions until a node has fewer than ``min_samples_split`` samples.
    The similarity of two samples is the fraction of trees in which they fall into the same leaf. `transform` returns
    the explicit feature map of this kernel.

    Parameters
    ----------
    n_estimators : int, default=200
        Number of trees.
    min_samples_split : int, default=30
        The minimum number of samples required to split a node.
    split : {"uniform", "median"}, default="uniform"
        The split point along the direction of a node: drawn uniformly between the smallest and the largest projection,
        or the median projection.
    direction : {"gaussian", "sparse"}, default="gaussian"
        The distribution of directions. "gaussian" draws every coordinate from the standard normal distribution;
        "sparse" leaves about sqrt(n_features) of them non-zero, which is faster on wide data.
    n_candidates : int, default=1
        Number of directions drawn for each node. The one with the widest range of projections is used.
    max_samples : int or None, default=None
        Number of samples that the trees are grown on: those with the smallest hash of the seed and the place of the
        sample. All samples are sent down the trees and count for ``min_samples_split``. None grows the trees on all.
    sparse_output : bool, default=True
        Whether `transform` returns a CSR matrix or a dense array.
    categorical_features : "auto", list of str or int, bool mask or None, default=None
        Columns that hold categories: names, numbers from 0, or a mask. "auto", or "from_dtype", takes the columns of a
        pandas, Polars or PyArrow table whose type is text or categorical. Each counts like one numeric column of unit
        spread, whatever the number of its levels. A level that was not fitted is the mean of each node of a tree.
    missing : {"error", "mean", "native"}, default="error"
        Missing values, NaN, None or NA: an error, the mean of the column, or left to the trees, which route a sample
        by its other columns.
    random_state : int, RandomState instance, Generator or None, default=None
        Controls the randomness of the forest. An integer is the seed of the command and the Rust library, which give
        the same forest for the same seed.
    n_jobs : int or None, default=None
        Number of threads. None uses one per core; negative values count back from the number of cores, as in joblib.
        The result does not depend on it.
    verbose : int, default=0
        Shows progress if greater than 0.

    Attributes
    ----------
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features seen during `fit`. Defined only when X has feature names that are all strings.
    n_leaves_ : int
        Total number of leaves, which is the number of columns of the feature map.

    See Also
    --------
    RPForestKernel : The kernel of the forest.
    RPFNeighbors : Nearest neighbours in the kernel as a graph.

    References
    ----------
    D. Yan, S. Gu, Y. Xu and Z. Qin, "Similarity Kernel and Clustering via Random Projection Forests", Algorithm 1.

    Examples
    --------
    >>> from rpfcluster import RPForest
    >>> from rpfcluster.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RPForest(n_estimators=50, random_state=0).fit(X)
    >>> forest.apply(X).shape
    (150, 50)
    >>> Z = forest.transform(X)
    >>> S = (Z @ Z.T).toarray()
    >>> bool(S[0, 1] > S[0, 100])
    True
    """

    def __init__(
        self,
        n_estimators: int = 200,
        *,
        min_samples_split: int = 30,
        split: str = "uniform",
        direction: str = "gaussian",
        n_candidates: int = 1,
        max_samples: int | None = None,
        sparse_output: bool = True,
        categorical_features: Any = None,
        missing: str = "error",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.min_samples_split = min_samples_split
        self.split = split
        self.direction = direction
        self.n_candidates = n_candidates
        self.max_samples = max_samples
        self.sparse_output = sparse_output
        self.categorical_features = categorical_features
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> RPForest:
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
        self._grow(X)
        return self

    @property
    def n_leaves_(self) -> int:
        """Total number of leaves."""
        check_is_fitted(self)
        return self._forest.offsets[-1]

    @property
    def _n_features_out(self) -> int:
        return self.n_leaves_

    def apply(self, X: Any) -> NDArray[np.uint32]:
        """Return the leaf of each sample in each tree.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        leaves : ndarray of shape (n_samples, n_estimators)
            Leaf ids, numbered from 0 in each tree.
        """
        check_is_fitted(self)
        X = check_data(self, X, reset=False)
        return self._forest.apply(as_native(X, self), *self._runtime())

    def transform(self, X: Any) -> Any:
        """Return the feature map of the kernel.

        A sample has the value ``1 / sqrt(n_estimators)`` in the column of each leaf that contains it, so that inner
        products of rows are similarities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        Z : CSR matrix of shape (n_samples, n_leaves_)
            The feature map; an ndarray with ``sparse_output=False``.
        """
        check_is_fitted(self)
        X = check_data(self, X, reset=False)
        features = self._features(X, float_type(X))
        features.data /= np.sqrt(len(self._forest.offsets) - 1)
        return features if self.sparse_output else features.toarray()

    def decision_path(self, X: Any) -> tuple[sparse.csr_matrix, Array]:
        """Return the decision path of each sample in the forest.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        indicator : CSR matrix of shape (n_samples, n_nodes)
            Non-zero entries indicate that the sample passes through the node. Within a tree, inner nodes come before
            leaves.
        n_nodes_ptr : ndarray of shape (n_estimators + 1,)
            The columns ``n_nodes_ptr[t]:n_nodes_ptr[t + 1]`` belong to tree t.
        """
        leaves = self.apply(X)
        blocks = []
        widths = 2 * np.diff(self._forest.offsets) - 1
        for tree, width in enumerate(widths):
            seen, which = np.unique(leaves[:, tree], return_inverse=True)
            starts, nodes = self._forest.paths(tree, seen.tolist())
            paths = sparse.csr_matrix((np.ones(len(nodes), dtype=np.int8), nodes, starts), (len(seen), width))
            blocks.append(paths[which])
        return sparse.hstack(blocks, format="csr"), np.concatenate([[0], np.cumsum(widths)])

    def kneighbors(self, X: Any = None, n_neighbors: int = 5, return_distance: bool = True) -> Any:
        """Find the most similar training samples of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or None, default=None
            The query samples. None queries the training samples; a sample is then not its own neighbour.
        n_neighbors : int, default=5
            Number of neighbours of each sample.
        return_distance : bool, default=True
            Whether to return the distances.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_neighbors)
            One minus the similarity, in ascending order. Only returned if ``return_distance=True``.
        indices : ndarray of shape (n_samples, n_neighbors)
            Indices of the neighbours among the training samples. Ties go to the lowest index.
        """
        check_is_fitted(self)
        if X is not None:
            X = check_data(self, X, reset=False)
        distances, indices = co_leaf_neighbors(self._forest, X, n_neighbors, *self._runtime(), self)
        return (distances, indices) if return_distance else indices

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns of the feature map.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Only used to validate feature names with the names seen in `fit`.

        Returns
        -------
        feature_names_out : ndarray of str
            Names of the form ``rpforest_<tree>_<leaf>``.
        """
        check_is_fitted(self)
        _check_feature_names_in(self, input_features, generate_names=False)
        sizes = np.diff(self._forest.offsets)
        names = [f"rpforest_{t}_{leaf}" for t, size in enumerate(sizes) for leaf in range(size)]
        return np.asarray(names, dtype=object)


def co_leaf_neighbors(
    forest: _rpfcluster.Forest, X: Any, n_neighbors: Any, threads: int, progress: Any, estimator: Any = None
) -> tuple[Array, Array]:
    """Return distances (one minus the similarity) and indices of exactly ``n_neighbors`` training samples.

    A sample with fewer co-leaf neighbours is padded with training samples at distance 1, lowest index first, which is
    the order of ties everywhere.
    """
    wanted = check_int(n_neighbors, "n_neighbors", 1)
    most = forest.shape[0] - (X is None)
    if wanted > most:
        raise ValueError(f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {wanted}, n_samples_fit = {most}")
    indices, similarity = forest.neighbors(wanted, None if X is None else as_native(X, estimator), threads, progress)
    for row in np.flatnonzero(indices[:, -1] < 0):
        found = indices[row][indices[row] >= 0]
        taken = set(found.tolist()) | ({int(row)} if X is None else set())
        rest = [j for j in range(wanted + len(taken)) if j not in taken and j < forest.shape[0]]
        indices[row, len(found) :] = rest[: wanted - len(found)]
    # In place: another array of this size takes long to allocate, and numpy hears no Ctrl-C.
    return np.subtract(1.0, similarity, out=similarity), indices
