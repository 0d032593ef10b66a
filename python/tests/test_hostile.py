"""Files and names of an attacker: no code is executed, nothing is requested, and messages are printable."""

import importlib.util
import pickle
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

from rpfcluster import NJW, RPFCluster, RPFNeighbors, RPForest, load, save
from rpfcluster._printable import escaped

pd = pytest.importorskip("pandas")

HIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class Payload:
    """Creates a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_load_does_not_unpickle(tmp_path):
    data = pickle.dumps(Payload(tmp_path / "owned"))
    (tmp_path / "model.rpf").write_bytes(data)
    with pytest.raises(ValueError, match="not an rpf model"):
        load(tmp_path / "model.rpf")
    assert not (tmp_path / "owned").exists()
    # The payload works: a pickle executes code, a model file does not.
    pickle.loads(data).close()
    assert (tmp_path / "owned").exists()


def test_warnings_show_control_characters_escaped():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id\x1b[2J\u202e": np.arange(300.0), "x": rng.normal(size=300), "y": rng.normal(size=300)})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        RPFCluster(2, n_estimators=30, random_state=0).fit(frame)
    texts = [str(w.message) for w in caught]
    assert any("id\\u{1b}[2J\\u{202e}" in text for text in texts), texts
    assert not any(HIDDEN.search(text) for text in texts)


EVIL = "\x1b]0;pwn\x07\x9b\u202e"
SHOWN = r"\u{1b}]0;pwn\u{7}\u{9b}\u{202e}"


def _shown(error):
    """The exception and those that its traceback shows with it."""
    while error is not None:
        yield str(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _refused(call, shown=SHOWN):
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    texts = list(_shown(caught.value))
    assert not any(HIDDEN.search(text) for text in texts), texts
    assert shown in texts[0], texts
    return caught.value


def _tables(columns):
    yield pd.DataFrame(columns)
    for library, name in (("polars", "DataFrame"), ("pyarrow", "table")):
        if importlib.util.find_spec(library):
            yield getattr(importlib.import_module(library), name)(columns)


NUMBERS = np.random.default_rng(0).normal(size=60)
COLUMNS = {
    "a missing value": {f"{EVIL}a": [1.0, None, 3.0]},
    "infinity": {f"{EVIL}a": [1.0, np.inf, 3.0]},
    "text": {"x": [1.0, 2.0, 3.0], f"{EVIL}a": [f"{EVIL}1", "2", "3"]},
    "lists": {f"{EVIL}a": [[1.0, 2.0], [1.0], [2.0]]},
}


@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)
def test_errors_about_columns_show_control_characters_escaped(columns):
    for table in _tables(columns):
        for estimator in (RPFCluster(2), RPForest(5)):
            _refused(lambda estimator=estimator, table=table: estimator.fit(table))
        # Their errors do not name the column of a missing value.
        for estimator in (RPFNeighbors(2), NJW(2), RPFCluster(2, affinity="precomputed")):
            _refused(lambda estimator=estimator, table=table: estimator.fit(table), shown="")


def test_errors_about_categories_show_control_characters_escaped():
    table = pd.DataFrame({f"{EVIL}id": [f"{EVIL}{i}" for i in range(60)], "x": NUMBERS})
    _refused(lambda: RPFCluster(2, categorical_features="auto").fit(table))


def test_errors_about_duplicate_names_show_control_characters_escaped():
    table = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=[f"{EVIL}a", f"{EVIL}a"])
    assert "several columns of the name" in str(_refused(lambda: RPFCluster(2).fit(table)))
    fields = np.zeros(3, dtype=[(f"{EVIL}a", float)])
    _refused(lambda: RPFCluster(2).fit(fields))


def test_errors_of_scikit_learn_about_names_show_control_characters_escaped():
    table = pd.DataFrame({f"{EVIL}a": NUMBERS, f"{EVIL}b": NUMBERS[::-1]})
    for model in (RPFCluster(2, n_estimators=5, random_state=0), RPForest(5)):
        model.fit(table)
        method = model.predict if isinstance(model, RPFCluster) else model.apply
        for other in (table.iloc[:, :1], table.rename(columns={f"{EVIL}a": f"{EVIL}z"})):
            error = _refused(lambda method=method, other=other: method(other))
            assert type(error) is ValueError
            assert str(error).startswith("The feature names should match those that were passed during fit.\n")


def test_text_without_hidden_characters_is_kept():
    for text in ('Größe 単位 é e\u0301 क्\u200dष 👩\u200d🔬 ✈\ufe0f "x" C:\\x\n', ""):
        assert escaped(text) == text
    assert escaped("a\tb\r\u2028\U000e0041") == r"a\tb\r\u{2028}\u{e0041}"


def test_errors_of_files_show_control_characters_escaped(tmp_path):
    model = RPFCluster(2, n_estimators=5, random_state=0).fit(np.random.default_rng(0).normal(size=(60, 2)))
    target = tmp_path / "folder\x1b[2J"
    target.mkdir()
    with pytest.raises(OSError, match=r"^[^\x1b]*$"):
        save(model, target)


SCRIPT = """
import os, socket, sys
try:
    socket.create_connection(("192.0.2.1", 80), timeout=2)
except OSError:
    pass
else:
    sys.exit("there is a network")
from rpfcluster import RPFCluster, load, save
from rpfcluster.datasets import load_iris
X, y = load_iris(return_X_y=True)
model = RPFCluster(3, n_estimators=20, random_state=0).fit(X)
save(model, "m.rpf")
assert (load("m.rpf").predict(X) == model.labels_).all()
model.report("r.html", X, y)
print("done")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs network namespaces")
def test_package_works_without_a_network(tmp_path):
    alone = ["unshare", "--user", "--map-root-user", "--net", "--"]
    try:
        subprocess.run([*alone, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("network namespaces are refused here")
    run = subprocess.run([*alone, sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True)
    assert run.stdout == "done\n", run.stderr
