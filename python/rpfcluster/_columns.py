"""Columns of a data frame by type: numbers, categories, text and dates."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

# Parts of the names of types, of pandas, Polars and PyArrow. Levels of categories are part of the name of their type.
_CATEGORIES = ("category", "categorical", "enum", "dictionary")
_DATES = ("date", "time", "duration", "period")
_LISTS = ("list", "large_list", "fixed_size_list", "array")
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


def refuse_dates(X: Any, categorical: Any = None) -> None:
    """Raise an error where a column holds dates; NumPy would take them for counts of nanoseconds.

    Text in the columns that ``categorical`` names is not part of the error.
    """
    columns = _columns(X)
    if any(_is_date(dtype) for _, dtype, _ in columns):
        names = [name for name, _, _ in columns]
        used = {names[at] for at in categorical_columns(X, categorical, names)}
        found = [(name, content) for name, content in not_numbers(X) if content == "dates" or name not in used]
        raise ValueError(sentence(found))


def not_numbers(X: Any) -> list[tuple[str, str]]:
    """Return name and content ("text", "lists" or "dates") of each column of a data frame that holds no numbers."""
    found = []
    for name, dtype, values in _columns(X):
        if _is_date(dtype):
            found.append((name, "dates"))
        elif not _is_number(dtype) or _is_list(dtype):
            content = _content(values())
            if content is not None:
                found.append((name, content))
    return found


def sentence(found: list[tuple[str, str]]) -> str:
    """Return the error message for these columns."""
    columns = ", ".join(f'"{name}" ({content})' for name, content in found)
    noun, verb, them = ("column", "holds", "it") if len(found) == 1 else ("columns", "hold", "them")
    contents = {content for _, content in found}
    use = ', or use categorical_features="auto"' if "text" in contents else ""
    use += " for text" if use and len(contents) > 1 else ""
    return f"{noun} {columns} {verb} no numbers; leave {them} out, or encode {them} as numbers{use}"


def _is_date(dtype: Any) -> bool:
    name = str(dtype).lower()
    return not name.startswith(_CATEGORIES) and any(part in name for part in _DATES)


def _is_number(dtype: Any) -> bool:
    name = str(dtype).lower()
    return not name.startswith(_CATEGORIES) and any(part in name for part in _NUMBERS)


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
    """Return "text" or "lists" where some value is no number."""
    for value in values:
        try:
            float(value)
        except (TypeError, ValueError):
            # pandas.NA is no number either, and missing.
            if value is not None and type(value).__name__ != "NAType":
                return "lists" if isinstance(value, list | tuple | np.ndarray) or hasattr(value, "to_list") else "text"
    return None
