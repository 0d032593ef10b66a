"""RPForestKernel: the similarity a forest learns, for whatever takes a kernel or a precomputed matrix."""

from __future__ import annotations

from typing import Any

from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from ._common import check_data, native, open_number
from ._forest import ForestBase


class RPForestKernel(ClassNamePrefixFeaturesOutMixin, ForestBase):  # type: ignore[misc, unused-ignore]
    """The rpf-kernel: two rows are as similar as the share of trees in which they are in one leaf.

    It is symmetric, positive semi-definite, 1 for a row and itself, and knows no distance and no bandwidth. A fitted
    kernel is a function ``kernel(X, Y)``, as ``SVC(kernel=...)`` takes one, and a transformer to similarities with
    the training rows, as a step before ``SVC(kernel="precomputed")`` in a pipeline.

    Parameters
    ----------
    n_estimators : int, default=200
        Number of trees.
    min_similarity : float, default=0.0
        Smaller similarities become zero.
    min_samples_split, split, direction, n_candidates
        As in `RPForest`.
    sparse_output : bool, default=False
        Whether matrices are CSR.
    random_state, n_jobs, verbose
        As in `RPForest`.

    Attributes
    ----------
    n_features_in_ : int
        Columns seen during fit.
    feature_names_in_ : ndarray of str
        Their names, where there were any.

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
        """Grow the forest on X; y is not used."""
        self._grow(X)
        return self

    @property
    def _n_features_out(self) -> int:
        return self._forest.shape[0]

    def __call__(self, X: Any, Y: Any = None) -> Any:
        """Return the similarity of each row of X to each row of Y (of X, when Y is None)."""
        check_is_fitted(self)
        X = check_data(self, X, reset=False)
        return self._similarity(X, X if Y is None else check_data(self, Y, reset=False))

    def transform(self, X: Any) -> Any:
        """Return the similarity of each row of X to each training row."""
        check_is_fitted(self)
        return self._similarity(check_data(self, X, reset=False))

    def _similarity(self, X: Any, Y: Any = None) -> Any:
        """Compare checked rows with others, or with the training rows."""
        least = open_number(self.min_similarity, "min_similarity") or 0.0
        against = None if Y is None else native(Y)
        if not self.sparse_output:
            return self._forest.dense(least, native(X), *self._how(), against=against)
        starts, columns, values = self._forest.sparse(least, native(X), *self._how(), against=against)
        shape = (X.shape[0], self._forest.shape[0] if Y is None else Y.shape[0])
        return sparse.csr_matrix((values.astype(X.dtype, copy=False), columns, starts), shape=shape)
