"""What a user reads who got something wrong: the parameter by its Python name, the value, and what would do."""

import numpy as np
import pytest

from rpfcluster import RPFCluster, RPFEmbedding, RPForest, RPForestKernel, save
from rpfcluster.datasets import load_iris

X = load_iris().data


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"n_clusters": "three"}, "n_clusters is 'three', but must be a whole number or 'auto'"),
        ({"n_estimators": "many"}, "n_estimators is 'many', but must be a whole number or 'auto'"),
        ({"min_samples_split": "few"}, "min_samples_split is 'few', but must be a whole number or 'auto'"),
        ({"n_neighbors": "few"}, "n_neighbors is 'few', but must be a whole number or 'auto'"),
        ({"beta2": "wide"}, "beta2 is 'wide', but must be a number or 'auto'"),
        ({"affinity": "rbf"}, "'top-k', 'precomputed'"),
        ({"solver": "nystrom", "n_landmarks": 2}, "n_landmarks is 2, but must be at least n_clusters, which is 3"),
    ],
)
def test_a_wrong_parameter(wrong, said):
    with pytest.raises(ValueError, match=said):
        RPFCluster(**{"n_clusters": 3, "random_state": 0, **wrong}).fit(X)


def test_an_embedding_has_no_precomputed_affinity():
    with pytest.raises(ValueError, match=r"'linear', 'top-k'$"):
        RPFEmbedding(affinity="precomputed").fit(X)


@pytest.mark.parametrize("word", ["no", "False", None, 0.5])
def test_tune_is_true_or_false(word):
    with pytest.raises(TypeError, match="tune"):
        RPFCluster(3, tune=word).fit(X)
    assert RPFCluster(3, tune=np.bool_(False), random_state=0).fit(X).chosen_["evidence"]["settings"] is None


def test_a_limit_names_pythons_parameters():
    with pytest.raises(MemoryError, match="min_samples_split"):
        RPFCluster(3, memory_limit=1000).fit(X)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    model = RPFCluster(3, random_state=0).fit(X)
    for write in (lambda path: save(model, path), model.report):
        with pytest.raises(FileNotFoundError, match="No such file") as caught:
            write(tmp_path / "nowhere" / "file")
        assert caught.value.filename == str(tmp_path / "nowhere")


@pytest.mark.parametrize("width", [np.float32, np.float64])
@pytest.mark.parametrize("least", [0.0, 0.4])
def test_the_kernel_between_any_rows_is_that_of_the_feature_map(width, least):
    rows, others = X[::2].astype(width), X[1::3]
    Z = RPForest(60, random_state=0).fit(X)
    wanted = (Z.transform(rows.astype(float)) @ Z.transform(others).T).toarray()
    wanted[wanted < least - 1e-9] = 0
    kernel = RPForestKernel(60, min_similarity=least, random_state=0).fit(X)
    found = kernel(rows, others)
    assert found.dtype == width
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    sparse = kernel.set_params(sparse_output=True)(rows, others)
    assert sparse.has_canonical_format
    assert sparse.dtype == width
    np.testing.assert_array_equal(sparse.toarray(), found)
    np.testing.assert_array_equal(kernel(rows).toarray().diagonal(), 1)
