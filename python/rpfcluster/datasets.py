"""Data sets: Fisher's Iris, synthetic shapes with known clusters, and the data sets of the paper.

The Rust library generates the shapes; the same name, size and seed give the same values in both languages.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from . import _rpfcluster
from ._common import Array, check_int, resolve_seed

__all__ = [
    "CATALOG",
    "SHAPES",
    "load_catalogued",
    "load_iris",
    "make_moons",
    "make_rings",
    "make_shape",
    "make_spirals",
]

SHAPES: tuple[str, ...] = tuple(_rpfcluster.shapes())
"""Names of the synthetic shapes of `make_shape`."""

CATALOG: tuple[str, ...] = tuple(_rpfcluster.catalog())
"""Names of the data sets of `load_catalogued`: those of the paper, then larger ones."""


def load_iris(*, return_X_y: bool = False) -> Any:
    """Return Fisher's Iris: 150 samples, 4 features, 3 classes.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return (data, target) instead of a Bunch.

    Returns
    -------
    data : Bunch
        A dictionary-like object with data, target, feature_names and target_names, or the tuple (data, target).

    References
    ----------
    R. A. Fisher, "The Use of Multiple Measurements in Taxonomic Problems", Annals of Eugenics 7(2), 1936.

    Examples
    --------
    >>> from rpfcluster.datasets import load_iris
    >>> load_iris().data.shape
    (150, 4)
    """
    data, target, columns, species = _rpfcluster.iris()
    if return_X_y:
        return data, target
    return Bunch(data=data, target=target, feature_names=columns, target_names=np.asarray(species))


def load_catalogued(
    name: str, folder: str | os.PathLike[str], *, scaling: str = "raw", return_X_y: bool = False
) -> Any:
    """Return a data set of the catalog, read from the files of its distributor.

    The digest of every file is checked, since copies with missing rows or shifted decimal points are in circulation.

    Parameters
    ----------
    name : str
        One of `CATALOG`.
    folder : str or path-like
        The folder with the files. The error for a missing file names it and its origin.
    scaling : {"raw", "standardized", "paper"}, default="raw"
        Which features to standardise: none, all, or those that the paper standardises.
    return_X_y : bool, default=False
        Whether to return (data, target) instead of a Bunch.

    Returns
    -------
    data : Bunch
        A dictionary-like object with data, target, feature_names and target_names, or the tuple (data, target).

    Examples
    --------
    >>> from rpfcluster.datasets import CATALOG
    >>> "wine" in CATALOG
    True
    """
    data, target, columns, classes = _rpfcluster.catalogued(name, os.fspath(folder), scaling)
    if return_X_y:
        return data, target
    return Bunch(data=data, target=target, feature_names=columns, target_names=np.asarray(classes))


def make_shape(name: str, n_samples: int = 600, *, random_state: Any = None) -> tuple[Array, Array]:
    """Generate a synthetic shape with known clusters.

    Parameters
    ----------
    name : str
        One of `SHAPES`.
    n_samples : int, default=600
        Number of samples.
    random_state : int, RandomState instance, Generator or None, default=None
        Controls the randomness. An integer is the seed of the Rust library.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The samples.
    y : ndarray of shape (n_samples,)
        The cluster of each sample.

    Examples
    --------
    >>> from rpfcluster.datasets import SHAPES, make_shape
    >>> "rings" in SHAPES
    True
    >>> X, y = make_shape("rings", 300, random_state=0)
    >>> X.shape
    (300, 2)
    """
    return _rpfcluster.shape(name, check_int(n_samples, "n_samples", 1), resolve_seed(random_state))


def make_rings(n_samples: int = 600, *, random_state: Any = None) -> tuple[Array, Array]:
    """Generate three concentric rings; see `make_shape`."""
    return make_shape("rings", n_samples, random_state=random_state)


def make_moons(n_samples: int = 600, *, random_state: Any = None) -> tuple[Array, Array]:
    """Generate two interleaving half circles; see `make_shape`."""
    return make_shape("moons", n_samples, random_state=random_state)


def make_spirals(n_samples: int = 600, *, random_state: Any = None) -> tuple[Array, Array]:
    """Generate three intertwined spiral arms; see `make_shape`."""
    return make_shape("spirals", n_samples, random_state=random_state)
