"""Clusters of Dask arrays, data frames and Parquet files that no machine holds; ``pip install "rpfcluster[dask]"``.

`DaskRPFCluster` fits a sample of the rows on one worker and labels all rows where they are. The labels are those of
`RPFCluster` fitted on the same sample, bit for bit, for any number of workers and partitions.
"""

from __future__ import annotations

import copy
import os
import uuid
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from . import _distributed
from ._cluster import RPFCluster
from ._common import check_int
from ._distributed import sample_rows

__all__ = ["DaskRPFCluster", "sample_rows"]


class DaskRPFCluster(ClusterMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """`RPFCluster` for Dask collections.

    The rows are read twice. The first pass counts them, and refuses missing values and infinities. Then a sample is
    drawn: the rows with the smallest hash of the seed and the number of the row. One worker fits it. `labels_` and the
    results of the methods are lazy: each partition is labelled where it is, and the model is sent to each worker once.

    A worker that dies costs time, since Dask repeats its tasks, where the partitions can be read again. If every worker
    that has the model dies before `labels_` is computed, call `predict` again, which sends it anew. There is no state
    on workers outside tasks.

    Parameters
    ----------
    n_clusters : int, "auto" or None, default=8
        Number of clusters, as in `RPFCluster`.
    max_rows : int, default=100_000
        Number of rows of the sample, or all if there are fewer. They must fit the memory of one worker.
    client : distributed.Client or None, default=None
        The client. None takes the one of the process that was made last. Lazy results belong to it: where it is not
        the default, compute them by ``client.compute``. Neither clones nor pickles keep it.
    **params
        Further parameters of `RPFCluster`, such as ``affinity="linear"``. ``max_samples`` counts rows of the sample.
        With ``n_jobs=None`` the fit uses all cores of its machine, and other tasks as many as Dask assigns.

    Attributes
    ----------
    labels_ : dask Array of shape (n_samples,)
        The cluster of each row, in the partitions of the input. Lazy; ``labels_.persist()`` keeps it on the workers.
    sample_rows_ : ndarray of shape (n_sampled,)
        The numbers of the rows of the sample, ascending.
    n_samples_ : int
        Number of rows of the input.
    n_clusters_, chosen_, verdict_, n_features_in_
        See `RPFCluster`; they describe the fit of the sample.

    See Also
    --------
    RPFCluster : The estimator for data in memory; `to_local` returns one.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from rpfcluster.dask import DaskRPFCluster
    >>> from rpfcluster.datasets import make_shape
    >>> X, _ = make_shape("rings", 1200, random_state=0)
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0") as client:
    ...     model = DaskRPFCluster(3, max_rows=600, random_state=0).fit(da.from_array(X, chunks=(400, 2)))
    ...     labels = model.labels_.compute()
    >>> labels.shape, model.n_clusters_
    ((1200,), 3)
    """

    def __init__(self, n_clusters: Any = 8, *, max_rows: int = 100_000, client: Any = None, **params: Any) -> None:
        """Keep the parameters."""
        # Refuses names that RPFCluster does not have.
        RPFCluster(n_clusters, **params)
        self.n_clusters = n_clusters
        self.max_rows = max_rows
        self.client = client
        self._params = dict(params)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters that were given; the client is none of them."""
        return {"n_clusters": self.n_clusters, "max_rows": self.max_rows, **self._params}

    def set_params(self, **params: Any) -> DaskRPFCluster:
        """Set parameters of this estimator or of `RPFCluster`."""
        for name in ("n_clusters", "max_rows", "client"):
            if name in params:
                setattr(self, name, params.pop(name))
        RPFCluster(self.n_clusters, **{**self._params, **params})
        self._params |= params
        return self

    def fit(self, X: Any, y: Any = None) -> DaskRPFCluster:
        """Fit a sample of the rows.

        Parameters
        ----------
        X : dask Array, dask DataFrame, str, path-like or list of them
            The rows, or Parquet files. A partition must fit the memory of a worker several times.
        y : Ignored
            Not used, present for API consistency.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            A partition has a missing value or an infinity, or differs from the others in its columns; there is no
            client.
        RuntimeError
            The client is closed or asynchronous, or a worker runs another build of rpfcluster.
        """
        engine = _DaskEngine(self.client)
        max_rows = check_int(self.max_rows, "max_rows", 2)
        partitions = _partitions(X)
        found = _distributed.fit(engine, RPFCluster(self.n_clusters, **self._params), partitions, max_rows)
        self._set_model(found.model)
        self.chosen_ = found.chosen
        self.sample_rows_, self.n_samples_ = found.sample, sum(found.rows)
        self.labels_ = self._lazy(engine, partitions, found.rows, "predict")
        return self

    def _set_model(self, model: RPFCluster) -> None:
        self._local = model
        # The client that has the model, and what stands for it there.
        self._sent: tuple[Any, Any] | None = None
        self.n_clusters_, self.verdict_ = model.n_clusters_, model.verdict_
        self.chosen_, self.n_features_in_ = model.chosen_, model.n_features_in_
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_: NDArray[Any] = model.feature_names_in_

    @classmethod
    def from_local(cls, model: RPFCluster, client: Any = None) -> DaskRPFCluster:
        """Return an estimator that predicts with a fitted `RPFCluster`, as `rpfcluster.load` reads it.

        Parameters
        ----------
        model : RPFCluster
            The fitted estimator.
        client : distributed.Client or None, default=None
            The client.

        Returns
        -------
        estimator : DaskRPFCluster
            Without ``labels_`` and the attributes of the sample.
        """
        check_is_fitted(model)
        params = model.get_params()
        estimator = cls(params.pop("n_clusters"), client=client, **params)
        estimator._set_model(model)
        return estimator

    def to_local(self) -> RPFCluster:
        """Return the model as an ordinary `RPFCluster`, whose ``labels_`` are those of the sample.

        `rpfcluster.save` writes it to a file that the command reads.
        """
        check_is_fitted(self)
        return copy.copy(self._local)

    def predict(self, X: Any) -> Any:
        """Assign each row to a cluster.

        Parameters
        ----------
        X : dask Array, dask DataFrame, str, path-like or list of them
            The rows, or Parquet files.

        Returns
        -------
        labels : dask Array of shape (n_samples,)
            The clusters, lazy. Rows of the sample keep their labels.
        """
        return self._lazy(*self._input(X), "predict")

    def transform(self, X: Any) -> Any:
        """Return the spectral embedding of each row, lazy, of shape (n_samples, n_clusters_)."""
        return self._lazy(*self._input(X), "transform")

    def predict_with_confidence(self, X: Any) -> tuple[Any, Any]:
        """Return the cluster of each row and its confidence, both lazy; see `RPFCluster`."""
        engine, partitions, rows = self._input(X)
        pairs = self._tasks(engine, partitions, "predict_with_confidence")
        return _array([pair[0] for pair in pairs], rows, np.int64), _array([pair[1] for pair in pairs], rows, float)

    def _input(self, X: Any) -> tuple[_DaskEngine, list[Any], list[float]]:
        check_is_fitted(self)
        engine = _DaskEngine(self.client)
        partitions = _partitions(X)
        chunks = getattr(X, "chunks", None)
        return engine, partitions, list(chunks[0]) if chunks else [float("nan")] * len(partitions)

    def _tasks(self, engine: _DaskEngine, partitions: list[Any], method: str) -> list[Any]:
        if self._sent is None or self._sent[0] is not engine.client or self._sent[1].status != "finished":
            self._sent = (engine.client, engine.broadcast(self._local))
        sent, build = self._sent[1], _distributed.build_id()
        return [
            engine.submit(_distributed.apply_model, sent, method, number, build, part)
            for number, part in enumerate(partitions)
        ]

    def _lazy(self, engine: _DaskEngine, partitions: list[Any], rows: list[Any], method: str) -> Any:
        tasks = self._tasks(engine, partitions, method)
        if method == "transform":
            return _array(tasks, rows, self._local._dtype, self.n_clusters_)
        return _array(tasks, rows, np.int64)

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether there is a model."""
        return hasattr(self, "_local")

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without client and lazy results, which belong to a cluster."""
        state = dict(super().__getstate__())
        state.pop("labels_", None)
        return {**state, "client": None, **({"_sent": None} if "_sent" in state else {})}


class _DaskEngine:
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
        _distributed.refuse_other_builds(client.run(_distributed.build_id))

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


def _partitions(X: Any) -> list[Any]:
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


def _array(tasks: list[Any], rows: list[Any], dtype: Any, width: int | None = None) -> Any:
    """Return the dask array of these parts; NaN stands for an unknown number of rows."""
    import dask.array as da
    from dask.highlevelgraph import HighLevelGraph

    # da.concatenate would drop empty partitions.
    name = f"rpfcluster-{uuid.uuid4().hex}"
    extra = () if width is None else (0,)
    parts = {(name, number, *extra): task.key for number, task in enumerate(tasks)}
    graph = HighLevelGraph.from_collections(name, parts, dependencies=tasks)
    chunks = (tuple(rows),) if width is None else (tuple(rows), (width,))
    return da.Array(graph, name, chunks, dtype=dtype)
