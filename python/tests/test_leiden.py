"""method="leiden": labels of the command, resolution, lazily computed eigenvectors, errors."""

import json
import pickle
import warnings

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from rpfcluster import RPFCluster, load, save
from rpfcluster.datasets import load_iris, make_shape


def test_leiden_finds_as_many_clusters_as_asked_for():
    X, y = make_shape("rings", 600, random_state=0)
    model = RPFCluster(3, method="leiden", random_state=0).fit(X)
    assert adjusted_rand_score(model.labels_, y) > 0.99
    assert (model.n_clusters_, model.labels_.max(), len(model.eigenvalues_)) == (3, 2, 0)
    assert (model.predict(X) == model.labels_).all()
    assert model.chosen_["method"] == "leiden"
    assert model.chosen_["evidence"]["resolution"]["resolution"] == model.chosen_["resolution"]


def test_resolution_decides_the_number_of_clusters():
    X, _ = load_iris(return_X_y=True)
    for quality, low, high in [("modularity", 0.1, 4.0), ("cpm", 1e-4, 0.1)]:
        few, many = (
            RPFCluster(None, method="leiden", quality=quality, resolution=at, tune=False, random_state=0).fit(X)
            for at in (low, high)
        )
        assert few.n_clusters_ < many.n_clusters_ == many.labels_.max() + 1
        assert many.chosen_["resolution"] == high


def test_embedding_is_computed_on_first_access():
    X, _ = load_iris(return_X_y=True)
    model = RPFCluster(3, method="leiden", tune=False, random_state=0).fit(X)
    other = RPFCluster(3, method="kway", power=1.0, tune=False, random_state=0).fit(X)
    assert model.embedding_.shape == (150, 3)
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(other.embedding_), atol=1e-6)
    assert model.transform(X[:5]).shape == (5, 3)


def test_models_keep_communities(tmp_path):
    X, _ = load_iris(return_X_y=True)
    for params in ({"n_clusters": 3}, {"n_clusters": None, "resolution": 0.7}):
        model = RPFCluster(**params, method="leiden", tune=False, random_state=0).fit(X)
        save(model, tmp_path / "model.rpf")
        for again in (load(tmp_path / "model.rpf"), pickle.loads(pickle.dumps(model))):
            assert (again.labels_ == model.labels_).all()
            assert (again.predict(X + 0.01) == model.predict(X + 0.01)).all()
            assert (again.n_clusters, again.resolution) == (model.n_clusters, model.resolution)
            assert again.recut(n_clusters=2, resolution=None).n_clusters_ == 2


def test_precomputed_matrix_has_communities_but_no_embedding():
    blocks = np.kron(np.eye(3), np.ones((5, 5))) + 0.01
    model = RPFCluster(3, affinity="precomputed", method="leiden").fit(blocks)
    assert model.labels_.tolist() == [0] * 5 + [1] * 5 + [2] * 5
    assert model.chosen_["resolution"] > 0
    with pytest.raises(AttributeError, match="computes none of a matrix"):
        _ = model.embedding_
    single = RPFCluster(None, affinity="precomputed", method="leiden", resolution=50.0).fit(blocks)
    assert single.n_clusters_ == 15


def test_report_shows_a_partition_without_eigenvectors(tmp_path):
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        RPFCluster(3, method="leiden", tune=False, random_state=0).fit(X).report(tmp_path / "page.html", X, y)
    page = (tmp_path / "page.html").read_text()
    assert "The clusters were found without them" in page
    assert "leiden" in page


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"resolution": 1.0}, "set n_clusters=None"),
        ({"n_clusters": None}, "requires a resolution"),
        ({"n_clusters": None, "resolution": 1.0, "method": "kway"}, "resolution applies only to method leiden"),
        ({"quality": "cpm"}, "quality applies only to method leiden"),
        ({"quality": "best", "method": "leiden"}, "quality"),
        ({"affinity": "linear", "method": "leiden"}, "method leiden applies only to affinity paper or top-k"),
        ({"solver": "dense", "method": "leiden"}, "solver applies only to method kway or ncut"),
        ({"n_clusters": None, "resolution": 0.0, "method": "leiden"}, "resolution is 0, but must be above 0"),
        ({"affinity": "precomputed", "quality": "cpm"}, "quality applies only to method leiden"),
        ({"affinity": "precomputed", "solver": "dense", "method": "leiden"}, "solver applies only to method kway"),
    ],
)
def test_parameters_that_do_not_apply_are_refused(params, sentence):
    X = np.eye(12) + 0.1
    with pytest.raises(ValueError, match=sentence):
        RPFCluster(**{"n_clusters": 2, **params}).fit(X)


def test_json_of_the_fit_names_the_method():
    X, _ = load_iris(return_X_y=True)
    model = RPFCluster(3, method="leiden", tune=False, random_state=0).fit(X)
    assert json.dumps(model.chosen_)
    assert model.chosen_["solver"] is None
