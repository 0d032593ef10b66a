"""Columns of a data frame that hold no numbers, for error messages that name them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

# Parts of the names of types, of pandas, Polars and PyArrow. Levels of categories are part of the name of their type.
_CATEGORIES = ("category", "categorical", "enum", "dictionary")
_DATES = ("date", "time", "duration", "period")
_NUMBERS = ("int", "float", "double", "bool", "decimal", "null")


def refuse_dates(X: Any) -> None:
    """Raise an error where a column holds dates; NumPy would take them for counts of nanoseconds."""
    if any(_is_date(dtype) for _, dtype, _ in _columns(X)):
        raise ValueError(sentence(not_numbers(X)))


def not_numbers(X: Any) -> list[tuple[str, str]]:
    """Return the name and the content ("text" or "dates") of each column of a data frame that holds no numbers."""
    found = []
    for name, dtype, values in _columns(X):
        if _is_date(dtype):
            found.append((name, "dates"))
        elif not _is_number(dtype) and _is_text(values()):
            found.append((name, "text"))
    return found


def sentence(found: list[tuple[str, str]]) -> str:
    """Return the error message for these columns."""
    columns = ", ".join(f'"{name}" ({content})' for name, content in found)
    noun, verb, them = ("column", "holds", "it") if len(found) == 1 else ("columns", "hold", "them")
    return f"{noun} {columns} {verb} no numbers; leave {them} out, or encode {them} as numbers"


def _is_date(dtype: Any) -> bool:
    name = str(dtype).lower()
    return not name.startswith(_CATEGORIES) and any(part in name for part in _DATES)


def _is_number(dtype: Any) -> bool:
    name = str(dtype).lower()
    return not name.startswith(_CATEGORIES) and any(part in name for part in _NUMBERS)


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


def _is_text(values: Any) -> bool:
    """Return whether some value is no number."""
    for value in values:
        try:
            float(value)
        except (TypeError, ValueError):
            # pandas.NA is no number either, and missing.
            if value is not None and type(value).__name__ != "NAType":
                return True
    return False
