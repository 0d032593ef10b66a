"""Model files: the same container the command writes and reads, so that either can go on where the other stopped."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _rpfcluster
from ._cluster import RPFCluster
from ._common import target_of, threads_of
from ._forest import RPForest


def save(estimator: RPFCluster | RPForest, path: str | os.PathLike[str]) -> None:
    """Write a fitted RPFCluster or RPForest as a model file, whole or not at all.

    Parameters
    ----------
    estimator : RPFCluster or RPForest
        What to save; of other estimators, pickle or joblib keep everything.
    path : path-like
        The file; one that is there is replaced.

    Examples
    --------
    >>> import os, tempfile
    >>> from rpfcluster import RPFCluster, load, save
    >>> from rpfcluster.datasets import load_iris
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = RPFCluster(n_clusters=3, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, os.path.join(folder, "iris.rpf"))
    ...     again = load(os.path.join(folder, "iris.rpf"))
    >>> bool((again.predict(X) == model.labels_).all())
    True
    """
    if not isinstance(estimator, RPFCluster | RPForest):
        raise TypeError(f"save takes a fitted RPFCluster or RPForest, not {type(estimator).__name__}")
    check_is_fitted(estimator)
    target = target_of(path)
    held = estimator._placing() if isinstance(estimator, RPFCluster) else estimator._forest
    held.save(target, json.dumps(_meta(estimator)).encode())


def _meta(estimator: Any) -> dict[str, Any]:
    """Describe the columns as the command does."""
    width = estimator.n_features_in_
    center, scale = getattr(estimator, "_scaling", (np.zeros(width), np.ones(width)))
    names = getattr(estimator, "feature_names_in_", None)
    return {
        "written_by": f"rpfcluster (Python) {_rpfcluster.__version__}",
        "label": None,
        "preparation": {
            "columns": [f"x{i + 1}" for i in range(width)] if names is None else list(names),
            "positions": list(range(width)),
            "named": names is not None,
            "missing": "error",
            "fill": [],
            "center": center.tolist(),
            "scale": scale.tolist(),
        },
        "rows": None,
    }


def load(path: str | os.PathLike[str], *, n_jobs: int | None = None) -> RPFCluster | RPForest:
    """Read a model file written by `save` or by the command.

    Parameters
    ----------
    path : path-like
        The file.
    n_jobs : int or None, default=None
        Threads for predict and transform.

    Returns
    -------
    RPFCluster or RPForest
        Fitted, whichever the file holds.

    Raises
    ------
    ValueError
        The file is damaged or of a newer version.

    Notes
    -----
    Where the command standardised columns, new rows are standardised in the same way before they are placed.
    """
    # Where it cannot be read, Python's own error says so best.
    with Path(path).open("rb"):
        pass
    forest, cluster, meta = _rpfcluster.open_model(path, threads_of(n_jobs))
    params = json.loads(forest.params)
    common = {
        "n_estimators": params["trees"],
        "min_samples_split": params["min_node"],
        "split": params["split"],
        "direction": params["direction"],
        "n_candidates": params["candidates"],
        "random_state": params["seed"],
        "n_jobs": n_jobs,
    }
    estimator: RPFCluster | RPForest
    if cluster is not None:
        asked = json.loads(cluster.params)
        common["min_samples_split"] = "auto" if asked["min_node"] is None else asked["min_node"]
        if asked["max_trees"] is not None:
            common["n_estimators"] = "auto"
        words = {name: "auto" if asked[name] is None else asked[name] for name in _OPEN}
        estimator = RPFCluster(
            asked["k"] if asked["max_k"] is None else "auto",
            **{**common, **words},
            **({} if asked["max_k"] is None else {"max_clusters": asked["max_k"]}),
            tune=asked["tune"],
            n_neighbors="auto" if asked["top"] is None else asked["top"],
            diagonal=asked["diagonal"],
            solver=asked["solver"],
            n_landmarks=asked["landmarks"],
        )
        estimator._cluster = cluster
        estimator._affinity_matrix = None
        estimator._take(cluster, np.dtype(forest.dtype))
    else:
        estimator = RPForest(**common)
        estimator._forest = forest
    estimator.n_features_in_ = forest.shape[1]
    if meta is not None:
        _take_meta(estimator, json.loads(meta)["preparation"])
    return estimator


_OPEN = ("affinity", "beta1", "beta2", "power", "method")


def _take_meta(estimator: Any, preparation: dict[str, Any]) -> None:
    center, scale = np.asarray(preparation["center"]), np.asarray(preparation["scale"])
    if center.any() or (scale != 1.0).any():
        estimator._scaling = (center, scale)
    if preparation["named"]:
        estimator.feature_names_in_ = np.asarray(preparation["columns"], dtype=object)
