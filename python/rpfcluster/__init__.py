"""Random projection forests, their similarity kernel, and spectral clustering on it.

The public names are loaded on first use, so that ``import rpfcluster`` does not import scikit-learn.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._rpfcluster import __version__

if TYPE_CHECKING:
    from . import dask, datasets, metrics, plot, ray, scanpy
    from ._cluster import RPFCluster
    from ._embedding import RPFEmbedding
    from ._forest import RPForest
    from ._kernel import RPForestKernel
    from ._model import load, save
    from ._neighbors import RPFNeighbors
    from ._rivals import NJW, ClusterForests
    from ._sweep import SweepResult, sweep

__all__ = [
    "NJW",
    "ClusterForests",
    "RPFCluster",
    "RPFEmbedding",
    "RPFNeighbors",
    "RPForest",
    "RPForestKernel",
    "SweepResult",
    "__version__",
    "dask",
    "datasets",
    "load",
    "metrics",
    "plot",
    "ray",
    "save",
    "scanpy",
    "sweep",
]

_MODULE_OF = {
    "NJW": "_rivals",
    "ClusterForests": "_rivals",
    "RPFCluster": "_cluster",
    "RPFEmbedding": "_embedding",
    "RPFNeighbors": "_neighbors",
    "RPForest": "_forest",
    "RPForestKernel": "_kernel",
    "SweepResult": "_sweep",
    "load": "_model",
    "save": "_model",
    "sweep": "_sweep",
}
_MODULES = ("dask", "datasets", "metrics", "plot", "ray", "scanpy")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f".{_MODULE_OF[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
