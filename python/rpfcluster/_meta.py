"""The section `meta` of a model file, checked before anything uses it.

A checksum says that a file is as it was written, not that a program wrote numbers that fit each other. The rules are
those of the command.
"""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from typing import Any

_LISTS = ("columns", "positions", "fill", "center", "scale")


def checked_preparation(meta: bytes, rows: int, width: int) -> dict[str, Any]:
    """Return the preparation of a model of ``rows`` rows, whose forest has ``width`` columns.

    Raises ValueError, with what is wrong, where it does not fit the forest or itself.
    """
    try:
        found = json.loads(meta)
    except (ValueError, RecursionError) as error:
        raise ValueError("its section meta is no JSON") from error
    preparation = found.get("preparation") if isinstance(found, dict) else None
    if not isinstance(preparation, dict):
        raise ValueError("its section meta has no preparation")
    for name in (*_LISTS, "named", "missing"):
        if name not in preparation:
            raise ValueError(f"its preparation has no {name}")
    for name in (*_LISTS, "means", "categories"):
        if not isinstance(preparation.get(name, []), list):
            raise ValueError(f"{name} of its preparation is no list")
    if not isinstance(preparation["named"], bool):
        raise ValueError("named of its preparation is neither true nor false")
    if preparation["missing"] not in ("error", "drop", "mean", "native"):
        raise ValueError("missing of its preparation is not one of error, drop, mean and native")
    _check_columns(preparation)
    if (prepared := _prepared_width(preparation)) != width:
        raise ValueError(f"its preparation makes {prepared} columns, but its forest has {width}")
    _check_gaps(preparation, width)
    numbers = found.get("rows")
    if numbers is not None and (not isinstance(numbers, list) or len(numbers) != rows):
        raise ValueError(f"rows of its section meta are not the {rows} rows of the model")
    return preparation


def _check_columns(preparation: dict[str, Any]) -> None:
    """Check what the preparation says of each column."""
    columns, count = preparation["columns"], len(preparation["columns"])
    if not columns or not all(isinstance(name, str) for name in columns):
        raise ValueError("columns of its preparation are not names of columns")
    for name in ("positions", "center", "scale"):
        if len(preparation[name]) != count:
            raise ValueError(
                f"{name} of its preparation has {len(preparation[name])} values, but it has {count} columns"
            )
    if not all(_is_index(position) for position in preparation["positions"]):
        raise ValueError("positions of its preparation are not whole numbers from 0")
    if not all(_is_finite(value) for value in preparation["center"]):
        raise ValueError("center of its preparation holds a value that is not a finite number")
    if not all(_is_finite(value) and value > 0 for value in preparation["scale"]):
        raise ValueError("scale of its preparation holds a value that is not a finite number above 0")
    categories = preparation.get("categories", [])
    if not all(_is_category(category, count) for category in categories):
        raise ValueError("a category of its preparation has no column, levels, shares and spread that fit each other")
    places = [category["column"] for category in categories]
    if any(place >= after for place, after in pairwise(places)):
        raise ValueError("categories of its preparation are not in the order of the columns")


def _check_gaps(preparation: dict[str, Any], width: int) -> None:
    """Check the values that stand for missing ones."""
    numeric = len(preparation["columns"]) - len(preparation.get("categories", []))
    missing = preparation["missing"]
    # As in the command, a fill that is not used may be there.
    lengths = {"fill": {numeric} if missing == "mean" else {0, numeric}, "means": {width if missing == "native" else 0}}
    for name, allowed in lengths.items():
        values = preparation.get(name, [])
        if len(values) not in allowed:
            raise ValueError(f"{name} of its preparation has {len(values)} values, which do not fit its columns")
        if not all(_is_finite(value) for value in values):
            raise ValueError(f"{name} of its preparation holds a value that is not a finite number")


def _prepared_width(preparation: dict[str, Any]) -> int:
    """Return the number of columns that the forest has."""
    categories = preparation.get("categories", [])
    return len(preparation["columns"]) + sum(len(category["levels"]) - 1 for category in categories)


def _is_category(category: Any, count: int) -> bool:
    if not isinstance(category, dict) or not category.keys() >= {"column", "levels", "shares", "spread"}:
        return False
    levels, shares, spread = category["levels"], category["shares"], category["spread"]
    if not (isinstance(levels, list) and isinstance(shares, list) and len(levels) == len(shares) > 0):
        return False
    return (
        (_is_index(category["column"]) and category["column"] < count)
        and all(isinstance(level, str) for level in levels)
        and all(level < after for level, after in pairwise(levels))
        and all(_is_finite(share) for share in shares)
        and (_is_finite(spread) and spread > 0)
    )


def _is_index(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_finite(value: Any) -> bool:
    # False for NaN, and for integers that no float holds.
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
