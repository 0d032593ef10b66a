"""Input types: arrays of any layout, data frames, sparse matrices, float32; parameters and random states."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from rpfcluster import RPFCluster, RPFEmbedding, RPFNeighbors, RPForest, RPForestKernel
from rpfcluster.datasets import load_iris, make_shape

X, Y = load_iris(return_X_y=True)
NAMES = ["a", "b", "c", "d"]
MODEL = RPFCluster(n_clusters=3, n_estimators=50, random_state=0)
EXPECTED = MODEL.fit(X).labels_.copy()


def _read_only():
    array = X.copy()
    array.flags.writeable = False
    return array


CONTAINERS = {
    "fortran": np.asfortranarray(X),
    "read-only": _read_only(),
    "strided": np.repeat(X, 2, axis=0)[::2],
    "big-endian": X.astype(">f8"),
    "list": X.tolist(),
    "pandas": pd.DataFrame(X, columns=NAMES),
    "polars": pl.DataFrame(X, schema=NAMES),
    "pyarrow": pa.table({name: X[:, i] for i, name in enumerate(NAMES)}),
    "csr_matrix": sparse.csr_matrix(X),
    "csr_array": sparse.csr_array(X),
    "csc": sparse.csc_matrix(X),
    "coo": sparse.coo_matrix(X),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_gives_the_same_labels(container):
    model = RPFCluster(n_clusters=3, n_estimators=50, random_state=0).fit(CONTAINERS[container])
    assert (model.labels_ == EXPECTED).all()
    assert (model.predict(CONTAINERS[container]) == EXPECTED).all()


@pytest.mark.parametrize("container", ["pandas", "polars", "pyarrow"])
def test_data_frames_set_feature_names(container):
    model = RPForest(n_estimators=5).fit(CONTAINERS[container])
    assert model.feature_names_in_.tolist() == NAMES


def test_unsorted_sparse_indices_are_sorted_in_a_copy():
    rows = sparse.csr_matrix(X)
    rows.indices = rows.indices.reshape(-1, 4)[:, ::-1].ravel().copy()
    rows.data = rows.data.reshape(-1, 4)[:, ::-1].ravel().copy()
    rows.has_sorted_indices = False
    before = rows.indices.copy()
    assert (RPFCluster(n_clusters=3, n_estimators=50, random_state=0).fit_predict(rows) == EXPECTED).all()
    assert (rows.indices == before).all(), "the caller's matrix was changed"


MEASURED = """
import resource, sys
import numpy as np
from scipy import sparse
from rpfcluster import RPFCluster, RPForest

def peak():
    if sys.platform == "darwin":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # On Linux ru_maxrss includes the memory of the process that started this one.
    with open("/proc/self/status") as status:
        return 1024 * next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

random = np.random.default_rng(0)
{data}
before = peak()
{work}
print(peak() - before)
"""

# 500 samples with 20 of 2,000,000 features; single precision holds the values exactly.
WIDE = """
columns = np.sort(random.choice(2_000_000, size=(500, 20)), axis=1)
stored = random.normal(size=10_000).astype(np.float32).astype(np.float64)
rows = sparse.csr_matrix((stored, columns.ravel(), np.arange(0, 10_001, 20)), (500, 2_000_000))
"""


def _peak_growth(data, work):
    """By how many bytes these statements raise the peak memory of a process of their own."""
    program = MEASURED.format(data=data, work=work)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return int(run.stdout)


def test_wide_sparse_data_stays_sparse():
    # A dense copy would need 8 GB.
    work = """
forest = RPForest(n_estimators=2, min_samples_split=250, random_state=0).fit(rows)
assert forest.apply(rows).shape == (500, 2)
"""
    assert _peak_growth(WIDE, work) < 500e6


def test_sparse_data_of_another_float_type_stays_sparse():
    # Dense copies would need 8 GB for the training samples and 4 GB for the new ones.
    work = """
model = RPFCluster(2, n_estimators=2, min_samples_split=250, tune=False, random_state=0).fit(rows)
assert (model.predict(rows) == model.labels_).all()
assert (model.predict(rows.astype(np.float32)) == model.labels_).all()
narrow = RPForest(2, min_samples_split=250, random_state=0).fit(rows.astype(np.float32))
assert (narrow.apply(rows) == narrow.apply(rows.astype(np.float32))).all()
"""
    assert _peak_growth(WIDE, work) < 500e6


def test_wide_sparse_data_stays_sparse_when_the_number_of_clusters_is_chosen():
    # A dense subsample and its reference data sets would need 860 MB.
    data = """
columns = random.integers(0, 50, size=(900, 20)) * 1000 + np.repeat([0, 300, 600], 300)[:, None]
rows = sparse.csr_matrix((np.ones(18_000), columns.ravel(), np.arange(0, 18_001, 20)), (900, 60_000))
"""
    work = """
model = RPFCluster("auto", n_estimators=40, random_state=0).fit(rows)
assert model.n_clusters_ == 3
"""
    assert _peak_growth(data, work) < 300e6


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float_type_is_preserved(dtype):
    data = X.astype(dtype)
    forest = RPForest(n_estimators=20, random_state=0).fit(data)
    assert forest._forest.dtype == np.dtype(dtype).name
    assert forest.transform(data).dtype == dtype
    kernel = RPForestKernel(n_estimators=20, random_state=0).fit(data)
    assert kernel(data).dtype == dtype
    assert kernel.transform(data).dtype == dtype
    model = RPFCluster(n_clusters=3, n_estimators=20, random_state=0).fit(data)
    assert model.embedding_.dtype == dtype
    assert model.transform(data).dtype == dtype
    assert RPFEmbedding(n_estimators=20, affinity="linear", random_state=0).fit_transform(data).dtype == dtype
    assert RPFNeighbors(n_estimators=20, random_state=0).fit_transform(data).dtype == dtype


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters"),
        ({"n_clusters": 151}, "n_clusters is 151"),
        ({"n_clusters": 3, "beta1": 2.0}, "beta1 is 2"),
        ({"n_clusters": 3, "beta2": -1.0}, "beta2 is -1"),
        ({"n_clusters": 3, "affinity": "rbf"}, "affinity is 'rbf'"),
        ({"n_clusters": 3, "n_estimators": 70_000}, "n_estimators is 70000"),
        ({"n_clusters": 3, "min_samples_split": 1}, "min_samples_split"),
        ({"n_clusters": 3, "n_neighbors": 0}, "n_neighbors"),
        ({"n_clusters": 3, "power": 0.0}, "power is 0"),
        ({"n_clusters": 3, "method": "cut"}, "method is 'cut'"),
        ({"n_clusters": 3, "n_jobs": 0}, "n_jobs is 0"),
        ({"n_clusters": 3, "random_state": -1}, "random_state is -1"),
    ],
)
def test_out_of_range_parameter_is_named_as_in_python(parameters, message):
    with pytest.raises(ValueError, match=message):
        RPFCluster(**parameters).fit(X)


def test_invalid_parameters_and_data_are_refused():
    with pytest.raises(ValueError, match="n_clusters is 'three'"):
        RPFCluster(n_clusters="three").fit(X)
    with pytest.raises(TypeError, match="n_clusters"):
        RPFCluster(n_clusters=3.5).fit(X)
    with pytest.raises(MemoryError, match="needs about"):
        RPFCluster(n_clusters=3, memory_limit=1000).fit(X)
    with pytest.raises(ValueError, match="NaN"):
        RPForest().fit([[1.0], [np.nan]])
    with pytest.raises(ValueError, match="features"):
        RPForest(n_estimators=5).fit(X).apply(X[:, :2])


def test_random_state_accepts_integers_generators_and_none():
    def labels(state):
        return RPForest(n_estimators=5, random_state=state).fit(X).apply(X)

    assert (labels(7) == labels(np.int64(7))).all()
    assert (labels(np.random.RandomState(1)) == labels(np.random.RandomState(1))).all()
    assert (labels(np.random.default_rng(1)) == labels(np.random.default_rng(1))).all()
    state = np.random.RandomState(1)
    assert (labels(state) != labels(state)).any()
    assert (labels(None) != labels(None)).any()
    assert labels(2**63).shape == (150, 5)


@pytest.mark.parametrize("n_jobs", [1, 2, 5, -1, None])
def test_labels_do_not_depend_on_thread_count(n_jobs):
    data, _ = make_shape("chains", 900, random_state=3)
    model = RPFCluster(n_clusters=3, n_estimators=60, random_state=0, n_jobs=n_jobs).fit(data)
    again = RPFCluster(n_clusters=3, n_estimators=60, random_state=0, n_jobs=3).fit(data)
    assert (model.labels_ == again.labels_).all()
    assert (model.embedding_ == again.embedding_).all()


def test_precomputed_kernel_gives_the_clusters_of_the_forest():
    kernel = RPForestKernel(n_estimators=100, random_state=0).fit(X)(X)
    dense = RPFCluster(n_clusters=3, affinity="precomputed", random_state=0).fit(kernel)
    csr = RPFCluster(n_clusters=3, affinity="precomputed", random_state=0).fit(sparse.csr_matrix(kernel))
    assert (dense.labels_ == csr.labels_).all()
    linear = RPFCluster(n_clusters=3, affinity="linear", n_estimators=100, random_state=0).fit(X)
    assert (dense.labels_ == linear.labels_).mean() > 0.95
    assert dense.chosen_["affinity"] == "precomputed"
    with pytest.raises(ValueError, match="precomputed"):
        dense.predict(kernel)
    with pytest.raises(ValueError, match="not symmetric"):
        RPFCluster(n_clusters=3, affinity="precomputed").fit(np.triu(kernel))
