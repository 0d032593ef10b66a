"""HTML reports from arrays, data frames and sparse matrices."""

import json
import re

import numpy as np
import pytest
from scipy import sparse

from rpfcluster import RPFCluster
from rpfcluster.datasets import make_shape


def data_of(path):
    """Return the JSON embedded in the page."""
    return json.loads(re.search(r'id="data">(.*?)</script>', path.read_text(encoding="utf-8"), re.S).group(1))


@pytest.fixture(scope="module")
def moons():
    X, y = make_shape("moons", 300, random_state=0)
    return X, y, RPFCluster(n_clusters=2, n_estimators=50, random_state=0).fit(X)


def test_report_shows_labels_columns_and_seed(tmp_path, moons):
    X, y, model = moons
    path = tmp_path / "page.html"
    model.report(path, X, y)
    data = data_of(path)
    by_row = dict(zip(data["rows"], data["clusters"], strict=True))
    assert [by_row[i + 1] for i in range(300)] == model.labels_.tolist()
    assert {axis["name"] for axis in data["axes"] if axis["column"]} == {"x0", "x1"}
    text = path.read_text(encoding="utf-8")
    assert "random_state=0" in text
    assert "http://" not in text
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]


def test_report_needs_no_data_and_sparse_equals_dense(tmp_path, moons):
    X, _, model = moons
    model.report(str(tmp_path / "bare.html"))
    assert not [axis for axis in data_of(tmp_path / "bare.html")["axes"] if axis["column"]]
    model.report(tmp_path / "sparse.html", sparse.csr_matrix(X))
    model.report(tmp_path / "dense.html", X)
    assert data_of(tmp_path / "sparse.html") == data_of(tmp_path / "dense.html")


def test_names_are_escaped(tmp_path, moons):
    pandas = pytest.importorskip("pandas")
    X = moons[0]
    frame = pandas.DataFrame(X, columns=["<script>alert(1)</script>", "b"])
    model = RPFCluster(n_clusters=2, n_estimators=20, random_state=0).fit(frame)
    model.report(tmp_path / "page.html", frame, np.where(X[:, 0] > 0, "<b>", "</script>"))
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert text.count("</script>") == 2


def test_data_of_the_wrong_length_is_refused(tmp_path, moons):
    X, y, model = moons
    with pytest.raises(ValueError, match="X has 10"):
        model.report(tmp_path / "page.html", X[:10])
    with pytest.raises(ValueError, match="y has 5"):
        model.report(tmp_path / "page.html", X, y[:5])
    with pytest.raises(ValueError, match="requires a forest"):
        RPFCluster(n_clusters=2, affinity="precomputed").fit(np.eye(4) + 0.1).report(tmp_path / "page.html")
    assert not list(tmp_path.iterdir())
