"""Input validation, random seeds, thread counts and progress display, shared by all estimators.

Input is validated by scikit-learn's ``validate_data``, so that error messages, feature names and data frames behave
as in scikit-learn. Arrays that are already C-contiguous and of float64, float32, float16, int8 or uint8 are not copied;
the columns of tables are copied once (`_tables`).
"""

from __future__ import annotations

import errno
import json
import math
import numbers
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_random_state, check_scalar
from sklearn.utils.validation import validate_data

from ._columns import no_numbers, not_numbers, refuse_dates, refuse_tables, titles_of
from ._preparation import FLOATS, MISSING, gap, infinity, prepared
from ._printable import printable_errors
from ._tables import NARROW, compact, without_na

if TYPE_CHECKING:
    from ._rpfcluster import Table

Array: TypeAlias = NDArray[Any]

# The largest integer of the native module, but for seeds.
MAX_INT = 2**63 - 1


@printable_errors
def check_data(estimator: BaseEstimator, X: Any, *, reset: bool, min_samples: int = 1) -> Any:
    """Validate X and return it as a C-contiguous array or a CSR matrix, float32, float64 or narrower."""
    offers = hasattr(estimator, "categorical_features")
    X = _table(X, getattr(estimator, "categorical_features", None), offers)
    missing = getattr(estimator, "missing", "error")
    if reset:
        estimator.__dict__.pop("_preparation", None)
        check_choice(missing, "missing", MISSING)
    asked = missing != "error" or getattr(estimator, "categorical_features", None) is not None
    if asked if reset else hasattr(estimator, "_preparation"):
        return prepared(estimator, X, reset=reset, min_samples=min_samples)
    frame = X
    rules: dict[str, Any] = {"accept_sparse": "csr", "dtype": FLOATS, "order": "C", "ensure_min_samples": min_samples}
    X, as_named = compact(X)
    if isinstance(X, np.ndarray) and X.dtype in NARROW:
        rules["dtype"] = X.dtype
    try:
        if X is frame or not as_named:
            X = validate_data(estimator, X, reset=reset, **rules)
        else:
            validate_data(estimator, frame, reset=reset, skip_check_array=True)
            X = check_array(X, input_name="X", estimator=estimator, **rules)
    except (TypeError, ValueError) as error:
        if "contains NaN" in str(error) and hasattr(estimator, "missing") and not is_sparse(X):
            raise gap(*_first(X, frame, np.isnan)) from error
        _explain(error, X, frame, offers)
        raise
    if is_sparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def float_type(X: Any) -> np.dtype[Any]:
    """Return the float type of what is computed from X: its own, or float32 where that is narrower."""
    return np.result_type(X.dtype, np.float32)


@printable_errors
def check_numbers(estimator: BaseEstimator, X: Any, **rules: Any) -> Any:
    """Validate X, which an estimator without categories and gaps takes as it is, by these rules of scikit-learn."""
    X = _table(X, None, offers=False)
    try:
        return validate_data(estimator, X, **rules)
    except (TypeError, ValueError) as error:
        _explain(error, X, X, offers=False)
        raise


def _table(X: Any, categorical: Any, offers: bool) -> Any:
    """Return X with NaN where a value is missing, and refuse what NumPy would take for other numbers than it holds."""
    refuse_tables(X)
    X = without_na(X)
    refuse_dates(X, categorical, offers)
    return X


def _explain(error: Exception, X: Any, frame: Any, offers: bool) -> None:
    """Raise the error that names the columns with infinity or without numbers in rows, those of this table, if any."""
    if "contains infinity" in str(error) and not is_sparse(X):
        raise infinity(*_first(X, frame, np.isinf)) from error
    if X is not frame or " contains " in str(error):
        return
    if isinstance(X, str | bytes):
        raise TypeError("X is a string, but must be a table; read the file first, as pandas.read_csv does") from error
    if isinstance(X, list | tuple):
        try:
            X = np.asarray(X, dtype=object)
        except ValueError:
            return
    if getattr(X, "ndim", 2) == 1 and "could not convert" in str(error):
        raise ValueError("Expected 2D array, got 1D array instead. Reshape your data.") from error
    if isinstance(X, np.ndarray) and X.dtype.kind == "c":
        return
    titles = titles_of(X)
    found = [(titles[at], content) for at, content in not_numbers(X)]
    if not found:
        return
    explained = no_numbers(found, offers)
    if isinstance(error, TypeError) and any(content == "objects" for _, content in found):
        # scikit-learn asks for this type, and for the words of NumPy.
        raise TypeError(f"{explained} ({error})") from error
    raise explained from error


def _first(X: Any, frame: Any, is_wrong: Callable[[Array], Array]) -> tuple[str, int]:
    """Return column and row of the first such value of rows, those of this table."""
    row, column = np.argwhere(is_wrong(check_array(X, dtype=FLOATS, ensure_all_finite=False)))[0]
    titles = titles_of(frame)
    return titles[column] if len(titles) == np.shape(X)[1] else str(column), int(row)


def column_names(estimator: Any, prefix: str = "") -> list[str]:
    """Return the names of the columns of the forest, or their numbers, counted from 0, after ``prefix``."""
    found = getattr(estimator, "feature_names_in_", None)
    names = [f"{prefix}{j}" for j in range(estimator.n_features_in_)] if found is None else [str(n) for n in found]
    return estimator._preparation.table_columns(names) if hasattr(estimator, "_preparation") else names


def warn_caller(sentence: str) -> None:
    """Raise a UserWarning at the line that called this package, directly or through scikit-learn."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("rpfcluster", "sklearn"):
        level, frame = level + 1, frame.f_back
    warnings.warn(sentence, stacklevel=level)


def is_sparse(X: Any) -> bool:
    """Return whether X is a scipy sparse matrix or array."""
    return bool(sparse.issparse(X))


def as_native(X: Any, estimator: Any = None) -> Table:
    """Return validated data in the form of the native module.

    It is an array, the parts of a CSR matrix, or, of an estimator with gaps or categories, an array with the means of
    its columns and with what they stand for.
    """
    if is_sparse(X):
        return (X.indptr, X.indices, X.data, X.shape[1])
    table: NDArray[Any] = np.require(X, requirements=["C", "A"])
    preparation = getattr(estimator, "_preparation", None)
    if preparation is None or not (preparation.means or preparation.categories):
        return table
    width = estimator.n_features_in_
    return table, preparation.gap_means(table, width), preparation.column_keys(width)


def resolve_seed(random_state: Any) -> int:
    """Return the seed for a ``random_state``: an integer is used as it is, other generators draw one."""
    if isinstance(random_state, int | np.integer):
        if not 0 <= int(random_state) < 2**64:
            raise ValueError(f"random_state is {_shown(int(random_state))}, but must be from 0 to 2**64 - 1")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return int(check_random_state(random_state).randint(2**31 - 1))


def resolve_threads(n_jobs: Any) -> int:
    """Return the number of threads for ``n_jobs``.

    ``None`` is one per core, or ``OMP_NUM_THREADS`` if that is lower: joblib sets it in its workers to prevent
    oversubscription. Negative numbers count back from the number of cores, as in joblib.
    """
    cores = int(joblib.cpu_count())
    if n_jobs is None:
        wanted = os.environ.get("OMP_NUM_THREADS", "")
        return max(1, min(cores, int(wanted))) if wanted.isdigit() else cores
    check_scalar(n_jobs, "n_jobs", numbers.Integral)
    refuse_huge(n_jobs, "n_jobs")
    if n_jobs == 0:
        raise ValueError("n_jobs is 0, but must be positive, negative (counted back from the number of cores) or None")
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def check_int(value: Any, name: str, least: int) -> int:
    """Return an integer parameter, at least ``least``."""
    checked = int(check_scalar(value, name, numbers.Integral, min_val=least))
    refuse_huge(checked, name)
    return checked


def refuse_huge(value: int, name: str) -> None:
    """Raise an error for an integer that the native module cannot hold."""
    if value > MAX_INT:
        raise ValueError(f"{name} is {_shown(value)}, but must be at most {MAX_INT}")


def _shown(value: int) -> str:
    """Return an integer as messages show it; Python refuses to print one of thousands of digits."""
    return str(value) if abs(value) < 10**100 else "above 10**100" if value > 0 else "below -10**100"


def check_float(value: Any, name: str) -> float:
    """Return a float parameter, which must be finite."""
    value = check_scalar(value, name, numbers.Real)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} is {number}, but must be a finite number")
    return number


def check_max_samples(estimator: Any) -> int | None:
    """Return the number of samples that trees grow on; None is all, also for estimators without the parameter."""
    given = getattr(estimator, "max_samples", None)
    return None if given is None else check_int(given, "max_samples", 2)


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> str:
    """Return a string parameter that must be one of ``choices``."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} is {value!r}, but must be one of {', '.join(map(repr, choices))}")
    return value


def is_auto(value: Any, name: str, otherwise: str = "a whole number") -> bool:
    """Return whether a parameter is ``"auto"``; other strings raise."""
    if isinstance(value, str) and value != "auto":
        raise ValueError(f"{name} is {value!r}, but must be {otherwise} or 'auto'")
    return isinstance(value, str)


def check_float_or_auto(value: Any, name: str) -> float | None:
    """Return a float parameter, or None for ``"auto"``."""
    return None if is_auto(value, name, "a number") else check_float(value, name)


def resolve_output(path: str | os.PathLike[str]) -> Path:
    """Return the path of an output file; raise ``FileNotFoundError`` if its folder does not exist."""
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(target.parent))
    return target


def forest_params(estimator: Any, seed: int) -> str:
    """Return the JSON of the library's ``ForestParams`` for an estimator."""
    return json.dumps(
        {
            "trees": check_int(estimator.n_estimators, "n_estimators", 1),
            "min_node": check_int(estimator.min_samples_split, "min_samples_split", 2),
            "split": check_choice(estimator.split, "split", ("uniform", "median")),
            "direction": check_choice(estimator.direction, "direction", ("gaussian", "sparse")),
            "candidates": check_int(estimator.n_candidates, "n_candidates", 1),
            "max_samples": check_max_samples(estimator),
            "seed": seed,
        }
    )


class Progress:
    """Progress display of a call: tqdm bars if tqdm is installed, otherwise one line per stage on standard error."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._begun = 0.0

    def __call__(self, event: str, stage: str, units: int) -> None:
        """Handle one progress event of the native module."""
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


def make_progress(verbose: Any) -> Progress | None:
    """Return a progress display if ``verbose`` is positive."""
    return Progress() if check_scalar(verbose, "verbose", numbers.Integral, min_val=0) else None
