"""The paper's methods of comparison as estimators: NJW spectral clustering and Cluster Forests."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin

from . import _rpfcluster
from ._common import (
    check_choice,
    check_float,
    check_float_or_auto,
    check_int,
    check_numbers,
    make_progress,
    resolve_seed,
    resolve_threads,
)

METHODS = ("kway", "ncut")
BANDWIDTHS = ("local", "search", "kernlab-local", "kernlab-automatic")


class RivalBase(ClusterMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """Base class: dense float64 input, labels of the training samples only."""

    def _rows(self, X: Any) -> NDArray[np.float64]:
        """Validate X; distances are computed in float64."""
        checked = check_numbers(self, X, dtype=np.float64, order="C", ensure_min_samples=2)
        rows: NDArray[np.float64] = np.require(checked, requirements=["C", "A"])
        return rows

    def _runtime(self) -> tuple[int, Any]:
        return resolve_threads(self.n_jobs), make_progress(self.verbose)


class NJW(RivalBase):  # type: ignore[misc, unused-ignore]
    """Spectral clustering with the Gaussian kernel (Ng, Jordan and Weiss 2002).

    The method of ``specc()`` in the R package kernlab. Above 6,000 samples the Nystrom
    approximation replaces the exact eigenvectors, and ``n_landmarks_`` is set.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    bandwidth : {"local", "search", "kernlab-local", "kernlab-automatic"} or float, default="local"
        The bandwidth of the kernel. "local" takes for each sample the distance to its ``n_neighbors``-th neighbour.
        "search" compares ``n_tried`` bandwidths and takes the one with the lowest distortion in the embedding.
        "kernlab-local" and "kernlab-automatic" are kernlab's rules "local" and "automatic": for each sample the median
        of its five smallest distances, its own zero included; and a search of kernlab's grid on three quarters of the
        samples. A number is used as it is.
    n_neighbors : int, default=7
        The neighbour of bandwidth="local".
    n_tried : int, default=12
        Number of bandwidths compared by bandwidth="search".
    method : {"kway", "ncut"}, default="kway"
        How to assign labels in the embedding space: "kway" runs k-means on all eigenvectors, which is NJW; "ncut"
        bipartitions recursively.
    n_init : int, default=10
        Number of k-means runs with different initialisations.
    n_landmarks : int, default=500
        Number of landmarks of the Nystrom approximation.
    random_state : int, RandomState instance, Generator or None, default=None
        Controls all randomness. An integer is the seed of the command and the Rust library, which give the same labels
        for the same seed.
    n_jobs : int or None, default=None
        Number of threads. None uses one per core; negative values count back from the number of cores, as in joblib.
        The result does not depend on it.
    verbose : int, default=0
        Shows progress if greater than 0.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Labels of each sample, numbered from 0 in order of first appearance.
    sigma_ : float or None
        The bandwidth; None if each sample has its own.
    eigenvalues_ : ndarray of shape (n_clusters,)
        The largest eigenvalues in descending order.
    distortion_ : float
        Mean squared distance between the normalised rows of the embedding and their cluster means.
    n_landmarks_ : int or None
        Number of landmarks; None if the fit is exact.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features seen during `fit`. Defined only when X has feature names that are all strings.

    See Also
    --------
    RPFCluster : Spectral clustering on the kernel of a random projection forest.

    References
    ----------
    - A. Y. Ng, M. I. Jordan and Y. Weiss, "On Spectral Clustering: Analysis and an Algorithm", NIPS 2002.
    - L. Zelnik-Manor and P. Perona, "Self-Tuning Spectral Clustering", NIPS 2004 (bandwidth="local").

    Examples
    --------
    >>> from rpfcluster import NJW
    >>> from rpfcluster.datasets import make_shape
    >>> from rpfcluster.metrics import clustering_accuracy
    >>> X, y = make_shape("moons", 400, random_state=0)
    >>> model = NJW(n_clusters=2, random_state=0).fit(X)
    >>> clustering_accuracy(model.labels_, y)
    1.0
    >>> model.sigma_ is None
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        bandwidth: float | str = "local",
        n_neighbors: int = 7,
        n_tried: int = 12,
        method: str = "kway",
        n_init: int = 10,
        n_landmarks: int = 500,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.bandwidth = bandwidth
        self.n_neighbors = n_neighbors
        self.n_tried = n_tried
        self.method = method
        self.n_init = n_init
        self.n_landmarks = n_landmarks
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _bandwidth(self) -> dict[str, Any]:
        """Return the bandwidth rule in the form of the Rust library."""
        if not isinstance(self.bandwidth, str):
            return {"rule": "fixed", "sigma": check_float(self.bandwidth, "bandwidth")}
        if check_choice(self.bandwidth, "bandwidth", BANDWIDTHS).startswith("kernlab"):
            return {"rule": self.bandwidth}
        if self.bandwidth == "local":
            return {"rule": "local", "neighbor": check_int(self.n_neighbors, "n_neighbors", 1)}
        return {"rule": "search", "tried": check_int(self.n_tried, "n_tried", 2)}

    def fit(self, X: Any, y: Any = None) -> NJW:
        """Perform clustering.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training samples.
        y : Ignored
            Not used, present for API consistency.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        params = {
            "k": check_int(self.n_clusters, "n_clusters", 1),
            "bandwidth": self._bandwidth(),
            "method": check_choice(self.method, "method", METHODS),
            "restarts": check_int(self.n_init, "n_init", 1),
            "landmarks": check_int(self.n_landmarks, "n_landmarks", 1),
            "seed": resolve_seed(self.random_state),
        }
        fitted = _rpfcluster.njw(self._rows(X), json.dumps(params), *self._runtime())
        self.labels_, self.eigenvalues_, self.sigma_, self.distortion_, self.n_landmarks_ = fitted
        return self


class ClusterForests(RivalBase):  # type: ignore[misc, unused-ignore]
    """Cluster Forests: a cluster ensemble by feature pursuit (Yan, Chen and Jordan 2013).

    Each feature pursuit starts from a few random features and adds others while they improve the quality kappa of a
    k-means clustering. The similarity of two samples is the fraction of these clusterings that put them together;
    spectral clustering of this similarity gives the labels. Above 6,000 samples a subset of landmarks is clustered, and
    ``n_landmarks_`` is set.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_estimators : int, default=100
        Number of feature pursuits.
    n_start_features : int, default=2
        Number of features that a pursuit starts with.
    n_start_candidates : int, default=1
        Number of sets of start features that compete; the one with the lowest kappa is taken.
    n_step_features : int, default=1
        Number of features added in one step.
    n_candidates : int, default=5
        Number of candidate feature sets compared in one step.
    patience : int, default=3
        Number of consecutive steps without improvement after which a pursuit ends.
    n_init : int, default=3
        Number of k-means runs with different initialisations.
    kmeans_max_iter : int, default=50
        Maximum number of iterations of a k-means run.
    beta1 : float, default=0.4
        Similarities below this threshold are set to zero.
    beta2 : float or "auto", default="auto"
        The bandwidth of the affinity. "auto" compares eight bandwidths and takes the one whose partition agrees most
        with the others.
    method : {"kway", "ncut"}, default="kway"
        How to assign labels in the embedding space; see `NJW`.
    n_landmarks : int, default=2000
        Number of landmarks above 6,000 samples.
    random_state : int, RandomState instance, Generator or None, default=None
        Controls all randomness. An integer is the seed of the command and the Rust library, which give the same labels
        for the same seed.
    n_jobs : int or None, default=None
        Number of threads. None uses one per core; negative values count back from the number of cores, as in joblib.
        The result does not depend on it.
    verbose : int, default=0
        Shows progress if greater than 0.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Labels of each sample, numbered from 0 in order of first appearance.
    beta2_ : float
        The bandwidth.
    estimators_features_ : list of ndarray
        The features of each pursuit, in the order of their selection.
    kappas_ : ndarray of shape (n_estimators,)
        The final kappa of each pursuit: the within-cluster sum of squares over the between-cluster sum of squares.
    n_landmarks_ : int or None
        Number of landmarks; None if the fit is exact.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features seen during `fit`. Defined only when X has feature names that are all strings.

    See Also
    --------
    RPFCluster : Spectral clustering on the kernel of a random projection forest.

    References
    ----------
    D. Yan, A. Chen and M. I. Jordan, "Cluster Forests", Computational Statistics & Data Analysis 66, 2013.

    Examples
    --------
    >>> from rpfcluster import ClusterForests
    >>> from rpfcluster.datasets import load_iris
    >>> from rpfcluster.metrics import clustering_accuracy
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ClusterForests(n_clusters=3, n_estimators=30, random_state=0).fit(X)
    >>> clustering_accuracy(model.labels_, y) > 0.8
    True
    >>> len(model.estimators_features_)
    30
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_estimators: int = 100,
        n_start_features: int = 2,
        n_start_candidates: int = 1,
        n_step_features: int = 1,
        n_candidates: int = 5,
        patience: int = 3,
        n_init: int = 3,
        kmeans_max_iter: int = 50,
        beta1: float = 0.4,
        beta2: float | str = "auto",
        method: str = "kway",
        n_landmarks: int = 2000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_estimators = n_estimators
        self.n_start_features = n_start_features
        self.n_start_candidates = n_start_candidates
        self.n_step_features = n_step_features
        self.n_candidates = n_candidates
        self.patience = patience
        self.n_init = n_init
        self.kmeans_max_iter = kmeans_max_iter
        self.beta1 = beta1
        self.beta2 = beta2
        self.method = method
        self.n_landmarks = n_landmarks
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> ClusterForests:
        """Perform clustering.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training samples.
        y : Ignored
            Not used, present for API consistency.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        params = {
            "k": check_int(self.n_clusters, "n_clusters", 1),
            "instances": check_int(self.n_estimators, "n_estimators", 1),
            "start_features": check_int(self.n_start_features, "n_start_features", 1),
            "start_candidates": check_int(self.n_start_candidates, "n_start_candidates", 1),
            "step_features": check_int(self.n_step_features, "n_step_features", 1),
            "candidates": check_int(self.n_candidates, "n_candidates", 1),
            "patience": check_int(self.patience, "patience", 1),
            "restarts": check_int(self.n_init, "n_init", 1),
            "max_iterations": check_int(self.kmeans_max_iter, "kmeans_max_iter", 1),
            "beta1": check_float(self.beta1, "beta1"),
            "beta2": check_float_or_auto(self.beta2, "beta2"),
            "method": check_choice(self.method, "method", METHODS),
            "landmarks": check_int(self.n_landmarks, "n_landmarks", 1),
            "seed": resolve_seed(self.random_state),
        }
        fitted = _rpfcluster.cluster_forests(self._rows(X), json.dumps(params), *self._runtime())
        self.labels_, self.beta2_, features, self.kappas_, self.n_landmarks_ = fitted
        self.estimators_features_ = [np.asarray(each, dtype=np.int64) for each in features]
        return self
