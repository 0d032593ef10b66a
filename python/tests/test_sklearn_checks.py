"""scikit-learn's own checks: those it runs on every estimator, and those it keeps for its own."""

import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks as checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from rpfcluster import NJW, ClusterForests, RPFCluster, RPFEmbedding, RPFNeighbors, RPForest, RPForestKernel

ESTIMATORS = [
    RPFCluster(),
    RPFCluster(affinity="paper"),
    RPFCluster(affinity="linear", method="ncut"),
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


# The checks embed a handful of random rows, which may well fall apart.
@pytest.mark.filterwarnings("ignore:the graph has")
@parametrize_with_checks(ESTIMATORS)
def test_sklearn(estimator, check):
    check(estimator)


# What check_estimator does not yield.
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
    """Name the checks an estimator must pass beyond those scikit-learn runs by itself."""
    transforms = hasattr(estimator, "transform")
    dense = transforms and not isinstance(estimator, RPFNeighbors) and not getattr(estimator, "sparse_output", False)
    return FURTHER + (TRANSFORMERS if transforms else []) + (DENSE if dense else [])


CASES = [(estimator, name) for estimator in ESTIMATORS for name in further(estimator)]


@pytest.mark.filterwarnings("ignore:the graph has")
# These checks fit on a data frame and transform an array on purpose.
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
@pytest.mark.parametrize(("estimator", "name"), CASES, ids=[f"{e}-{n}" for e, n in CASES])
def test_further_checks(estimator, name):
    getattr(checks, name)(type(estimator).__name__, clone(estimator))
