"""NJW and ClusterForests: the methods the paper compares with, as estimators, so that all can repeat a comparison."""

from __future__ import annotations

import json
import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_scalar
from sklearn.utils.validation import validate_data

from . import _rpfcluster
from ._common import one_of, open_number, progress_of, seed_of, threads_of, whole

METHODS = ("kway", "ncut")


class RivalBase(ClusterMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """What both share: dense rows of 64 bits, labels for the rows they were fitted on."""

    def _rows(self, X: Any) -> NDArray[np.float64]:
        """Check X; both look at distances between rows in full width."""
        checked = validate_data(self, X, dtype=np.float64, order="C", ensure_min_samples=2)
        rows: NDArray[np.float64] = np.require(checked, requirements=["C", "A"])
        return rows

    def _how(self) -> tuple[int, Any]:
        return threads_of(self.n_jobs), progress_of(self.verbose)


class NJW(RivalBase):  # type: ignore[misc, unused-ignore]
    """Spectral clustering with the Gaussian kernel (Ng, Jordan and Weiss 2002).

    The paper's second rival, as R's ``specc()`` runs it with an automatic bandwidth. Up to 6,000 rows the kernel is
    held in full; beyond, Nystrom's approximation takes over, and ``n_landmarks_`` says so.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    bandwidth : {"local", "search"} or float, default="local"
        The width of the kernel. "local": for each row the distance to its ``n_neighbors``-th nearest; "search": the one
        of ``n_tried`` whose embedding k-means fits best; a number is the width itself.
    n_neighbors : int, default=7
        The neighbour of bandwidth "local".
    n_tried : int, default=12
        Widths tried with bandwidth "search".
    method : {"kway", "ncut"}, default="kway"
        How labels are made: k-means on all eigenvectors, which is NJW, or recursive cuts in two.
    n_init : int, default=10
        Starts of k-means.
    n_landmarks : int, default=500
        Landmarks of Nystrom's approximation.
    random_state : int, RandomState, Generator or None, default=None
        An integer is the seed itself, the same as in the command and the Rust library.
    n_jobs : int or None, default=None
        Threads; None is one per core. The result does not depend on it.
    verbose : int, default=0
        Above 0, progress is shown.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row, numbered from 0 in order of first appearance.
    sigma_ : float or None
        The width used; None where each row has its own.
    eigenvalues_ : ndarray of shape (n_clusters,)
        The largest eigenvalues.
    distortion_ : float
        Mean squared distance of the embedding's unit rows to the mean of their cluster.
    n_landmarks_ : int or None
        Landmarks that stood for all rows; None when the answer is exact.
    n_features_in_ : int
        Columns seen during fit.
    feature_names_in_ : ndarray of str
        Their names, where there were any.

    See Also
    --------
    RPFCluster : The paper's own method.

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
        """Name the rule as the Rust library does."""
        if not isinstance(self.bandwidth, str):
            return {"rule": "fixed", "sigma": float(check_scalar(self.bandwidth, "bandwidth", numbers.Real))}
        if one_of(self.bandwidth, "bandwidth", ("local", "search")) == "local":
            return {"rule": "local", "neighbor": whole(self.n_neighbors, "n_neighbors", 1)}
        return {"rule": "search", "tried": whole(self.n_tried, "n_tried", 2)}

    def fit(self, X: Any, y: Any = None) -> NJW:
        """Cluster the rows of X; y is not used."""
        params = {
            "k": whole(self.n_clusters, "n_clusters", 1),
            "bandwidth": self._bandwidth(),
            "method": one_of(self.method, "method", METHODS),
            "restarts": whole(self.n_init, "n_init", 1),
            "landmarks": whole(self.n_landmarks, "n_landmarks", 1),
            "seed": seed_of(self.random_state),
        }
        found = _rpfcluster.njw(self._rows(X), json.dumps(params), *self._how())
        self.labels_, self.eigenvalues_, self.sigma_, self.distortion_, self.n_landmarks_ = found
        return self


class ClusterForests(RivalBase):  # type: ignore[misc, unused-ignore]
    """Cluster Forests, an ensemble of clusterings on features found by pursuit (Yan, Chen and Jordan 2013).

    The paper's third rival. Each pursuit starts from a few random features and keeps further ones while they sharpen
    the clusters k-means finds; rows that are often put together are similar, and that similarity is cut. Beyond
    6,000 rows landmarks stand for the rest, and ``n_landmarks_`` says so.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_estimators : int, default=100
        Number of pursuits.
    n_start_features : int, default=2
        Features a pursuit starts with.
    n_step_features : int, default=1
        Features added in one step.
    n_candidates : int, default=5
        Sets of further features tried in one step.
    patience : int, default=3
        Steps in vain after which a pursuit ends.
    n_init : int, default=3
        Starts of each k-means.
    kmeans_max_iter : int, default=50
        Most iterations of each k-means.
    beta1 : float, default=0.4
        Pairs together in a smaller share of the clusterings are pruned.
    beta2 : float or "auto", default="auto"
        The bandwidth; "auto" takes the clustering that agrees most with those of eight bandwidths.
    method : {"kway", "ncut"}, default="kway"
        How labels are made from eigenvectors.
    n_landmarks : int, default=2000
        Rows that stand for all where there are many.
    random_state : int, RandomState, Generator or None, default=None
        An integer is the seed itself, the same as in the command and the Rust library.
    n_jobs : int or None, default=None
        Threads; None is one per core. The result does not depend on it.
    verbose : int, default=0
        Above 0, progress is shown.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row, numbered from 0 in order of first appearance.
    beta2_ : float
        The bandwidth used.
    estimators_features_ : list of ndarray
        The features of each pursuit, in the order in which they came.
    kappas_ : ndarray of shape (n_estimators,)
        Where each pursuit ended: the within-cluster over the between-cluster sum of squares, small when sharp.
    n_landmarks_ : int or None
        Landmarks that stood for all rows; None when the answer is exact.
    n_features_in_ : int
        Columns seen during fit.
    feature_names_in_ : ndarray of str
        Their names, where there were any.

    See Also
    --------
    RPFCluster : The paper's own method.

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
        """Cluster the rows of X; y is not used."""
        params = {
            "k": whole(self.n_clusters, "n_clusters", 1),
            "instances": whole(self.n_estimators, "n_estimators", 1),
            "start_features": whole(self.n_start_features, "n_start_features", 1),
            "step_features": whole(self.n_step_features, "n_step_features", 1),
            "candidates": whole(self.n_candidates, "n_candidates", 1),
            "patience": whole(self.patience, "patience", 1),
            "restarts": whole(self.n_init, "n_init", 1),
            "max_iterations": whole(self.kmeans_max_iter, "kmeans_max_iter", 1),
            "beta1": float(check_scalar(self.beta1, "beta1", numbers.Real)),
            "beta2": open_number(self.beta2, "beta2"),
            "method": one_of(self.method, "method", METHODS),
            "landmarks": whole(self.n_landmarks, "n_landmarks", 1),
            "seed": seed_of(self.random_state),
        }
        found = _rpfcluster.cluster_forests(self._rows(X), json.dumps(params), *self._how())
        self.labels_, self.beta2_, features, self.kappas_, self.n_landmarks_ = found
        self.estimators_features_ = [np.asarray(each, dtype=np.int64) for each in features]
        return self
