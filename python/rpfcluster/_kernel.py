"""Kernel of a random projection forest, for estimators that take a kernel or a precomputed matrix."""

from __future__ import annotations

from typing import Any

from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from ._common import as_native, check_data, check_float, float_type
from ._forest import ForestBase


class RPForestKernel(ClassNamePrefixFeaturesOutMixin, ForestBase):  # type: ignore[misc, unused-ignore]
    """Similarity kernel of a random projection forest (rpf-kernel).

    The similarity of two samples is the fraction of trees in which they fall into the same leaf. The kernel is
    symmetric and positive semi-definite, equals 1 for identical samples, and needs neither a metric nor a bandwidth.

    A fitted kernel is a callable ``kernel(X, Y)``, as in ``SVC(kernel=kernel)``, and a transformer that returns the
    similarities to the training samples, as a pipeline step before ``SVC(kernel="precomputed")``.

    Parameters
    ----------
    n_estimators : int, default=200
        Number of trees.
    min_similarity : float, default=0.0
        Similarities below this value are set to zero.
    min_samples_split, split, direction, n_candidates
        See `RPForest`.
    sparse_output : bool, default=False
        Whether to return CSR matrices or dense arrays.
    random_state, n_jobs, verbose
        See `RPForest`.

    Attributes
    ----------
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features seen during `fit`. Defined only when X has feature names that are all strings.

    See Also
    --------
    RPForest : The forest with its feature map.

    References
    ----------
    D. Yan, S. Gu, Y. Xu and Z. Qin, "Similarity Kernel and Clustering via Random Projection Forests", Algorithm 2.

    Examples
    --------
    >>> from rpfcluster import RPForestKernel
    >>> from rpfcluster.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> kernel = RPForestKernel(n_estimators=100, random_state=0).fit(X)
    >>> K = kernel(X[:5], X)
    >>> K.shape
    (5, 150)
    >>> float(K[0, 0])
    1.0
    >>> from sklearn.svm import SVC
    >>> SVC(kernel=kernel).fit(X, y).score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        n_estimators: int = 200,
        *,
        min_similarity: float = 0.0,
        min_samples_split: int = 30,
        split: str = "uniform",
        direction: str = "gaussian",
        n_candidates: int = 1,
        sparse_output: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.min_similarity = min_similarity
        self.min_samples_split = min_samples_split
        self.split = split
        self.direction = direction
        self.n_candidates = n_candidates
        self.sparse_output = sparse_output
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> RPForestKernel:
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
    def _n_features_out(self) -> int:
        return self._forest.shape[0]

    def __call__(self, X: Any, Y: Any = None) -> Any:
        """Return the kernel matrix between X and Y.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
            The samples of the rows.
        Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features) or None, default=None
            The samples of the columns. None uses X.

        Returns
        -------
        K : ndarray or CSR matrix of shape (n_samples_X, n_samples_Y)
            The similarities, in the float type of X.
        """
        check_is_fitted(self)
        X = check_data(self, X, reset=False)
        return self._similarity(X, X if Y is None else check_data(self, Y, reset=False))

    def transform(self, X: Any) -> Any:
        """Return the kernel matrix between X and the training samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        K : ndarray or CSR matrix of shape (n_samples, n_samples_fit)
            The similarities, in the float type of X.
        """
        check_is_fitted(self)
        return self._similarity(check_data(self, X, reset=False))

    def _similarity(self, X: Any, Y: Any = None) -> Any:
        """Return the kernel matrix of validated samples with Y, or with the training samples."""
        least = check_float(self.min_similarity, "min_similarity")
        against = None if Y is None else as_native(Y)
        if not self.sparse_output:
            return self._forest.dense(least, as_native(X), *self._runtime(), against=against)
        starts, columns, values = self._forest.sparse(least, as_native(X), *self._runtime(), against=against)
        shape = (X.shape[0], self._forest.shape[0] if Y is None else Y.shape[0])
        return sparse.csr_matrix((values.astype(float_type(X), copy=False), columns, starts), shape=shape)
