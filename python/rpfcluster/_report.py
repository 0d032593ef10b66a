"""HTML report of a fitted clustering: the native module renders the page; the file is written whole or not at all.

Without a file the page is a `Report`, which notebooks show in a frame of its own.

The native module receives the samples and, as JSON, column names, scaling, known classes and the code that reproduces
the fit.
"""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from . import _rpfcluster
from ._common import as_native, check_data, column_names, make_progress, resolve_output

if TYPE_CHECKING:
    import os


class Report:
    """An HTML report.

    Attributes
    ----------
    html : str
        The page, which needs no other file.
    """

    def __init__(self, html: str) -> None:
        self.html = html

    def _repr_html_(self) -> str:
        """Show the page in a frame, which keeps its styles and scripts apart from those of the notebook."""
        return (
            f'<iframe srcdoc="{escape(self.html, quote=True)}" sandbox="allow-scripts" title="rpfcluster report" '
            'style="width: 100%; height: 800px; border: 0"></iframe>'
        )

    def __repr__(self) -> str:
        """Describe the page where HTML is not shown."""
        return f"<rpfcluster report of {len(self.html):,} characters; .html is the page>"


def make_report(
    estimator: Any, cluster: _rpfcluster.Cluster, path: str | os.PathLike[str] | None, X: Any, y: Any
) -> Report | None:
    """Write the report, completely or not at all, or return it if there is no path."""
    target = None if path is None else resolve_output(path)
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
    if target is None:
        return Report(page)
    _rpfcluster.write_page(target, page)
    return None


def _reproducing_code(estimator: Any, cluster: _rpfcluster.Cluster) -> str:
    """Return the code that reproduces the clustering: the estimator with the seed that was used."""
    same = clone(estimator).set_params(random_state=json.loads(cluster.params)["seed"])
    return f"from rpfcluster import RPFCluster\n\nmodel = {same!r}\nmodel.fit(X)"
