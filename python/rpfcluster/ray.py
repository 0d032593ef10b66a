"""Clusters of Ray datasets; ``pip install "rpfcluster[ray]"``.

`RayRPFCluster` fits a sample of the rows on one worker, by the driver that `rpfcluster.dask` uses too, and labels all
rows where they are. The labels are those of `RPFCluster` fitted on the same sample, bit for bit, for any blocks and
workers.
"""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _distributed
from ._distributed import sample_rows
from ._partition import apply_model, build_id
from ._partitioned import Partitioned

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["RayRPFCluster", "sample_rows"]


class RayRPFCluster(Partitioned):
    """`RPFCluster` for Ray datasets.

    The first pass counts the rows and refuses missing values and infinities. Then the rows with the smallest hash of
    the seed and the number of the row are fitted by one worker. The blocks of the dataset are held in the object store
    meanwhile, which spills to disk. `predict` is lazy and streams.

    Parameters
    ----------
    n_clusters : int, "auto" or None, default=8
        Number of clusters, as in `RPFCluster`.
    max_rows : int, default=100_000
        Number of rows of the sample, or all if there are fewer. They must fit the memory of one worker.
    **params
        Further parameters of `RPFCluster`. With ``n_jobs=None`` the fit uses all cores of its machine, and other tasks
        as many as Ray assigns.

    Attributes
    ----------
    sample_rows_ : ndarray of shape (n_sampled,)
        The numbers of the rows of the sample, ascending, in the order of the dataset.
    n_samples_ : int
        Number of rows of the dataset.
    n_clusters_, chosen_, verdict_, n_features_in_
        See `RPFCluster`; they describe the fit of the sample.

    See Also
    --------
    RPFCluster : The estimator for data in memory; `to_local` returns one.
    """

    def __init__(self, n_clusters: Any = 8, *, max_rows: int = 100_000, **params: Any) -> None:
        """Keep the parameters."""
        self.n_clusters = n_clusters
        self.max_rows = max_rows
        self._unfitted(params)
        self._params = dict(params)

    def fit(self, X: Any, y: Any = None, *, checkpoint: str | os.PathLike[str] | None = None) -> Self:
        """Fit a sample of the rows.

        Parameters
        ----------
        X : ray.data.Dataset, str, path-like or list of them
            The rows, or Parquet files. Columns are features; a single column of vectors is a table of numbers.
        y : Ignored
            Not used, present for API consistency.
        checkpoint : str, path-like or None, default=None
            A folder that keeps the fit of the sample; see `rpfcluster.dask.DaskRPFCluster`.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            A block has a missing value or an infinity, or differs from the others in its columns; the checkpoint is of
            another fit.
        RuntimeError
            Ray is not running, or a worker runs another build of rpfcluster.
        """
        engine, estimator, max_rows = _RayEngine(), self._unfitted(self._params), self._rows_of_sample()
        found = _distributed.fit(engine, estimator, _blocks(_dataset(X)), max_rows, checkpoint)
        self._set_fit(found)
        self.chosen_ = found.chosen
        return self

    def _set_model(self, model: Any) -> None:
        super()._set_model(model)
        self.n_clusters_, self.verdict_, self.chosen_ = model.n_clusters_, model.verdict_, model.chosen_

    def predict(self, X: Any) -> Any:
        """Assign each row to a cluster.

        Parameters
        ----------
        X : ray.data.Dataset, str, path-like or list of them
            The rows, or Parquet files. Columns are found by name, if those of the fit had names; others are kept.

        Returns
        -------
        labelled : ray.data.Dataset
            X with a column ``cluster``, lazy.
        """
        return self._labelled(X, "predict", ("cluster",))

    def predict_with_confidence(self, X: Any) -> Any:
        """Return X with the columns ``cluster`` and ``confidence``, lazy; see `RPFCluster`."""
        return self._labelled(X, "predict_with_confidence", ("cluster", "confidence"))

    def _labelled(self, X: Any, method: str, titles: tuple[str, ...]) -> Any:
        check_is_fitted(self)
        names = [str(name) for name in getattr(self, "feature_names_in_", [])]
        how = {"model": _RayEngine().broadcast(self._local), "method": method, "names": names, "titles": titles}
        return _dataset(X).map_batches(_label, batch_format="pyarrow", fn_kwargs={**how, "build": build_id()})


class _RayEngine:
    """The engine of the Ray cluster of this process. Tasks begin when they are submitted."""

    def __init__(self) -> None:
        ray = _ray()
        if not ray.is_initialized():
            raise RuntimeError("Ray is not running in this process; call ray.init() first")
        self._remote = ray.remote(_call)

    def submit(self, function: Any, *arguments: Any) -> Any:
        """Call the function on a worker."""
        return self._remote.remote(function, *arguments)

    def gather(self, tasks: list[Any]) -> list[Any]:
        """Return the results of tasks. After an error, the others run to their end.

        Ray 2.60 ends the process where a task is cancelled that ends at the same moment.
        """
        try:
            return list(_ray().get(tasks))
        except Exception as error:
            # Ray's own error prints the stack of the worker before the sentence.
            cause = getattr(error, "cause", None)
            if isinstance(cause, Exception):
                raise cause from None
            raise

    def broadcast(self, value: Any) -> Any:
        """Put a value into the object store, from which each machine fetches it once."""
        return _ray().put(value)


def _ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise ImportError('rpfcluster.ray needs Ray: pip install "rpfcluster[ray]"') from error
    return ray


def _call(function: Any, *arguments: Any) -> Any:
    """Call a function with rows in place of blocks."""
    return function(*map(_rows, arguments))


def _rows(value: Any) -> Any:
    """Return the rows of a block, as an array where its only column holds vectors; other values as they are."""
    import pyarrow as pa

    if not isinstance(value, pa.Table):
        return value
    from ray.data.block import BlockAccessor

    block = BlockAccessor.for_block(value)
    kind: Any = value.schema.field(0).type if value.num_columns == 1 else None
    if not hasattr(kind, "shape"):
        return block.to_pandas()
    return block.to_numpy(value.column_names[0]).reshape(len(value), *kind.shape)


def _dataset(X: Any) -> Any:
    _ray()
    import ray.data

    if isinstance(X, str | os.PathLike):
        X = [X]
    if isinstance(X, list) and X and all(isinstance(path, str | os.PathLike) for path in X):
        return ray.data.read_parquet([os.fspath(path) for path in X])
    if not isinstance(X, ray.data.Dataset):
        raise TypeError(
            f"X is {type(X).__name__}, but must be a ray.data.Dataset or Parquet files; "
            "use RPFCluster for data in memory"
        )
    return X


def _blocks(dataset: Any) -> list[Any]:
    """Compute the dataset and return its blocks that have rows, in their order; others may have no columns either."""
    options = dataset.context.execution_options
    before, options.preserve_order = options.preserve_order, True
    try:
        blocks = list(dataset.to_arrow_refs())
    finally:
        options.preserve_order = before
    ray = _ray()
    count_rows = ray.remote(_count)
    counts = ray.get([count_rows.remote(block) for block in blocks])
    return [block for block, count in zip(blocks, counts, strict=True) if count]


def _count(block: Any) -> int:
    return len(block)


def _label(batch: Any, model: Any, method: str, names: list[str], titles: tuple[str, ...], build: str) -> Any:
    """Append the results of a method of the model to a batch."""
    import pyarrow as pa

    # A batch of no rows may have no columns.
    rows = _rows(batch.select(names) if names and len(batch) else batch)
    found = apply_model(_fetched(model), method, 0, build, rows)
    for title, column in zip(titles, found if isinstance(found, tuple) else (found,), strict=True):
        batch = batch.append_column(title, pa.array(np.asarray(column)))
    return batch


@functools.lru_cache(maxsize=1)
def _fetched(reference: Any) -> Any:
    """Return the model, which a worker reads from the object store once."""
    return _ray().get(reference)
