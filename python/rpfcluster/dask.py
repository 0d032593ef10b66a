"""Clusters and forests of Dask arrays, data frames and Parquet files that no machine holds.

``pip install "rpfcluster[dask]"``. `DaskRPFCluster` fits a sample of the rows on one worker and labels all rows where
they are; `DaskRPForest` grows its trees on the sample and routes all rows. Results are those of `RPFCluster` and
`RPForest` fitted on the same sample, bit for bit, for any number of workers and partitions.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _distributed
from ._cluster import RPFCluster
from ._dask_engine import DaskEngine, array_of, partitions_of
from ._distributed import sample_rows
from ._forest import RPForest
from ._partition import apply_model, build_id
from ._partitioned import Partitioned

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["DaskRPFCluster", "DaskRPForest", "sample_rows"]


class _OnDask(Partitioned):
    """What the estimators share: the fit of a sample, and lazy results."""

    client: Any

    def _fit(self, X: Any, checkpoint: str | os.PathLike[str] | None) -> _Lazy:
        """Fit the sample, and return the table."""
        table = _Lazy(DaskEngine(self.client), partitions_of(X), [])
        max_rows = self._rows_of_sample()
        found = _distributed.fit(table.engine, self._unfitted(self._params), table.partitions, max_rows, checkpoint)
        self._set_fit(found)
        self._chosen = found.chosen
        table.rows = list(found.rows)
        return table

    def _set_model(self, model: Any) -> None:
        super()._set_model(model)
        # The client that has the model, and what stands for it there.
        self._sent: tuple[Any, Any] | None = None

    def _table(self, X: Any) -> _Lazy:
        check_is_fitted(self)
        engine, partitions = DaskEngine(self.client), partitions_of(X)
        chunks = getattr(X, "chunks", None)
        return _Lazy(engine, partitions, list(chunks[0]) if chunks else [float("nan")] * len(partitions))

    def _tasks(self, table: _Lazy, method: str) -> list[Any]:
        engine = table.engine
        if self._sent is None or self._sent[0] is not engine.client or self._sent[1].status != "finished":
            self._sent = (engine.client, engine.broadcast(self._local))
        sent, build = self._sent[1], build_id()
        return [
            engine.submit(apply_model, sent, method, number, build, part)
            for number, part in enumerate(table.partitions)
        ]

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without client and lazy results, which belong to a cluster."""
        state = dict(super().__getstate__())
        state.pop("labels_", None)
        return {**state, "client": None, **({"_sent": None} if "_sent" in state else {})}


class _Lazy:
    """A table on a cluster; NaN stands for an unknown number of rows of a partition."""

    def __init__(self, engine: DaskEngine, partitions: list[Any], rows: list[Any]) -> None:
        self.engine, self.partitions, self.rows = engine, partitions, rows


class DaskRPFCluster(ClusterMixin, _OnDask):  # type: ignore[misc, unused-ignore]
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
        self.n_clusters = n_clusters
        self.max_rows = max_rows
        self.client = client
        self._unfitted(params)
        self._params = dict(params)

    def fit(self, X: Any, y: Any = None, *, checkpoint: str | os.PathLike[str] | None = None) -> Self:
        """Fit a sample of the rows.

        Parameters
        ----------
        X : dask Array, dask DataFrame, str, path-like or list of them
            The rows, or Parquet files. A partition must fit the memory of a worker several times.
        y : Ignored
            Not used, present for API consistency.
        checkpoint : str, path-like or None, default=None
            A folder that keeps the fit of the sample, created if its parent exists. A later call with the same
            parameters, rows, partitions and build takes the fit from there, after the first pass. ``random_state``
            must be a whole number.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            A partition has a missing value or an infinity, or differs from the others in its columns; there is no
            client; the checkpoint is of another fit.
        RuntimeError
            The client is closed or asynchronous, or a worker runs another build of rpfcluster.
        """
        table = self._fit(X, checkpoint)
        self.chosen_ = self._chosen
        self.labels_ = self._lazy(table, "predict")
        return self

    def _set_model(self, model: RPFCluster) -> None:
        super()._set_model(model)
        self.n_clusters_, self.verdict_, self.chosen_ = model.n_clusters_, model.verdict_, model.chosen_

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
        return self._lazy(self._table(X), "predict")

    def transform(self, X: Any) -> Any:
        """Return the spectral embedding of each row, lazy, of shape (n_samples, n_clusters_)."""
        return self._lazy(self._table(X), "transform")

    def predict_with_confidence(self, X: Any) -> tuple[Any, Any]:
        """Return the cluster of each row and its confidence, both lazy; see `RPFCluster`."""
        table = self._table(X)
        pairs = self._tasks(table, "predict_with_confidence")
        labels = array_of([pair[0] for pair in pairs], table.rows, np.int64)
        return labels, array_of([pair[1] for pair in pairs], table.rows, float)

    def _lazy(self, table: _Lazy, method: str) -> Any:
        tasks = self._tasks(table, method)
        if method == "transform":
            return array_of(tasks, table.rows, self._local._dtype, self.n_clusters_)
        return array_of(tasks, table.rows, np.int64)


class DaskRPForest(TransformerMixin, _OnDask):  # type: ignore[misc, unused-ignore]
    """`RPForest` for Dask collections.

    The trees grow on a sample, the rows with the smallest hash of the seed and the number of the row, on one worker.
    All rows are then routed where they are. The rows are read twice before, as by `DaskRPFCluster`.

    Parameters
    ----------
    n_estimators : int, default=200
        Number of trees.
    max_rows : int, default=100_000
        Number of rows of the sample, or all if there are fewer. They must fit the memory of one worker.
    client : distributed.Client or None, default=None
        See `DaskRPFCluster`.
    **params
        Further parameters of `RPForest`. ``min_samples_split`` counts rows of the sample: of n rows, a leaf holds about
        n / ``max_rows`` times as many.

    Attributes
    ----------
    sample_rows_ : ndarray of shape (n_sampled,)
        The numbers of the rows of the sample, ascending.
    n_samples_ : int
        Number of rows of the input.
    n_leaves_, n_features_in_
        See `RPForest`.

    See Also
    --------
    RPForest : The estimator for data in memory; `to_local` returns one.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from rpfcluster.dask import DaskRPForest
    >>> from rpfcluster.datasets import make_shape
    >>> X, _ = make_shape("rings", 1200, random_state=0)
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0") as client:
    ...     forest = DaskRPForest(50, max_rows=600, random_state=0).fit(da.from_array(X, chunks=(400, 2)))
    ...     leaves = forest.apply(da.from_array(X, chunks=(400, 2))).compute()
    >>> leaves.shape
    (1200, 50)
    """

    _local_type, _leading = RPForest, "n_estimators"

    def __init__(self, n_estimators: int = 200, *, max_rows: int = 100_000, client: Any = None, **params: Any) -> None:
        """Keep the parameters."""
        self.n_estimators = n_estimators
        self.max_rows = max_rows
        self.client = client
        self._unfitted(params)
        self._params = dict(params)

    def fit(self, X: Any, y: Any = None, *, checkpoint: str | os.PathLike[str] | None = None) -> Self:
        """Grow the forest on a sample of the rows.

        Parameters
        ----------
        X : dask Array, dask DataFrame, str, path-like or list of them
            The rows, or Parquet files.
        y : Ignored
            Not used, present for API consistency.
        checkpoint : str, path-like or None, default=None
            A folder that keeps the forest; see `DaskRPFCluster`.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._fit(X, checkpoint)
        return self

    @property
    def n_leaves_(self) -> int:
        """Total number of leaves."""
        check_is_fitted(self)
        return int(self._local.n_leaves_)

    def apply(self, X: Any) -> Any:
        """Return the leaf of each row in each tree, a lazy dask Array of shape (n_samples, n_estimators)."""
        table = self._table(X)
        return array_of(self._tasks(table, "apply"), table.rows, np.uint32, len(self._local._forest.offsets) - 1)

    def transform(self, X: Any) -> Any:
        """Return the feature map of the kernel, a lazy dask Array of shape (n_samples, n_leaves_).

        Its blocks are CSR matrices, or ndarrays with ``sparse_output=False``.
        """
        table, dtype = self._table(X), np.dtype(self._local._forest.dtype)
        meta = sparse.csr_matrix((0, 0), dtype=dtype) if self._local.sparse_output else None
        return array_of(self._tasks(table, "transform"), table.rows, dtype, self.n_leaves_, meta)
