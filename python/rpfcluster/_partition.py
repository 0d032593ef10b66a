"""What a worker does with one partition of a table: describe it, take rows of it, fit a sample, apply a model.

Every function is pure, so an engine may repeat it elsewhere. What fits or applies a model compares its build with that
of the caller, and `describe` reports it.
"""

from __future__ import annotations

import functools
import hashlib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from . import _rpfcluster
from ._cluster import RPFCluster
from ._columns import column_names_of, columns_of
from ._common import column_names
from ._forest import RPForest

Model: TypeAlias = RPFCluster | RPForest


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
    # A hash of the values; None where nobody asked for it.
    content: str | None
    # Why it cannot be used.
    problem: str | None


def describe(part: Any, allow_missing: bool, with_content: bool = False) -> Facts:
    """Describe a partition."""
    build = build_id()
    if sparse.issparse(part) or not hasattr(part, "shape") or len(part.shape) != 2:
        problem = f"is {type(part).__name__}, but must be a two-dimensional array or a data frame"
        return Facts(0, "", [], 0, build, None, problem)
    columns = columns_of(part)
    titles = [column.name for column in columns]
    is_array = isinstance(part, np.ndarray)
    size = int(part.nbytes) if is_array else int(part.memory_usage(index=False).sum())
    # Numbers of a frame may have several types, also in one column of several files.
    kind = str(part.dtype) if is_array else ", ".join(_kind(dtype) for dtype in part.dtypes)
    gap = _first_gap(part, columns, is_array, allow_missing)
    content = _content(part) if with_content and gap is None else None
    return Facts(len(part), kind, titles, size, build, content, gap)


def _content(part: Any) -> str:
    """Return a hash of the values of a partition."""
    digest = hashlib.blake2b(digest_size=16)
    if isinstance(part, np.ndarray) and part.dtype.kind != "O":
        digest.update(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
        return digest.hexdigest()
    import pandas as pd

    frame = pd.DataFrame(part)
    for at in range(frame.shape[1]):
        digest.update(pd.util.hash_pandas_object(frame.iloc[:, at], index=False).to_numpy())
    return digest.hexdigest()


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


@dataclass
class SampleFit:
    """A fitted sample."""

    model: Model
    # What the model does not take along: its warnings, and `chosen_` with the evidence.
    hints: list[str]
    chosen: dict[str, Any]


def fit_sample(build: str, estimator: Model, *parts: Any) -> SampleFit:
    """Fit the rows of a sample."""
    _require_build(build)
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        X: Any = pd.concat(parts, ignore_index=True)
    else:
        X = np.concatenate(parts)
    model: Model = clone(estimator)
    if model.n_jobs is None:
        # The other workers wait for this fit; an engine may have told each process to use one thread.
        model.n_jobs = int(joblib.cpu_count())
    if isinstance(model, RPForest):
        fitted = SampleFit(model.fit(X), [], {})
    else:
        model._fit(X)
        fitted = SampleFit(model, model._cluster.hints(column_names(model)), model.chosen_)
    model.n_jobs = estimator.n_jobs
    return fitted


def apply_model(model: Model, method: str, number: int, build: str, part: Any) -> Any:
    """Return the result of a method of the model for the rows of a partition, which may be empty."""
    _require_build(build)
    if not len(part):
        return _result_of_no_rows(model, method)
    try:
        # Rows far outside would be a warning of every partition.
        predict = isinstance(model, RPFCluster) and method == "predict"
        return model._assign(part)[0] if predict else getattr(model, method)(part)
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from error


def _result_of_no_rows(model: Any, method: str) -> Any:
    if method == "predict":
        return np.empty(0, np.int64)
    if method == "predict_with_confidence":
        return np.empty(0, np.int64), np.empty(0)
    if method == "apply":
        return np.empty((0, len(model._forest.offsets) - 1), np.uint32)
    if isinstance(model, RPFCluster):
        return np.empty((0, model.n_clusters_), model._dtype)
    shape = (0, model.n_leaves_)
    return sparse.csr_matrix(shape, dtype=model._forest.dtype) if model.sparse_output else np.empty(shape)
