"""`rpfcluster.ray` on a Ray of two processes: equal labels for any blocks, data in and out, errors.

`engines` starts Ray.
"""

import numpy as np
import pandas as pd
import pytest
from needs import require
from sklearn.base import clone

from rpfcluster import RPFCluster, load, save
from rpfcluster.datasets import make_shape

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(240)]  # warnings of other packages

X, Y = make_shape("rings", 1500, random_state=0)
PARAMS = {"n_estimators": 40, "random_state": 3}
# Blocks of one and of no row.
CUTS = {1: [], 2: [750], 7: [1, 1, 500, 501, 1000, 1499]}


def estimator(**more):
    from rpfcluster.ray import RayRPFCluster

    return RayRPFCluster(3, max_rows=400, **PARAMS, **more)


def alone(table):
    from rpfcluster.ray import sample_rows

    rows = sample_rows(len(table), 400, 3)
    return RPFCluster(3, **PARAMS).fit(table.iloc[rows] if hasattr(table, "iloc") else table[rows])


def clusters(dataset):
    return np.concatenate([batch["cluster"] for batch in dataset.iter_batches(batch_format="numpy", batch_size=None)])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS)
def test_labels_are_those_of_one_machine_for_any_blocks(ray, cuts, dtype):
    table = X.astype(dtype)
    expected = alone(table)
    data = ray.data.from_numpy(np.split(table, cuts))
    model = estimator().fit(data)
    assert model.to_local()._cluster.labels.tolist() == expected.labels_.tolist()
    assert (model.to_local().predict(table) == expected.predict(table)).all()
    assert len(model.sample_rows_) == 400
    assert model.n_samples_ == 1500
    assert model.verdict_ == expected.verdict_
    if len(cuts) < 2:
        assert (clusters(model.predict(data)) == expected.predict(table)).all()


def test_frames_keep_their_other_columns_and_files_are_read(ray, tmp_path):
    frame = pd.DataFrame({"x": X[:, 0], "y": X[:, 1]})
    paths = [str(tmp_path / f"{number}.parquet") for number in range(3)]
    for path, part in zip(paths, np.split(np.arange(1500), [200, 201]), strict=True):
        frame.iloc[part].to_parquet(path, index=False)
    expected = alone(frame)
    model = estimator().fit(paths)
    assert model.feature_names_in_.tolist() == ["x", "y"]
    # In any order, and beside other columns.
    wide = frame.assign(id=np.arange(1500))[["id", "y", "x"]]
    found = model.predict_with_confidence(ray.data.from_pandas([wide[:700], wide[700:]])).to_pandas()
    assert list(found) == ["id", "y", "x", "cluster", "confidence"]
    labels, confidence = expected.predict_with_confidence(frame.iloc[found["id"]])
    assert (found["cluster"] == labels).all()
    assert (found["confidence"] == confidence).all()
    assert len(found) == 1500
    save(model.to_local(), tmp_path / "model.rpf")
    again = type(model).from_local(load(tmp_path / "model.rpf"))
    assert (again.predict(paths[2]).to_pandas()["cluster"] == expected.predict(frame[201:])).all()


def test_rows_that_a_filter_removed_are_no_rows(ray):
    frame = pd.DataFrame({"x": X[:, 0], "y": X[:, 1]})
    data = ray.data.from_pandas([frame[:750], frame[750:] + 100]).filter(lambda row: row["x"] < 50)
    model = estimator().fit(data)
    assert model.n_samples_ == 750
    assert (model.to_local().labels_ == alone(frame[:750]).labels_).all()
    assert model.predict(data).count() == 750
    with pytest.raises(ValueError, match="the table has no partitions"):
        estimator().fit(data.filter(lambda row: row["x"] > 50))


def test_a_checkpoint_is_resumed(ray, tmp_path, monkeypatch):
    from rpfcluster import _distributed

    data = ray.data.from_numpy(np.split(X, CUTS[2]))
    expected = estimator().fit(data, checkpoint=tmp_path / "fit").to_local()
    monkeypatch.setattr(_distributed, "fit_sample", None)
    again = estimator().fit(data, checkpoint=tmp_path / "fit").to_local()
    assert (again.predict(X) == expected.predict(X)).all()


def test_errors_are_those_of_the_driver(ray):
    table = X.copy()
    table[-3, 1] = np.nan
    with pytest.raises(ValueError, match=r"^partition 1: column 1 has a missing value .NaN. in row 747;"):
        estimator().fit(ray.data.from_numpy(np.split(table, [750])))
    with pytest.raises(ValueError, match=r"^n_clusters is 500, but"):
        estimator().set_params(n_clusters=500).fit(ray.data.from_numpy(X))
    with pytest.raises(TypeError, match=r"X is ndarray, but must be a ray[.]data[.]Dataset or Parquet files"):
        estimator().fit(X)


def test_parameters_are_those_of_the_clusterer():
    from rpfcluster.ray import RayRPFCluster

    model = RayRPFCluster(4, max_rows=50, affinity="linear")
    assert model.get_params() == {"n_clusters": 4, "max_rows": 50, "affinity": "linear"}
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(power=2.0, max_rows=60).get_params()["power"] == 2.0
    with pytest.raises(TypeError, match="colour"):
        RayRPFCluster(4, colour="red")


def test_without_a_running_ray_there_is_a_clear_error():
    require("ray")
    import subprocess
    import sys

    code = "from rpfcluster.ray import RayRPFCluster\nRayRPFCluster(3).fit('rows.parquet')\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "RuntimeError: Ray is not running in this process; call ray.init() first" in done.stderr
