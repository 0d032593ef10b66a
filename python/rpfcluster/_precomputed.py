"""`RPFCluster` on a similarity matrix instead of a forest."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _rpfcluster
from ._common import check_numbers, is_sparse, make_progress, resolve_threads

if TYPE_CHECKING:
    from ._cluster import RPFCluster


def fit_precomputed(model: RPFCluster, X: Any, k: int, more: dict[str, Any]) -> RPFCluster:
    """Cut the matrix X into k clusters."""
    method = more["method"] or "kway"
    leiden = {name: more[name] for name in ("quality", "resolution")}
    if method != "leiden" and leiden != {"quality": "modularity", "resolution": None}:
        name = "quality" if leiden["quality"] != "modularity" else "resolution"
        raise ValueError(f"{name} applies only to method leiden, but the method is {method}")
    if method == "leiden" and model.solver != "auto":
        raise ValueError("solver applies only to method kway or ncut, but the method is leiden")
    X = check_numbers(model, X, accept_sparse="csr", dtype=np.float64, order="C", ensure_min_samples=2)
    params = json.dumps({"k": k, "method": method, **leiden, **model._spectral(k)})
    matrix = (X.indptr, X.indices, X.data) if is_sparse(X) else X
    labels, vectors, values, used = _rpfcluster.spectral(
        matrix, params, resolve_threads(model.n_jobs), make_progress(model.verbose)
    )
    model.__dict__.pop("_cluster", None)
    model._used = {"affinity": "precomputed", **json.loads(used)}
    model._affinity_matrix = X
    model.labels_, model._vectors, model.eigenvalues_ = labels, vectors, values
    model.verdict_ = None
    return model
