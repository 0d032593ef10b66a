"""NJW, ClusterForests and sweep: results, attributes and refused parameters."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rpfcluster import NJW, ClusterForests, RPFCluster, plot, sweep
from rpfcluster.datasets import load_iris, make_shape
from rpfcluster.metrics import rho_c

X, Y = load_iris(return_X_y=True)
MOONS, MOON_OF = make_shape("moons", 400, random_state=0)


@pytest.mark.parametrize("parameters", [{}, {"bandwidth": "search"}, {"bandwidth": 0.1}, {"method": "ncut"}])
def test_njw_separates_two_moons(parameters):
    model = NJW(2, random_state=0, **parameters).fit(MOONS)
    assert rho_c(model.labels_, MOON_OF) > 0.98
    assert model.eigenvalues_.shape == (2,)
    assert model.eigenvalues_[0] == pytest.approx(1)
    assert model.n_landmarks_ is None
    assert (model.sigma_ is None) == ("bandwidth" not in parameters)
    if parameters.get("bandwidth") == 0.1:
        assert model.sigma_ == 0.1


def test_njw_eigenvalues_equal_their_definition():
    # The normalised Gaussian kernel with a zero diagonal.
    kernel = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / (2 * 0.7**2))
    np.fill_diagonal(kernel, 0)
    roots = np.sqrt(kernel.sum(axis=1))
    expected = np.linalg.eigvalsh(kernel / np.outer(roots, roots))[::-1][:3]
    np.testing.assert_allclose(NJW(3, bandwidth=0.7, random_state=0).fit(X).eigenvalues_, expected, atol=1e-5)


def test_kernlab_local_is_the_median_of_the_five_smallest_distances():
    rows = np.random.default_rng(0).normal(size=(60, 3))
    distances = np.sqrt(((rows[:, None] - rows[None]) ** 2).sum(axis=2))
    scales = np.median(np.sort(distances, axis=1)[:, :5], axis=1)
    kernel = np.exp(-(distances**2) / np.outer(scales, scales))  # kernlab leaves ones on the diagonal
    roots = np.sqrt(kernel.sum(axis=1))
    expected = np.linalg.eigvalsh(kernel / np.outer(roots, roots))[::-1][:3]
    model = NJW(3, bandwidth="kernlab-local", random_state=0).fit(rows)
    np.testing.assert_allclose(model.eigenvalues_, expected, atol=1e-5)
    assert model.sigma_ is None


def test_kernlab_automatic_takes_a_bandwidth_between_the_least_and_the_largest_distance():
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    sigma = NJW(3, bandwidth="kernlab-automatic", random_state=0).fit(X).sigma_
    assert distances[distances > 0].min() <= sigma <= distances.max()


def test_cluster_forests_ignore_noise_features():
    random = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 60)
    rows = random.normal(size=(180, 10))
    rows[:, :2] += 9 * np.array([[0, 0], [0, 1], [1, 0]])[truth]
    model = ClusterForests(3, n_estimators=40, random_state=0).fit(rows)
    assert rho_c(model.labels_, truth) > 0.98
    assert model.beta2_ > 0
    assert model.kappas_.shape == (40,)
    assert len(model.estimators_features_) == 40
    # The pursuit with the lowest kappa selects an informative feature.
    assert {0, 1} & set(model.estimators_features_[int(model.kappas_.argmin())].tolist())
    assert ClusterForests(3, n_estimators=10, beta2=0.4, random_state=0).fit(rows).beta2_ == 0.4


@pytest.mark.parametrize("rival", [NJW(3), ClusterForests(3, n_estimators=20)], ids=lambda r: type(r).__name__)
def test_rivals_accept_frames_and_do_not_depend_on_thread_count(rival):
    one = rival.set_params(random_state=5, n_jobs=1).fit(pd.DataFrame(X, columns=list("abcd")))
    assert one.feature_names_in_.tolist() == list("abcd")
    assert one.n_features_in_ == 4
    labels = one.labels_.copy()
    assert (rival.set_params(n_jobs=3).fit_predict(X) == labels).all()
    rounded = rival.set_params(random_state=np.random.default_rng(1)).fit_predict(X.astype(np.float32))
    assert set(rounded.tolist()) == {0, 1, 2}
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        rival.fit(sparse.csr_matrix(X))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (NJW(0), "n_clusters"),
        (NJW(200), "n_clusters is 200"),
        (NJW(3, bandwidth="wide"), "bandwidth is 'wide'"),
        (NJW(3, bandwidth=-1.0), "bandwidth is -1"),
        (NJW(3, bandwidth="search", n_tried=1), "n_tried"),
        (NJW(3, n_neighbors=0), "n_neighbors"),
        (ClusterForests(3, beta1=2.0), "beta1 is 2"),
        (ClusterForests(3, beta2=0.0), "beta2 is 0"),
        (ClusterForests(3, patience=0), "patience"),
        (ClusterForests(3, n_landmarks=2), "n_landmarks is 2"),
        (ClusterForests(3, n_estimators=70_000), "n_estimators is 70000"),
        (ClusterForests(3, kmeans_max_iter=70_000), "kmeans_max_iter is 70000"),
    ],
)
def test_out_of_range_parameter_is_named_as_in_python(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X)


def test_sweep_equals_separate_fits():
    found = sweep(X, 3, Y, random_state=0, n_estimators=60, beta1=[0.1, 0.3], beta2=[0.5, 0.1], methods=["kway"])
    assert found.results["beta1"].tolist() == [0.1, 0.1, 0.3, 0.3]
    assert found.results["beta2"].tolist() == [0.1, 0.5, 0.1, 0.5]
    for at in range(4):
        one = RPFCluster(
            3,
            beta1=found.results["beta1"][at],
            beta2=found.results["beta2"][at],
            n_estimators=60,
            min_samples_split=30,
            method="kway",
            random_state=0,
        ).fit(X)
        assert rho_c(one.labels_, found.labels(at)) > 0.98
        assert found.results["rho_c"][at] == pytest.approx(rho_c(found.labels(at), Y))
    assert found.results["rho_c"][found.best_by_labels] == found.results["rho_c"].max()
    assert (found.labels() == found.labels(found.label_free)).all()
    assert found.n_failed == 0
    assert found.left_out == []


def test_sweep_without_classes_has_no_scores():
    found = sweep(sparse.csr_matrix(X), 3, random_state=0, n_estimators=60)
    assert found.best_by_labels is None
    assert "rho_c" not in found.results
    assert len(found.results["beta1"]) == 5 * 18 * 2
    assert len(pd.DataFrame(found.results)) == 180
    with pytest.raises(ValueError, match="grid is"):
        sweep(X, 3, grid="fine")
    with pytest.raises(ValueError, match="inconsistent"):
        sweep(X, 3, Y[:100])
    with pytest.raises(ValueError, match="beta2 is -1"):
        sweep(X, 3, beta2=[-1.0])


def test_sweep_plot_shows_the_selected_column():
    from matplotlib import pyplot

    found = sweep(X, 3, Y, random_state=0, n_estimators=60)
    ax = plot.sweep(found)
    cells = ax.collections[0].get_array()
    assert cells.shape == (5, 18)
    way = found.results["method"][found.label_free]
    at = np.flatnonzero((found.results["method"] == way) & found.results["converged"])[7]
    spot = (
        np.unique(found.results["beta1"]).tolist().index(found.results["beta1"][at]),
        np.unique(found.results["beta2"]).tolist().index(found.results["beta2"][at]),
    )
    assert cells[spot] == found.results["rho_c"][at]
    assert next(line.get_label() for line in ax.lines) == "label-free"
    other = plot.sweep(found, "ncut", method="ncut")
    assert other.collections[0].get_array().max() <= 3
    with pytest.raises(ValueError, match="value is 'colour'"):
        plot.sweep(found, "colour")
    pyplot.close("all")
