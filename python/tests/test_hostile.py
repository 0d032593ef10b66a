"""Files and names of an attacker: no code is executed, nothing is requested, and messages are printable."""

import pickle
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

from rpfcluster import RPFCluster, load, save

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
