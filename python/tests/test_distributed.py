"""The driver of distributed fits, with the engine of this process: a model is that of its sample for any partitions."""

import json
import logging
import os

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rpfcluster import RPFCluster, RPForest, _distributed, load, save
from rpfcluster._distributed import InProcess, fit
from rpfcluster._partition import apply_model, build_id, refuse_other_builds, take
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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS)
def test_a_forest_is_that_of_its_sample(cuts, dtype):
    table = X.astype(dtype)
    alone = RPForest(**PARAMS).fit(table[sample_rows(len(table), 300, 3)])
    parts = np.split(table, cuts)
    found = fit(InProcess(), RPForest(**PARAMS), parts, 300)
    assert found.model._forest.to_bytes() == alone._forest.to_bytes()
    assert (np.concatenate(labels_of(found.model, parts, "apply")) == alone.apply(table)).all()
    features = sparse.vstack(labels_of(found.model, parts, "transform"))
    assert features.dtype == dtype
    assert (features != alone.transform(table)).nnz == 0
    dense = fit(InProcess(), RPForest(**PARAMS, sparse_output=False), parts, 300).model
    assert (np.concatenate(labels_of(dense, parts, "transform")) == features.toarray()).all()


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
        take(X[1:], 900, np.arange(3))


def test_hints_of_the_sample_are_warnings():
    with pytest.warns(UserWarning, match="^in the sample: "):
        fitted([X * [1.0, 1e6]])


def refuse(*arguments):
    raise AssertionError("the sample is fitted again")


def kept(folder, estimator=None, parts=None, max_rows=300):
    estimator = RPFCluster(3, **PARAMS) if estimator is None else estimator
    return fit(InProcess(), estimator, np.split(X, CUTS[2]) if parts is None else parts, max_rows, folder)


@pytest.mark.parametrize("kind", ["cluster", "forest", "frame"])
def test_a_checkpoint_resumes_with_the_same_model(kind, tmp_path, monkeypatch):
    frame = pd.DataFrame({"x": X[:, 0], "half": np.where(X[:, 0] > 0, "right", "left"), "y": X[:, 1]})
    frame.loc[5::17, "y"] = np.nan
    more = {"missing": "native", "categorical_features": ["half"]} if kind == "frame" else {}
    estimator = RPForest(**PARAMS) if kind == "forest" else RPFCluster(3, **PARAMS, **more)
    parts = [frame[:450], frame[450:]] if kind == "frame" else None
    folder = tmp_path / "fit"
    first = kept(folder, estimator, parts)
    assert sorted(os.listdir(folder)) == ["fit.json", "model.rpf"]
    monkeypatch.setattr(_distributed, "fit_sample", refuse)
    # What changes no label may differ.
    again = kept(folder, estimator.set_params(n_jobs=1), parts)
    methods = ("apply", "transform") if kind == "forest" else ("predict", "transform", "predict_with_confidence")
    for method in methods:
        whole = [frame] if kind == "frame" else [X]
        found, expected = labels_of(again.model, whole, method)[0], labels_of(first.model, whole, method)[0]
        found, expected = (x.toarray() if sparse.issparse(x) else np.asarray(x) for x in (found, expected))
        assert (found == expected).all()
    assert (again.sample == first.sample).all()
    assert again.chosen == first.chosen
    assert again.model.get_params() == {**first.model.get_params(), "n_jobs": 1}
    # The model is an ordinary file.
    assert type(load(folder / "model.rpf")) is type(estimator)


OTHERS = {
    "parameter": ({"estimator": RPFCluster(3, n_estimators=41, random_state=3)}, "its n_estimators is 40, not 41;"),
    "seed": ({"estimator": RPFCluster(3, n_estimators=40, random_state=4)}, "its random_state is 3, not 4"),
    "kind": ({"estimator": RPForest(**PARAMS)}, "its estimator is 'RPFCluster', not 'RPForest'"),
    "sample": ({"max_rows": 301}, "its max_rows is 300, not 301"),
    "rows": ({"parts": [X[:450], X[450:][::-1]]}, "partition 1 has other rows"),
    "parts": ({"parts": [X]}, "it has 2 partitions, not 1"),
    "dtype": ({"parts": np.split(X.astype(np.float32), [450])}, "its dtype is 'float64', not 'float32'"),
}


@pytest.mark.parametrize(("changed", "sentence"), OTHERS.values(), ids=OTHERS)
def test_a_checkpoint_of_another_fit_is_refused_and_kept(changed, sentence, tmp_path, monkeypatch):
    kept(tmp_path / "fit")
    before = {path.name: path.read_bytes() for path in (tmp_path / "fit").iterdir()}
    monkeypatch.setattr(_distributed, "fit_sample", refuse)
    with pytest.raises(ValueError, match=f"fit is of another fit: {sentence}"):
        kept(tmp_path / "fit", **changed)
    assert {path.name: path.read_bytes() for path in (tmp_path / "fit").iterdir()} == before


def test_a_checkpoint_of_another_build_is_refused(tmp_path):
    kept(tmp_path)
    record = json.loads((tmp_path / "fit.json").read_text())
    record["inputs"]["build"] = "0.0.1 (abc)"
    (tmp_path / "fit.json").write_text(json.dumps(record))
    with pytest.raises(ValueError, match=r"its build is '0.0.1 .abc.', not"):
        kept(tmp_path)


def spoil_model(folder):
    (folder / "model.rpf").write_bytes((folder / "model.rpf").read_bytes()[:-9])


def spoil_record(folder):
    (folder / "fit.json").write_text((folder / "fit.json").read_text()[:-9])


def lose_model(folder):
    (folder / "model.rpf").unlink()


@pytest.mark.parametrize("spoil", [spoil_model, spoil_record, lose_model])
def test_a_damaged_checkpoint_is_fitted_again(spoil, tmp_path, caplog):
    expected = kept(tmp_path).model._cluster.to_bytes()
    spoil(tmp_path)
    with caplog.at_level(logging.WARNING, "rpfcluster.distributed"):
        again = kept(tmp_path).model
    assert "damaged; fitting again" in caplog.text
    assert (again.predict(X) == kept(tmp_path).model.predict(X)).all()
    assert len(again._cluster.to_bytes()) == len(expected)


def test_a_checkpoint_that_cannot_be_finished_leaves_none(tmp_path, monkeypatch):
    def fail(*arguments):
        raise OSError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", fail)
        with pytest.raises(OSError, match="the disk is full"):
            kept(tmp_path)
    assert os.listdir(tmp_path) == ["model.rpf"]
    assert (kept(tmp_path).model.predict(X) == kept(tmp_path).model.predict(X)).all()


def test_folders_and_seeds_of_a_checkpoint_are_checked(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="file is a file, but must be a folder"):
        kept(tmp_path / "file")
    with pytest.raises(FileNotFoundError):
        kept(tmp_path / "no" / "parent")
    with pytest.raises(ValueError, match="a checkpoint is of one seed, but random_state is None; set a whole number"):
        kept(tmp_path, RPFCluster(3))
