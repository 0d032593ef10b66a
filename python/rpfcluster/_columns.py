"""Columns of a data frame by type: numbers, categories, text and dates."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

# Parts of the names of types, of pandas, Polars and PyArrow. Levels of categories are part of the name of their type.
_CATEGORIES = ("category", "categorical", "enum", "dictionary")
_DATES = ("date", "time", "duration", "period")
_LISTS = ("list", "large_list", "fixed_size_list", "array")
# How many columns a message names.
_NAMED = 50
# Types of records and of ranges, whose names hold those of what is inside.
_NESTED = ("struct", "map", "interval", "month_day_nano_interval", "union", "dense_union", "sparse_union")
_NUMPY_DATES = (np.datetime64, np.timedelta64)
# What float() takes, although it is no number or only half of it is used.
_CONVERTED = (*_NUMPY_DATES, np.complexfloating)
_NUMBERS = ("int", "float", "double", "bool", "decimal", "null")


class Column(NamedTuple):
    """A column of a data frame or an array."""

    name: str
    dtype: Any
    values: Callable[[], Iterable[Any]]


def columns_of(X: Any) -> list[Column]:
    """Return the columns of a data frame or of a two-dimensional array; nothing for other data."""
    found = _columns(X)
    if not found and isinstance(X, np.ndarray) and X.ndim == 2:
        found = [(str(at), X.dtype, partial(X.__getitem__, (slice(None), at))) for at in range(X.shape[1])]
    return [Column(*column) for column in found]


def titles_of(X: Any) -> list[str]:
    """Return the columns as messages name them: those of a data frame by name, those of an array by number from 0."""
    names = [f'"{name}"' for name, _, _ in _columns(X)]
    return names or [column.name for column in columns_of(X)]


def column_names_of(columns: list[Column], names: list[str] | None) -> list[str]:
    """Return the columns as messages name them: by name, or by number from 0."""
    return [column.name for column in columns] if names is None else [f'"{name}"' for name in names]


def categorical_columns(X: Any, wanted: Any, names: list[str] | None) -> list[int]:
    """Return the places of the categorical columns that ``categorical_features`` names, ascending."""
    if wanted is None:
        return []
    columns = columns_of(X)
    if isinstance(wanted, str):
        if wanted not in ("auto", "from_dtype"):
            raise ValueError(
                f"categorical_features is {wanted!r}, but must be 'auto', 'from_dtype', None or a list of columns"
            )
        return [at for at, column in enumerate(columns) if _is_categorical(column)]
    wanted = np.asarray(wanted)
    if wanted.dtype == bool:
        if wanted.shape != (len(columns),):
            raise ValueError(
                f"categorical_features is a mask of shape {wanted.shape}, but X has {len(columns)} columns"
            )
        return [int(at) for at in np.flatnonzero(wanted)]
    places = set()
    for column in wanted.tolist():
        if isinstance(column, str):
            if names is None or column not in names:
                raise ValueError(f"categorical_features names {column!r}, but X has no column of that name")
            places.add(names.index(column))
        elif isinstance(column, int) and 0 <= column < len(columns):
            places.add(column)
        else:
            raise ValueError(
                f"categorical_features holds {column!r}, but must hold names or numbers from 0 to {len(columns) - 1}"
            )
    return sorted(places)


def _is_categorical(column: Column) -> bool:
    """Return whether the type is that of categories or text; columns of objects are text where some value is."""
    if str(column.dtype).lower().startswith(_CATEGORIES):
        return True
    return not _is_number(column.dtype) and _content(column.values()) == "text"


def refuse_dates(X: Any, categorical: Any = None, offers: bool = True) -> None:
    """Raise an error where a column holds dates; NumPy would take them for counts of nanoseconds.

    Text in the columns that ``categorical`` names is not part of the error. For ``offers`` see `no_numbers`.
    """
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise ValueError(f"X holds no numbers but dates ({X.dtype}); leave them out, or encode them as numbers")
    if isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "O"):
        row = X[0] if len(X) > 0 and isinstance(X[0], list | tuple | np.ndarray) else ()
        dates = [(str(at), "dates") for at, value in enumerate(row) if isinstance(value, _NUMPY_DATES)]
        if dates:
            raise no_numbers(dates)
    columns = _columns(X)
    if any(_is_date(dtype) for _, dtype, _ in columns):
        used = categorical_columns(X, categorical, [name for name, _, _ in columns])
        found = [(at, content) for at, content in not_numbers(X) if content == "dates" or at not in used]
        titles = titles_of(X)
        raise no_numbers([(titles[at], content) for at, content in found], offers)


def refuse_tables(X: Any) -> None:
    """Raise an error for a table without rows or columns of its own, and for columns that cannot be told apart."""
    if type(X).__name__ == "LazyFrame" and hasattr(X, "collect"):
        raise TypeError("X is a LazyFrame, which holds no rows; pass X.collect()")
    if isinstance(X, np.ndarray) and X.dtype.names is not None:
        raise TypeError(f"X is a structured array with fields {', '.join(X.dtype.names)}; pass pandas.DataFrame(X)")
    columns = _columns(X)
    if hasattr(X, "iloc") and np.ndim(X) == 2 and X.shape[1] == 0 < len(X):
        raise ValueError(f"X has {len(X)} rows and no columns; at least one column is needed")
    twice = [name for name, count in Counter(name for name, _, _ in columns).items() if count > 1]
    if twice:
        names = ", ".join(f'"{name}"' for name in twice)
        raise ValueError(
            f"X has several columns of the name {names}; rename them or leave all but one of them out"
            if len(twice) == 1
            else f"X has several columns of each of the names {names}; rename them or leave all but one of each out"
        )


def not_numbers(X: Any) -> list[tuple[int, str]]:
    """Return place and content of each column of a data frame or an array that holds no numbers."""
    found = []
    for at, column in enumerate(columns_of(X)):
        if _is_date(column.dtype):
            found.append((at, "dates"))
        elif not _is_number(column.dtype) or _is_list(column.dtype):
            content = _content(column.values())
            if content is not None:
                found.append((at, content))
    return found


def no_numbers(found: list[tuple[str, str]], offers: bool = True) -> ValueError:
    """Return the error of these columns, given as messages name them, and their contents.

    Text can be categories where the estimator ``offers`` them.
    """
    columns = ", ".join(f"{title} ({content})" for title, content in found[:_NAMED])
    columns += f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    noun, verb, them = ("column", "holds", "it") if len(found) == 1 else ("columns", "hold", "them")
    contents = {content for _, content in found}
    use = ', or use categorical_features="auto"' if "text" in contents and offers else ""
    use += " for text" if use and len(contents) > 1 else ""
    return ValueError(f"{noun} {columns} {verb} no numbers; leave {them} out, or encode {them} as numbers{use}")


def _is_date(dtype: Any) -> bool:
    name = str(dtype).lower()
    return not name.startswith(_CATEGORIES) and any(part in name for part in _DATES)


def _is_number(dtype: Any) -> bool:
    name = str(dtype).lower()
    return not name.startswith((*_CATEGORIES, *_NESTED)) and any(part in name for part in _NUMBERS)


def _is_list(dtype: Any) -> bool:
    """Return whether the type is a list of Polars or PyArrow, whose name holds that of the elements."""
    return str(dtype).lower().startswith(_LISTS)


def _columns(X: Any) -> list[tuple[str, Any, Callable[[], Iterable[Any]]]]:
    """Return name, type and values of each column of a pandas, Polars or PyArrow table; nothing for an array."""
    if hasattr(X, "iloc") and hasattr(X, "dtypes") and hasattr(X, "columns"):
        types = zip(X.columns, X.dtypes, strict=True)
        return [
            (str(name), dtype, partial(X.iloc.__getitem__, (slice(None), at))) for at, (name, dtype) in enumerate(types)
        ]
    schema: Any = getattr(X, "schema", None)
    if hasattr(schema, "field"):
        return [(field.name, field.type, partial(_arrow_values, X, at)) for at, field in enumerate(schema)]
    if isinstance(schema, dict):
        return [(name, dtype, partial(X.__getitem__, name)) for name, dtype in schema.items()]
    return []


def _arrow_values(table: Any, column: int) -> Iterable[Any]:
    values: Iterable[Any] = table.column(column).to_pylist()
    return values


def _content(values: Any) -> str | None:
    """Return what the first value holds that is no number: "text", "lists", "dates", "complex values" or "objects"."""
    for value in values:
        if isinstance(value, _CONVERTED):
            return _kind(value)
        try:
            float(value)
        except (TypeError, ValueError):
            # pandas.NA is no number either, and missing.
            if value is not None and type(value).__name__ != "NAType":
                return _kind(value)
    return None


def _kind(value: Any) -> str:
    if isinstance(value, list | tuple | np.ndarray) or hasattr(value, "to_list"):
        return "lists"
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta, *_NUMPY_DATES)):
        return "dates"
    if isinstance(value, complex | np.complexfloating):
        return "complex values"
    # What cannot be told apart by a hash, such as dict, cannot be a category either.
    return "objects" if type(value).__hash__ is None else "text"
