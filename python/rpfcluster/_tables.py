"""Rows of narrow arrays and of Polars and PyArrow tables with one copy at most.

scikit-learn converts whatever is not float32 or float64 to float64, and copies a table column by column and then
again into C order. Here half precision and integers of one byte become float32, which holds them exactly, and the
columns of a table are written into one array. A table whose only column holds lists of float32 or float64 in one
chunk is not copied at all.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[Any]

# Held exactly by float32.
_NARROW = (np.float16, np.int8, np.uint8)


def compact(X: Any) -> tuple[Any, bool]:
    """Return the rows of X, and whether names and number of its columns are those of the rows.

    What needs no conversion, or a conversion by scikit-learn, is returned as it is.
    """
    if isinstance(X, np.ndarray) or bool(sparse.issparse(X)):
        return (X.astype(np.float32) if X.dtype in _NARROW else X), True
    blocks = _arrow_blocks(X) or _polars_blocks(X)
    if not blocks:
        return X, True
    return _joined(blocks), all(block.ndim == 1 for block in blocks)


def _joined(blocks: list[Array]) -> Array:
    """Return the blocks, each one column or several, side by side in C order."""
    single = all(
        block.dtype in (np.float32, np.float16) or (block.ndim == 2 and block.dtype in _NARROW) for block in blocks
    )
    dtype = np.float32 if single else np.float64
    if len(blocks) == 1 and blocks[0].ndim == 2:
        return np.ascontiguousarray(blocks[0], dtype=dtype)
    widths = [1 if block.ndim == 1 else block.shape[1] for block in blocks]
    rows: Array = np.empty((len(blocks[0]), sum(widths)), dtype=dtype)
    at = 0
    for block, width in zip(blocks, widths, strict=True):
        rows[:, at : at + width] = block.reshape(-1, width)
        at += width
    return rows


def _uneven(name: str, lengths: Array) -> ValueError:
    row = int(np.flatnonzero(lengths != lengths[0])[0])
    lengths_differ = f"{lengths[0]} numbers in row 0, but {lengths[row]} in row {row}"
    return ValueError(f'column "{name}" holds lists of different lengths: {lengths_differ}')


def _arrow_blocks(X: Any) -> list[Array]:
    """Return the columns of a PyArrow table; nothing for other objects and for a table of other types."""
    pa = sys.modules.get("pyarrow")
    if pa is None or not isinstance(X, pa.Table | pa.RecordBatch):
        return []
    types = pa.types
    is_list = [types.is_fixed_size_list(t) or types.is_list(t) or types.is_large_list(t) for t in X.schema.types]
    for kind, of_lists in zip(X.schema.types, is_list, strict=True):
        kind = kind.value_type if of_lists else kind
        if not (types.is_floating(kind) or types.is_integer(kind) or (types.is_boolean(kind) and not of_lists)):
            return []
    blocks = []
    for name, column, of_lists in zip(X.schema.names, X.columns, is_list, strict=True):
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        if of_lists:
            parts = [_arrow_lists(name, chunk) for chunk in chunks if len(chunk)]
            if len({part.shape[1] for part in parts}) > 1:
                raise _uneven(name, np.concatenate([np.full(len(part), part.shape[1]) for part in parts]))
        else:
            parts = [chunk.to_numpy(zero_copy_only=False) for chunk in chunks]
        if not parts:
            return []
        blocks.append(parts[0] if len(parts) == 1 else np.concatenate(parts))
    return blocks


def _arrow_lists(name: str, lists: Any) -> Array:
    import pyarrow.compute as pc

    lengths = pc.list_value_length(lists.drop_null() if lists.null_count else lists).to_numpy(zero_copy_only=False)
    if len(lengths) and (lengths != lengths[0]).any():
        raise _uneven(name, lengths)
    width = int(lengths[0]) if len(lengths) else 0
    flat: Array = lists.flatten().to_numpy(zero_copy_only=False).reshape(len(lengths), width)
    if lists.null_count == 0:
        return flat
    rows = np.full((len(lists), width), np.nan, dtype=np.result_type(flat.dtype, np.float32))
    rows[lists.is_valid().to_numpy(zero_copy_only=False)] = flat
    return rows


def _polars_blocks(X: Any) -> list[Array]:
    """Return the columns of a Polars data frame; nothing for other objects and for a frame of other types."""
    pl = sys.modules.get("polars")
    if pl is None or not isinstance(X, pl.DataFrame) or X.height == 0:
        return []
    blocks = []
    for column in X.get_columns():
        kind = column.dtype
        if isinstance(kind, pl.List) and kind.inner.is_numeric():
            lengths = column.list.len().drop_nulls().to_numpy()
            if len(lengths) and (lengths != lengths[0]).any():
                raise _uneven(column.name, lengths)
            column = column.list.to_array(int(lengths[0]) if len(lengths) else 0)
        elif not (kind == pl.Boolean or (kind.is_numeric() and not kind.is_decimal())):
            if not (isinstance(kind, pl.Array) and kind.inner is not None and kind.inner.is_numeric()):
                return []
            if len(kind.shape) > 1:
                return []
        blocks.append(column.to_numpy())
    return blocks
