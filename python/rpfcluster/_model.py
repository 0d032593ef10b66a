"""Model files, in the format that the command `rpf` reads and writes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _rpfcluster
from ._cluster import RPFCluster
from ._common import resolve_output, resolve_threads
from ._forest import RPForest
from ._meta import checked_preparation
from ._preparation import Preparation
from ._printable import printable_errors


@printable_errors
def save(estimator: RPFCluster | RPForest, path: str | os.PathLike[str]) -> None:
    """Write a fitted RPFCluster or RPForest to a model file.

    The file is written completely or not at all. The command `rpf` and the Rust library read it too.

    Parameters
    ----------
    estimator : RPFCluster or RPForest
        The fitted estimator. Use pickle or joblib for other estimators.
    path : str or path-like
        The file. An existing file is replaced.

    Raises
    ------
    TypeError
        The estimator is neither an RPFCluster nor an RPForest.
    FileNotFoundError
        The folder does not exist.

    See Also
    --------
    load : Read a model file.

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
    target = resolve_output(path)
    fitted = estimator._require_forest() if isinstance(estimator, RPFCluster) else estimator._forest
    fitted.save(target, json.dumps(_meta(estimator)).encode())


def _meta(estimator: Any) -> dict[str, Any]:
    """Return the description of the columns that the command expects."""
    width = estimator.n_features_in_
    preparation: Preparation | None = getattr(estimator, "_preparation", None)
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
            "center": [0.0] * width,
            "scale": [1.0] * width,
            **({} if preparation is None else preparation.meta()),
        },
        "rows": None,
    }


@printable_errors
def load(path: str | os.PathLike[str], *, n_jobs: int | None = None) -> RPFCluster | RPForest:
    """Read a model file written by `save` or by the command.

    Parameters
    ----------
    path : str or path-like
        The file.
    n_jobs : int or None, default=None
        Number of threads of the loaded estimator.

    Returns
    -------
    estimator : RPFCluster or RPForest
        The fitted estimator that the file holds.

    Raises
    ------
    ValueError
        The file is damaged, or a newer version wrote it.

    See Also
    --------
    save : Write a model file.

    Notes
    -----
    Categories and missing values of new samples are treated as those of the training data. If the command standardised
    columns, the loaded estimator standardises new samples in the same way.
    """
    # Raises the OSError of Python, with its errno, if the file cannot be read.
    with Path(path).open("rb"):
        pass
    model, meta = _rpfcluster.open_model(path, resolve_threads(n_jobs))
    params = json.loads(model.forest_params)
    common = {
        "n_estimators": params["trees"],
        "min_samples_split": params["min_node"],
        "split": params["split"],
        "direction": params["direction"],
        "n_candidates": params["candidates"],
        "max_samples": params.get("max_samples"),
        "random_state": params["seed"],
        "n_jobs": n_jobs,
    }
    estimator: RPFCluster | RPForest
    if isinstance(model, _rpfcluster.Cluster):
        asked = json.loads(model.params)
        common["min_samples_split"] = "auto" if asked["min_node"] is None else asked["min_node"]
        if asked["max_trees"] is not None:
            common["n_estimators"] = "auto"
        words = {name: "auto" if asked[name] is None else asked[name] for name in _OPEN}
        estimator = RPFCluster(
            None if asked["resolution"] is not None else asked["k"] if asked["max_k"] is None else "auto",
            **{**common, **words},
            **({} if asked["max_k"] is None else {"max_clusters": asked["max_k"]}),
            tune=asked["tune"],
            n_neighbors="auto" if asked["top"] is None else asked["top"],
            diagonal=asked["diagonal"],
            quality=asked["quality"],
            resolution=asked["resolution"],
            solver=asked["solver"],
            n_landmarks=asked["landmarks"],
            n_components=_components(asked["components"]),
            metric=asked["metric"],
            duplicates=asked["duplicates"],
        )
        estimator._cluster = model
        estimator._affinity_matrix = None
        estimator._set_fitted(model, np.dtype(model.dtype))
    else:
        estimator = RPForest(**common)
        estimator._forest = model
    estimator.n_features_in_ = model.shape[1]
    if meta is not None:
        try:
            preparation = checked_preparation(meta, *model.shape)
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: the model is damaged: {error}") from error
        _set_preparation(estimator, preparation)
    return estimator


def _components(asked: Any) -> int | Literal["auto"] | None:
    """Return the number of principal components as `RPFCluster` takes it."""
    if isinstance(asked, dict):
        return int(asked["count"])
    return None if asked == "none" else "auto"


# Parameters with the same name in both languages; None in the file is "auto".
_OPEN = ("affinity", "beta1", "beta2", "power", "method")


def _set_preparation(estimator: Any, preparation: dict[str, Any]) -> None:
    estimator.n_features_in_ = len(preparation["columns"])
    if (found := Preparation.from_meta(preparation)) is not None:
        estimator._preparation = found
        columns = preparation["columns"] if preparation["named"] else range(len(preparation["columns"]))
        places = [category.column for category in found.categories]
        estimator.set_params(
            missing=found.missing, categorical_features=[columns[place] for place in places] if places else None
        )
    if preparation["named"]:
        estimator.feature_names_in_ = np.asarray(preparation["columns"], dtype=object)
