"""Spectral clustering on the kernel of a random projection forest: `RPFCluster`.

The native module fits, predicts and embeds. This file checks the types of parameters, translates their names and holds
the fitted attributes.
"""

from __future__ import annotations

import json
import os
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, clone
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.validation import check_is_fitted

from . import _rpfcluster
from ._cluster_params import FOREST_PARAMS, ClusterParams
from ._common import (
    Array,
    as_native,
    check_data,
    column_names,
    float_type,
    is_auto,
    make_progress,
    resolve_threads,
    warn_caller,
)
from ._precomputed import fit_precomputed
from ._report import ReportPage, make_report, write_report


class RPFCluster(ClassNamePrefixFeaturesOutMixin, ClusterMixin, ClusterParams):  # type: ignore[misc, unused-ignore]
    """Spectral clustering on the similarity kernel of a random projection forest.

    The similarity of two samples is the fraction of trees in which they fall into the same leaf. The leading
    eigenvectors of the normalised affinity graph give the clusters. Only the dense eigensolver forms the n by n matrix,
    and `predict` assigns new samples.

    Parameters
    ----------
    n_clusters : int, "auto" or None, default=8
        Number of clusters. None leaves it to ``resolution``. "auto" chooses it from 1 to ``max_clusters`` by prediction
        strength (how well the clusters of one half of the samples predict those of the other half), by the separation
        of the clusters compared with reference samples without clusters, and by the eigengap.
    max_clusters : int, default=10
        Largest number of clusters that "auto" chooses.
    tune : bool, default=False
        Whether to compare the default setting of the parameters left at "auto" with one of each other family by
        prediction strength (how well the clusters of one half of the samples predict those of the other half), and to
        use another where it is reproduced far better. With ``tune=False``, these parameters take fixed defaults.
    affinity : {"auto", "paper", "linear", "top-k", "precomputed"}, default="auto"
        How to construct the affinity graph from the similarities S. Parameters of another affinity are refused.

        - "top-k": the ``n_neighbors`` most similar samples of each sample, with weights S ** ``power``.
        - "paper": exp((S - 1) / ``beta2``), with similarities below ``beta1`` set to zero first.
        - "linear": S itself.
        - "precomputed": X is a dense or sparse similarity matrix, and no forest is grown.
    beta1, beta2 : float or "auto", default="auto"
        Threshold and bandwidth of affinity="paper". A number given with affinity="auto" selects "paper".
    n_neighbors : int or "auto", default="auto"
        Number of neighbours of affinity="top-k". With ``tune=False``, "auto" is 20.
    power : float or "auto", default="auto"
        Exponent of the weights of affinity="top-k". With ``tune=False``, "auto" is 8, 3 for data
        with categories, and 1 for method="leiden".
    diagonal : {"keep", "drop"}, default="keep"
        Whether affinity="paper" keeps the affinity of each sample with itself.
    n_estimators : int, "auto" or None, default=None
        Number of trees. None is 200, or 400 on principal components. "auto" doubles it, up to 1600, until both halves
        of the forest give the same clusters.
    min_samples_split : int or "auto", default="auto"
        The minimum number of samples required to split a node. With ``tune=False``, "auto" is 24 for
        affinity="top-k", but at most half of the samples, and 30 for the others, but at most a quarter of them; at
        least 6. For affinity="linear" it is at least the square root of the number of samples.
    split, direction, n_candidates, max_samples
        See `RPForest`.
    n_components : int, "auto" or None, default="auto"
        Number of leading principal components on which the forest is grown. "auto" takes the 50 leading components of
        a table of 51 to 100,000 features, and the features themselves of any other table. None always takes the
        features, as in the paper.
    metric : {"auto", "euclidean", "cosine"}, default="auto"
        "cosine" scales the samples, or their principal components, to unit length, so that only angles count. "auto" is
        "cosine" for the principal components of data with more than 95 % zeros, such as TF-IDF, and else "euclidean".
    duplicates : {"weigh", "keep"}, default="weigh"
        How to treat samples that occur several times.

        - "weigh": the forest grows on the distinct samples, and each counts as often as it occurs. Samples that
          differ by less than a millionth of the spread of every feature count as equal.
        - "keep": Algorithm 1 of the paper as printed. ``min_samples_split`` or more equal samples are a leaf of their
          own in every tree, so nothing connects them with other samples.
    categorical_features : "auto", list of str or int, bool mask or None, default=None
        Columns that hold categories: names, numbers from 0, or a mask. "auto", or "from_dtype", takes the columns of a
        pandas, Polars or PyArrow table whose type is text or categorical. Each counts like one numeric column of unit
        spread. A level that was not fitted is the mean of each node of a tree.
    missing : {"error", "mean", "native"}, default="error"
        Missing values, NaN, None or NA: an error, the mean of the column, or left to the trees, which route a sample
        by its other columns.
    method : {"auto", "kway", "ncut", "leiden"}, default="auto"
        How to assign labels: "kway" runs k-means on all eigenvectors, "ncut" bipartitions recursively as in the paper,
        "leiden" finds communities of the affinity graph without eigenvectors. "leiden" requires affinity="top-k",
        "paper" or "precomputed".
    quality : {"modularity", "cpm"}, default="modularity"
        What method="leiden" maximises: modularity with a resolution, or the constant Potts model.
    resolution : float or None, default=None
        Resolution of method="leiden". Larger values give more clusters, and ``n_clusters`` must be None. With None, a
        resolution is found for ``n_clusters``.
    solver : {"auto", "dense", "block", "nystrom"}, default="auto"
        The eigensolver. "dense" and "block" agree to their tolerance, and "auto" selects one of them; "nystrom"
        approximates the eigenvectors from ``n_landmarks`` samples.
    n_landmarks : int, default=500
        Number of landmarks of solver="nystrom".
    memory_limit : int or None, default=None
        Raises MemoryError before the fit if it would need more than this number of bytes.
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
    embedding_ : ndarray of shape (n_samples, n_clusters_)
        The leading eigenvectors of the normalised affinity. With method="leiden" they are computed on first access.
    eigenvalues_ : ndarray of shape (n_clusters_,)
        The eigenvalues in descending order. Empty with method="leiden".
    affinity_matrix_ : sparse matrix or ndarray of shape (n_samples, n_samples)
        The affinity matrix, computed on first access.
    chosen_ : dict
        Resolved values of the parameters left at "auto", the outcome of the eigensolver, and under "evidence" the
        candidates that were compared.
    n_clusters_ : int
        Number of clusters.
    confidence_ : ndarray of shape (n_samples,)
        For each sample, the fraction of its co-leaf samples, over all trees, that belong to its cluster, shrunk towards
        1 / n_clusters by the fourth root of the score of the verdict. Computed on every access.
    verdict_ : dict or None
        How far to believe the clustering: ``word`` ("clear", "plausible", "weak" or "none"), ``score`` (from 0 to 1, an
        estimate of the adjusted Rand index with the true classes) and ``reason`` (one sentence). None with
        affinity="precomputed" and after `recut`, which has no samples to assess.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features seen during `fit`. Defined only when X has feature names that are all strings.

    See Also
    --------
    RPFEmbedding : Spectral embedding on the same kernel.
    sweep : Grid search over ``beta1`` and ``beta2``.

    References
    ----------
    - D. Yan, S. Gu, Y. Xu and Z. Qin, "Similarity Kernel and Clustering via Random Projection Forests", Algorithm 3.
    - J. Shi and J. Malik, "Normalized Cuts and Image Segmentation", IEEE Trans. Pattern Anal. Mach. Intell. 22(8),
      2000.
    - A. Y. Ng, M. I. Jordan and Y. Weiss, "On Spectral Clustering: Analysis and an Algorithm", NIPS 2002.
    - V. A. Traag, L. Waltman and N. J. van Eck, "From Louvain to Leiden: guaranteeing well-connected communities",
      Sci. Rep. 9, 5233, 2019.

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

    _affinities = (*ClusterParams._affinities, "precomputed")
    _vectors: Array | None

    def __init__(
        self,
        n_clusters: int | Literal["auto"] | None = 8,
        *,
        max_clusters: int = 10,
        tune: bool = False,
        affinity: Literal["auto", "linear", "paper", "top-k", "precomputed"] = "auto",
        beta1: float | Literal["auto"] = "auto",
        beta2: float | Literal["auto"] = "auto",
        n_neighbors: int | Literal["auto"] = "auto",
        power: float | Literal["auto"] = "auto",
        diagonal: Literal["keep", "drop"] = "keep",
        n_estimators: int | Literal["auto"] | None = None,
        min_samples_split: int | Literal["auto"] = "auto",
        split: Literal["uniform", "median"] = "uniform",
        direction: Literal["gaussian", "sparse"] = "gaussian",
        n_candidates: int = 1,
        max_samples: int | None = None,
        n_components: int | Literal["auto"] | None = "auto",
        metric: Literal["auto", "euclidean", "cosine"] = "auto",
        duplicates: Literal["weigh", "keep"] = "weigh",
        categorical_features: Any = None,
        missing: Literal["error", "mean", "native"] = "error",
        method: Literal["auto", "kway", "ncut", "leiden"] = "auto",
        quality: Literal["modularity", "cpm"] = "modularity",
        resolution: float | None = None,
        solver: Literal["auto", "dense", "block", "nystrom"] = "auto",
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
        self.max_samples = max_samples
        self.n_components = n_components
        self.metric = metric
        self.duplicates = duplicates
        self.categorical_features = categorical_features
        self.missing = missing
        self.method = method
        self.quality = quality
        self.resolution = resolution
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> RPFCluster:
        """Perform clustering.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The training samples. A similarity matrix of shape (n_samples, n_samples) with
            affinity="precomputed".
        y : Ignored
            Not used, present for API consistency.

        Returns
        -------
        self : object
            The fitted estimator.

        Warns
        -----
        UserWarning
            A feature or a few decide nearly everything, their spreads differ by more than a factor of 100, a feature
            looks like an identifier, samples lie far outside all others (rows counted from 0), or a cluster has very
            few samples.
        """
        self._fit(X)
        if "_cluster" in vars(self):
            for sentence in self._cluster.hints(column_names(self)):
                warn_caller(sentence)
        return self

    def _fit(self, X: Any) -> RPFCluster:
        """Fit without warnings."""
        k, more = self._clustering_params()
        if self.affinity == "precomputed":
            if more["max_k"] is not None:
                raise ValueError("n_clusters='auto' requires a forest, but affinity='precomputed' grows none")
            return fit_precomputed(self, X, k, more)
        X = check_data(self, X, reset=True, min_samples=2)
        count, n_features = self.n_components, X.shape[1]
        if isinstance(count, int) and count > n_features:
            raise ValueError(f"n_components is {count}, but must be at most n_features={n_features}")
        self._fit_cluster(X, k, **more)
        self.__dict__.pop("_used", None)
        return self._set_fitted(self._cluster, float_type(X))

    def recut(self, **params: Any) -> RPFCluster:
        """Cluster the training samples again with other parameters and the same forest.

        Growing the forest is most of the cost of a fit. Parameters left at "auto" keep the values that this fit chose;
        the labels are those of a new fit with the same values.

        Parameters
        ----------
        **params
            The parameters to change; all others keep their values. The parameters of the forest (``n_estimators``,
            ``split``, ``direction``, ``n_candidates``, ``max_samples``, ``n_components``, ``metric``,
            ``duplicates``, ``categorical_features``, ``missing``, ``random_state``) cannot change,
            ``min_samples_split`` cannot be below its value in the forest, and ``n_clusters`` must be a number.

        Returns
        -------
        model : RPFCluster
            A new fitted estimator, without a verdict. This one does not change.

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
            raise ValueError("recut requires a forest, but affinity='precomputed' grows none")
        if fixed := sorted(set(FOREST_PARAMS) & set(params)):
            raise ValueError(f"recut keeps the forest, so {fixed[0]} cannot change; fit a new model")
        other: RPFCluster = clone(self).set_params(**params)
        if other.affinity == "precomputed":
            raise ValueError("recut uses the kernel of the forest, so affinity cannot be 'precomputed'")
        if other.n_clusters is not None and is_auto(other.n_clusters, "n_clusters"):
            raise ValueError("recut cannot choose n_clusters='auto', which requires the samples; fit a new model")
        k, more = other._clustering_params()
        native_params = json.dumps({**other._params(k), **more})
        runtime = resolve_threads(other.n_jobs), other._limit(), make_progress(other.verbose)
        other._cluster = self._cluster.recut(native_params, *runtime)
        other._affinity_matrix = None
        for name in ("n_features_in_", "feature_names_in_", "_preparation"):
            if hasattr(self, name):
                setattr(other, name, getattr(self, name))
        return other._set_fitted(other._cluster, self._dtype)

    def _set_fitted(self, cluster: _rpfcluster.Cluster, dtype: Any) -> RPFCluster:
        """Set the fitted attributes from a native clustering."""
        self.labels_ = cluster.labels
        self._dtype, self._vectors = dtype, None
        self.eigenvalues_ = cluster.eigenvalues
        self.verdict_: dict[str, Any] | None = None if cluster.verdict is None else json.loads(cluster.verdict)
        return self

    @property
    def embedding_(self) -> Array:
        """The leading eigenvectors of the normalised affinity."""
        check_is_fitted(self)
        if self._vectors is None:
            self._vectors = self._cluster.vectors(make_progress(self.verbose)).astype(self._dtype, copy=False)
        if self._vectors.shape[1] == 0:
            raise AttributeError("embedding_ requires eigenvectors, but method='leiden' computes none of a matrix")
        return self._vectors

    @property
    def _n_features_out(self) -> int:
        return int(self.labels_.max()) + 1

    @property
    def n_clusters_(self) -> int:
        """Number of clusters."""
        check_is_fitted(self)
        return self._n_features_out

    @property
    def confidence_(self) -> NDArray[np.float64]:
        """For each sample, how far its co-leaf samples and the verdict support its cluster, from 0 to 1."""
        check_is_fitted(self)
        if "_cluster" not in self.__dict__:
            raise AttributeError("confidence_ requires a forest, but affinity='precomputed' grows none")
        return self._cluster.confidence(make_progress(self.verbose))

    def _require_forest(self) -> _rpfcluster.Cluster:
        """Return the native clustering, which a precomputed affinity does not have."""
        check_is_fitted(self)
        if "_cluster" not in vars(self):
            raise ValueError("this method requires a forest, but affinity='precomputed' grows none")
        return self._cluster

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Assign each sample to a cluster.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The cluster of each sample. Training samples keep their labels. A UserWarning names samples that lie far
            outside the training samples: their distance from the box that holds these is more than half of its
            diagonal.
        """
        labels, X = self._assign(X)
        if far := self._cluster.far_rows(as_native(X, self)):
            samples = "sample lies" if len(far) == 1 else "samples lie"
            warn_caller(
                f"{len(far)} {samples} far outside the training samples (the first is {far[0]}), "
                "and the cluster is a guess there"
            )
        return labels

    def _assign(self, X: Any) -> tuple[NDArray[np.int64], Any]:
        """Return the cluster of each sample, and the validated samples."""
        cluster, X = self._require_forest(), check_data(self, X, reset=False)
        return cluster.predict(as_native(X, self), make_progress(self.verbose)), X

    def predict_with_confidence(self, X: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Assign each sample to a cluster, with a confidence.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The cluster of each sample, as from `predict`.
        confidence : ndarray of shape (n_samples,)
            From 0 to 1: of the training samples that a sample shares a leaf with, the fraction in its cluster, shrunk
            as ``confidence_`` is. A sample far outside the training samples has at most 1 / n_clusters.
        """
        cluster, X = self._require_forest(), check_data(self, X, reset=False)
        return cluster.predict_with_confidence(as_native(X, self), make_progress(self.verbose))

    def score(self, X: Any, y: Any = None) -> float:
        """Return how well the clusters of the training samples predict those of X, or the classes ``y``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples that were not fitted.
        y : array-like of shape (n_samples,), default=None
            Known classes.

        Returns
        -------
        score : float
            The adjusted Rand index of the predicted clusters with ``y``. Without ``y``, that with the clusters of the
            same estimator fitted on X: the prediction strength (Tibshirani and Walther, 2005). 1 for the same
            partition, about 0 for unrelated ones.
        """
        predicted = self.predict(X)
        if y is None:
            y = clone(self).fit_predict(X)
        return float(adjusted_rand_score(y, predicted))

    def report(self, path: str | os.PathLike[str] | None = None, X: Any = None, y: Any = None) -> ReportPage | None:
        """Write an HTML report, or return it to be shown in a notebook.

        The page shows the clusters, the embedding, the similarities, partitions into other numbers of clusters and the
        samples of low confidence. It is one file without external resources.

        Parameters
        ----------
        path : str, path-like or None, default=None
            The file. An existing file is replaced. None returns the page instead.
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            The training samples. Without them the page does not describe the features of the clusters.
        y : array-like of shape (n_samples,), default=None
            Known classes, to compare with the clusters.

        Returns
        -------
        page : ReportPage or None
            The page, if no path is given.
        """
        if path is None:
            return ReportPage(make_report(self, self._require_forest(), X, y))
        write_report(self, self._require_forest(), path, X, y)
        return None

    def transform(self, X: Any) -> Array:
        """Return the spectral embedding of each sample (Nystrom extension).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_clusters_)
            The coordinates, in the float type of X.
        """
        cluster, X = self._require_forest(), check_data(self, X, reset=False)
        return cluster.transform(as_native(X, self), make_progress(self.verbose)).astype(float_type(X), copy=False)

    def __sklearn_tags__(self) -> Any:
        """Declare pairwise input for affinity="precomputed"."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.affinity == "precomputed"
        tags.input_tags.allow_nan = self.missing in ("mean", "native")
        tags.input_tags.categorical = self.categorical_features is not None
        return tags
