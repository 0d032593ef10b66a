"""Plots of fitted estimators with matplotlib, an optional dependency (``pip install rpfcluster[plot]``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._common import check_choice, check_int, is_sparse

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._sweep import SweepResult

__all__ = ["eigengap", "embedding", "heatmap", "sweep"]


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("rpfcluster.plot requires matplotlib: pip install rpfcluster[plot]") from error
    return pyplot.subplots(layout="constrained")[1]


def heatmap(estimator: Any, *, max_rows: int = 1000, ax: Axes | None = None) -> Axes:
    """Plot the affinity matrix with the samples sorted by cluster.

    Well-separated clusters appear as bright blocks on the diagonal.

    Parameters
    ----------
    estimator : RPFCluster
        A fitted estimator.
    max_rows : int, default=1000
        Number of samples to plot at most. Above it, every m-th sample is plotted.
    ax : matplotlib Axes or None, default=None
        The axes to draw on. None creates a figure.

    Returns
    -------
    ax : matplotlib Axes
        The axes with the plot.

    Examples
    --------
    >>> from rpfcluster import RPFCluster, plot
    >>> from rpfcluster.datasets import load_iris
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = RPFCluster(n_clusters=3, affinity="linear", random_state=0).fit(X)
    >>> ax = plot.heatmap(model)
    >>> ax.get_xlabel()
    'rows by cluster'
    """
    ax = _axes(ax)
    order = np.argsort(estimator.labels_, kind="stable")
    order = order[:: max(1, -(-len(order) // check_int(max_rows, "max_rows", 2)))]
    matrix = estimator.affinity_matrix_[order][:, order]
    shown = matrix.toarray() if is_sparse(matrix) else matrix
    off_diagonal = shown[~np.eye(len(shown), dtype=bool)]
    # A few strong pairs would leave the rest of the image black.
    top = float(np.quantile(off_diagonal[off_diagonal > 0], 0.99)) if (off_diagonal > 0).any() else 1.0
    image = ax.imshow(shown, vmin=0, vmax=top, cmap="magma", interpolation="nearest")
    for edge in np.flatnonzero(np.diff(estimator.labels_[order])) + 0.5:
        ax.axhline(edge, color="white", linewidth=0.5)
        ax.axvline(edge, color="white", linewidth=0.5)
    ax.figure.colorbar(image, ax=ax, label="affinity", shrink=0.8)
    ax.set(xlabel="rows by cluster", ylabel="rows by cluster", xticks=[], yticks=[])
    return ax


def embedding(estimator: Any, labels: Any = None, *, columns: tuple[int, int] = (0, 1), ax: Axes | None = None) -> Axes:
    """Plot two coordinates of the spectral embedding, coloured by cluster.

    Parameters
    ----------
    estimator : RPFCluster or RPFEmbedding
        A fitted estimator.
    labels : array-like of shape (n_samples,) or None, default=None
        Values for the colours. None uses ``labels_`` of the estimator, if it has them.
    columns : tuple of (int, int), default=(0, 1)
        The two coordinates.
    ax : matplotlib Axes or None, default=None
        The axes to draw on. None creates a figure.

    Returns
    -------
    ax : matplotlib Axes
        The axes with the plot.
    """
    ax = _axes(ax)
    across, up = columns
    colors = getattr(estimator, "labels_", None) if labels is None else labels
    points = estimator.embedding_
    if colors is not None and np.asarray(colors).dtype.kind in "iub":
        # Consecutive labels get distinct colours for any number of clusters.
        ax.scatter(points[:, across], points[:, up], c=np.asarray(colors) % 10, s=8, cmap="tab10", vmin=0, vmax=9)
    else:
        ax.scatter(points[:, across], points[:, up], c=colors, s=8, cmap="viridis")
    ax.set(xlabel=f"coordinate {across + 1}", ylabel=f"coordinate {up + 1}")
    return ax


def eigengap(estimator: Any, n_eigenvalues: int | None = None, *, ax: Axes | None = None) -> Axes:
    """Plot the eigenvalues and mark the widest gap, which suggests a number of clusters (eigengap heuristic).

    Parameters
    ----------
    estimator : RPFCluster
        A fitted estimator.
    n_eigenvalues : int or None, default=None
        How many eigenvalues are shown. A fit computes as many as it has clusters; more are computed on its forest. None
        shows 5 beyond the clusters and at least 10. With affinity="precomputed" only those of the fit are available.
    ax : matplotlib Axes or None, default=None
        The axes to draw on. None creates a figure.

    Returns
    -------
    ax : matplotlib Axes
        The axes with the plot.
    """
    ax = _axes(ax)
    values = np.asarray(estimator.eigenvalues_)
    if estimator.affinity != "precomputed":
        count = max(10, estimator.n_clusters_ + 5) if n_eigenvalues is None else n_eigenvalues
        count = min(count, len(estimator.labels_))
        if count > len(values):
            method = {"method": "kway", "quality": "modularity", "resolution": None}
            values = np.asarray(estimator.recut(n_clusters=count, **method).eigenvalues_)
        values = values[:count]
    ax.plot(np.arange(1, len(values) + 1), values, "o-")
    if len(values) > 2:
        gap = int(np.argmax(-np.diff(values)[1:])) + 2
        ax.axvline(gap + 0.5, color="tab:red", linestyle="--", label=f"widest gap after {gap}")
        ax.legend()
    ax.set(xlabel="number", ylabel="eigenvalue", xticks=np.arange(1, len(values) + 1))
    return ax


def sweep(found: SweepResult, value: str | None = None, *, method: str | None = None, ax: Axes | None = None) -> Axes:
    """Plot the result of `rpfcluster.sweep` as a map over ``beta2`` and ``beta1``.

    The settings selected with and without labels are marked. Settings whose eigenvectors did not converge are grey.

    Parameters
    ----------
    found : SweepResult
        The result of `rpfcluster.sweep`.
    value : str or None, default=None
        The column of ``found.results`` to plot. None plots rho_c if classes were given, otherwise ncut.
    method : {"ncut", "kway"} or None, default=None
        The labelling method to plot. None uses that of the setting selected without labels.
    ax : matplotlib Axes or None, default=None
        The axes to draw on. None creates a figure.

    Returns
    -------
    ax : matplotlib Axes
        The axes with the plot.

    Examples
    --------
    >>> from rpfcluster import plot, sweep
    >>> from rpfcluster.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot.sweep(sweep(X, 3, y, n_estimators=50, random_state=0))
    >>> ax.get_xlabel()
    'beta2'
    """
    results = found.results
    numbers = tuple(name for name, column in results.items() if column.dtype.kind in "fi")
    shown = ("rho_c" if "rho_c" in results else "ncut") if value is None else check_choice(value, "value", numbers)
    methods = tuple(str(name) for name in np.unique(results["method"]))
    way = str(results["method"][found.label_free]) if method is None else check_choice(method, "method", methods)
    ax = _axes(ax)
    mine = results["method"] == way
    beta1, beta2 = np.unique(results["beta1"]), np.unique(results["beta2"])
    cells = np.full((len(beta1), len(beta2)), np.nan)
    places = np.searchsorted(beta1, results["beta1"]), np.searchsorted(beta2, results["beta2"])
    drawn = mine & results["converged"].astype(bool)
    cells[places[0][drawn], places[1][drawn]] = results[shown][drawn]
    ax.set_facecolor("lightgrey")
    image = ax.pcolormesh(np.ma.masked_invalid(cells), cmap="viridis")
    picks = (("label-free", found.label_free, "o"), ("best by labels", found.best_by_labels, "*"))
    for name, at, marker in picks:
        if at is not None and mine[at]:
            spot = places[1][at] + 0.5, places[0][at] + 0.5
            ax.plot(*spot, marker, markersize=11, color="white", markeredgecolor="black", label=name)
    if ax.lines:
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, frameon=False)
    ticks = np.arange(0, len(beta2), -(-len(beta2) // 9))
    ax.set_xticks(ticks + 0.5, [f"{beta2[tick]:g}" for tick in ticks])
    ax.set_yticks(np.arange(len(beta1)) + 0.5, [f"{b:g}" for b in beta1])
    ax.set(xlabel="beta2", ylabel="beta1")
    ax.figure.colorbar(image, ax=ax, label=f"{shown} ({way})")
    return ax
