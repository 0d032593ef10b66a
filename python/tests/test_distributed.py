"""The driver of distributed fits, with the engine of this process: a model is that of its sample for any partitions."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rpfcluster import RPFCluster, _distributed, load, save
from rpfcluster._distributed import InProcess, apply_model, build_id, fit, refuse_other_builds
from rpfcluster.dask import sample_rows
from rpfcluster.datasets import make_shape

X, Y = make_shape("rings", 900, random_state=0)
PARAMS = {"n_estimators": 40, "random_state": 3}
# Empty partitions and one of a single row.
CUTS = {1: [], 2: [450], 7: [0, 1, 300, 301, 640, 900]}


def fitted(parts, max_rows=300, **more):
    return fit(InProcess(), RPFCluster(3, **PARAMS, **more), list(parts), max_rows)


def labels_of(model, parts, method="predict"):
    return [apply_model(model, method, number, build_id(), part) for number, part in enumerate(parts)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS)
def test_labels_are_those_of_the_sample_fitted_alone(cuts, dtype):
    table = X.astype(dtype)
    rows = sample_rows(len(table), 300, 3)
    alone = RPFCluster(3, **PARAMS).fit(table[rows])
    parts = np.split(table, cuts)
    found = fitted(parts)
    assert (found.sample == rows).all()
    assert len(rows) == 300
    assert found.rows == [len(part) for part in parts]
    assert found.model._cluster.to_bytes() == alone._cluster.to_bytes()
    assert (np.concatenate(labels_of(found.model, parts)) == alone.predict(table)).all()
    assert (np.concatenate(labels_of(found.model, parts, "transform")) == alone.transform(table)).all()
    labels, confidence = alone.predict_with_confidence(table)
    pairs = labels_of(found.model, parts, "predict_with_confidence")
    assert (np.concatenate([pair[0] for pair in pairs]) == labels).all()
    assert (np.concatenate([pair[1] for pair in pairs]) == confidence).all()
    assert (found.model.labels_ == labels[rows]).all()


def test_a_sample_of_all_rows_is_the_fit_of_the_table(tmp_path):
    alone = RPFCluster(3, max_samples=200, **PARAMS).fit(X)
    found = fitted(np.split(X, CUTS[7]), 10_000, max_samples=200)
    assert (found.sample == np.arange(900)).all()
    assert (found.model.labels_ == alone.labels_).all()
    save(alone, tmp_path / "model.rpf")
    assert load(tmp_path / "model.rpf").max_samples == 200
    with pytest.raises(ValueError, match="recut keeps the forest, so max_samples cannot change"):
        alone.recut(max_samples=300)
    with pytest.raises(ValueError, match="max_samples == 1, must be >= 2"):
        RPFCluster(3, max_samples=1).fit(X)
    whole = RPFCluster(3, **PARAMS).fit(X)
    assert found.model._cluster.to_bytes() == alone._cluster.to_bytes() != whole._cluster.to_bytes()


def test_frames_keep_names_categories_and_gaps():
    frame = pd.DataFrame({"x": X[:, 0], "y": X[:, 1], "half": np.where(X[:, 0] > 0, "right", "left")})
    frame.loc[5::17, "y"] = np.nan
    more = {"categorical_features": ["half"], "missing": "native"}
    rows = sample_rows(900, 400, 3)
    alone = RPFCluster(3, **PARAMS, **more).fit(frame.iloc[rows])
    found = fitted([frame[:100], frame[100:100], frame[100:]], 400, **more)
    assert (found.model.labels_ == alone.labels_).all()
    assert found.model.feature_names_in_.tolist() == ["x", "y", "half"]
    assert (np.concatenate(labels_of(found.model, [frame[:7], frame[7:]])) == alone.predict(frame)).all()


def with_gap(values, row, column, value=np.nan):
    values = values.copy()
    values[row, column] = value
    return values


def with_row(frame, value):
    frame = frame.astype(object) if value is pd.NA else frame.copy()
    frame.loc[4] = value
    return frame


FRAME = pd.DataFrame(X, columns=["x", "y"])
REFUSED = {
    "gap": ([X, with_gap(X, 7, 1)], 'partition 1: column 1 has a missing value .NaN. in row 7; set missing="native"'),
    "infinity": ([with_gap(X, 7, 1, np.inf), X], "partition 0: column 1 is infinite in row 7$"),
    "name": ([FRAME, with_row(FRAME, np.nan)], 'partition 1: column "x" has a missing value .NaN. in row 4'),
    "object": (
        [FRAME.astype({"y": object}), with_row(FRAME.astype({"y": object}), pd.NA)],
        'partition 1: column "x" has a missing value',
    ),
    "infinite object": ([with_row(FRAME.astype(object), np.inf)], 'partition 0: column "x" is infinite in row 4$'),
    "kinds": ([FRAME, FRAME.assign(y="a")], "partition 1 has dtype number, other, but partition 0 has number, number"),
    "columns": ([X, X[:, :1]], "partition 1 has columns .'0'., but partition 0 has .'0', '1'"),
    "dtype": ([X, X.astype(np.float32)], "partition 1 has dtype float32, but partition 0 has float64"),
    "sparse": ([sparse.csr_matrix(X)], "partition 0: is csr_matrix, but must be a two-dimensional array"),
    "vector": ([X[:, 0]], "partition 0: is ndarray, but must be"),
    "none": ([], "the table has no partitions"),
    "one row": ([X[:1], X[:0]], "1 sample"),
}


@pytest.mark.parametrize(("parts", "sentence"), REFUSED.values(), ids=REFUSED)
def test_a_bad_partition_is_one_error_that_names_it(parts, sentence):
    with pytest.raises(ValueError, match=sentence):
        fitted(parts)


def test_other_errors_are_clear():
    with pytest.raises(ValueError, match="affinity='precomputed' has no rows to sample"):
        fitted([X], affinity="precomputed")
    with pytest.raises(RuntimeError, match=r"worker b runs rpfcluster 0.0.1 .abc., but this process runs"):
        refuse_other_builds({"a": build_id(), "b": "0.0.1 (abc)"})
    model = fitted([X]).model
    with pytest.raises(RuntimeError, match=r"but the caller 0\.0\.1"):
        apply_model(model, "predict", 0, "0.0.1 (abc)", X)
    with pytest.raises(ValueError, match=r"^partition 4: X has 1 features"):
        apply_model(model, "predict", 4, build_id(), X[:, :1])
    with pytest.raises(RuntimeError, match="had 900 rows and then 899"):
        _distributed.take(X[1:], 900, np.arange(3))


def test_hints_of_the_sample_are_warnings():
    with pytest.warns(UserWarning, match="^in the sample: "):
        fitted([X * [1.0, 1e6]])
