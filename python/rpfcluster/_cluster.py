"""RPFCluster: spectral clustering on the rpf-kernel, with predict and transform for new rows."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, clone
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _rpfcluster
from ._common import (
    Array,
    check_data,
    is_auto,
    is_sparse,
    native,
    one_of,
    open_number,
    progress_of,
    seed_of,
    threads_of,
    whole,
)
from ._report import write_report

# What the command takes for --trees auto.
_MOST_TREES = 1600


class SpectralBase(TransformerMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """What the clusterer and the embedding share: one fit, one matrix, new rows."""

    _cluster: _rpfcluster.Cluster
    _affinities: tuple[str, ...] = ("auto", "paper", "linear", "top-k")

    def _params(self, k: int) -> dict[str, Any]:
        """Name every parameter as the Rust library does; ``"auto"`` is its ``None``."""
        affinity = one_of(self.affinity, "affinity", self._affinities)
        split, top = self.min_samples_split, self.n_neighbors
        return {
            "k": k,
            **self._trees(),
            "min_node": None if is_auto(split, "min_samples_split") else whole(split, "min_samples_split", 2),
            "split": one_of(self.split, "split", ("uniform", "median")),
            "direction": one_of(self.direction, "direction", ("gaussian", "sparse")),
            "candidates": whole(self.n_candidates, "n_candidates", 1),
            "affinity": None if affinity == "auto" else affinity,
            "beta1": open_number(self.beta1, "beta1"),
            "beta2": open_number(self.beta2, "beta2"),
            "diagonal": one_of(self.diagonal, "diagonal", ("keep", "drop")),
            "top": None if is_auto(top, "n_neighbors") else whole(top, "n_neighbors", 1),
            "power": open_number(self.power, "power"),
            **self._spectral(k),
        }

    def _trees(self) -> dict[str, Any]:
        """Name the number of trees."""
        return {"trees": whole(self.n_estimators, "n_estimators", 1)}

    def _spectral(self, k: int) -> dict[str, Any]:
        """Name what the spectral step alone is told."""
        solver = one_of(self.solver, "solver", ("auto", "dense", "block", "nystrom"))
        landmarks = whole(self.n_landmarks, "n_landmarks", 1)
        return {"solver": solver, "landmarks": landmarks, "seed": seed_of(self.random_state)}

    def _fit_cluster(self, X: Any, k: int, **more: Any) -> None:
        params = json.dumps({**self._params(k), **more})
        how = threads_of(self.n_jobs), self._limit(), progress_of(self.verbose)
        self._cluster = _rpfcluster.Cluster.fit(native(X), params, *how)
        self._affinity_matrix: Any = None

    def _limit(self) -> int | None:
        return None if self.memory_limit is None else whole(self.memory_limit, "memory_limit", 1)

    @property
    def chosen_(self) -> dict[str, Any]:
        """What was used where something was left open, and how the eigen-solver ended."""
        check_is_fitted(self)
        if "_used" in vars(self):
            return dict(self._used)
        used = json.loads(self._cluster.used)
        affinity = used.pop("affinity")
        names = {"top": "n_neighbors", "kind": "affinity"}
        return {
            **{names.get(name, name): value for name, value in affinity.items()},
            "min_samples_split": used.pop("min_node"),
            **used,
        }

    @property
    def affinity_matrix_(self) -> Any:
        """The affinity that was cut, made when first asked for.

        A CSR matrix; an ndarray for the paper's affinity, in which no pair is zero, and where one was given.
        """
        check_is_fitted(self)
        if self._affinity_matrix is None:
            constant, (starts, columns, values) = self._cluster.affinity(progress_of(self.verbose))
            n = len(starts) - 1
            matrix: Any = sparse.csr_matrix((values, columns, starts), shape=(n, n))
            self._affinity_matrix = _raised(matrix, constant) if constant > 0 else matrix
        return self._affinity_matrix

    def __sklearn_tags__(self) -> Any:
        """Sparse data is used as it is; both widths of floats stay what they are."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _raised(matrix: sparse.csr_matrix, constant: float) -> NDArray[np.float64]:
    """Add a constant to every entry; some rows at a time, so that Ctrl-C need not wait for gigabytes."""
    dense = np.empty(matrix.shape)
    for first in range(0, len(dense), 1000):
        part = slice(first, first + 1000)
        dense[part] = matrix[part].toarray() + constant
    return dense


class RPFCluster(ClassNamePrefixFeaturesOutMixin, ClusterMixin, SpectralBase):  # type: ignore[misc, unused-ignore]
    """Clustering by normalised cuts of the similarity a random projection forest learns.

    A forest of random cuts is grown on the data; rows that seldom get separated are similar; the similarity is cut
    into clusters by its leading eigenvectors. No n by n matrix is made. New rows are placed with ``predict``.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters; "auto" chooses it from 1 to ``max_clusters`` by gaps among eigenvalues.
    max_clusters : int, default=10
        The most that "auto" may choose.
    tune : bool, default=True
        Whether settings are tried for what is left at "auto", and the one taken that agrees most with the others (where
        halves of the forest find nothing of that, the one they find again best); no labels are used. Otherwise what
        is left open takes fixed defaults.
    affinity : {"auto", "paper", "linear", "top-k", "precomputed"}, default="auto"
        What is cut. "top-k": each row's strongest neighbours, the similarity raised to ``power``. "paper": the
        similarity with values below ``beta1`` pruned, then exponential with bandwidth ``beta2``. "linear": the
        similarity itself. "precomputed": X is a similarity matrix, dense or sparse; there is no forest then.
    beta1, beta2 : float or "auto", default="auto"
        Threshold and bandwidth of "paper". A number given with affinity="auto" chooses "paper".
    n_neighbors : int or "auto", default="auto"
        Neighbours of "top-k".
    power : float or "auto", default="auto"
        Power of "top-k".
    diagonal : {"keep", "drop"}, default="keep"
        Whether a row is similar to itself in affinity="paper".
    n_estimators : int or "auto", default=200
        Number of trees; "auto" doubles it, up to 1600, until the two halves of the forest give the same clusters.
    min_samples_split : int or "auto", default="auto"
        A node with fewer rows is a leaf. Without ``tune``, "auto" is 30, fewer for tables of under 150 rows, and the
        root of the number of rows for affinity="linear" where that is more.
    split, direction, n_candidates
        As in `RPForest`.
    method : {"auto", "kway", "ncut"}, default="auto"
        How labels are made: k-means on all eigenvectors, or recursive cuts in two as in the paper.
    solver : {"auto", "dense", "block", "nystrom"}, default="auto"
        How eigenvectors are found; the first three agree, "nystrom" approximates from ``n_landmarks`` rows.
    n_landmarks : int, default=500
        Landmarks of "nystrom".
    memory_limit : int or None, default=None
        Refuse to begin what would need more bytes.
    random_state : int, RandomState, Generator or None, default=None
        An integer is the seed itself: the same seed gives the same labels as the command and the Rust library.
    n_jobs : int or None, default=None
        Threads; None is one per core. The result does not depend on it.
    verbose : int, default=0
        Above 0, progress is shown.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row, numbered from 0 in order of first appearance.
    embedding_ : ndarray of shape (n_samples, n_clusters_)
        The eigenvectors.
    eigenvalues_ : ndarray of shape (n_clusters_,)
        Their eigenvalues, the largest first.
    affinity_matrix_ : sparse matrix or ndarray of shape (n_samples, n_samples)
        What was cut; made when first asked for.
    chosen_ : dict
        What was used where something was left open, how the eigen-solver ended, and under "evidence" what was tried.
    n_clusters_ : int
        Number of clusters, as used.
    confidence_ : ndarray of shape (n_samples,)
        Of each row, the share of its leaf mates that are in its cluster; made when asked for.
    n_features_in_ : int
        Columns seen during fit.
    feature_names_in_ : ndarray of str
        Their names, where there were any.

    Examples
    --------
    >>> from rpfcluster import RPFCluster
    >>> from rpfcluster.datasets import make_shape
    >>> X, y = make_shape("rings", 600, random_state=0)
    >>> model = RPFCluster(n_clusters=3, random_state=0).fit(X)
    >>> from rpfcluster.metrics import clustering_accuracy
    >>> clustering_accuracy(model.labels_, y) > 0.99
    True
    >>> model.predict(X[:3]).tolist() == model.labels_[:3].tolist()
    True
    """

    _affinities = (*SpectralBase._affinities, "precomputed")

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        max_clusters: int = 10,
        tune: bool = True,
        affinity: str = "auto",
        beta1: float | str = "auto",
        beta2: float | str = "auto",
        n_neighbors: int | str = "auto",
        power: float | str = "auto",
        diagonal: str = "keep",
        n_estimators: int | str = 200,
        min_samples_split: int | str = "auto",
        split: str = "uniform",
        direction: str = "gaussian",
        n_candidates: int = 1,
        method: str = "auto",
        solver: str = "auto",
        n_landmarks: int = 500,
        memory_limit: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.tune = tune
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
        self.method = method
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> RPFCluster:
        """Cluster the rows of X (the matrix X itself, when precomputed); y is not used."""
        k, how = self._asked()
        if self.affinity == "precomputed":
            if how["max_k"] is not None:
                raise ValueError("n_clusters='auto' needs the rows themselves, not affinity='precomputed'")
            return self._fit_precomputed(X, k, how["method"] or "kway")
        X = check_data(self, X, reset=True, min_samples=2)
        self._fit_cluster(X, k, **how)
        self.__dict__.pop("_used", None)
        return self._take(self._cluster, X.dtype)

    def recut(self, **params: Any) -> RPFCluster:
        """Return another clustering of the same rows, made with the forest this one has.

        Growing is most of a fit; to try several numbers of clusters or other settings it need not be done again. Labels
        are those a fit with these parameters would give.

        Parameters
        ----------
        **params
            What is to be different, by name; the rest is as here. What decides the forest (n_estimators, split,
            direction, n_candidates, random_state) cannot be, nor can min_samples_split be below the one it was grown
            with, and n_clusters must be a number. Beyond 100,000 rows give ``tune=False`` as well: a fit tries settings
            on a sample of the rows, here they are tried on all of them, which takes longer and may choose otherwise.

        Returns
        -------
        RPFCluster
            Fitted; this one stays as it is.

        Examples
        --------
        >>> from rpfcluster import RPFCluster
        >>> from rpfcluster.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> three = RPFCluster(n_clusters=3, random_state=0).fit(X)
        >>> two = three.recut(n_clusters=2)
        >>> two.n_clusters_, three.n_clusters_
        (2, 3)
        """
        check_is_fitted(self)
        if "_cluster" not in vars(self):
            raise ValueError("recut needs a forest; with affinity='precomputed' there is none")
        if fixed := sorted({"n_estimators", "split", "direction", "n_candidates", "random_state"} & set(params)):
            raise ValueError(f"recut keeps the forest, so {fixed[0]} cannot be changed; fit a new model")
        other: RPFCluster = clone(self).set_params(**params)
        if other.affinity == "precomputed":
            raise ValueError("recut cuts the similarity of the forest, so affinity cannot be 'precomputed'")
        if is_auto(other.n_clusters, "n_clusters"):
            raise ValueError("n_clusters='auto' needs the rows themselves; give recut a number, or fit a new model")
        k, how = other._asked()
        asked, running = json.dumps({**other._params(k), **how}), (other._limit(), progress_of(other.verbose))
        other._cluster = self._cluster.recut(asked, threads_of(other.n_jobs), *running)
        other._affinity_matrix = None
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(other, name, getattr(self, name))
        return other._take(other._cluster, self.embedding_.dtype)

    def _asked(self) -> tuple[int, dict[str, Any]]:
        """Name the number of clusters, and what only clustering is told; checked."""
        auto = is_auto(self.n_clusters, "n_clusters")
        most = whole(self.max_clusters, "max_clusters", 1) if auto else None
        k = 1 if auto else whole(self.n_clusters, "n_clusters", 1)
        method = one_of(self.method, "method", ("auto", "kway", "ncut"))
        # A word would be true whatever it says.
        tune = bool(check_scalar(self.tune, "tune", (bool, np.bool_, int)))
        return k, {"max_k": most, "tune": tune, "method": None if method == "auto" else method}

    def _trees(self) -> dict[str, Any]:
        """Name the number of trees, or the most there may be."""
        if is_auto(self.n_estimators, "n_estimators"):
            return {"max_trees": _MOST_TREES}
        return super()._trees()

    def _take(self, cluster: _rpfcluster.Cluster, dtype: Any) -> RPFCluster:
        """Show the parts of a native clustering as attributes."""
        self.labels_ = cluster.labels
        self.embedding_ = cluster.vectors.astype(dtype, copy=False)
        self.eigenvalues_ = cluster.eigenvalues
        return self

    def _fit_precomputed(self, X: Any, k: int, method: str) -> RPFCluster:
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", ensure_min_samples=2)
        params = json.dumps({"k": k, "method": method, **self._spectral(k)})
        matrix = (X.indptr, X.indices, X.data) if is_sparse(X) else X
        labels, vectors, values, used = _rpfcluster.spectral(
            matrix, params, threads_of(self.n_jobs), progress_of(self.verbose)
        )
        self.__dict__.pop("_cluster", None)
        self._used = {"affinity": "precomputed", **json.loads(used)}
        self._affinity_matrix = X
        self.labels_, self.embedding_, self.eigenvalues_ = labels, vectors, values
        return self

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    @property
    def n_clusters_(self) -> int:
        """Number of clusters, as used."""
        check_is_fitted(self)
        return self._n_features_out

    @property
    def confidence_(self) -> NDArray[np.float64]:
        """How firmly the forest puts each row into its cluster: the share of its leaf mates that are in it."""
        check_is_fitted(self)
        if "_cluster" not in self.__dict__:
            raise AttributeError("confidence_ is counted on a forest; with affinity='precomputed' there is none")
        return self._cluster.confidence(progress_of(self.verbose))

    def _placing(self) -> _rpfcluster.Cluster:
        check_is_fitted(self)
        if "_cluster" not in vars(self):
            raise ValueError("new rows cannot be placed with affinity='precomputed': there is no forest")
        return self._cluster

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the cluster of each row of X; training rows get their own label."""
        cluster = self._placing()
        X = check_data(self, X, reset=False)
        return cluster.predict(native(X), progress_of(self.verbose))

    def report(self, path: str | os.PathLike[str], X: Any = None, y: Any = None) -> None:
        """Write a page to look at: clusters, embedding, similarity, other numbers of clusters, doubtful rows.

        One file that needs nothing else and fetches nothing.

        Parameters
        ----------
        path : str or path-like
            Where to write it.
        X : array-like of shape (n_samples, n_features), default=None
            The rows that were fitted; without them the page cannot say what the clusters are like.
        y : array-like of shape (n_samples,), default=None
            Known classes, to set beside the clusters.
        """
        write_report(self, self._placing(), path, X, y)

    def transform(self, X: Any) -> Array:
        """Return the spectral embedding of each row of X, shape (n_samples, n_clusters)."""
        cluster = self._placing()
        X = check_data(self, X, reset=False)
        return cluster.transform(native(X), progress_of(self.verbose)).astype(X.dtype, copy=False)

    def __sklearn_tags__(self) -> Any:
        """A precomputed affinity makes X a matrix of pairs."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.affinity == "precomputed"
        return tags
