"""Typical use: pipelines, grid searches, pickle, joblib, model files, progress, metrics, data sets, plots."""

import html
import importlib
import io
import os
import pickle
import subprocess
import sys
import types
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import DBSCAN
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score, make_scorer, rand_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import rpfcluster
from rpfcluster import (
    RPFCluster,
    RPFEmbedding,
    RPFNeighbors,
    RPForest,
    RPForestKernel,
    load,
    metrics,
    plot,
    save,
)
from rpfcluster._preparation import Preparation
from rpfcluster.datasets import (
    CATALOG,
    SHAPES,
    load_catalogued,
    load_iris,
    make_moons,
    make_rings,
    make_shape,
    make_spirals,
)

X, Y = load_iris(return_X_y=True)
FITTED = [
    RPFCluster(3, n_estimators=40, random_state=0).fit(X),
    RPFEmbedding(2, n_estimators=40, affinity="linear", random_state=0).fit(X),
    RPForest(40, random_state=0).fit(X),
    RPForestKernel(40, random_state=0).fit(X),
    RPFNeighbors(4, n_estimators=40, random_state=0).fit(X),
]


def _dense(output):
    return output.toarray() if hasattr(output, "toarray") else output


@pytest.mark.parametrize("model", FITTED, ids=lambda m: type(m).__name__)
def test_pickle_joblib_and_clone_keep_results(model, tmp_path):
    expected = _dense(model.transform(X))
    np.testing.assert_array_equal(_dense(pickle.loads(pickle.dumps(model)).transform(X)), expected)
    joblib.dump(model, tmp_path / "model")
    np.testing.assert_array_equal(_dense(joblib.load(tmp_path / "model").transform(X)), expected)
    np.testing.assert_array_equal(_dense(clone(model).fit(X).transform(X)), expected)


def test_joblib_workers_give_the_same_labels():
    jobs = (joblib.delayed(RPFCluster(3, n_estimators=20, random_state=s).fit_predict)(X) for s in range(4))
    labels = joblib.Parallel(n_jobs=2)(jobs)
    for seed, found in enumerate(labels):
        assert (found == RPFCluster(3, n_estimators=20, random_state=seed).fit_predict(X)).all()


def test_estimators_work_in_pipelines_and_grid_searches():
    chain = make_pipeline(StandardScaler(), RPFCluster(3, random_state=0))
    assert (chain.fit_predict(X) == chain.predict(X)).all()
    search = GridSearchCV(
        RPFCluster(3, random_state=0, n_estimators=30),
        {"min_samples_split": [10, 30], "affinity": ["linear", "top-k"]},
        scoring=lambda model, rows, truth: adjusted_rand_score(truth, model.predict(rows)),
        # Shuffled: the rows are sorted by species, and a species that was not fitted lies far outside.
        cv=KFold(3, shuffle=True, random_state=0),
    ).fit(X, Y)
    assert search.best_score_ > 0.5
    precomputed = make_pipeline(RPForestKernel(random_state=0), SVC(kernel="precomputed"))
    assert cross_val_score(precomputed, X, Y, cv=3, scoring=make_scorer(rand_score)).mean() > 0.9
    neighbors = make_pipeline(
        RPFNeighbors(10, random_state=0), KNeighborsClassifier(n_neighbors=5, metric="precomputed")
    )
    assert neighbors.fit(X, Y).score(X, Y) > 0.9
    assert set(make_pipeline(RPFNeighbors(10), DBSCAN(eps=0.7, metric="precomputed")).fit_predict(X)) >= {0}


def test_model_file_keeps_estimator_and_labels(tmp_path):
    path = tmp_path / "model.rpf"
    for model in (FITTED[0], FITTED[2]):
        save(model, path)
        again = load(path)
        assert type(again) is type(model)
        np.testing.assert_array_equal(_dense(again.transform(X)), _dense(model.transform(X)))
        assert clone(again).set_params(n_jobs=None).get_params()["n_estimators"] == 40
    assert [p.name for p in tmp_path.iterdir()] == ["model.rpf"]
    save(FITTED[0], path)
    assert (load(path).labels_ == FITTED[0].labels_).all()
    assert (load(path).fit(X).labels_ == FITTED[0].labels_).all()


def test_model_file_keeps_feature_names_and_scales(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd"))
    path = tmp_path / "model.rpf"
    model = RPFCluster(3, n_estimators=20, random_state=0).fit(frame)
    model._preparation = Preparation("error", center=X.mean(axis=0), scale=X.std(axis=0))
    save(model, path)
    again = load(path)
    assert again.feature_names_in_.tolist() == list("abcd")
    raw = frame * X.std(axis=0) + X.mean(axis=0)
    assert (again.predict(raw) == model.labels_).mean() > 0.99
    assert not hasattr(again.fit(frame), "_preparation")


def test_damaged_and_missing_model_files_are_refused(tmp_path):
    path = tmp_path / "model.rpf"
    with pytest.raises(FileNotFoundError):
        load(path)
    path.write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="not an rpf model file"):
        load(path)
    save(FITTED[2], path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match="cut short"):
        load(path)
    with pytest.raises(OSError, match="No such file"):
        save(FITTED[2], tmp_path / "nowhere" / "model.rpf")
    with pytest.raises(TypeError, match="RPFNeighbors"):
        save(FITTED[4], path)


@pytest.mark.parametrize("with_tqdm", [True, False])
def test_verbose_shows_the_stages(with_tqdm, monkeypatch):
    if not with_tqdm:
        monkeypatch.setitem(sys.modules, "tqdm.auto", types.ModuleType("tqdm.auto"))
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    RPFCluster(3, n_estimators=20, tune=True, random_state=0, verbose=1).fit(X)
    for stage in ("growing trees", "trying settings", "counting pairs", "eigenvectors", "labelling"):
        assert stage in shown.getvalue()


def test_metrics_equal_those_of_scikit_learn():
    labels = FITTED[0].labels_
    found = metrics.scores(labels, Y)
    assert found["ari"] == pytest.approx(adjusted_rand_score(Y, labels))
    assert metrics.rho_r(labels, Y) == pytest.approx(rand_score(Y, labels))
    assert metrics.rho_c(labels, Y) == metrics.clustering_accuracy(labels, np.array(["x", "y", "z"])[Y])
    assert metrics.majority(Y) == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="dimension"):
        metrics.scores(X, Y)
    with pytest.raises(ValueError, match="needed"):
        metrics.scores([0, 1], [0, 1, 2])


def test_datasets_have_the_requested_size():
    for name in SHAPES:
        data, truth = make_shape(name, 60, random_state=0)
        assert len(data) == len(truth) == 60
    for make in (make_rings, make_moons, make_spirals):
        assert make(60, random_state=0)[0].shape == (60, 2)
    iris = load_iris()
    # target_names is an array, as in scikit-learn, and can be indexed by target.
    assert set(iris.target_names[iris.target]) == {"setosa", "versicolor", "virginica"}
    with pytest.raises(ValueError, match="is not known"):
        make_shape("pretzel")


def test_catalog_is_read_and_wrong_names_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"wine\.data.*no such file"):
        load_catalogued("wine", tmp_path)
    with pytest.raises(ValueError, match="did you mean"):
        load_catalogued("wime", tmp_path)
    with pytest.raises(ValueError, match="scaling"):
        load_catalogued("wine", tmp_path, scaling="some")
    folder = Path(os.environ.get("RPF_DATA", "../shared/data"))
    if not folder.is_dir():
        pytest.skip("the folder of data sets is not there")
    wine = load_catalogued("wine", folder, scaling="standardized")
    assert "wine" in CATALOG
    assert wine.data.shape == (178, 13)
    assert wine.data.std(axis=0) == pytest.approx(np.ones(13), rel=0.01)
    assert np.bincount(wine.target).tolist() == [59, 71, 48]
    assert load_catalogued("mnist", folder, return_X_y=True)[0].dtype == np.float32


def test_auto_chooses_clusters_trees_and_settings():
    data, truth = make_shape("rings", 600, random_state=0)
    model = RPFCluster("auto", n_estimators=100, random_state=0).fit(data)
    assert model.n_clusters_ == len(np.unique(model.labels_)) == 3
    assert metrics.rho_c(model.labels_, truth) > 0.95
    assert model.chosen_["evidence"]["k"]["k"] == 3
    assert model.confidence_.shape == (600,)
    assert model.confidence_.min() >= 0
    assert model.confidence_.max() <= 1
    open_trees = RPFCluster(3, n_estimators="auto", tune=False, random_state=0).fit(data)
    trees = open_trees.chosen_["evidence"]["trees"]["trees"]
    fixed_trees = RPFCluster(3, n_estimators=trees, tune=False, random_state=0).fit(data)
    assert open_trees.labels_.tolist() == fixed_trees.labels_.tolist()
    fixed = RPFCluster(3, tune=False, random_state=0).fit(data)
    assert fixed.chosen_["evidence"]["settings"] is None
    assert fixed.chosen_["min_samples_split"] == 24


def test_recut_gives_the_labels_of_a_new_fit():
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = RPFCluster(3, n_estimators=60, random_state=4).fit(frame)
    before = model.labels_.copy()
    for other in (
        {"n_clusters": 5},
        {"tune": False, "affinity": "linear", "min_samples_split": 40},
        {"tune": False, "power": 8.0, "n_neighbors": 20, "n_jobs": 1},
    ):
        recut, refitted = model.recut(**other), clone(model).set_params(**other).fit(frame)
        np.testing.assert_array_equal(recut.labels_, refitted.labels_)
        np.testing.assert_array_equal(recut.predict(frame), refitted.predict(frame))
        np.testing.assert_array_equal(recut.feature_names_in_, refitted.feature_names_in_)
        assert recut.get_params() == refitted.get_params()
        assert (recut.affinity_matrix_ != refitted.affinity_matrix_).nnz == 0
    np.testing.assert_array_equal(model.labels_, before)
    assert pickle.loads(pickle.dumps(model.recut(n_clusters=2))).n_clusters_ == 2
    assert model.recut().embedding_.dtype == np.float64
    assert RPFCluster(3, random_state=0).fit(X.astype(np.float32)).recut(n_clusters=2).embedding_.dtype == np.float32


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"random_state": 1}, "recut keeps the forest, so random_state cannot change"),
        ({"n_clusters": "auto"}, "recut cannot choose n_clusters='auto'"),
        ({"affinity": "precomputed"}, "affinity cannot be 'precomputed'"),
        ({"n_clusters": 200}, "only"),
        ({"min_samples_split": 2, "tune": False}, "min_samples_split .* the forest was grown with"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_recut_refuses_impossible_parameters(wrong, message):
    with pytest.raises(ValueError, match=message):
        FITTED[0].recut(**wrong)


def test_recut_requires_a_fitted_forest():
    blocks = np.kron(np.eye(2), np.ones((3, 3))) + 0.1
    with pytest.raises(ValueError, match="recut requires a forest"):
        RPFCluster(2, affinity="precomputed", random_state=0).fit(blocks).recut(n_clusters=3)
    with pytest.raises(NotFittedError):
        RPFCluster(2).recut(n_clusters=3)


def test_plots_show_samples_and_eigenvalues():
    model = RPFCluster(6, affinity="linear", n_estimators=40, random_state=0).fit(X)
    assert plot.heatmap(model, max_rows=50).images[0].get_array().shape == (50, 50)
    assert len(plot.embedding(model).collections[0].get_offsets()) == 150
    assert len(plot.eigengap(model, 6).lines[0].get_xdata()) == 6
    from matplotlib import pyplot

    pyplot.close("all")


def test_import_is_lazy_and_names_are_complete():
    assert set(rpfcluster.__all__) == set(dir(rpfcluster))
    for name in rpfcluster.__all__:
        assert getattr(rpfcluster, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        rpfcluster.nonsense  # noqa: B018
    light = "import rpfcluster, sys; assert 'sklearn' not in sys.modules and 'scipy' not in sys.modules"
    subprocess.run([sys.executable, "-c", light], check=True)


def test_docstring_examples_run():
    import doctest

    for name in (
        "_cluster",
        "_embedding",
        "_forest",
        "_kernel",
        "_model",
        "_neighbors",
        "_rivals",
        "_sweep",
        "dask",
        "datasets",
        "metrics",
        "plot",
        "scanpy",
    ):
        module = importlib.import_module(f"rpfcluster.{name}")
        result = doctest.testmod(module)
        assert result.attempted, name
        assert not result.failed, name


def test_score_is_the_adjusted_rand_index_and_serves_a_search() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 240)
    X = 8.0 * np.eye(3)[y] + rng.normal(size=(240, 3))
    model = RPFCluster(3, random_state=0).fit(X[:120])
    assert model.score(X[120:], y[120:]) > 0.95
    assert model.score(X[120:]) > 0.95
    assert model.score(X[120:]) == adjusted_rand_score(
        RPFCluster(3, random_state=0).fit_predict(X[120:]), model.predict(X[120:])
    )
    search = GridSearchCV(RPFCluster(random_state=0), {"n_clusters": [3, 6]}, cv=2).fit(X)
    assert search.best_params_ == {"n_clusters": 3}


def test_report_without_a_path_is_shown_in_place() -> None:
    X, y = load_iris(return_X_y=True)
    page = RPFCluster(3, random_state=0).fit(X).report(X=X, y=y)
    assert page.html.startswith("<!doctype html>")
    assert "Distinguishing" in page.html
    shown = page._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert html.unescape(shown.split('"')[1]) == page.html


def test_eigengap_computes_the_eigenvalues_it_shows() -> None:
    pytest.importorskip("matplotlib").use("agg")
    X, _ = load_iris(return_X_y=True)
    model = RPFCluster(3, random_state=0).fit(X)
    drawn = plot.eigengap(model).lines[0].get_ydata()
    assert len(drawn) == 10
    np.testing.assert_allclose(drawn[:3], model.eigenvalues_, atol=1e-6)
    assert len(plot.eigengap(model, 6).lines[0].get_ydata()) == 6
    assert len(plot.eigengap(RPFCluster(3, method="leiden", random_state=0).fit(X)).lines[0].get_ydata()) == 10


def test_cosine_ignores_the_length_of_samples() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 5)) + 3 * rng.integers(0, 2, 200)[:, None]
    longer = X * 2.0 ** rng.integers(0, 8, 200)[:, None]
    model = RPFCluster(2, metric="cosine", random_state=0).fit(X)
    assert (RPFCluster(2, metric="cosine", random_state=0).fit_predict(longer) == model.labels_).all()
