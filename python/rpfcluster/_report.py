"""HTML report of a fitted clustering: the native module renders the page; the file is written whole or not at all.

The native module receives the samples and, as JSON, column names, scaling, known classes and the code that reproduces
the fit.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from . import _rpfcluster
from ._common import as_native, check_data, column_names, make_progress, resolve_output

if TYPE_CHECKING:
    import os


class ReportPage:
    """An HTML report. A notebook shows it in place.

    Attributes
    ----------
    html : str
        The page.
    """

    def __init__(self, html: str) -> None:
        self.html = html

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, so that its style stays inside."""
        page = self.html.replace("&", "&amp;").replace('"', "&quot;")
        return f'<iframe srcdoc="{page}" title="report" width="100%" height="800" style="border: 0"></iframe>'


def write_report(estimator: Any, cluster: _rpfcluster.Cluster, path: str | os.PathLike[str], X: Any, y: Any) -> None:
    """Write the report. The file is written completely or not at all."""
    target = resolve_output(path)
    _rpfcluster.write_page(target, make_report(estimator, cluster, X, y))


def make_report(estimator: Any, cluster: _rpfcluster.Cluster, X: Any, y: Any) -> str:
    """Return the page."""
    about: dict[str, Any] = {
        "source": "the data",
        "again": _reproducing_code(estimator, cluster),
        "columns": column_names(estimator, "x"),
    }
    table = None
    if X is not None:
        X = check_data(estimator, X, reset=False)
        if hasattr(estimator, "_preparation"):
            about["units"] = estimator._preparation.units(estimator.n_features_in_)
        table = as_native(X, estimator)
    if y is not None:
        names, codes = np.unique(np.asarray(y).astype(str), return_inverse=True)
        about["classes"] = [codes.ravel().tolist(), names.tolist()]
    return cluster.report(json.dumps(about), table, make_progress(estimator.verbose))


def _reproducing_code(estimator: Any, cluster: _rpfcluster.Cluster) -> str:
    """Return the code that reproduces the clustering: the estimator with the seed that was used."""
    same = clone(estimator).set_params(random_state=json.loads(cluster.params)["seed"])
    return f"from rpfcluster import RPFCluster\n\nmodel = {same!r}\nmodel.fit(X)"
