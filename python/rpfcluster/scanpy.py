"""Clustering of single cells: `rpf` takes an AnnData object and writes its results where scanpy keeps such things.

Needs anndata, which ``pip install rpfcluster[scanpy]`` brings together with scanpy.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ._cluster import RPFCluster
from ._common import is_sparse
from ._printable import printable_errors

__all__ = ["rpf"]


def rpf(
    adata: Any,
    n_clusters: Any = "auto",
    *,
    key_added: str = "rpf",
    use_rep: str | None = None,
    n_pcs: int | None = None,
    random_state: Any = 0,
    copy: bool = False,
    **params: Any,
) -> Any:
    """Cluster cells by spectral clustering on the kernel of a random projection forest.

    The same cells and the same ``random_state`` give the same labels on every machine and with any number of threads.

    Parameters
    ----------
    adata : AnnData
        The annotated data matrix.
    n_clusters : int, "auto" or None, default="auto"
        Number of clusters, as in `RPFCluster`.
    key_added : str, default="rpf"
        The key of the results.
    use_rep : str or None, default=None
        The key of ``adata.obsm`` to cluster on, or "X" for the matrix itself, dense or sparse. None takes "X_pca" if it
        is there, and else the matrix.
    n_pcs : int or None, default=None
        Number of leading columns of the representation to use. None uses all.
    random_state : int, RandomState instance, Generator or None, default=0
        The seed.
    copy : bool, default=False
        Whether to return a copy of ``adata`` with the results instead of changing it.
    **params
        Further parameters of `RPFCluster`, such as ``method="leiden"``.

    Returns
    -------
    adata : AnnData or None
        The copy if ``copy`` is true, else None. It has these fields:

        ``obs[key_added]``
            The clusters as categories "0", "1", … in order of first appearance.
        ``obs[key_added + "_confidence"]``
            How far the neighbours of each cell support its cluster, from 0 to 1.
        ``obsp[key_added + "_connectivities"]``
            The similarities of the pairs of the graph that was clustered, where it is sparse: the fraction of trees in
            which two cells share a leaf, without ``power``. Functions of scanpy use it with
            ``neighbors_key=key_added``.
        ``obsp[key_added + "_distances"]``
            One minus these similarities.
        ``uns[key_added]``
            ``params`` (what was asked for), ``connectivities_key``, ``distances_key``, ``verdict`` (``word``,
            ``score``, ``reason``: how far to believe the clusters), ``eigenvalues``, and ``chosen``, the parameters
            that were used and what was tried, as JSON text.

    Examples
    --------
    >>> from anndata import AnnData
    >>> import rpfcluster.scanpy
    >>> from rpfcluster.datasets import make_shape
    >>> adata = AnnData(make_shape("rings", 600, random_state=0)[0])
    >>> rpfcluster.scanpy.rpf(adata, 3)
    >>> adata.obs["rpf"].cat.categories.tolist()
    ['0', '1', '2']
    >>> adata.uns["rpf"]["verdict"]["word"]
    'clear'
    """
    import pandas as pd

    if copy:
        adata = adata.copy()
    use_rep, rows = _representation(adata, use_rep, n_pcs)
    model = RPFCluster(n_clusters, random_state=random_state, **params).fit(rows)

    names = [str(label) for label in range(model.n_clusters_)]
    adata.obs[key_added] = pd.Categorical.from_codes(model.labels_, categories=names)
    asked = {"n_clusters": n_clusters, "use_rep": use_rep, "n_pcs": n_pcs, "random_state": random_state, **params}
    found: dict[str, Any] = {
        # Only what an .h5ad file can hold.
        "params": {
            "method": "rpf",
            **{name: value for name, value in asked.items() if isinstance(value, str | int | float)},
        },
        "eigenvalues": np.asarray(model.eigenvalues_, dtype=np.float64),
        "chosen": json.dumps(model.chosen_),
    }
    if model.verdict_ is not None:
        adata.obs[f"{key_added}_confidence"] = model.confidence_
        found["verdict"] = dict(model.verdict_)
    # UMAP knows no metric of that name, and takes the Euclidean one without it.
    if found["params"].get("metric") == "auto":
        del found["params"]["metric"]
    similarities = _similarities(model)
    if similarities is not None:
        found["connectivities_key"] = f"{key_added}_connectivities"
        found["distances_key"] = f"{key_added}_distances"
        degrees = np.diff(similarities.indptr)
        found["params"]["n_neighbors"] = int(model.chosen_.get("n_neighbors") or degrees.max())
        distances = similarities.copy()
        distances.data = 1.0 - distances.data / distances.data.max(initial=1.0)
        adata.obsp[found["connectivities_key"]] = similarities
        adata.obsp[found["distances_key"]] = distances
    adata.uns[key_added] = found
    return adata if copy else None


def _similarities(model: RPFCluster) -> Any:
    """Return the similarities of the pairs of the graph as a new matrix; None where it is dense or was not formed.

    UMAP drops the weights below 1/500 of the largest, in place. Of the default, S ** 8, these are nearly all.
    """
    if model.chosen_["affinity"] not in ("top-k", "precomputed") or not is_sparse(model.affinity_matrix_):
        return None
    graph = model.affinity_matrix_.astype(np.float64).tocsr()
    graph.data **= 1.0 / model.chosen_.get("power", 1.0)
    return graph


@printable_errors
def _representation(adata: Any, use_rep: str | None, n_pcs: int | None) -> tuple[str, Any]:
    """Return the name of the representation and its rows."""
    if use_rep is None:
        use_rep = "X_pca" if "X_pca" in adata.obsm else "X"
    if use_rep != "X" and use_rep not in adata.obsm:
        known = ", ".join(sorted(map(str, adata.obsm))) or "nothing"
        raise ValueError(f"use_rep is {use_rep!r}, but obsm holds {known}; use_rep='X' takes the matrix itself")
    rows = adata.X if use_rep == "X" else adata.obsm[use_rep]
    if rows is None:
        raise ValueError("adata has no matrix X; name a representation of obsm in use_rep")
    if n_pcs is None:
        return use_rep, rows
    if not 1 <= n_pcs <= rows.shape[1]:
        raise ValueError(f"n_pcs is {n_pcs}, but must be from 1 to {rows.shape[1]}, the columns of {use_rep}")
    return use_rep, rows[:, :n_pcs]
