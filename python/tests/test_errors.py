"""Error messages: the parameter by its Python name, its value, and the accepted values."""

import re

import numpy as np
import pandas as pd
import pytest

from rpfcluster import (
    NJW,
    ClusterForests,
    RPFCluster,
    RPFEmbedding,
    RPFNeighbors,
    RPForest,
    RPForestKernel,
    save,
    sweep,
)
from rpfcluster.datasets import load_iris

X = load_iris().data


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_clusters": "three"}, "n_clusters is 'three', but must be a whole number or 'auto'"),
        ({"n_estimators": "many"}, "n_estimators is 'many', but must be a whole number or 'auto'"),
        ({"min_samples_split": "few"}, "min_samples_split is 'few', but must be a whole number or 'auto'"),
        ({"n_neighbors": "few"}, "n_neighbors is 'few', but must be a whole number or 'auto'"),
        ({"beta2": "wide"}, "beta2 is 'wide', but must be a number or 'auto'"),
        ({"affinity": "rbf"}, "'top-k', 'precomputed'"),
        ({"solver": "nystrom", "n_landmarks": 2}, "n_landmarks is 2, but must be at least n_clusters, which is 3"),
        ({"n_clusters": "auto", "max_clusters": 1}, "max_clusters is 1, but must be from 2"),
    ],
)
def test_message_names_parameter_value_and_accepted_values(wrong, message):
    with pytest.raises(ValueError, match=message):
        RPFCluster(**{"n_clusters": 3, "random_state": 0, **wrong}).fit(X)


# The rule is the library's. A diagonal of "keep" and 500 landmarks are the defaults, which count as not given.
INAPPLICABLE = [
    *(
        ({"affinity": affinity, name: value}, name)
        for affinity in ("top-k", "linear")
        for name, value in (("beta1", 0.2), ("beta2", 0.2), ("diagonal", "drop"))
    ),
    *(
        ({"affinity": affinity, name: value}, name)
        for affinity in ("paper", "linear")
        for name, value in (("n_neighbors", 8), ("power", 2.0))
    ),
    ({"beta1": 0.2, "n_neighbors": 8}, "n_neighbors"),
    ({"n_landmarks": 100}, "n_landmarks"),
    ({"solver": "block", "n_landmarks": 100}, "n_landmarks"),
]


@pytest.mark.parametrize(("parameters", "name"), INAPPLICABLE, ids=str)
def test_parameter_that_does_not_apply_is_refused_by_its_python_name(parameters, name):
    for estimator in (RPFCluster(3, tune=False), RPFCluster(3), RPFEmbedding(2)):
        with pytest.raises(ValueError, match=rf"^{name} applies only to"):
            estimator.set_params(n_estimators=20, random_state=0, **parameters).fit(X)


def test_recut_refuses_a_parameter_that_does_not_apply():
    model = RPFCluster(3, n_estimators=20, affinity="linear", random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"^power applies only to"):
        model.recut(power=2.0)


@pytest.mark.parametrize(
    "parameters",
    [
        {"affinity": "paper", "beta1": 0.2, "beta2": 0.3, "diagonal": "drop"},
        {"beta2": 0.3},
        {"affinity": "top-k", "n_neighbors": 8, "power": 2.0, "diagonal": "keep"},
        {"n_neighbors": 8},
        {"affinity": "linear", "solver": "nystrom", "n_landmarks": 100},
        {"solver": "block", "n_landmarks": 500},
    ],
    ids=str,
)
def test_parameter_that_applies_is_accepted(parameters):
    RPFCluster(3, n_estimators=20, tune=False, random_state=0, **parameters).fit(X)


NOT_FINITE = [float("nan"), float("inf"), -np.inf, np.float32("nan"), 10**400]
OF_FLOATS = {
    "power": lambda value: RPFCluster(3, power=value).fit(X),
    "beta1": lambda value: RPFCluster(3, beta1=value).fit(X),
    "beta2": lambda value: RPFEmbedding(2, beta2=value).fit(X),
    "resolution": lambda value: RPFCluster(None, method="leiden", resolution=value).fit(X),
    "min_similarity": lambda value: RPForestKernel(5, min_similarity=value).fit(X).transform(X),
    "bandwidth": lambda value: NJW(3, bandwidth=value).fit(X),
    "beta1 of ClusterForests": lambda value: ClusterForests(3, beta1=value).fit(X),
    "beta2 of ClusterForests": lambda value: ClusterForests(3, beta2=value).fit(X),
    "beta1 of sweep": lambda value: sweep(X, 3, beta1=[0.1, value]),
    "beta2 of sweep": lambda value: sweep(X, 3, beta2=[value]),
}


@pytest.mark.parametrize("name", OF_FLOATS)
def test_a_parameter_that_is_not_finite_is_named_with_its_value(name):
    for value in NOT_FINITE:
        with pytest.raises(ValueError, match=rf"^{name.split()[0]} is (nan|-?inf), but must be a finite number$"):
            OF_FLOATS[name](value)


OF_INTEGERS = [
    *((RPFCluster(), name) for name in ("n_clusters", "n_neighbors", "n_estimators", "min_samples_split")),
    *((RPFCluster(), name) for name in ("n_candidates", "max_samples", "n_components", "memory_limit", "n_jobs")),
    (RPFCluster("auto"), "max_clusters"),
    (RPFCluster(solver="nystrom"), "n_landmarks"),
    (RPFEmbedding(), "n_components"),
    (RPForest(), "n_estimators"),
    (RPForestKernel(), "n_candidates"),
    (NJW(bandwidth="search"), "n_tried"),
    (ClusterForests(), "patience"),
]


@pytest.mark.parametrize(("estimator", "name"), OF_INTEGERS)
def test_an_integer_that_the_library_cannot_hold_is_named_with_its_limit(estimator, name):
    limit = f"but must be at most {2**63 - 1}"
    for value, shown in ((2**63, str(2**63)), (10**30, str(10**30)), (10**5000, "above 10**100")):
        with pytest.raises(ValueError, match=f"^{re.escape(f'{name} is {shown}, {limit}')}$"):
            estimator.set_params(**{name: value}).fit(X)


def test_a_seed_that_the_library_cannot_hold_is_refused():
    for value, shown in ((2**64, str(2**64)), (-1, "-1"), (10**5000, "above 10**100"), (-(10**5000), "below -10**100")):
        with pytest.raises(ValueError, match=f"^{re.escape(f'random_state is {shown}, but must be from 0')}"):
            RPForest(random_state=value).fit(X)
    RPForest(5, random_state=2**64 - 1).fit(X)


def test_embedding_has_no_precomputed_affinity():
    with pytest.raises(ValueError, match=r"'linear', 'top-k'$"):
        RPFEmbedding(affinity="precomputed").fit(X)


def test_min_similarity_must_be_a_number():
    kernel = RPForestKernel(20, min_similarity="auto").fit(X)
    with pytest.raises(TypeError, match="min_similarity"):
        kernel(X)


@pytest.mark.parametrize("value", ["no", "False", None, 0.5])
def test_tune_must_be_a_boolean(value):
    with pytest.raises(TypeError, match="tune"):
        RPFCluster(3, tune=value).fit(X)
    assert RPFCluster(3, tune=np.bool_(False), random_state=0).fit(X).chosen_["evidence"]["settings"] is None


def test_memory_error_names_python_parameters():
    with pytest.raises(MemoryError, match="min_samples_split"):
        RPFCluster(3, memory_limit=1000).fit(X)


def test_missing_folder_is_named(tmp_path):
    model = RPFCluster(3, random_state=0).fit(X)
    for write in (lambda path: save(model, path), model.report):
        with pytest.raises(FileNotFoundError, match="No such file") as caught:
            write(tmp_path / "nowhere" / "file")
        assert caught.value.filename == str(tmp_path / "nowhere")


def _frame() -> "pd.DataFrame":
    return pd.DataFrame(
        {"size": [1.0, 2, 3], "city": ["x", "y", "z"], "day": pd.date_range("2020", periods=3), "count": [3, 4, 5]}
    )


BOTH = 'columns "city" (text), "day" (dates) hold no numbers; leave them out, or encode them as numbers'
DAY = 'column "day" (dates) holds no numbers; leave it out, or encode it as numbers'
KIND = 'column "kind" (text) holds no numbers; leave it out, or encode it as numbers'


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (_frame(), BOTH),
        (_frame()[["day"]], DAY),
        (_frame()[["size", "day"]], DAY),
        (pd.DataFrame({"size": [1.0, 2, 3], "kind": pd.Categorical(["full-time", "u", "u"])}), KIND),
    ],
)
def test_columns_of_text_and_dates_are_named_at_once(wrong, message) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        RPFCluster(2).fit(wrong)


@pytest.mark.parametrize(("library", "convert"), [("polars", "from_pandas"), ("pyarrow", "Table.from_pandas")])
def test_columns_of_other_libraries_are_named(library, convert) -> None:
    module = pytest.importorskip(library)
    for part in convert.split("."):
        module = getattr(module, part)
    with pytest.raises(ValueError, match=re.escape(BOTH)):
        RPFCluster(2).fit(module(_frame()))
    kinds = pd.DataFrame({"size": [1.0, 2, 3], "kind": pd.Categorical(["full-time", "u", "u"])})
    with pytest.raises(ValueError, match=re.escape(KIND)):
        RPFCluster(2).fit(module(kinds))


def test_columns_that_are_used_as_categories_are_not_part_of_the_error() -> None:
    for categorical in (["city"], "auto"):
        with pytest.raises(ValueError, match=f"^{re.escape(DAY)}"):
            RPFCluster(2, categorical_features=categorical).fit(_frame())


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA])
def test_missing_values_are_named_with_a_remedy(missing) -> None:
    frame = pd.DataFrame({"a": [1.0, 2, 3], "b": pd.Series([1.0, 2, 3], dtype=object)})
    frame.loc[1, "b"] = missing
    said = 'column "b" has a missing value (NaN) in row 1; set missing="native"'
    with pytest.raises(ValueError, match=re.escape(said)):
        RPFCluster(2).fit(frame)
    with pytest.raises(ValueError, match=re.escape("column 1 has a missing value (NaN) in row 0")):
        RPFCluster(2).fit(np.eye(3, 2)).predict([[1.0, np.nan]])


def test_numbers_in_a_column_of_objects_are_numbers() -> None:
    RPFCluster(2).fit(pd.DataFrame({"a": np.arange(9).astype(object), "b": np.arange(9.0)}))


def test_precomputed_similarities_have_neither_a_chosen_number_of_clusters_nor_a_confidence():
    similarity = np.exp(-(((X[:, None] - X) ** 2).sum(axis=2)))
    with pytest.raises(ValueError, match=r"^n_clusters='auto' requires a forest"):
        RPFCluster("auto", affinity="precomputed").fit(similarity)
    model = RPFCluster(3, affinity="precomputed", random_state=0).fit(similarity)
    with pytest.raises(AttributeError, match=r"^confidence_ requires a forest"):
        model.confidence_  # noqa: B018


def test_more_neighbors_or_components_than_samples_are_refused():
    with pytest.raises(ValueError, match=r"n_neighbors = 150, n_samples_fit = 149$"):
        RPFNeighbors(n_estimators=10, random_state=0).fit(X).kneighbors(n_neighbors=150)
    with pytest.raises(ValueError, match=r"^n_components is 20, but must be below the number of samples, 20$"):
        RPFEmbedding(20, n_estimators=10, random_state=0).fit(X[:20])


def test_euclidean_neighbors_are_distances_among_rows_that_share_a_leaf():
    with pytest.raises(ValueError, match=r"^mode='similarity' requires metric='co-leaf', not 'euclidean'$"):
        RPFNeighbors(metric="euclidean", mode="similarity").fit(X)
    model = RPFNeighbors(metric="euclidean", n_estimators=1, min_samples_split=2, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"fewer than n_neighbors = 140 others; increase min_samples_split"):
        model.kneighbors(X[:5] + 0.01, n_neighbors=140)


TEXT = np.column_stack([X[:60].astype(object), np.array(["x", "y", "z"])[np.arange(60) % 3]])
DAYS = np.datetime64("2020-01-01") + np.arange(60).astype("m8[D]")
HOLDS = 'column 4 (text) holds no numbers; leave it out, or encode it as numbers, or use categorical_features="auto"'


@pytest.mark.parametrize("missing", ["error", "mean", "native"])
@pytest.mark.parametrize("convert", [np.asarray, np.ndarray.tolist])
def test_text_in_an_array_is_named_by_the_number_of_its_column(missing, convert):
    with pytest.raises(ValueError, match=f"^{re.escape(HOLDS)}$"):
        RPFCluster(3, missing=missing).fit(convert(TEXT))
    with pytest.raises(ValueError, match=r"^column 1 \(text\) holds no numbers"):
        RPFCluster(3, categorical_features=[0], missing=missing).fit(convert(TEXT[:, [4, 4, 0]]))
    # What the message advises works.
    RPFCluster(3, categorical_features="auto", missing=missing, random_state=0).fit(np.asarray(TEXT))


def test_text_in_an_array_of_text_and_among_new_samples_is_named():
    with pytest.raises(ValueError, match=r"^columns 0 \(text\), 1 \(text\) hold no numbers; leave them out"):
        RPFCluster(3).fit(TEXT[:, [4, 4]].astype(str))
    with pytest.raises(ValueError, match=r"^column 0 \(text\) holds no numbers"):
        RPFCluster(3, random_state=0).fit(X).predict(TEXT[:, [4, 1, 2, 3]])
    with pytest.raises(ValueError, match=r"49 \(text\) and 10 more hold no numbers"):
        RPFCluster(3).fit(np.full((60, 60), "x"))


@pytest.mark.parametrize("estimator", [RPFEmbedding(), RPForestKernel(), NJW(), RPFCluster(3, affinity="precomputed")])
def test_categories_are_advised_only_where_they_can_be_given(estimator):
    with pytest.raises(ValueError, match=r"\(text\) holds no numbers; leave it out, or encode it as numbers$"):
        estimator.fit(TEXT)
    with pytest.raises(ValueError, match="X holds no numbers but dates"):
        estimator.fit(np.column_stack([DAYS, DAYS]))


@pytest.mark.parametrize("missing", ["error", "native"])
def test_an_array_of_dates_is_refused_as_a_data_frame_of_dates_is(missing):
    dates = np.column_stack([DAYS, DAYS])
    for wrong in (dates, dates - DAYS[0], dates.astype("M8[ns]")):
        message = f"X holds no numbers but dates ({wrong.dtype}); leave them out, or encode them as numbers"
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            RPFCluster(3, missing=missing).fit(wrong)
        with pytest.raises(ValueError, match="but dates"):
            RPFCluster(3, random_state=0).fit(X[:, :2]).predict(wrong)
    objects = TEXT.copy()
    message = r"^column 4 \(dates\) holds no numbers; leave it out, or encode it as numbers$"
    for days in (list(DAYS.astype("M8[ns]")), list(DAYS - DAYS[0]), DAYS.astype(object), pd.to_datetime(DAYS)):
        objects[:, 4] = days
        for wrong in (objects, objects.tolist()):
            with pytest.raises(ValueError, match=message):
                RPFCluster(3, missing=missing).fit(wrong)


def test_dates_in_a_column_of_objects_are_no_text():
    frame = pd.DataFrame({"size": X[:60, 0], "day": DAYS.astype(object)})
    for categorical in (None, "auto"):
        with pytest.raises(ValueError, match=f"^{re.escape(DAY)}$"):
            RPFCluster(3, categorical_features=categorical).fit(frame)


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_a_column_name_that_occurs_twice_is_named(library):
    values = [X[:, 0], X[:, 1], X[:, 2]]
    names = ["size", "width", "size"]
    twice = pd.DataFrame(np.column_stack(values), columns=names)
    if library == "pyarrow":
        arrow = pytest.importorskip("pyarrow")
        twice = arrow.Table.from_arrays([arrow.array(column) for column in values], names=names)
    message = '^X has several columns of the name "size"; rename them or leave all but one of them out$'
    for params in ({}, {"missing": "native"}, {"categorical_features": ["width"]}):
        with pytest.raises(ValueError, match=message):
            RPFCluster(3, **params).fit(twice)
    with pytest.raises(ValueError, match='names "a", "b"'):
        RPFCluster(3).fit(pd.DataFrame(X, columns=list("abab")))


@pytest.mark.parametrize("params", [{}, {"missing": "native"}, {"categorical_features": "auto"}])
def test_a_lazy_frame_must_be_collected(params):
    polars = pytest.importorskip("polars")
    with pytest.raises(TypeError, match=r"^X is a LazyFrame, which holds no rows; pass X.collect\(\)$"):
        RPFCluster(3, **params).fit(polars.DataFrame(X).lazy())


def test_what_is_no_table_is_refused_with_what_to_pass():
    with pytest.raises(TypeError, match=r"structured array with fields a, b; pass pandas.DataFrame\(X\)"):
        RPFCluster(3).fit(np.zeros(9, dtype=[("a", float), ("b", float)]))
    with pytest.raises(TypeError, match="X is a string, but must be a table"):
        RPFCluster(3).fit("iris.csv")
    with pytest.raises(ValueError, match="Expected 2D array, got scalar array"):
        RPFCluster(3).fit(np.array(None, dtype=object))
    with pytest.raises(ValueError, match="60 rows and no columns"):
        RPFCluster(3).fit(pd.DataFrame(index=range(60)))
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        RPFCluster(3).fit(pd.Series(["x", "y", "z"]))


@pytest.mark.parametrize("missing", ["error", "mean", "native"])
def test_infinity_is_named_by_column_and_row(missing):
    far = X.copy()
    far[7, 2] = -np.inf
    for wrong, title in ((far, "2"), (far.tolist(), "2"), (pd.DataFrame(far, columns=list("abcd")), '"c"')):
        with pytest.raises(ValueError, match=f"^column {title} has the value infinity in row 7; replace it"):
            RPFCluster(3, missing=missing).fit(wrong)
    with pytest.raises(ValueError, match=r"^column 2 has the value infinity in row 7"):
        RPFEmbedding().fit(far)


def test_columns_of_other_objects_are_named():
    arrow = pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"size": X[:60, 0], "width": X[:60, 1]})
    for column, content in (
        (pd.arrays.IntervalArray.from_breaks(np.arange(61)), "text"),
        (X[:60, 1] + 1j, "complex values"),
        ([{"a": 1}] * 60, "objects"),
    ):
        with pytest.raises((TypeError, ValueError), match=rf'^column "c" \({content}\) holds no numbers'):
            RPFCluster(3).fit(frame.assign(c=column))
    structs = arrow.table({"x": X[:60, 0], "c": arrow.array([{"a": 1}] * 60)})
    with pytest.raises((TypeError, ValueError), match=r'^column "c" \(objects\) holds no numbers'):
        RPFCluster(3).fit(structs)
    with pytest.raises(ValueError, match=r'^column "c" holds lists or other objects, which are no categories'):
        RPFCluster(3, categorical_features=["c"]).fit(frame.assign(c=[[1]] * 60))
