"""The engine of a Dask client, and the way from Dask collections to partitions and back."""

from __future__ import annotations

import os
import uuid
from typing import Any

import numpy as np

from . import _partition


class DaskEngine:
    """The engine of a Dask client. Tasks are lazy; `gather` computes them as one graph."""

    def __init__(self, client: Any) -> None:
        try:
            from distributed import default_client
        except ImportError as error:
            raise ImportError('rpfcluster.dask needs Dask: pip install "rpfcluster[dask]"') from error
        if client is None:
            try:
                client = default_client()
            except ValueError as error:
                raise ValueError(
                    "there is no Dask client; start one with dask.distributed.Client(), or pass client="
                ) from error
        if client.asynchronous:
            raise RuntimeError(
                "the Dask client is asynchronous, but fit and predict wait for results; "
                "call them from a thread of their own with a synchronous client"
            )
        if client.status != "running":
            raise RuntimeError(f"the Dask client is {client.status}; start a new one")
        self.client = client
        _partition.refuse_other_builds(client.run(_partition.build_id))

    def submit(self, function: Any, *arguments: Any) -> Any:
        """Return a lazy call of the function."""
        from dask import delayed

        return delayed(function, pure=False)(*arguments)

    def gather(self, tasks: list[Any]) -> list[Any]:
        """Compute tasks and return their results; after an error, the others are cancelled."""
        futures = self.client.compute(tasks)
        try:
            return list(self.client.gather(futures))
        except BaseException:
            self.client.cancel(futures)
            raise

    def broadcast(self, value: Any) -> Any:
        """Send a value to every worker."""
        return self.client.scatter(value, broadcast=True, hash=False)


def partitions_of(X: Any) -> list[Any]:
    """Return the partitions of a collection as delayed objects."""
    if isinstance(X, list) and X and all(isinstance(path, str | os.PathLike) for path in X):
        X = [os.fspath(path) for path in X]
    elif isinstance(X, os.PathLike):
        X = os.fspath(X)
    if isinstance(X, str | list):
        from dask.dataframe import read_parquet

        X = read_parquet(X)
    if not hasattr(X, "to_delayed"):
        raise TypeError(
            f"X is {type(X).__name__}, but must be a dask Array or DataFrame, or Parquet files; "
            "use RPFCluster for data in memory"
        )
    if hasattr(X, "rechunk"):
        if X.ndim != 2:
            raise ValueError(f"Expected 2D array, got {X.ndim}D array instead.")
        # Rows are not split.
        X = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
    return list(np.ravel(X.to_delayed()))


def array_of(tasks: list[Any], rows: list[Any], dtype: Any, width: int | None = None, meta: Any = None) -> Any:
    """Return the dask array of these parts; NaN stands for an unknown number of rows. `meta` is an empty part."""
    import dask.array as da
    from dask.highlevelgraph import HighLevelGraph

    # da.concatenate would drop empty partitions.
    name = f"rpfcluster-{uuid.uuid4().hex}"
    extra = () if width is None else (0,)
    parts = {(name, number, *extra): task.key for number, task in enumerate(tasks)}
    graph = HighLevelGraph.from_collections(name, parts, dependencies=tasks)
    chunks = (tuple(rows),) if width is None else (tuple(rows), (width,))
    return da.Array(graph, name, chunks, dtype=dtype) if meta is None else da.Array(graph, name, chunks, meta=meta)
