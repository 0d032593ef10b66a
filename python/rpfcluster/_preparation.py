"""Categories and missing values: what a fit learns about the columns, and the same steps for new samples.

Steps, order and numbers are those of the command, so that both give the same clusters and read each other's models. A
category is one indicator column for each level, levels in the order of their names, all divided by the square root of
the sum of their variances: it counts like one numeric column of unit spread.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from . import _rpfcluster
from ._columns import Column, categorical_columns, column_names_of, columns_of, no_numbers, not_numbers, titles_of
from ._tables import compact

# The limits of the command.
MAX_LEVELS = 1000
IDENTIFIER_ROWS = 20
MISSING = ("error", "mean", "native")
FLOATS = (np.float64, np.float32)


@dataclass
class Category:
    """A fitted categorical column; the fields are those of a model file."""

    column: int
    levels: list[str]
    shares: list[float]
    spread: float

    @classmethod
    def fit(cls, column: int, title: str, levels: list[str | None]) -> Category:
        """Learn the levels of a column."""
        counts = Counter(level for level in levels if level is not None)
        total = sum(counts.values())
        if len(counts) == total >= IDENTIFIER_ROWS:
            raise ValueError(f"column {title} looks like an identifier: all values differ; leave it out")
        if not counts:
            raise ValueError(f"column {title} has no value; leave it out")
        if len(counts) > MAX_LEVELS:
            raise ValueError(
                f"column {title} has {len(counts)} levels, but at most {MAX_LEVELS} are allowed; leave it out"
            )
        names = sorted(counts)
        shares = [counts[name] / total for name in names]
        variance = 0.0
        for share in shares:
            variance += share * (1.0 - share)
        return cls(column, names, shares, math.sqrt(variance) if variance > 0.0 else 1.0)

    def means(self) -> NDArray[np.float64]:
        """Return the mean of each indicator over the fitted samples."""
        return np.asarray(self.shares) / self.spread

    def indicators(self, levels: list[str | None], native: bool) -> NDArray[np.float64]:
        """Return the scaled indicators of the level of each row: gaps for an unknown level, means or gaps for none."""
        codes = {name: code for code, name in enumerate(self.levels)}
        unknown = len(self.levels)
        table = np.zeros((unknown + 2, unknown))
        np.fill_diagonal(table, 1.0 / self.spread)
        table[unknown] = np.nan
        table[unknown + 1] = np.nan if native else self.means()
        at = [unknown + 1 if level is None else codes.get(level, unknown) for level in levels]
        return table[np.asarray(at, dtype=np.intp)]


@dataclass
class Preparation:
    """What is done to samples before the forest sees them."""

    missing: str
    categories: list[Category] = field(default_factory=list)
    fill: list[float] = field(default_factory=list)
    means: list[float] = field(default_factory=list)
    center: NDArray[np.float64] | None = None
    scale: NDArray[np.float64] | None = None

    @classmethod
    def from_meta(cls, meta: dict[str, Any]) -> Preparation | None:
        """Return the preparation of a model file; None where samples are used as they are."""
        center, scale = np.asarray(meta["center"], float), np.asarray(meta["scale"], float)
        scaled = center.any() or (scale != 1.0).any()
        # Rows with missing values were dropped; new ones are refused.
        missing = "error" if meta["missing"] == "drop" else meta["missing"]
        categories = [
            Category(*(category[name] for name in ("column", "levels", "shares", "spread")))
            for category in meta.get("categories", [])
        ]
        if missing == "error" and not categories and not scaled:
            return None
        found = cls(missing, categories, meta["fill"], meta.get("means", []))
        if scaled:
            found.center, found.scale = center, scale
        return found

    def meta(self) -> dict[str, Any]:
        """Return the fields of a model file that differ from those of plain numbers."""
        fields: dict[str, Any] = {"missing": self.missing, "fill": self.fill}
        if self.center is not None and self.scale is not None:
            fields |= {"center": self.center.tolist(), "scale": self.scale.tolist()}
        if self.means:
            fields["means"] = self.means
        if self.categories:
            fields["categories"] = [vars(category) for category in self.categories]
        return fields

    def table_columns(self, names: list[str]) -> list[str]:
        """Return the names of the prepared columns."""
        return self._expanded(names, lambda category, at: f"{names[category.column]}={category.levels[at]}")

    def units(self, width: int) -> tuple[list[float], list[float]]:
        """Return center and scale of each prepared column, for reports in the units of the input."""
        center = [0.0] * width if self.center is None else self.center.tolist()
        scale = [1.0] * width if self.scale is None else self.scale.tolist()
        return self._expanded(center, lambda *_: 0.0), self._expanded(scale, lambda category, _: category.spread)

    def gap_means(self, table: NDArray[Any], width: int) -> list[float] | None:
        """Return the means that stand for gaps; None where the table can have none.

        Without native gaps these are unknown levels.
        """
        if self.means or not self.categories or not np.isnan(table).any():
            return self.means or None
        means = {category.column: category.means() for category in self.categories}
        return self._expanded([0.0] * width, lambda category, at: float(means[category.column][at]))

    def column_keys(self, width: int) -> list[tuple[int, str | None]]:
        """Return the feature and the level of each prepared column; nothing without categories."""
        numbers: list[Any] = [(feature, None) for feature in range(width)] if self.categories else []
        return self._expanded(numbers, lambda category, at: (category.column, category.levels[at]))

    def _expanded(self, of_columns: list[Any], of_level: Callable[[Category, int], Any]) -> list[Any]:
        by_column = {category.column: category for category in self.categories}
        parts: list[Any] = []
        for column, value in enumerate(of_columns):
            category = by_column.get(column)
            parts += [value] if category is None else [of_level(category, at) for at in range(len(category.levels))]
        return parts

    def fit_apply(self, X: Any, wanted: Any, names: list[str] | None) -> NDArray[Any]:
        """Learn levels and means from X and return it prepared."""
        columns = columns_of(X)
        places = categorical_columns(X, wanted, names)
        titles = column_names_of(columns, names)
        levels = {place: _levels_of(columns[place], titles[place]) for place in places}
        self.categories = [Category.fit(place, titles[place], levels[place]) for place in places]
        numbers = self._numbers(X, titles)
        numeric = [titles[at] for at in range(len(columns)) if at not in levels]
        empty = [title for title, column in zip(numeric, numbers.T, strict=True) if np.isnan(column).all()]
        if empty:
            raise ValueError(f"column {empty[0]} has no value; leave it out")
        if self.missing == "mean":
            # Row by row, in the order of the command.
            present = ~np.isnan(numbers)
            sums = np.zeros(numbers.shape[1])
            for row in np.where(present, numbers, 0.0).astype(np.float64):
                sums += row
            self.fill = (sums / present.sum(axis=0)).tolist()
        table = self._table(numbers, levels, titles)
        if self.missing == "native":
            self.means = _rpfcluster.column_means(table)
        return table

    def apply(self, X: Any, names: list[str] | None) -> NDArray[Any]:
        """Return new samples prepared in the same way."""
        columns = columns_of(X)
        titles = column_names_of(columns, names)
        places = [category.column for category in self.categories]
        levels = {place: _levels_of(columns[place], titles[place]) for place in places}
        return self._table(self._numbers(X, titles), levels, titles)

    def _numbers(self, X: Any, titles: list[str]) -> NDArray[Any]:
        """Return the numeric columns as floats."""
        left_out = {category.column for category in self.categories}
        chosen = [at for at in range(len(titles)) if at not in left_out]
        if not chosen:
            return np.empty((len(X), 0))
        part = select_columns(X, chosen) if left_out else X
        try:
            numbers = np.asarray(check_array(part, dtype=FLOATS, order="C", ensure_all_finite="allow-nan"))
        except (TypeError, ValueError) as error:
            if "contains infinity" in str(error):
                infinite = np.isinf(check_array(part, dtype=FLOATS, ensure_all_finite=False))
                row, column = np.argwhere(infinite)[0]
                raise infinity(titles[chosen[column]], int(row)) from error
            shown = titles_of(X)
            found = [(shown[chosen[at]], content) for at, content in not_numbers(part)]
            if lists := [title for title, content in found if content == "lists"]:
                raise ValueError(
                    f"column {lists[0]} holds lists; with categorical_features, give each of their numbers a column"
                ) from error
            if found:
                raise no_numbers(found) from error
            raise
        if self.missing == "error" and (gaps := np.argwhere(np.isnan(numbers))).size:
            row, column = gaps[0]
            raise gap(titles[chosen[column]], int(row))
        return numbers

    def _table(self, numbers: NDArray[Any], levels: dict[int, list[str | None]], titles: list[str]) -> NDArray[Any]:
        if self.missing == "error":
            for place, of_rows in levels.items():
                if None in of_rows:
                    raise gap(titles[place], of_rows.index(None))
        if self.fill:
            numbers = np.where(np.isnan(numbers), np.asarray(self.fill, dtype=numbers.dtype), numbers)
        if self.center is not None and self.scale is not None:
            numeric = [at for at in range(len(titles)) if at not in levels]
            scaled = (numbers.astype(np.float64) - self.center[numeric]) / self.scale[numeric]
            numbers = scaled.astype(numbers.dtype)
        by_column = {category.column: category for category in self.categories}
        parts, next_number = [], 0
        for column in range(len(titles)):
            if (category := by_column.get(column)) is None:
                parts.append(numbers[:, next_number : next_number + 1])
                next_number += 1
            else:
                native = self.missing == "native"
                parts.append(category.indicators(levels[column], native).astype(numbers.dtype, copy=False))
        return np.ascontiguousarray(np.concatenate(parts, axis=1)) if levels else np.ascontiguousarray(numbers)


def gap(title: str, row: int) -> ValueError:
    """Return the error of a missing value."""
    return ValueError(
        f"column {title} has a missing value (NaN) in row {row}; "
        'set missing="native" to route such samples by their other columns, or missing="mean"'
    )


def infinity(title: str, row: int) -> ValueError:
    """Return the error of an infinite value."""
    return ValueError(
        f"column {title} has the value infinity in row {row}; replace it, or leave out the row or the column"
    )


def _levels_of(column: Column, title: str) -> list[str | None]:
    """Return the level of each row of a column."""
    try:
        return level_names(column.values())
    except TypeError as error:
        raise ValueError(
            f"column {title} holds lists or other objects, which are no categories; leave it out, or encode it as text"
        ) from error


def level_names(values: Iterable[Any]) -> list[str | None]:
    """Return the name of each value: text as it is, a number in shortest form; None where it is missing."""
    known: dict[Any, str | None] = {}
    names = []
    for value in values:
        if value not in known:
            known[value] = _level_name(value)
        names.append(known[value])
    return names


def _level_name(value: Any) -> str | None:
    if isinstance(value, str):
        return str(value)
    # pandas.NA and NaT compare with nothing, and NaN is not equal to itself.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value)
    return None if math.isnan(number) else np.format_float_positional(number + 0.0, trim="-")


def select_columns(X: Any, chosen: list[int]) -> Any:
    """Return some columns of an array or a data frame."""
    if hasattr(X, "iloc"):
        return X.iloc[:, chosen]
    if hasattr(X, "select"):
        return X.select(chosen) if hasattr(X, "schema") and hasattr(X.schema, "field") else X[:, chosen]
    return X[:, chosen]


def prepared(estimator: Any, X: Any, *, reset: bool, min_samples: int) -> NDArray[Any]:
    """Validate X, which may hold categories and missing values, and return it prepared by the estimator."""
    if sparse.issparse(X):
        raise ValueError("categorical_features, missing and scaling need a dense table, but X is sparse")
    if not columns_of(X):
        X = np.asarray(X) if isinstance(X, np.ndarray) else np.asarray(X, dtype=object)
        if X.ndim != 2:
            raise ValueError(f"Expected 2D array, got {X.ndim}D array instead. Reshape your data.")
    if estimator.categorical_features is None if reset else not estimator._preparation.categories:
        rows, as_named = compact(X)
        # Lists of numbers, one column for each element.
        X = X if as_named else rows
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if len(X) < min_samples:
        raise ValueError(f"Found array with {len(X)} sample(s) while a minimum of {min_samples} is required.")
    found = getattr(estimator, "feature_names_in_", None)
    names = None if found is None else [str(name) for name in found]
    if not reset:
        return np.asarray(estimator._preparation.apply(X, names))
    preparation = Preparation(estimator.missing)
    table = preparation.fit_apply(X, estimator.categorical_features, names)
    estimator._preparation = preparation
    return table
