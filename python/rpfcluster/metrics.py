"""Agreement of cluster labels with known classes.

The scores are fractions from 0 to 1, as in scikit-learn; the command prints rho_c, rho_r and majority in percent. The
adjusted Rand index can be negative.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from . import _rpfcluster

__all__ = ["clustering_accuracy", "majority", "rand_index", "rho_c", "rho_r", "scores"]


def scores(labels: Any, classes: Any) -> dict[str, float]:
    """Return all scores of labels against classes.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Cluster labels.
    classes : array-like of shape (n_samples,)
        Known classes.

    Returns
    -------
    scores : dict of float
        ``rho_c`` (see `clustering_accuracy`), ``rho_r`` (see `rand_index`), ``ari`` (adjusted Rand index), ``nmi``
        (normalised mutual information) and ``majority`` (see `majority`).

    Examples
    --------
    >>> from rpfcluster.metrics import scores
    >>> sorted(scores([0, 0, 1, 1], ["a", "a", "b", "b"]))
    ['ari', 'majority', 'nmi', 'rho_c', 'rho_r']
    """
    labels, classes = _codes(labels), _codes(classes)
    found: dict[str, float] = json.loads(_rpfcluster.scores(labels, classes))
    return {name: value / 100 if name in ("rho_c", "rho_r", "majority") else value for name, value in found.items()}


def _codes(labels: Any) -> list[int]:
    """Return labels of any type as integer codes."""
    flat = np.asarray(labels)
    if flat.ndim != 1:
        raise ValueError(f"labels must have one dimension, but have {flat.ndim}")
    return [int(i) for i in np.unique(flat, return_inverse=True)[1]]


def clustering_accuracy(labels: Any, classes: Any) -> float:
    """Return the clustering accuracy, rho_c of the paper.

    The fraction of samples whose cluster is matched to their class, under the best one-to-one matching of clusters to
    classes.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Cluster labels.
    classes : array-like of shape (n_samples,)
        Known classes.

    Returns
    -------
    accuracy : float
        The accuracy, from 0 to 1.

    Examples
    --------
    >>> from rpfcluster.metrics import clustering_accuracy
    >>> clustering_accuracy([1, 1, 0, 0], [0, 0, 1, 1])
    1.0
    """
    return scores(labels, classes)["rho_c"]


def rand_index(labels: Any, classes: Any) -> float:
    """Return the Rand index, rho_r of the paper.

    The fraction of pairs of samples that are either together or apart in both labels and classes.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Cluster labels.
    classes : array-like of shape (n_samples,)
        Known classes.

    Returns
    -------
    index : float
        The Rand index, from 0 to 1.

    Examples
    --------
    >>> from rpfcluster.metrics import rand_index
    >>> round(rand_index([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.8333
    """
    return scores(labels, classes)["rho_r"]


def majority(classes: Any) -> float:
    """Return the fraction of samples in the largest class, the clustering accuracy of a single cluster.

    Parameters
    ----------
    classes : array-like of shape (n_samples,)
        Known classes.

    Returns
    -------
    fraction : float
        The fraction, from 0 to 1.

    Examples
    --------
    >>> from rpfcluster.metrics import majority
    >>> majority(["a", "a", "a", "b"])
    0.75
    """
    return scores(np.zeros(len(classes), dtype=int), classes)["majority"]


rho_c = clustering_accuracy
rho_r = rand_index
