"""RPFCluster.report(): one page, from arrays, frames and sparse matrices."""

import json
import re

import numpy as np
import pytest
from scipy import sparse

from rpfcluster import RPFCluster
from rpfcluster.datasets import make_shape


def data_of(path):
    """What the page's script is given."""
    return json.loads(re.search(r'id="data">(.*?)</script>', path.read_text(encoding="utf-8"), re.S).group(1))


@pytest.fixture(scope="module")
def blobs():
    X, y = make_shape("moons", 300, random_state=0)
    return X, y, RPFCluster(n_clusters=2, n_estimators=50, random_state=0).fit(X)


def test_page_of_an_array(tmp_path, blobs):
    X, y, model = blobs
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


def test_page_without_data_and_of_sparse_rows(tmp_path, blobs):
    X, _, model = blobs
    model.report(str(tmp_path / "bare.html"))
    assert not [axis for axis in data_of(tmp_path / "bare.html")["axes"] if axis["column"]]
    model.report(tmp_path / "sparse.html", sparse.csr_matrix(X))
    model.report(tmp_path / "dense.html", X)
    assert data_of(tmp_path / "sparse.html") == data_of(tmp_path / "dense.html")


def test_names_stay_text(tmp_path, blobs):
    pandas = pytest.importorskip("pandas")
    X = blobs[0]
    frame = pandas.DataFrame(X, columns=["<script>alert(1)</script>", "b"])
    model = RPFCluster(n_clusters=2, n_estimators=20, random_state=0).fit(frame)
    model.report(tmp_path / "page.html", frame, np.where(X[:, 0] > 0, "<b>", "</script>"))
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert text.count("</script>") == 2


def test_what_does_not_fit_is_refused(tmp_path, blobs):
    X, y, model = blobs
    with pytest.raises(ValueError, match="X has 10"):
        model.report(tmp_path / "page.html", X[:10])
    with pytest.raises(ValueError, match="y has 5"):
        model.report(tmp_path / "page.html", X, y[:5])
    with pytest.raises(ValueError, match="no forest"):
        RPFCluster(n_clusters=2, affinity="precomputed").fit(np.eye(4) + 0.1).report(tmp_path / "page.html")
    assert not list(tmp_path.iterdir())
