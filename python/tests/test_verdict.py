"""The verdict on a clustering, warnings about columns, and samples that occur several times."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler
from test_report import data_of

from rpfcluster import RPFCluster, RPFEmbedding, load, save
from rpfcluster.datasets import load_iris

WORDS = {"clear", "plausible", "weak", "none"}
X, _ = load_iris(return_X_y=True)
IRIS = StandardScaler().fit_transform(X)


@pytest.fixture(scope="module")
def groups():
    """Two groups of 100 samples in three features."""
    random = np.random.default_rng(0)
    truth = np.arange(200) % 2
    return random.normal(size=(200, 3)) + 8.0 * truth[:, None], truth


def test_verdict_has_the_keys_and_words_of_the_command(groups):
    clear = RPFCluster(2, random_state=0).fit(groups[0]).verdict_
    assert list(clear) == ["word", "score", "reason"]
    assert clear["word"] == "clear"
    none = RPFCluster(4, random_state=0).fit(np.random.default_rng(1).normal(size=(300, 4))).verdict_
    assert none["word"] == "none"
    for verdict in (clear, none, RPFCluster(3, random_state=0).fit(IRIS).verdict_):
        assert verdict["word"] in WORDS
        assert 0 <= verdict["score"] <= 1
        assert verdict["reason"].endswith(".")


def test_verdict_survives_pickle_and_model_file(groups, tmp_path):
    model = RPFCluster(2, n_estimators=50, random_state=0).fit(groups[0])
    assert pickle.loads(pickle.dumps(model)).verdict_ == model.verdict_
    save(model, tmp_path / "model.rpf")
    loaded = load(tmp_path / "model.rpf")
    assert loaded.verdict_ == model.verdict_
    # Pickled as a model file inside.
    assert pickle.loads(pickle.dumps(loaded)).verdict_ == model.verdict_


def test_verdict_is_none_without_samples_to_assess(groups):
    model = RPFCluster(2, n_estimators=50, random_state=0).fit(groups[0])
    assert model.recut(n_clusters=3).verdict_ is None
    assert model.verdict_ is not None
    blocks = np.kron(np.eye(2), np.ones((3, 3))) + 0.1
    assert model.set_params(affinity="precomputed").fit(blocks).verdict_ is None


def test_identifier_is_reported_at_the_line_of_the_caller(groups, tmp_path):
    frame = pd.DataFrame(groups[0], columns=list("abc")).assign(id=np.arange(200.0))
    for call in ("fit", "fit_predict"):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            getattr(RPFCluster(2, n_estimators=50, random_state=0), call)(frame)
        # The numbers from 0 to 199 also have by far the largest spread.
        dominant, identifier = seen
        assert str(dominant.message).startswith("Column id accounts for ")
        assert str(identifier.message).startswith("Column id looks like an identifier")
        assert {(warning.filename, warning.category) for warning in seen} == {(__file__, UserWarning)}
    frame["id"] /= 20
    with pytest.warns(UserWarning, match="Column 3 looks like an identifier"):
        model = RPFCluster(2, n_estimators=50, random_state=0).fit(frame.to_numpy())
    for table in (None, frame.to_numpy()):
        model.report(tmp_path / "page.html", table)
        assert '<p class="warning">Column x3 ' in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert data_of(tmp_path / "page.html")["n"] == 200


def test_dominant_column_is_reported(groups):
    wide = groups[0] * [1000.0, 1.0, 1.0]
    with pytest.warns(UserWarning, match="Column 0 accounts for .* of the spread") as seen:
        RPFCluster(2, n_estimators=50, random_state=0).fit(wide)
    assert len(seen) == 1


def test_standardised_iris_and_embeddings_raise_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RPFCluster(3, random_state=0).fit(IRIS)
        numbered = np.column_stack([IRIS, np.arange(150.0)])
        RPFEmbedding(2, n_estimators=50, affinity="linear", random_state=0).fit(numbered)


def test_forty_copies_are_an_island_only_if_kept():
    random = np.random.default_rng(3)
    truth = np.repeat([0, 1], [120, 80])
    table = random.normal(size=(200, 2)) + 6.0 * truth[:, None]
    # Forty samples in the middle of the first group are equal.
    table[:40] = 0.0
    weigh, keep = (
        RPFCluster(2, affinity="top-k", tune=False, duplicates=how, random_state=0).fit(table)
        for how in ("weigh", "keep")
    )
    assert adjusted_rand_score(truth, weigh.labels_) > 0.95
    assert sorted(np.bincount(keep.labels_)) == [40, 160]
    assert weigh._cluster.distinct == 161
    assert keep._cluster.distinct is None
    assert weigh.predict(table).tolist() == weigh.labels_.tolist()
    assert weigh.affinity_matrix_.shape == keep.affinity_matrix_.shape == (200, 200)


def test_duplicates_are_checked_and_stored(tmp_path):
    with pytest.raises(ValueError, match="duplicates is 'drop', but must be one of 'weigh', 'keep'"):
        RPFCluster(3, duplicates="drop").fit(X)
    model = RPFCluster(3, n_estimators=20, duplicates="keep", random_state=0).fit(X)
    save(model, tmp_path / "model.rpf")
    assert load(tmp_path / "model.rpf").duplicates == "keep"
    with pytest.raises(ValueError, match="recut keeps the forest, so duplicates cannot change"):
        model.recut(duplicates="weigh")


def test_predict_names_samples_far_outside(groups):
    model = RPFCluster(2, n_estimators=50, random_state=0).fit(groups[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(groups[0])
    with pytest.warns(UserWarning, match="1 sample lies far outside the training samples"):
        model.predict(np.vstack([groups[0][:2], [[500.0, 0.0, 0.0]]]))


def test_fit_names_samples_far_outside(groups):
    far = groups[0].copy()
    far[[17, 90]] = 500.0
    model = RPFCluster(2, n_estimators=50, random_state=0)
    with pytest.warns(UserWarning, match=r"2 rows lie far outside the other rows \(the first is row 17\)"):
        model.fit(far)
