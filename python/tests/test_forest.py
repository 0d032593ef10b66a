"""Leaves, paths, feature map, kernel, neighbours and affinities against brute force."""

import numpy as np
import pytest
from scipy import sparse

from rpfcluster import RPFCluster, RPFNeighbors, RPForest, RPForestKernel
from rpfcluster.datasets import load_iris, make_shape

X, Y = load_iris(return_X_y=True)
NEW = X[::7] + 0.05
FOREST = RPForest(n_estimators=40, min_samples_split=12, random_state=1).fit(X)
LEAVES = FOREST.apply(X)
SHARED = (LEAVES[:, None, :] == LEAVES[None, :, :]).mean(axis=2)
SHARED_NEW = (FOREST.apply(NEW)[:, None, :] == LEAVES[None, :, :]).mean(axis=2)
KERNEL = RPForestKernel(n_estimators=40, min_samples_split=12, random_state=1).fit(X)


def test_inner_products_of_the_feature_map_are_the_kernel():
    Z = FOREST.transform(X)
    assert Z.shape == (150, FOREST.n_leaves_)
    assert len(FOREST.get_feature_names_out()) == FOREST.n_leaves_
    np.testing.assert_allclose((Z @ Z.T).toarray(), SHARED, atol=1e-12)
    dense = RPForest(n_estimators=40, min_samples_split=12, random_state=1, sparse_output=False).fit(X)
    np.testing.assert_array_equal(dense.transform(NEW), FOREST.transform(NEW).toarray())


def test_leaves_are_smaller_than_min_samples_split_and_numbered_without_gaps():
    for tree in range(40):
        assert np.bincount(LEAVES[:, tree]).max() < 12
        assert len(np.unique(LEAVES[:, tree])) == LEAVES[:, tree].max() + 1


def test_decision_path_runs_from_the_root_to_the_leaf():
    indicator, ptr = FOREST.decision_path(NEW)
    assert indicator.shape == (len(NEW), ptr[-1])
    leaves = FOREST.apply(NEW)
    offsets = np.asarray(FOREST._forest.offsets)
    for tree in range(40):
        block = indicator[:, ptr[tree] : ptr[tree + 1]].toarray()
        inner = offsets[tree + 1] - offsets[tree] - 1
        assert (block[:, 0] == 1).all(), "every path starts at the root"
        assert (block[:, inner:].argmax(axis=1) == leaves[:, tree]).all()
        assert (block[:, inner:].sum(axis=1) == 1).all()
        assert block.sum(axis=1).max() <= FOREST._forest.depths[tree] + 1


@pytest.mark.parametrize("new", [X, NEW], ids=["training", "new"])
def test_dense_and_sparse_kernel_equal_brute_force(new):
    expected = SHARED if new is X else SHARED_NEW
    np.testing.assert_allclose(KERNEL(new, X), expected, atol=1e-12)
    np.testing.assert_allclose(KERNEL.transform(new), expected, atol=1e-12)
    pruned = RPForestKernel(
        n_estimators=40, min_samples_split=12, random_state=1, sparse_output=True, min_similarity=0.25
    ).fit(X)
    cut = np.where(expected >= 0.25, expected, 0)
    for matrix in (pruned(new, X), pruned.transform(new)):
        assert sparse.issparse(matrix)
        assert (matrix.data > 0).all()
        np.testing.assert_allclose(matrix.toarray(), cut, atol=1e-12)
    both = KERNEL.set_params(min_similarity=0.25)
    np.testing.assert_allclose(both.transform(new), cut, atol=1e-12)
    np.testing.assert_allclose(both(new, X), cut, atol=1e-12)
    KERNEL.set_params(min_similarity=0.0)


def test_kernel_is_symmetric_and_positive_semidefinite():
    np.testing.assert_allclose(KERNEL(NEW), KERNEL(NEW, NEW), atol=0)
    assert (np.diag(KERNEL(NEW)) == 1).all()
    assert np.linalg.eigvalsh(KERNEL(X)).min() > -1e-9


def _brute(similarity, k, without_self):
    similarity = similarity.copy()
    if without_self:
        np.fill_diagonal(similarity, -1)
    return np.argsort(-similarity, axis=1, kind="stable")[:, :k]


def test_neighbors_are_the_most_similar_samples():
    distances, indices = FOREST.kneighbors(n_neighbors=7)
    np.testing.assert_array_equal(indices, _brute(SHARED, 7, True))
    np.testing.assert_allclose(distances, 1 - np.take_along_axis(SHARED, indices, axis=1), atol=1e-12)
    np.testing.assert_array_equal(FOREST.kneighbors(NEW, 7, return_distance=False), _brute(SHARED_NEW, 7, False))


def test_short_neighbor_lists_are_padded_at_distance_one():
    tiny = RPForest(n_estimators=2, min_samples_split=2, random_state=0).fit(X)
    leaves = tiny.apply(X)
    shared = (leaves[:, None, :] == leaves[None, :, :]).mean(axis=2)
    distances, indices = tiny.kneighbors(n_neighbors=20)
    np.testing.assert_array_equal(indices, _brute(shared, 20, True))
    assert (distances[:, -1] == 1).all()


def test_neighbor_graph_includes_self_and_euclidean_metric_is_exact():
    graph = RPFNeighbors(4, min_samples_split=12, n_estimators=40, random_state=1).fit(X)
    matrix = graph.transform(X)
    assert matrix.shape == (150, 150)
    assert (np.diff(matrix.indptr) == 5).all()
    weights = graph.set_params(mode="similarity").transform(X).toarray()
    assert (np.diag(weights) > 0).all()
    exact = RPFNeighbors(4, metric="euclidean", n_candidates_exact=149, min_samples_split=60, random_state=1).fit(X)
    distances, indices = exact.kneighbors()
    true = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.fill_diagonal(true, np.inf)
    np.testing.assert_allclose(distances, np.sort(true, axis=1)[:, :4], atol=1e-9)
    np.testing.assert_allclose(np.take_along_axis(true, indices, axis=1), distances, atol=1e-9)


def test_affinity_matrices_equal_their_definitions():
    def fit(**parameters):
        return RPFCluster(3, tune=False, n_estimators=40, min_samples_split=12, random_state=1, **parameters).fit(X)

    np.testing.assert_allclose(fit(affinity="linear").affinity_matrix_.toarray(), SHARED, atol=1e-12)
    paper = fit(beta1=0.3, beta2=0.5).affinity_matrix_
    np.testing.assert_allclose(paper, np.exp((np.where(SHARED >= 0.3, SHARED, 0) - 1) / 0.5), atol=1e-12)
    top = fit(affinity="top-k", n_neighbors=6, power=2.0).affinity_matrix_
    assert abs(top - top.T).max() == 0
    rows, columns = top.nonzero()
    np.testing.assert_allclose(top.toarray()[rows, columns], SHARED[rows, columns] ** 2, atol=1e-12)
    assert (np.diff(top.indptr) >= 6).all()


def test_embedding_solves_the_eigenproblem_of_the_affinity():
    model = RPFCluster(3, affinity="linear", n_estimators=40, random_state=1).fit(X)
    matrix = model.affinity_matrix_.toarray()
    roots = np.sqrt(matrix.sum(axis=1))
    normalised = matrix / np.outer(roots, roots)
    np.testing.assert_allclose(normalised @ model.embedding_, model.embedding_ * model.eigenvalues_, atol=1e-6)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-6)


def test_every_forest_parameter_changes_the_leaves():
    data, _ = make_shape("densities", 400, random_state=0)
    base = {"n_estimators": 30, "random_state": 0}
    plain = RPForest(**base).fit(data).apply(data)
    for name, value in [
        ("min_samples_split", 10),
        ("split", "median"),
        ("n_candidates", 3),
        ("max_samples", 100),
        ("random_state", 1),
    ]:
        other = RPForest(**{**base, name: value}).fit(data).apply(data)
        assert (plain != other).any(), name
    wide = np.random.default_rng(0).normal(size=(200, 30))
    one, two = (RPForest(10, direction=d, random_state=0).fit(wide).apply(wide) for d in ("gaussian", "sparse"))
    assert (one != two).any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("threshold", [0.0, 0.4])
def test_kernel_between_new_samples_equals_the_feature_map(dtype, threshold):
    rows, others = X[::2].astype(dtype), X[1::3]
    forest = RPForest(60, random_state=0).fit(X)
    expected = (forest.transform(rows.astype(float)) @ forest.transform(others).T).toarray()
    expected[expected < threshold - 1e-9] = 0
    kernel = RPForestKernel(60, min_similarity=threshold, random_state=0).fit(X)
    dense = kernel(rows, others)
    assert dense.dtype == dtype
    np.testing.assert_allclose(dense, expected, atol=1e-6)
    matrix = kernel.set_params(sparse_output=True)(rows, others)
    assert matrix.has_canonical_format
    assert matrix.dtype == dtype
    np.testing.assert_array_equal(matrix.toarray(), dense)
    np.testing.assert_array_equal(kernel(rows).toarray().diagonal(), 1)
