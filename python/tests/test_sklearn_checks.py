"""scikit-learn's estimator checks: those of check_estimator, and further ones that it applies only to itself."""

import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks as checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from rpfcluster import NJW, ClusterForests, RPFCluster, RPFEmbedding, RPFNeighbors, RPForest, RPForestKernel

ESTIMATORS = [
    RPFCluster(),
    RPFCluster(affinity="paper"),
    RPFCluster(affinity="linear", method="ncut"),
    RPFCluster(n_clusters=2, method="leiden"),
    RPFEmbedding(),
    RPForest(),
    RPForest(sparse_output=False),
    RPForestKernel(),
    RPForestKernel(sparse_output=True, min_similarity=0.1),
    RPFNeighbors(),
    RPFNeighbors(metric="euclidean"),
    NJW(),
    NJW(bandwidth="search"),
    ClusterForests(),
]


# The checks embed a few random samples, whose graph may be disconnected.
@pytest.mark.filterwarnings("ignore:the graph has")
@parametrize_with_checks(ESTIMATORS)
def test_estimator_passes_scikit_learn_check(estimator, check):
    check(estimator)


# Checks that check_estimator does not run.
FURTHER = [
    "check_dataframe_column_names_consistency",
    "check_n_features_in_after_fitting",
]
TRANSFORMERS = [
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
]
DENSE = [
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
]


def further(estimator):
    """Return the names of the further checks for an estimator."""
    transforms = hasattr(estimator, "transform")
    dense = transforms and not isinstance(estimator, RPFNeighbors) and not getattr(estimator, "sparse_output", False)
    return FURTHER + (TRANSFORMERS if transforms else []) + (DENSE if dense else [])


CASES = [(estimator, name) for estimator in ESTIMATORS for name in further(estimator)]


@pytest.mark.filterwarnings("ignore:the graph has")
# These checks fit on a data frame and transform an array.
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
@pytest.mark.parametrize(("estimator", "name"), CASES, ids=[f"{e}-{n}" for e, n in CASES])
def test_estimator_passes_further_scikit_learn_check(estimator, name):
    getattr(checks, name)(type(estimator).__name__, clone(estimator))
