"""Rows of narrow arrays and of Polars and PyArrow tables with one copy at most, and columns of lists.

scikit-learn converts whatever is not float32 or float64 to float64, and copies a table column by column and then
again into C order. Here arrays of half precision and of integers of one byte are kept: the native module widens their
rows as it reads them, with the results of float32. The columns of a table are written into one array. A table whose
only column holds lists of numbers in one chunk is not copied at all. A pandas data frame with columns of lists is
expanded in the same way; others are left to scikit-learn.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[Any]

# Held exactly by float32.
NARROW = (np.float16, np.int8, np.uint8)


def compact(X: Any) -> tuple[Any, bool]:
    """Return the rows of X, and whether names and number of its columns are those of the rows.

    What needs no conversion, or a conversion by scikit-learn, is returned as it is.
    """
    if isinstance(X, np.ndarray):
        return X, True
    if bool(sparse.issparse(X)):
        return (X.astype(np.float32) if X.dtype in NARROW else X), True
    blocks = _arrow_blocks(X) or _polars_blocks(X) or _pandas_blocks(X)
    if not blocks:
        return X, True
    return _joined(blocks), all(block.ndim == 1 for block in blocks)


def without_na(X: Any) -> Any:
    """Return X with NaN for what NumPy does not take for missing, and floats for integers it does not have.

    These are masked values, pandas.NA in columns of objects, and integers of 128 bits in Polars.
    """
    if isinstance(X, np.ma.MaskedArray):
        floats: Any = np.result_type(X.dtype, np.float32) if X.dtype.kind in "biuf" else object
        return np.ma.filled(X.astype(floats), np.nan) if np.ma.is_masked(X) else X.data
    pl = sys.modules.get("polars")
    if pl is not None and isinstance(X, pl.DataFrame):
        wide = [name for name, kind in X.schema.items() if str(kind) in ("Int128", "UInt128")]
        return X.with_columns(pl.col(wide).cast(pl.Float64)) if wide else X
    pd = sys.modules.get("pandas")
    if pd is None or not isinstance(X, pd.DataFrame):
        return X
    for at, dtype in enumerate(X.dtypes):
        column = X.iloc[:, at]
        if dtype.kind == "O" and any(value is pd.NA for value in column):
            X = X.copy(deep=False)
            X.isetitem(at, column.where(column.notna(), np.nan))
    return X


def _joined(blocks: list[Array]) -> Array:
    """Return the blocks, each one column or several, side by side in C order."""
    single = all(
        block.dtype in (np.float32, np.float16) or (block.ndim == 2 and block.dtype in NARROW) for block in blocks
    )
    dtype = np.float32 if single else np.float64
    if len(blocks) == 1 and blocks[0].ndim == 2:
        return np.ascontiguousarray(blocks[0], dtype=blocks[0].dtype if blocks[0].dtype in NARROW else dtype)
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


def _pandas_blocks(X: Any) -> list[Array]:
    """Return the columns of a pandas data frame with columns of lists; nothing for other objects and frames."""
    pd = sys.modules.get("pandas")
    if pd is None or not isinstance(X, pd.DataFrame) or X.empty:
        return []
    blocks, lists_found = [], False
    for at, name in enumerate(X.columns):
        column = X.iloc[:, at]
        if column.dtype == object:
            block = _object_lists(str(name), column.to_numpy())
            if block is None:
                return []
            lists_found = True
        elif pd.api.types.is_numeric_dtype(column.dtype) and column.dtype.kind in "iufb":
            is_extension = not isinstance(column.dtype, np.dtype)
            block = column.to_numpy(dtype=np.float64, na_value=np.nan) if is_extension else column.to_numpy()
        else:
            return []
        blocks.append(block)
    return blocks if lists_found else []


def _object_lists(name: str, values: Array) -> Array | None:
    """Return lists of numbers as rows, NaN where there is none; None for a column of other values."""
    at = [row for row, value in enumerate(values) if isinstance(value, list | tuple | np.ndarray)]
    if not at or any(values[row] is not None for row in set(range(len(values))).difference(at)):
        return None
    arrays = [np.asarray(values[row]) for row in at]
    if any(array.ndim != 1 or array.dtype.kind not in "iuf" for array in arrays):
        return None
    lengths = np.array([len(array) for array in arrays])
    if (lengths != lengths[0]).any():
        raise _uneven(name, lengths)
    flat: Array = np.stack(arrays)
    if len(at) == len(values):
        return flat
    rows = np.full((len(values), flat.shape[1]), np.nan, dtype=np.result_type(flat.dtype, np.float32))
    rows[at] = flat
    return rows
