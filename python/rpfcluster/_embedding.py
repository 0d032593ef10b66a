"""Spectral embedding (Laplacian eigenmaps) on the kernel of a random projection forest."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from ._common import Array, as_native, check_data, check_int, float_type, make_progress
from ._spectral import SpectralBase


class RPFEmbedding(ClassNamePrefixFeaturesOutMixin, SpectralBase):  # type: ignore[misc, unused-ignore]
    """Spectral embedding on the similarity kernel of a random projection forest.

    Laplacian eigenmaps as in ``sklearn.manifold.SpectralEmbedding``: the trivial first eigenvector is dropped, and each
    coordinate is divided by the square root of the degree of the sample. Unlike there, `transform` embeds new samples.

    Parameters
    ----------
    n_components : int, default=2
        The dimension of the embedding.
    affinity : {"auto", "paper", "linear", "top-k"}, default="auto"
        See `RPFCluster`. "top-k" follows curved manifolds best, but its graph may have several connected components,
        which are embedded separately with a warning. "linear" is less likely to disconnect the graph.
    beta1, beta2, n_neighbors, power, diagonal, n_estimators, min_samples_split, split, direction, n_candidates
        See `RPFCluster`.
    solver, n_landmarks, memory_limit, random_state, n_jobs, verbose
        See `RPFCluster`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The coordinates of the training samples.
    eigenvalues_ : ndarray of shape (n_components,)
        The eigenvalues in descending order.
    affinity_matrix_ : sparse matrix or ndarray of shape (n_samples, n_samples)
        The affinity matrix, computed on first access.
    chosen_ : dict
        Resolved values of the parameters left at "auto", and the outcome of the eigensolver.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features seen during `fit`. Defined only when X has feature names that are all strings.

    See Also
    --------
    RPFCluster : Spectral clustering on the same kernel.

    References
    ----------
    M. Belkin and P. Niyogi, "Laplacian Eigenmaps for Dimensionality Reduction and Data Representation", Neural
    Computation 15(6), 2003.

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
        """Compute the embedding.

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
        count = check_int(self.n_components, "n_components", 1)
        X = check_data(self, X, reset=True, min_samples=2)
        if count >= X.shape[0]:
            raise ValueError(f"n_components is {count}, but must be below the number of samples, {X.shape[0]}")
        self._fit_cluster(X, count + 1, embedding=True)
        if self._cluster.components > 1:
            warnings.warn(
                f"the graph has {self._cluster.components} connected components, which are embedded separately; "
                "affinity='linear', a larger n_neighbors or a larger min_samples_split may connect them",
                stacklevel=2,
            )
        coordinates = self._coordinates(self._cluster.vectors())
        # The eigenvectors have unit length; scaled to unit mean square, coordinates do not depend on n_samples.
        self._scale = np.sqrt(np.mean(coordinates**2, axis=0))
        self._scale[self._scale == 0] = 1.0
        self.embedding_ = (coordinates / self._scale).astype(float_type(X), copy=False)
        self.eigenvalues_ = self._cluster.eigenvalues[1:]
        return self

    def _coordinates(self, vectors: Array) -> Array:
        """Drop the first eigenvector and divide the others by it, if the graph is connected.

        It is then proportional to the square root of the degrees.
        """
        if self._cluster.components > 1:
            return vectors[:, 1:]
        return vectors[:, 1:] / np.abs(vectors[:, :1])

    def transform(self, X: Any) -> Array:
        """Embed new samples (Nystrom extension).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components)
            The coordinates. Training samples keep theirs.
        """
        check_is_fitted(self)
        X = check_data(self, X, reset=False)
        vectors = self._cluster.transform(as_native(X), make_progress(self.verbose))
        coordinates: Array = (self._coordinates(vectors) / self._scale).astype(float_type(X), copy=False)
        return coordinates

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)
