"""Principal components of wide tables."""

import numpy as np
import pytest

from rpfcluster import RPFCluster, load, save


@pytest.fixture(scope="module")
def wide():
    """Return four groups in a plane of 5 dimensions, hidden in 120 noisy columns."""
    rng = np.random.default_rng(5)
    y = np.arange(400) % 4
    plane = rng.normal(size=(5, 120)) / np.sqrt(120)
    centers = 6 * rng.normal(size=(4, 5))
    return (centers[y] + rng.normal(size=(400, 5))) @ plane + 0.5 * rng.normal(size=(400, 120)), y


def test_components_are_chosen_stored_and_applied(wide, tmp_path):
    X, _ = wide
    model = RPFCluster(4, n_estimators=50, random_state=0).fit(X)
    assert (model.predict(X) == model.labels_).all()
    save(model, tmp_path / "model.rpf")
    again = load(tmp_path / "model.rpf")
    assert again.n_components == "auto"
    assert (again.predict(X) == model.labels_).all()
    assert again.n_features_in_ == 120


@pytest.mark.parametrize("given", [None, 7])
def test_given_components_are_stored(wide, given, tmp_path):
    X, _ = wide
    model = RPFCluster(4, n_estimators=20, tune=False, n_components=given, random_state=0).fit(X)
    save(model, tmp_path / "model.rpf")
    assert load(tmp_path / "model.rpf").n_components == given
    assert (load(tmp_path / "model.rpf").predict(X) == model.labels_).all()


def test_a_wrong_number_is_refused(wide):
    X, _ = wide
    with pytest.raises(ValueError, match="n_components is 121, but must be at most n_features=120"):
        RPFCluster(4, n_components=121).fit(X)
    with pytest.raises(ValueError, match="n_components"):
        RPFCluster(4, n_components=0).fit(X)
    with pytest.raises(ValueError, match="recut keeps the forest, so n_components cannot change"):
        RPFCluster(4, n_estimators=10, tune=False, random_state=0).fit(X).recut(n_components=3)
