"""HTML report of a fitted clustering: the native module renders the page; the file is written whole or not at all.

The native module receives the samples and, as JSON, column names, scaling, known classes and the code that reproduces
the fit.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from ._common import as_native, check_data, column_names, make_progress, resolve_output

if TYPE_CHECKING:
    from . import _rpfcluster


def write_report(estimator: Any, cluster: _rpfcluster.Cluster, path: str | os.PathLike[str], X: Any, y: Any) -> None:
    """Write the report. The file is written completely or not at all."""
    target = resolve_output(path)
    about: dict[str, Any] = {
        "source": "the data",
        "again": _reproducing_code(estimator, cluster),
        "columns": column_names(estimator, "x"),
    }
    table = None
    if X is not None:
        X = check_data(estimator, X, reset=False)
        if hasattr(estimator, "_scaling"):
            about["units"] = [np.asarray(part, dtype=float).tolist() for part in estimator._scaling]
        table = as_native(X)
    if y is not None:
        names, codes = np.unique(np.asarray(y).astype(str), return_inverse=True)
        about["classes"] = [codes.ravel().tolist(), names.tolist()]
    page = cluster.report(json.dumps(about), table, make_progress(estimator.verbose))
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".rpf-", suffix=".html")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(page)
        Path(name).chmod(0o644)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _reproducing_code(estimator: Any, cluster: _rpfcluster.Cluster) -> str:
    """Return the code that reproduces the clustering: the estimator with the seed that was used."""
    same = clone(estimator).set_params(random_state=json.loads(cluster.params)["seed"])
    return f"from rpfcluster import RPFCluster\n\nmodel = {same!r}\nmodel.fit(X)"
