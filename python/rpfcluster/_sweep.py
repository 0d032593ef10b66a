"""Grid search over the threshold and the bandwidth of the paper's affinity."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from . import _rpfcluster
from ._common import Array, check_choice, check_float, check_int, make_progress, resolve_seed, resolve_threads
from ._forest import RPForest

SCORES = ("rho_c", "rho_r", "ari", "nmi", "majority")


@dataclass(frozen=True)
class SweepResult:
    """Result of `sweep`.

    Attributes
    ----------
    results : dict of ndarray
        One array per column, with one entry for each setting, as in ``cv_results_``. Convert it to a table with
        ``pandas.DataFrame(found.results)``. The columns are

        - ``beta1``, ``beta2`` and ``method``: the setting;
        - ``ncut``: the normalised cut of the partition on the similarity S, comparable between settings;
        - ``eigengap``: the gap after the n_clusters-th eigenvalue;
        - ``converged``: whether the eigenvectors reached the tolerance;
        - ``reused``: whether the labels are those of an adjacent bandwidth;
        - ``partition``: the index into ``partitions``;
        - with y, ``rho_c``, ``rho_r``, ``ari``, ``nmi`` and ``majority``; see `rpfcluster.metrics.scores`.
    label_free : int
        Index of the setting selected without labels: the one whose partition has the highest mean adjusted Rand index
        with all others.
    best_by_labels : int or None
        Index of the setting with the highest rho_c, the paper's protocol. None without y.
    left_out : list of float
        Values of ``beta1`` that were skipped because they keep too many pairs.
    n_failed : int
        Number of settings without a solution.
    partitions : ndarray of shape (n_partitions, n_samples)
        The distinct partitions.
    """

    results: dict[str, Array]
    label_free: int
    best_by_labels: int | None
    left_out: list[float]
    n_failed: int
    partitions: NDArray[np.uint32] = field(repr=False)

    def labels(self, setting: int | None = None) -> NDArray[np.int64]:
        """Return the labels of a setting.

        Parameters
        ----------
        setting : int or None, default=None
            Index of the setting in ``results``. None uses ``label_free``.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels of each sample.
        """
        at = self.label_free if setting is None else setting
        labels: NDArray[np.uint32] = self.partitions[int(self.results["partition"][at])]
        return labels.astype(np.int64)


def sweep(
    X: Any,
    n_clusters: int,
    y: Any = None,
    *,
    grid: str = "coarse",
    beta1: Sequence[float] | None = None,
    beta2: Sequence[float] | None = None,
    methods: Sequence[str] = ("ncut", "kway"),
    diagonal: str = "keep",
    n_estimators: int = 200,
    min_samples_split: int = 30,
    split: str = "uniform",
    direction: str = "gaussian",
    n_candidates: int = 1,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> SweepResult:
    """Cluster with every combination of threshold ``beta1`` and bandwidth ``beta2`` in a grid.

    All settings use the same forest and the affinity "paper" of `RPFCluster`.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples.
    n_clusters : int
        Number of clusters.
    y : array-like of shape (n_samples,) or None, default=None
        Known classes, used only for scores.
    grid : {"coarse", "medium", "paper"}, default="coarse"
        The grid: 18, about 140, or the paper's 2,090 bandwidths, each with five thresholds.
    beta1, beta2 : sequence of float or None, default=None
        Thresholds and bandwidths to use instead of those of the grid.
    methods : sequence of {"ncut", "kway"}, default=("ncut", "kway")
        How to assign labels in the embedding space; see `RPFCluster`.
    diagonal : {"keep", "drop"}, default="keep"
        Whether to keep the affinity of each sample with itself.
    n_estimators, min_samples_split, split, direction, n_candidates, random_state, n_jobs, verbose
        See `RPForest`.

    Returns
    -------
    found : SweepResult
        All settings, and those selected with and without labels.

    See Also
    --------
    rpfcluster.plot.sweep : Draw the result as a map.

    References
    ----------
    D. Yan, S. Gu, Y. Xu and Z. Qin, "Similarity Kernel and Clustering via Random Projection Forests".

    Examples
    --------
    >>> from rpfcluster import sweep
    >>> from rpfcluster.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> found = sweep(X, 3, y, random_state=0)
    >>> len(found.results["beta1"])
    180
    >>> bool(found.results["rho_c"][found.best_by_labels] > 0.9)
    True
    >>> found.labels().shape
    (150,)
    """
    thresholds, bandwidths = _rpfcluster.sweep_grid(grid)
    params = {
        "k": check_int(n_clusters, "n_clusters", 1),
        "beta1": thresholds if beta1 is None else [check_float(value, "beta1") for value in beta1],
        "beta2": bandwidths if beta2 is None else sorted(check_float(value, "beta2") for value in beta2),
        "methods": [check_choice(method, "methods", ("ncut", "kway")) for method in methods],
        "diagonal": check_choice(diagonal, "diagonal", ("keep", "drop")),
        "seed": resolve_seed(random_state),
    }
    forest = RPForest(
        n_estimators,
        min_samples_split=min_samples_split,
        split=split,
        direction=direction,
        n_candidates=n_candidates,
        random_state=params["seed"],
        n_jobs=n_jobs,
        verbose=verbose,
    ).fit(X)
    classes = None
    if y is not None:
        classes = [int(code) for code in np.unique(np.asarray(y), return_inverse=True)[1]]
        check_consistent_length(classes, np.empty(forest._forest.shape[0]))
    found, partitions = _rpfcluster.sweep(
        forest._forest, json.dumps(params), classes, resolve_threads(n_jobs), make_progress(verbose)
    )
    return _result(json.loads(found), partitions)


def _result(found: dict[str, Any], partitions: NDArray[np.uint32]) -> SweepResult:
    entries = found["entries"]
    results = {name: np.asarray([e[name] for e in entries]) for name in entries[0] if name != "sizes"}
    if found["scores"] is not None:
        of_partition = found["scores"]
        for name in SCORES:
            percent = 100 if name in ("rho_c", "rho_r", "majority") else 1
            results[name] = np.asarray([of_partition[at][name] / percent for at in results["partition"]])
    return SweepResult(
        results=results,
        label_free=found["label_free"],
        best_by_labels=found["best_by_labels"],
        left_out=found["left_out"],
        n_failed=0 if found["failed"] is None else found["failed"]["settings"],
        partitions=partitions,
    )
