"""What every estimator needs: checked data as the native half takes it, seeds, threads, progress.

scikit-learn's own checks stand at the door (``validate_data``), so that messages, feature names and data frames are
handled as its users expect; nothing is copied that already lies in memory as needed.
"""

from __future__ import annotations

import errno
import json
import numbers
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state, check_scalar
from sklearn.utils.validation import validate_data

if TYPE_CHECKING:
    from ._rpfcluster import Table

Array: TypeAlias = NDArray[Any]

FLOATS = (np.float64, np.float32)


def check_data(estimator: BaseEstimator, X: Any, *, reset: bool, min_samples: int = 1) -> Any:
    """Check X with scikit-learn's own checks: an array in C order or a CSR matrix, float32 or float64."""
    X = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=FLOATS,
        order="C",
        ensure_min_samples=min_samples,
    )
    if is_sparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if reset:
        estimator.__dict__.pop("_scaling", None)
    elif hasattr(estimator, "_scaling"):
        X = _scaled(X, *estimator._scaling)
    return X


def _scaled(X: Any, center: Array, scale: Array) -> Array:
    """Repeat what the command did to the columns of a model it wrote: the same operations, so the same bits."""
    if is_sparse(X):
        raise ValueError("the model was fitted on standardised columns, which sparse data cannot be; give an array")
    scaled: Array = ((X.astype(np.float64) - center) / scale).astype(X.dtype)
    return scaled


def is_sparse(X: Any) -> bool:
    """Tell a sparse matrix from an array."""
    return bool(sparse.issparse(X))


def native(X: Any) -> Table:
    """Hand checked data to the native half: the array itself, or the parts of a CSR matrix."""
    if is_sparse(X):
        return (X.indptr, X.indices, X.data, X.shape[1])
    table: Table = np.require(X, requirements=["C", "A"])
    return table


def seed_of(random_state: Any) -> int:
    """Turn scikit-learn's ``random_state`` into a seed: an integer is the seed itself, anything else draws one."""
    if isinstance(random_state, int | np.integer):
        if not 0 <= int(random_state) < 2**64:
            raise ValueError(f"random_state is {random_state}, but must be from 0 to 2**64 - 1")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return int(check_random_state(random_state).randint(2**31 - 1))


def threads_of(n_jobs: Any) -> int:
    """Turn ``n_jobs`` into a number of threads.

    ``None`` is one per core, except where ``OMP_NUM_THREADS`` asks for fewer: joblib sets it in its workers, so
    that parallel workers do not fight over the cores. Negative numbers count back from the cores, as in joblib.
    """
    cores = int(joblib.cpu_count())
    if n_jobs is None:
        wanted = os.environ.get("OMP_NUM_THREADS", "")
        return max(1, min(cores, int(wanted))) if wanted.isdigit() else cores
    check_scalar(n_jobs, "n_jobs", numbers.Integral)
    if n_jobs == 0:
        raise ValueError("n_jobs is 0, but must be positive, negative (counted back from the cores) or None")
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def whole(value: Any, name: str, least: int) -> int:
    """Check an integer parameter."""
    return int(check_scalar(value, name, numbers.Integral, min_val=least))


def one_of(value: Any, name: str, choices: tuple[str, ...]) -> str:
    """Check a parameter that is one of some words."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} is {value!r}, but must be one of {', '.join(map(repr, choices))}")
    return value


def is_auto(value: Any, name: str, otherwise: str = "a whole number") -> bool:
    """Tell ``"auto"`` from a number; another word is neither."""
    if isinstance(value, str) and value != "auto":
        raise ValueError(f"{name} is {value!r}, but must be {otherwise} or 'auto'")
    return isinstance(value, str)


def open_number(value: Any, name: str) -> float | None:
    """Check a parameter that is a number, or ``"auto"`` (which becomes None)."""
    return None if is_auto(value, name, "a number") else float(check_scalar(value, name, numbers.Real))


def target_of(path: str | os.PathLike[str]) -> Path:
    """Name the file to be written; the folder must be there, and is named when it is not."""
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(target.parent))
    return target


def forest_params(estimator: Any, seed: int) -> str:
    """Write the JSON of the library's ``ForestParams`` from an estimator's parameters."""
    return json.dumps(
        {
            "trees": whole(estimator.n_estimators, "n_estimators", 1),
            "min_node": whole(estimator.min_samples_split, "min_samples_split", 2),
            "split": one_of(estimator.split, "split", ("uniform", "median")),
            "direction": one_of(estimator.direction, "direction", ("gaussian", "sparse")),
            "candidates": whole(estimator.n_candidates, "n_candidates", 1),
            "seed": seed,
        }
    )


class Progress:
    """Shows the stages of long work: bars where tqdm is installed, lines on standard error where it is not."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._begun = 0.0

    def __call__(self, event: str, stage: str, units: int) -> None:
        """Take one event of the native half."""
        if event == "begin":
            self._begun = time.monotonic()
            self._bar = _bar(stage, units)
        elif event == "at" and self._bar is not None:
            self._bar.update(max(0, units - self._bar.n))
        elif event == "end":
            if self._bar is None:
                seconds = time.monotonic() - self._begun
                print(f"[rpfcluster] {stage}: {units} in {seconds:.2f} s", file=sys.stderr, flush=True)
            else:
                self._bar.update(max(0, units - self._bar.n))
                self._bar.close()
                self._bar = None


def _bar(stage: str, total: int) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=total, desc=stage, file=sys.stderr)


def progress_of(verbose: Any) -> Progress | None:
    """Give a progress display when ``verbose`` asks for one."""
    return Progress() if check_scalar(verbose, "verbose", numbers.Integral, min_val=0) else None
