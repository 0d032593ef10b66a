"""RPForest: a random projection forest as a transformer.

One leaf a tree for every row; the leaves are an exact feature map of the rpf-kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from . import _rpfcluster
from ._common import Array, check_data, forest_params, native, progress_of, seed_of, threads_of, whole


class ForestBase(TransformerMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """Growing and routing, shared by everything that is a forest and a way to read it."""

    _forest: _rpfcluster.Forest

    def _grow(self, X: Any, *, min_samples: int = 1) -> Any:
        X = check_data(self, X, reset=True, min_samples=min_samples)
        self._forest = _rpfcluster.Forest.grow(
            native(X),
            forest_params(self, seed_of(self.random_state)),
            threads_of(self.n_jobs),
            progress_of(self.verbose),
        )
        return X

    def _how(self) -> tuple[int, Any]:
        """Threads and progress, the last arguments of every native call."""
        return threads_of(self.n_jobs), progress_of(self.verbose)

    def _features(self, X: Any, dtype: Any) -> sparse.csr_matrix:
        """Compute Z: a one for the leaf of each row in each tree."""
        check_is_fitted(self)
        columns = self._forest.features(native(X), *self._how())
        trees = len(self._forest.offsets) - 1
        n = X.shape[0]
        starts = np.arange(0, n * trees + 1, trees, dtype=columns.dtype)
        ones = np.ones(n * trees, dtype=dtype)
        return sparse.csr_matrix((ones, columns, starts), shape=(n, self._forest.offsets[-1]))

    def __sklearn_is_fitted__(self) -> bool:
        """Tell whether a forest was grown."""
        return hasattr(self, "_forest")

    def __sklearn_tags__(self) -> Any:
        """Sparse data is used as it is; both widths of floats stay what they are."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class RPForest(ForestBase):  # type: ignore[misc, unused-ignore]
    """Random projection forest: leaf numbers, an exact feature map, neighbours.

    Each tree cuts the data along random directions until a node has fewer than ``min_samples_split`` rows. Two rows
    are similar when they share many leaves; ``transform`` gives the map whose scalar products are that similarity.

    Parameters
    ----------
    n_estimators : int, default=200
        Number of trees.
    min_samples_split : int, default=30
        A node with fewer rows is a leaf.
    split : {"uniform", "median"}, default="uniform"
        Where a node is cut along its direction: anywhere between the extreme projections, or at their median.
    direction : {"gaussian", "sparse"}, default="gaussian"
        How directions are drawn; sparse ones are cheap on wide data.
    n_candidates : int, default=1
        Directions tried at each node, of which the one that spreads the rows most is taken.
    sparse_output : bool, default=True
        Whether ``transform`` gives a CSR matrix; a dense array is large.
    random_state : int, RandomState, Generator or None, default=None
        An integer is the seed itself, the same as in the command and the Rust library.
    n_jobs : int or None, default=None
        Threads; None is one per core. The result does not depend on it.
    verbose : int, default=0
        Above 0, progress is shown.

    Attributes
    ----------
    n_features_in_ : int
        Columns seen during fit.
    feature_names_in_ : ndarray of str
        Their names, where there were any.
    n_leaves_ : int
        Leaves of all trees: the columns of the feature map.

    See Also
    --------
    RPForestKernel : The similarity itself.
    RPFNeighbors : Its nearest neighbours as a graph.

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
        sparse_output: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.min_samples_split = min_samples_split
        self.split = split
        self.direction = direction
        self.n_candidates = n_candidates
        self.sparse_output = sparse_output
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> RPForest:
        """Grow the forest on X; y is not used."""
        self._grow(X)
        return self

    @property
    def n_leaves_(self) -> int:
        """Leaves of all trees."""
        check_is_fitted(self)
        return self._forest.offsets[-1]

    @property
    def _n_features_out(self) -> int:
        return self.n_leaves_

    def apply(self, X: Any) -> NDArray[np.uint32]:
        """Return the leaf of each row in each tree, shape (n_samples, n_estimators)."""
        check_is_fitted(self)
        X = check_data(self, X, reset=False)
        return self._forest.apply(native(X), *self._how())

    def transform(self, X: Any) -> Any:
        """Return the feature map: 1/sqrt(n_estimators) in the column of each leaf a row is in.

        Returns
        -------
        CSR matrix, or ndarray with ``sparse_output=False``, of shape (n_samples, n_leaves_)
        """
        check_is_fitted(self)
        X = check_data(self, X, reset=False)
        features = self._features(X, X.dtype)
        features.data /= np.sqrt(len(self._forest.offsets) - 1)
        return features if self.sparse_output else features.toarray()

    def decision_path(self, X: Any) -> tuple[sparse.csr_matrix, Array]:
        """Return the nodes each row passes on its way down.

        Returns
        -------
        indicator : CSR matrix of shape (n_samples, n_nodes)
            A one for each node passed, the trees side by side; in a tree inner nodes come first, then leaves.
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
        """Return each row's most similar training rows, by shared leaves.

        Parameters
        ----------
        X : array-like or None
            Rows to look for; None means the training rows, each without itself.
        n_neighbors : int, default=5
            How many.
        return_distance : bool, default=True
            Whether distances are returned too: 1 minus the share of trees in which two rows share a leaf.

        Returns
        -------
        distances, indices : ndarrays of shape (n_samples, n_neighbors)
            Nearest first, ties to the lowest row number.
        """
        check_is_fitted(self)
        if X is not None:
            X = check_data(self, X, reset=False)
        distances, indices = co_leaf_neighbors(self._forest, X, n_neighbors, *self._how())
        return (distances, indices) if return_distance else indices

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return names of the columns of the feature map: ``rpforest_<tree>_<leaf>``."""
        check_is_fitted(self)
        _check_feature_names_in(self, input_features, generate_names=False)
        sizes = np.diff(self._forest.offsets)
        names = [f"rpforest_{t}_{leaf}" for t, size in enumerate(sizes) for leaf in range(size)]
        return np.asarray(names, dtype=object)


def co_leaf_neighbors(
    forest: _rpfcluster.Forest, X: Any, n_neighbors: Any, threads: int, progress: Any
) -> tuple[Array, Array]:
    """Return distances (1 - similarity) and indices of exactly ``n_neighbors`` rows, as scikit-learn's users need them.

    A row that shares leaves with fewer is filled up with rows at distance 1, lowest number first: they are all
    equally far, and ties go to the lowest number everywhere.
    """
    wanted = whole(n_neighbors, "n_neighbors", 1)
    most = forest.shape[0] - (X is None)
    if wanted > most:
        raise ValueError(f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {wanted}, n_samples_fit = {most}")
    indices, similarity = forest.neighbors(wanted, None if X is None else native(X), threads, progress)
    for row in np.flatnonzero(indices[:, -1] < 0):
        found = indices[row][indices[row] >= 0]
        taken = set(found.tolist()) | ({int(row)} if X is None else set())
        rest = [j for j in range(wanted + len(taken)) if j not in taken and j < forest.shape[0]]
        indices[row, len(found) :] = rest[: wanted - len(found)]
    return 1.0 - similarity, indices
