"""Narrow arrays, and Polars and PyArrow tables: values, precision and memory."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from rpfcluster import RPFCluster, RPFEmbedding, RPFNeighbors, RPForest, RPForestKernel
from rpfcluster._common import check_data
from rpfcluster._tables import compact, without_na
from rpfcluster.datasets import load_iris

X, _ = load_iris(return_X_y=True)
HALF = X.astype(np.float16)
MODEL = RPFCluster(n_clusters=3, n_estimators=50, random_state=0)


@pytest.mark.parametrize("dtype", [np.float16, np.int8, np.uint8])
def test_narrow_arrays_are_those_of_single_precision(dtype):
    rows = (10 * X).astype(dtype)
    expected = MODEL.fit_predict(rows.astype(np.float32))
    assert (MODEL.fit_predict(rows) == expected).all()
    assert MODEL.embedding_.dtype == np.float32
    assert (MODEL.predict(rows) == expected).all()
    if dtype != np.float16:  # not a type of scipy's matrices
        assert (MODEL.fit_predict(sparse.csr_matrix(rows)) == expected).all()


@pytest.mark.parametrize("dtype", [np.float16, np.int8, np.uint8])
def test_narrow_arrays_are_taken_by_every_estimator(dtype):
    rows = (10 * X).astype(dtype)
    wide = rows.astype(np.float32)
    for estimator in (
        RPForest(n_estimators=20, random_state=0),
        RPForestKernel(n_estimators=20, random_state=0),
        RPFEmbedding(affinity="linear", n_estimators=20, random_state=0),
        RPFNeighbors(n_estimators=20, random_state=0),
        RPFNeighbors(n_estimators=20, random_state=0, metric="euclidean"),
    ):
        expected = estimator.fit(wide).transform(wide)
        found = estimator.fit(rows).transform(rows)
        assert found.dtype == expected.dtype == np.float32
        assert abs(found - expected).max() == 0
        # A model of narrow rows takes wide ones, and the other way round.
        assert abs(estimator.transform(wide) - expected).max() == 0
        assert abs(estimator.fit(wide).transform(rows) - expected).max() == 0
        assert estimator.fit(X).transform(rows).dtype == np.float32


def test_narrow_arrays_are_not_copied():
    for rows in (HALF, X.astype(np.int8)):
        assert check_data(MODEL, rows, reset=True) is rows
        assert check_data(MODEL, rows[:, ::2], reset=True).flags.c_contiguous
    with pytest.raises(ValueError, match="NaN"):
        MODEL.fit(np.where(HALF > 7, np.float16("nan"), HALF))
    infinite = HALF.copy()
    infinite[3, 2] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        MODEL.fit(infinite)


def lists():
    flat = pa.array(X.ravel())
    return {
        "arrow fixed": pa.table({"e": pa.FixedSizeListArray.from_arrays(flat, 4)}),
        "arrow batch": pa.record_batch({"e": pa.FixedSizeListArray.from_arrays(flat, 4)}),
        "arrow list": pa.table({"e": pa.array(X.tolist())}),
        "arrow chunks": pa.table({"e": pa.chunked_array([X[:40].tolist(), X[40:].tolist()])}),
        "polars array": pl.DataFrame({"e": X}, schema={"e": pl.Array(pl.Float64, 4)}),
        "polars list": pl.DataFrame({"e": X.tolist()}),
        "pandas lists": pd.DataFrame({"e": X.tolist()}),
        "pandas arrays": pd.DataFrame({"e": list(X)}),
    }


@pytest.mark.parametrize("name", lists())
def test_a_column_of_lists_is_an_array(name):
    expected = RPFCluster(n_clusters=3, n_estimators=50, random_state=0).fit(X)
    model = RPFCluster(n_clusters=3, n_estimators=50, random_state=0).fit(lists()[name])
    assert model.n_features_in_ == 4
    assert (model.labels_ == expected.labels_).all()
    assert (model.predict(lists()[name]) == expected.labels_).all()


def test_lists_beside_numbers_are_joined_in_the_narrowest_float():
    table = pa.table(
        {"x": X[:, 0].astype(np.float32), "e": pa.FixedSizeListArray.from_arrays(pa.array(HALF[:, 1:].ravel()), 3)}
    )
    rows, named = compact(table)
    assert rows.dtype == np.float32
    assert not named
    assert (rows == np.hstack([X[:, :1].astype(np.float32), HALF[:, 1:].astype(np.float32)])).all()
    bytes_ = pl.DataFrame({"e": [[1, 2], [3, 4]]}, schema={"e": pl.Array(pl.Int8, 2)})
    assert compact(bytes_)[0].dtype == np.int8
    assert compact(bytes_)[0].tolist() == [[1, 2], [3, 4]]


def test_missing_lists_and_numbers_are_nan():
    table = pa.table(
        {"x": [1.0, None, 3.0], "i": pa.array([1, 2, None]), "e": pa.array([[1.0, 2.0], None, [5.0, 6.0]])}
    )
    rows, _ = compact(table)
    nan = np.nan
    np.testing.assert_array_equal(rows, [[1, 1, 1, 2], [nan, 2, nan, nan], [3, nan, 5, 6]])
    frame = pl.DataFrame({"x": [1.0, None], "i": [1, None]})
    np.testing.assert_array_equal(compact(frame)[0], [[1, 1], [nan, nan]])


def test_masked_values_are_gaps():
    mask = np.random.default_rng(1).random(X.shape) < 0.1
    hidden = np.where(mask, 99.0, X)
    for dtype in (np.float64, np.float32):
        rows = np.ma.masked_array(hidden.astype(dtype), mask=mask)
        with pytest.raises(ValueError, match="has a missing value \\(NaN\\) in row"):
            MODEL.fit(rows)
        model = RPFCluster(3, missing="native", n_estimators=50, random_state=0)
        expected = model.fit(np.where(mask, np.nan, X).astype(dtype)).labels_.copy()
        assert (model.fit(rows).labels_ == expected).all()
    whole = np.ma.masked_array((10 * X).astype(int), mask=mask)
    assert np.isnan(without_na(whole)).sum() == mask.sum()
    nothing_masked = np.ma.masked_array(X)
    assert (MODEL.fit_predict(nothing_masked) == MODEL.fit_predict(X)).all()


@pytest.mark.skipif(not hasattr(pl, "Int128"), reason="this version of Polars has no such integers")
def test_polars_integers_of_128_bits_are_numbers():
    frame = pl.DataFrame((10 * X).astype(int), schema=list("abcd"))
    for params in ({}, {"missing": "native"}):
        model = RPFCluster(3, n_estimators=50, random_state=0, **params)
        expected = model.fit(frame).labels_.copy()
        assert (model.fit(frame.with_columns(pl.col("a").cast(pl.Int128))).labels_ == expected).all()


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_lists_take_gaps_but_no_categories(library):
    rows = X.tolist()
    table = library({"e": [None, *rows[1:]]})
    expected = RPFCluster(3, missing="native", random_state=0).fit(np.vstack([np.full((1, 4), np.nan), X[1:]]))
    model = RPFCluster(3, missing="native", random_state=0).fit(table)
    assert (model.labels_ == expected.labels_).all()
    assert (model.predict(table) == expected.labels_).all()
    with pytest.raises(ValueError, match='column "e" holds lists; with categorical_features, give each'):
        RPFCluster(3, categorical_features=["c"]).fit(library({"e": rows, "c": ["x", "y"] * 75}))


def test_pandas_lists_beside_numbers_are_joined():
    frame = pd.DataFrame({"x": X[:, 0], "e": X[:, 1:].tolist()})
    assert (compact(frame)[0] == X).all()
    text = pd.DataFrame({"e": [["a", "b"]] * 9})
    assert compact(text)[0] is text
    with pytest.raises(ValueError, match='column "e" \\(lists\\) holds no numbers; leave it out'):
        RPForest().fit(text)


def test_lists_of_different_lengths_are_refused_by_name():
    rows = {"e": [[1.0, 2.0], [3.0]]}
    for table in (pa.table(rows), pl.DataFrame(rows), pd.DataFrame(rows)):
        with pytest.raises(
            ValueError, match='column "e" holds lists of different lengths: 2 numbers in row 0, but 1 in row 1'
        ):
            RPForest().fit(table)


def test_text_is_still_refused_by_name():
    for table in (pa.table({"x": [1.0, 2.0], "s": ["a", "b"]}), pl.DataFrame({"x": [1.0, 2.0], "s": ["a", "b"]})):
        assert compact(table)[0] is table
        with pytest.raises(ValueError, match='"s"'):
            RPForest().fit(table)


def test_one_list_column_is_not_copied():
    flat = np.arange(8.0)
    table = pa.table({"e": pa.FixedSizeListArray.from_arrays(pa.array(flat), 2)})
    assert np.shares_memory(compact(table)[0], flat)


PEAK = """
import numpy as np, polars as pl, pyarrow as pa, sys
from rpfcluster import RPForest
from rpfcluster._common import check_data
columns = {{f"c{{j}}": np.random.default_rng(j).random(1_000_000, dtype=np.float32) for j in range(20)}}
table = {table}
check_data(RPForest(), table[:10] if hasattr(table, "height") else table.slice(0, 10), reset=True)  # imports
def peak():
    with open("/proc/self/status") as status:
        return 1024 * next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
open("/proc/self/clear_refs", "w").write("5")
before = peak()
check_data(RPForest(), table, reset=True)
print(peak() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("table", ["pa.table(columns)", "pl.DataFrame(columns)"])
def test_tables_are_copied_once(table):
    # 80 MB of numbers.
    run = subprocess.run([sys.executable, "-c", PEAK.format(table=table)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < 110e6


FIT = """
import numpy as np, sys
from rpfcluster import RPFCluster
rng = np.random.default_rng(0)
rows = np.concatenate([rng.integers(20 * k, 20 * k + 90, (1000, 3000), dtype=np.uint8) for k in range(4)])
rows = rows.astype(np.{dtype})
def fit(rows):
    model = RPFCluster(n_clusters=4, n_estimators=50, random_state=0, n_jobs=1)
    return model.fit_predict(rows)
fit(rows[:100])  # imports
def peak():
    with open("/proc/self/status") as status:
        return 1024 * next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
open("/proc/self/clear_refs", "w").write("5")
before = peak()
labels = fit(rows)
assert len(set(labels[:1000])) == 1 and len(set(labels)) == 4
print(peak() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("dtype", ["float16", "uint8"])
def test_a_fit_does_not_widen_narrow_embeddings(dtype):
    # 48 MB in single precision.
    run = subprocess.run([sys.executable, "-c", FIT.format(dtype=dtype)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < 45e6
