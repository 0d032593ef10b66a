"""Data to try things on: Fisher's Iris, made-up sets whose clusters are known, and the paper's sets from their files.

The made-up points are those of the Rust library: the same name, size and seed give the same numbers.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from . import _rpfcluster
from ._common import Array, seed_of, whole

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
"""Names of the made-up sets."""

CATALOG: tuple[str, ...] = tuple(_rpfcluster.catalog())
"""Names of the real sets `load_catalogued` reads: the paper's, then larger ones."""


def load_iris(*, return_X_y: bool = False) -> Any:
    """Return Fisher's Iris: 150 flowers, 4 measurements, 3 species.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether only (data, target) is returned.

    Returns
    -------
    Bunch with data, target, feature_names, target_names; or (data, target)

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
    """Return a set of the catalog by its name, one of `CATALOG`, read from its distributor's own files.

    The digest of every file is checked, since copies with lost rows or shifted decimal points are easily met.

    Parameters
    ----------
    name : str
        Which one.
    folder : path
        Where the files are; what is missing is named in the error, with its origin.
    scaling : {"raw", "standardized", "paper"}, default="raw"
        Whether the features are standardised: none, all, or those the paper did.
    return_X_y : bool, default=False
        Whether only (data, target) is returned.

    Returns
    -------
    Bunch with data, target, feature_names, target_names; or (data, target)

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
    """Return a made-up set by its name, one of `SHAPES`.

    Parameters
    ----------
    name : str
        Which one.
    n_samples : int, default=600
        Rows.
    random_state : int, RandomState, Generator or None, default=None
        An integer is the seed itself.

    Returns
    -------
    X, y : ndarrays
        Points, and the cluster each was made for.

    Examples
    --------
    >>> from rpfcluster.datasets import SHAPES, make_shape
    >>> "rings" in SHAPES
    True
    >>> X, y = make_shape("rings", 300, random_state=0)
    >>> X.shape
    (300, 2)
    """
    return _rpfcluster.shape(name, whole(n_samples, "n_samples", 1), seed_of(random_state))


def make_rings(n_samples: int = 600, *, random_state: Any = None) -> tuple[Array, Array]:
    """Return three concentric rings; see `make_shape`."""
    return make_shape("rings", n_samples, random_state=random_state)


def make_moons(n_samples: int = 600, *, random_state: Any = None) -> tuple[Array, Array]:
    """Return two half circles that reach into each other; see `make_shape`."""
    return make_shape("moons", n_samples, random_state=random_state)


def make_spirals(n_samples: int = 600, *, random_state: Any = None) -> tuple[Array, Array]:
    """Return three arms of a spiral; see `make_shape`."""
    return make_shape("spirals", n_samples, random_state=random_state)
