"""The paper's search: every threshold and bandwidth of a grid over one forest, without labels or scored by them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from . import _rpfcluster
from ._common import Array, one_of, progress_of, seed_of, threads_of, whole
from ._forest import RPForest

SCORES = ("rho_c", "rho_r", "ari", "nmi", "majority")


@dataclass(frozen=True)
class SweepResult:
    """What `sweep` found.

    Attributes
    ----------
    results : dict of ndarray
        One entry a setting, as in ``cv_results_``: beta1, beta2, method, ncut (of the partition, on the similarity
        itself), eigengap, converged, reused (labels taken over from a setting next to it), partition; with y also
        rho_c, rho_r, ari, nmi and majority. ``pandas.DataFrame(found.results)`` is the table.
    label_free : int
        The setting the rule without labels picks: its partition agrees most with those of all others.
    best_by_labels : int or None
        The setting of the highest rho_c, where y was given: the paper's protocol.
    left_out : list of float
        Values of beta1 that would have kept too many pairs.
    n_failed : int
        Settings that could not be solved.
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
        """Return the labels of a setting by its place in ``results``; None is the one picked without labels."""
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
    """Cluster with every threshold ``beta1`` and bandwidth ``beta2`` of a grid; one forest serves all.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    n_clusters : int
        Number of clusters.
    y : array-like of shape (n_samples,) or None
        Known classes; used only to score.
    grid : {"coarse", "medium", "paper"}, default="coarse"
        Eighteen bandwidths, about 140, or the paper's 2,090; five thresholds each.
    beta1, beta2 : sequence of float or None
        Values of your own instead.
    methods : sequence of {"ncut", "kway"}, default=("ncut", "kway")
        How labels are made.
    diagonal : {"keep", "drop"}, default="keep"
        Whether a row is similar to itself.
    n_estimators, min_samples_split, split, direction, n_candidates, random_state, n_jobs, verbose
        As in `RPForest`.

    Returns
    -------
    SweepResult
        Every setting, and two picks; `rpfcluster.plot.sweep` draws it.

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
        "k": whole(n_clusters, "n_clusters", 1),
        "beta1": thresholds if beta1 is None else [float(value) for value in beta1],
        "beta2": bandwidths if beta2 is None else sorted(float(value) for value in beta2),
        "methods": [one_of(method, "methods", ("ncut", "kway")) for method in methods],
        "diagonal": one_of(diagonal, "diagonal", ("keep", "drop")),
        "seed": seed_of(random_state),
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
        forest._forest, json.dumps(params), classes, threads_of(n_jobs), progress_of(verbose)
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
