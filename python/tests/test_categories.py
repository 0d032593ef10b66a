"""Categories and missing values: the same answer as the command, models of either, inputs of every kind, errors."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from test_command import rpf  # noqa: F401

from rpfcluster import RPFCluster, RPForest, load, save
from rpfcluster.datasets import load_iris

RNG = np.random.default_rng(0)
GROUP = np.arange(150) % 3
FRAME = pd.DataFrame(
    {
        "size": GROUP + RNG.normal(size=150) * 0.4,
        "color": np.array(["red", "blue", "green"])[GROUP],
        "code": np.array([7, 8, 8])[GROUP],
        "width": RNG.normal(size=150),
    }
)
CATEGORICAL = ["color", "code"]


def holed(share=0.2):
    frame = FRAME.copy()
    for name in frame:
        frame[name] = frame[name].astype(object if name == "color" else float)
        frame.loc[RNG.random(150) < share, name] = None if name == "color" else np.nan
    return frame


HOLED = holed()


def labels_of(rpf, tmp_path, frame, *options):  # noqa: F811
    frame.to_csv(tmp_path / "t.csv", index=False)
    rpf("cluster", tmp_path / "t.csv", "-k", "3", "--seed", "4", "-o", tmp_path / "l.csv", *options)
    return pd.read_csv(tmp_path / "l.csv")["cluster"].to_numpy()


@pytest.mark.parametrize("missing", ["error", "mean", "native"])
def test_labels_models_and_predictions_are_those_of_the_command(rpf, tmp_path, missing):  # noqa: F811
    frame = FRAME if missing == "error" else HOLED
    options = ["--categorical", "color,code", "--missing", missing, "--model", tmp_path / "command.rpf"]
    labels = labels_of(rpf, tmp_path, frame, *options)
    model = RPFCluster(3, categorical_features=CATEGORICAL, missing=missing, random_state=4).fit(frame)
    assert (model.labels_ == labels).all()
    new = frame.assign(size=frame["size"] + 0.1)
    new.loc[3, "color"] = "purple"
    new.to_csv(tmp_path / "new.csv", index=False)
    expected = model.predict(new)
    save(model, tmp_path / "python.rpf")
    for written in ("python.rpf", "command.rpf"):
        rpf("predict", tmp_path / written, tmp_path / "new.csv", "-o", tmp_path / "p.csv")
        assert (pd.read_csv(tmp_path / "p.csv")["cluster"].to_numpy() == expected).all(), written
        again = load(tmp_path / written)
        assert again.get_params()["missing"] == missing
        assert (again.predict(new) == expected).all()
        assert (again.fit(frame).labels_ == labels).all()
    assert (pickle.loads(pickle.dumps(model)).predict(new) == expected).all()


def test_cells_of_a_file_are_trimmed_and_levels_of_a_frame_are_not(rpf, tmp_path):  # noqa: F811
    spaced = FRAME.assign(color=np.where(np.arange(150) < 75, " " + FRAME["color"], FRAME["color"]))
    model = RPFCluster(3, categorical_features=CATEGORICAL, random_state=4)
    labels = labels_of(rpf, tmp_path, spaced, "--categorical", "color,code")
    assert (model.fit(FRAME).labels_ == labels).all()
    assert model.fit(spaced)._preparation.categories[0].levels == [" blue", " green", " red", "blue", "green", "red"]


def test_categories_by_name_number_mask_and_type_are_the_same():
    def labels(X, wanted):
        return RPFCluster(3, categorical_features=wanted, n_estimators=40, random_state=0).fit(X).labels_.tolist()

    expected = labels(FRAME, CATEGORICAL)
    assert labels(FRAME, [1, 2]) == expected
    assert labels(FRAME, [False, True, True, False]) == expected
    assert labels(FRAME.to_numpy(), [1, 2]) == expected
    typed = FRAME.astype({"color": "category", "code": "category"})
    for word in ("auto", "from_dtype"):
        assert labels(typed, word) == expected
    # The order of the levels in the type, and levels that no row has, do not matter.
    order = pd.CategoricalDtype(["green", "unused", "red", "blue"])
    assert labels(typed.astype({"color": order}), "auto") == expected
    assert adjusted_rand_score(expected, GROUP) == 1.0


def test_a_level_that_is_new_changes_no_coefficient_of_the_others():
    # Two indicators more, of levels between and behind the others, one row each: the same trees but for these rows.
    def forest(colors):
        frame = FRAME.assign(color=colors)
        spread = pd.get_dummies(frame["color"]).var(ddof=0).sum() ** 0.5
        # Numbers in units of the spread: unit spread is the one thing that new levels change.
        frame[["size", "width"]] /= spread
        return RPForest(50, min_samples_split=100, categorical_features=["color"], random_state=0).fit(frame), frame

    first, frame = forest(FRAME["color"])
    colors = FRAME["color"].copy()
    colors.iloc[[0, 1]] = ["cyan", "zinc"]
    second, other = forest(colors)
    same = (first.apply(frame)[2:] == second.apply(other)[2:]).mean()
    assert same > 0.9


@pytest.mark.parametrize("missing", ["error", "mean", "native"])
def test_a_level_that_is_not_known_is_predicted_and_embedded(missing):
    model = RPFCluster(3, categorical_features=CATEGORICAL, missing=missing, random_state=0).fit(FRAME)
    new = FRAME.assign(color="purple")
    assert adjusted_rand_score(model.predict(new), GROUP) > 0.8
    labels, confidence = model.predict_with_confidence(new)
    assert (labels == model.predict(new)).all()
    assert np.isfinite(confidence).all()
    assert np.isfinite(model.transform(new)).all()
    assert [model.predict(new.iloc[[row]])[0] for row in range(0, 150, 17)] == labels[::17].tolist()


def test_polars_and_pyarrow_columns_are_recognised_by_type():
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    expected = RPFCluster(3, categorical_features=["color"], random_state=0).fit(FRAME).labels_
    for column in (polars.Categorical, polars.String):
        table = polars.from_pandas(FRAME).with_columns(polars.col("color").cast(column))
        assert (RPFCluster(3, categorical_features="auto", random_state=0).fit(table).labels_ == expected).all()
    arrow = pyarrow.Table.from_pandas(FRAME)
    for table in (arrow, arrow.set_column(1, "color", arrow["color"].dictionary_encode())):
        assert (RPFCluster(3, categorical_features="auto", random_state=0).fit(table).labels_ == expected).all()


def test_missing_values_of_every_kind_are_gaps():
    X, _ = load_iris(return_X_y=True)
    gaps = np.where(np.random.default_rng(1).random(X.shape) < 0.2, np.nan, X)
    model = RPFCluster(3, missing="native", n_estimators=60, random_state=0)
    expected = model.fit(gaps).labels_
    frame = pd.DataFrame(gaps, columns=list("abcd"))
    nullable = frame.astype("Float64")
    assert nullable.isna().to_numpy().sum() == np.isnan(gaps).sum()
    assert (clone(model).fit(frame).labels_ == expected).all()
    assert (clone(model).fit(nullable).labels_ == expected).all()
    assert (clone(model).fit(frame.astype(object).where(frame.notna(), None)).labels_ == expected).all()
    polars = pytest.importorskip("polars")
    assert (clone(model).fit(polars.from_pandas(frame)).labels_ == expected).all()


def test_a_sample_is_predicted_the_same_alone_and_in_a_batch():
    model = RPFCluster(3, categorical_features=CATEGORICAL, missing="native", random_state=0).fit(HOLED)
    batch = model.predict(HOLED)
    assert (batch == model.labels_).all()
    assert [model.predict(HOLED.iloc[[row]])[0] for row in range(0, 150, 11)] == batch[::11].tolist()
    one = RPFCluster(3, categorical_features=CATEGORICAL, missing="native", random_state=0, n_jobs=1).fit(HOLED)
    assert (one.labels_ == model.labels_).all()
    assert model.recut(n_clusters=2).predict(HOLED).max() == 1
    assert "color=red" in model.report(X=HOLED).html


def test_forest_takes_categories_and_gaps(tmp_path):
    forest = RPForest(20, categorical_features=CATEGORICAL, missing="native", random_state=0).fit(HOLED)
    leaves = forest.apply(HOLED)
    save(forest, tmp_path / "forest.rpf")
    assert (load(tmp_path / "forest.rpf").apply(HOLED) == leaves).all()
    assert forest.kneighbors(HOLED[:5], return_distance=False).shape == (5, 5)


def test_complete_samples_have_the_labels_of_the_default():
    X, _ = load_iris(return_X_y=True)
    plain = RPFCluster(3, random_state=0).fit(X)
    native = RPFCluster(3, missing="native", random_state=0).fit(X)
    assert (native.labels_ == plain.labels_).all()
    assert native.predict([[5.0, np.nan, 1.4, np.nan]]).tolist() == [plain.labels_[0]]


@pytest.mark.parametrize(
    ("params", "frame", "words"),
    [
        ({}, FRAME, 'column "color" (text) holds no numbers'),
        ({"categorical_features": CATEGORICAL}, HOLED, "has a missing value (NaN) in row"),
        ({"categorical_features": ["colour"]}, FRAME, "no column of that name"),
        ({"categorical_features": [9]}, FRAME, "numbers from 0 to 3"),
        ({"categorical_features": [True]}, FRAME, "a mask of shape (1,)"),
        ({"categorical_features": "text"}, FRAME, "must be 'auto'"),
        ({"categorical_features": ["color", "size"]}, FRAME, 'column "size" looks like an identifier'),
        ({"categorical_features": ["code"]}, FRAME, 'column "color" (text) holds no numbers'),
        ({"missing": "drop"}, FRAME[["size", "width"]], "missing is 'drop'"),
        ({"missing": "native"}, FRAME[["size"]].assign(none=np.nan), 'column "none" has no value'),
        ({"missing": "native"}, FRAME[["size"]].assign(far=np.inf), "infinity"),
    ],
)
def test_errors_name_the_column_and_the_remedy(params, frame, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        RPFCluster(3, **params).fit(frame)


def test_models_without_gaps_refuse_them():
    X, _ = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="NaN"):
        RPFCluster(3, random_state=0).fit(X).predict(np.where(X > 5, np.nan, X))
