"""RPFEmbedding: the leading eigenvectors of the rpf-kernel as coordinates (manifold learning)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from ._cluster import SpectralBase
from ._common import Array, check_data, native, progress_of, whole


class RPFEmbedding(ClassNamePrefixFeaturesOutMixin, SpectralBase):  # type: ignore[misc, unused-ignore]
    """Spectral embedding of the similarity a random projection forest learns, with transform for new rows.

    The first eigenvector, constant up to the degrees, is left out, and each coordinate is divided by the root of the
    row's degree, as in scikit-learn's ``SpectralEmbedding``; unlike it, new rows can be placed.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    affinity : {"auto", "paper", "linear", "top-k"}, default="auto"
        See `RPFCluster`. Each row's strongest neighbours ("top-k") follow a curved sheet best; data in several
        clumps may fall into pieces, which are warned of and embedded apart; "linear" keeps them together.
    beta1, beta2, n_neighbors, power, diagonal, n_estimators, min_samples_split, split, direction, n_candidates
        See `RPFCluster`.
    solver, n_landmarks, memory_limit, random_state, n_jobs, verbose
        See `RPFCluster`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The training rows.
    eigenvalues_ : ndarray of shape (n_components,)
        Their eigenvalues, the largest first.
    affinity_matrix_ : sparse matrix or ndarray of shape (n_samples, n_samples)
        What was embedded; made when first asked for.
    chosen_ : dict
        What was used where something was left open, and how the eigen-solver ended.
    n_features_in_ : int
        Columns seen during fit.
    feature_names_in_ : ndarray of str
        Their names, where there were any.

    Examples
    --------
    >>> from rpfcluster import RPFEmbedding
    >>> from rpfcluster.datasets import make_shape
    >>> X, _ = make_shape("swiss-roll", 500, random_state=0)
    >>> model = RPFEmbedding(n_components=2, random_state=0)
    >>> model.fit_transform(X).shape
    (500, 2)
    >>> model.transform(X[:3]).shape
    (3, 2)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        affinity: str = "auto",
        beta1: float | str = "auto",
        beta2: float | str = "auto",
        n_neighbors: int | str = "auto",
        power: float | str = "auto",
        diagonal: str = "keep",
        n_estimators: int = 200,
        min_samples_split: int | str = "auto",
        split: str = "uniform",
        direction: str = "gaussian",
        n_candidates: int = 1,
        solver: str = "auto",
        n_landmarks: int = 500,
        memory_limit: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.affinity = affinity
        self.beta1 = beta1
        self.beta2 = beta2
        self.n_neighbors = n_neighbors
        self.power = power
        self.diagonal = diagonal
        self.n_estimators = n_estimators
        self.min_samples_split = min_samples_split
        self.split = split
        self.direction = direction
        self.n_candidates = n_candidates
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> RPFEmbedding:
        """Embed the rows of X; y is not used."""
        count = whole(self.n_components, "n_components", 1)
        X = check_data(self, X, reset=True, min_samples=2)
        if count >= X.shape[0]:
            raise ValueError(f"n_components is {count}, but must be below the number of samples, {X.shape[0]}")
        # Settings are tried for clusters; coordinates take the fixed ones.
        self._fit_cluster(X, count + 1, tune=False)
        if self._cluster.pieces > 1:
            warnings.warn(
                f"the graph falls into {self._cluster.pieces} pieces, which are embedded apart; "
                "affinity='linear', more n_neighbors or a larger min_samples_split may join them",
                stacklevel=2,
            )
        coordinates = self._coordinates(self._cluster.vectors)
        # Vectors have unit length; columns of unit mean square do not shrink with the number of rows.
        self._scale = np.sqrt(np.mean(coordinates**2, axis=0))
        self._scale[self._scale == 0] = 1.0
        self.embedding_ = (coordinates / self._scale).astype(X.dtype, copy=False)
        self.eigenvalues_ = self._cluster.eigenvalues[1:]
        return self

    def _coordinates(self, vectors: Array) -> Array:
        """Leave the first vector out and divide by it: in a connected graph it is the root of the degree."""
        if self._cluster.pieces > 1:
            return vectors[:, 1:]
        return vectors[:, 1:] / np.abs(vectors[:, :1])

    def transform(self, X: Any) -> Array:
        """Return the coordinates of each row of X; training rows get their own."""
        check_is_fitted(self)
        X = check_data(self, X, reset=False)
        vectors = self._cluster.transform(native(X), progress_of(self.verbose))
        placed: Array = (self._coordinates(vectors) / self._scale).astype(X.dtype, copy=False)
        return placed

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)
