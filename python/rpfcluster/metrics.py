"""How well labels agree with known classes: the paper's two scores and the baseline that puts them in proportion.

All are from 0 to 1 here, as scikit-learn's scores are; the command prints percent.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from . import _rpfcluster

__all__ = ["clustering_accuracy", "majority", "rand_index", "rho_c", "rho_r", "scores"]


def scores(labels: Any, classes: Any) -> dict[str, float]:
    """Return every score of labels against classes: rho_c, rho_r, ari, nmi, majority.

    Examples
    --------
    >>> from rpfcluster.metrics import scores
    >>> sorted(scores([0, 0, 1, 1], ["a", "a", "b", "b"]))
    ['ari', 'majority', 'nmi', 'rho_c', 'rho_r']
    """
    labels, classes = _numbers(labels), _numbers(classes)
    found: dict[str, float] = json.loads(_rpfcluster.scores(labels, classes))
    return {name: value / 100 if name in ("rho_c", "rho_r", "majority") else value for name, value in found.items()}


def _numbers(labels: Any) -> list[int]:
    """Name clusters by numbers; what they were called does not matter."""
    flat = np.asarray(labels)
    if flat.ndim != 1:
        raise ValueError(f"labels must have one dimension, but have {flat.ndim}")
    return [int(i) for i in np.unique(flat, return_inverse=True)[1]]


def clustering_accuracy(labels: Any, classes: Any) -> float:
    """Return the share of rows that are right under the best matching of clusters to classes (the paper's rho_c).

    Examples
    --------
    >>> from rpfcluster.metrics import clustering_accuracy
    >>> clustering_accuracy([1, 1, 0, 0], [0, 0, 1, 1])
    1.0
    """
    return scores(labels, classes)["rho_c"]


def rand_index(labels: Any, classes: Any) -> float:
    """Return the share of pairs on which labels and classes agree (the paper's rho_r).

    Examples
    --------
    >>> from rpfcluster.metrics import rand_index
    >>> round(rand_index([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.8333
    """
    return scores(labels, classes)["rho_r"]


def majority(classes: Any) -> float:
    """Return the share of the largest class: what one cluster for everything scores as rho_c.

    Examples
    --------
    >>> from rpfcluster.metrics import majority
    >>> majority(["a", "a", "a", "b"])
    0.75
    """
    return scores(np.zeros(len(classes), dtype=int), classes)["majority"]


rho_c = clustering_accuracy
rho_r = rand_index
