"""Data to try things on: Fisher's Iris, and made-up sets whose clusters are known.

The made-up points are those of the Rust library: the same name, size and seed give the same numbers.
"""

from __future__ import annotations

from typing import Any

from sklearn.utils import Bunch

from . import _rpfcluster
from ._common import Array, seed_of, whole

__all__ = ["SHAPES", "load_iris", "make_moons", "make_rings", "make_shape", "make_spirals"]

SHAPES: tuple[str, ...] = tuple(_rpfcluster.shapes())
"""Names of the made-up sets."""


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
    return Bunch(data=data, target=target, feature_names=columns, target_names=species)


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
