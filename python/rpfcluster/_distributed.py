"""Fit on a sample, predict in parts: clusters of a table that no machine holds.

The table comes in partitions, and an engine runs functions on them. A first pass counts the rows and refuses infinities
and, unless `missing` allows them, missing values. The sample, the rows with the smallest hashes of (seed, number of the
row), is taken in a second pass and fitted by one worker. `apply_model` then labels a partition where it is. The model
depends on the sample alone, and whether a row is in the sample on its number, so neither partitions nor workers change
a label.

An engine has three methods: `submit` runs a function on a worker, `gather` waits for results, `broadcast` sends a value
to all workers. `rpfcluster.dask` has one; `InProcess` runs everything at once in this process.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from . import _rpfcluster
from ._cluster import RPFCluster
from ._columns import column_names_of, columns_of
from ._common import column_names, resolve_seed, warn_caller

logger = logging.getLogger("rpfcluster.distributed")


class Engine(Protocol):
    """What the driver needs of Dask, Ray or anything else that runs functions."""

    def submit(self, function: Any, *arguments: Any) -> Any:
        """Return a task that calls the function. Arguments may be tasks, partitions and broadcast values."""

    def gather(self, tasks: list[Any]) -> list[Any]:
        """Return the results of tasks; raise the exception of one that failed."""

    def broadcast(self, value: Any) -> Any:
        """Send a value to all workers once, and return what stands for it among arguments."""


class InProcess:
    """The engine of this process."""

    def submit(self, function: Any, *arguments: Any) -> Any:
        """Call the function."""
        return function(*arguments)

    def gather(self, tasks: list[Any]) -> list[Any]:
        """Return the results."""
        return tasks

    def broadcast(self, value: Any) -> Any:
        """Return the value."""
        return value


def sample_rows(n: int, m: int, random_state: Any = None) -> NDArray[np.int64]:
    """Return the rows of a sample of ``m`` of ``n`` rows, ascending: those with the smallest hashes."""
    seed = resolve_seed(random_state)
    return _rpfcluster.sampled_places(seed, _rpfcluster.sample_limit(seed, n, m), 0, n)


@functools.cache
def build_id() -> str:
    """Return version and hash of the native module: equal builds give equal labels."""
    digest = hashlib.sha256(Path(_rpfcluster.__file__).read_bytes()).hexdigest()
    return f"{_rpfcluster.__version__} ({digest[:12]})"


def refuse_other_builds(builds: dict[str, str]) -> None:
    """Raise RuntimeError where a worker runs another build of rpfcluster than this process."""
    for worker, build in sorted(builds.items()):
        if build != build_id():
            raise RuntimeError(
                f"worker {worker} runs rpfcluster {build}, but this process runs {build_id()}; "
                "install the same build everywhere"
            )


@dataclass
class Facts:
    """What a partition is."""

    rows: int
    dtype: str
    names: list[str]
    bytes: int
    build: str
    # Why it cannot be used.
    problem: str | None


def describe(part: Any, allow_missing: bool) -> Facts:
    """Describe a partition."""
    build = build_id()
    if sparse.issparse(part) or not hasattr(part, "shape") or len(part.shape) != 2:
        problem = f"is {type(part).__name__}, but must be a two-dimensional array or a data frame"
        return Facts(0, "", [], 0, build, problem)
    columns = columns_of(part)
    titles = [column.name for column in columns]
    is_array = isinstance(part, np.ndarray)
    size = int(part.nbytes) if is_array else int(part.memory_usage(index=False).sum())
    # Numbers of a frame may have several types, also in one column of several files.
    kind = str(part.dtype) if is_array else ", ".join(_kind(dtype) for dtype in part.dtypes)
    return Facts(len(part), kind, titles, size, build, _first_gap(part, columns, is_array, allow_missing))


def _kind(dtype: Any) -> str:
    from pandas.api.types import is_numeric_dtype

    return "number" if is_numeric_dtype(dtype) else "other"


def _first_gap(part: Any, columns: list[Any], is_array: bool, allow_missing: bool) -> str | None:
    """Return the sentence about the first column with a value that cannot be used."""
    if is_array and part.dtype.kind == "f" and np.isfinite(part).all():
        return None
    for title, column in zip(column_names_of(columns, None if is_array else _names(columns)), columns, strict=True):
        values = np.asarray(column.values())
        if values.dtype.kind == "f":
            missing, infinite = np.isnan(values), np.isinf(values)
        elif values.dtype.kind == "O":
            missing = np.fromiter((value is None or _is_missing(value) for value in values), bool, len(values))
            infinite = np.fromiter(
                (isinstance(value, float | np.floating) and math.isinf(value) for value in values), bool
            )
        else:
            continue
        if infinite.any():
            return f"column {title} is infinite in row {int(infinite.argmax())}"
        if missing.any() and not allow_missing:
            return (
                f"column {title} has a missing value (NaN) in row {int(missing.argmax())}; "
                'set missing="native" to route such samples by their other columns'
            )
    return None


def _names(columns: list[Any]) -> list[str]:
    return [column.name for column in columns]


def _is_missing(value: Any) -> bool:
    # NaN is not equal to itself; NA of pandas compares with nothing.
    return type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def take(part: Any, rows: int, places: NDArray[np.int64]) -> Any:
    """Return some rows of a partition."""
    if len(part) != rows:
        raise RuntimeError(f"a partition had {rows} rows and then {len(part)}; its source changes between reads")
    return part.iloc[places] if hasattr(part, "iloc") else np.ascontiguousarray(part[places])


def _require_build(build: str) -> None:
    """Raise RuntimeError on a worker that joined later and runs another build than the caller."""
    if build_id() != build:
        raise RuntimeError(f"a worker runs rpfcluster {build_id()}, but the caller {build}")


def fit_sample(build: str, estimator: RPFCluster, *parts: Any) -> tuple[RPFCluster, list[str], dict[str, Any]]:
    """Fit the rows of a sample, and return the model, and the hints and the evidence that it does not take along."""
    _require_build(build)
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        X: Any = pd.concat(parts, ignore_index=True)
    else:
        X = np.concatenate(parts)
    model: RPFCluster = clone(estimator)
    if model.n_jobs is None:
        # The other workers wait for this fit; an engine may have told each process to use one thread.
        model.n_jobs = int(joblib.cpu_count())
    model._fit(X)
    model.n_jobs = estimator.n_jobs
    return model, model._cluster.hints(column_names(model)), model.chosen_


def apply_model(model: RPFCluster, method: str, number: int, build: str, part: Any) -> Any:
    """Return the result of a method of the model for the rows of a partition, which may be empty."""
    _require_build(build)
    try:
        if method == "transform":
            return model.transform(part) if len(part) else np.empty((0, model.n_clusters_))
        if method == "predict":
            return model._assign(part)[0] if len(part) else np.empty(0, np.int64)
        empty = np.empty(0, np.int64), np.empty(0)
        return model.predict_with_confidence(part) if len(part) else empty
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from error


@dataclass
class DistributedFit:
    """A model of a sample, and the table it was fitted on."""

    model: RPFCluster
    # The numbers of the rows of the sample.
    sample: NDArray[np.int64]
    # The number of rows of each partition.
    rows: list[int]
    # `chosen_` of the fit, with its evidence.
    chosen: dict[str, Any]


def fit(engine: Engine, estimator: RPFCluster, partitions: list[Any], max_rows: int) -> DistributedFit:
    """Fit a sample of at most ``max_rows`` of the rows of all partitions."""
    if estimator.affinity == "precomputed":
        raise ValueError("affinity='precomputed' has no rows to sample; use RPFCluster")
    seed = resolve_seed(estimator.random_state)
    facts = engine.gather([engine.submit(describe, part, estimator.missing != "error") for part in partitions])
    _check(facts)
    rows = [fact.rows for fact in facts]
    n, size = sum(rows), sum(fact.bytes for fact in facts)
    if n < 2:
        raise ValueError(f"Found array with {n} sample(s) while a minimum of 2 is required.")
    logger.info(
        "%d rows in %d partitions, %.1f MB, the largest %.1f MB",
        *(n, len(facts), size / 1e6, max(fact.bytes for fact in facts) / 1e6),
    )
    limit = _rpfcluster.sample_limit(seed, n, max_rows)
    tasks, sample, first = [], [], 0
    for part, count in zip(partitions, rows, strict=True):
        places = _rpfcluster.sampled_places(seed, limit, first, count)
        if len(places):
            tasks.append(engine.submit(take, part, count, places))
            sample.append(first + places)
        first += count
    numbers = np.concatenate(sample)
    logger.info("fitting a sample of %d rows, %.1f MB, on one worker", len(numbers), size / n * len(numbers) / 1e6)
    seeded = clone(estimator).set_params(random_state=seed)
    model, hints, chosen = engine.gather([engine.submit(fit_sample, build_id(), seeded, *tasks)])[0]
    for hint in hints:
        warn_caller(f"in the sample: {hint}")
    logger.info("fitted %d clusters", model.n_clusters_)
    return DistributedFit(model, numbers, rows, chosen)


def _check(facts: list[Facts]) -> None:
    """Raise one error, that of the first partition that cannot be used."""
    if not facts:
        raise ValueError("the table has no partitions")
    refuse_other_builds({f"of partition {number}": fact.build for number, fact in enumerate(facts)})
    for number, fact in enumerate(facts):
        if fact.problem is not None:
            raise ValueError(f"partition {number}: {fact.problem}")
        for what, here, there in (("columns", fact.names, facts[0].names), ("dtype", fact.dtype, facts[0].dtype)):
            if here != there:
                raise ValueError(f"partition {number} has {what} {here}, but partition 0 has {there}")
