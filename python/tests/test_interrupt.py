"""Ctrl-C during a long call raises KeyboardInterrupt within a second, and the interpreter stays usable."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from rpfcluster import RPForest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send Ctrl-C to one process")

# A shell may start the tests with the signal ignored, which children inherit. The call is made again and again, so that
# on no machine it ends before the signal comes.
LONG = """
import pickle, signal, sys
PATH = sys.argv[1]
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from rpfcluster import NJW, ClusterForests, RPFCluster, RPFEmbedding, RPFNeighbors, RPForest, RPForestKernel
from rpfcluster import load, save, sweep
X = np.random.default_rng(0).normal(size=(20_000, 8))
{setup}
print("ready", flush=True)
try:
    while True:
        {call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(RPForest(5, random_state=0).fit(X[:100]).apply(X[:1]).shape, flush=True)
"""
CALLS = [
    "RPForest(60_000).fit(X)",
    "RPForest(60_000, n_jobs=1).fit(X)",
    "RPFCluster(5, n_estimators=60_000, min_samples_split=2_000).fit(X)",
    # Candidate settings are compared; counting the pairs of one takes more than a second.
    "RPFCluster(5, tune=True, random_state=0).fit(X)",
    "RPFCluster('auto', random_state=0).fit(X)",
    "RPFCluster(5, n_estimators='auto', random_state=0).fit(X)",
    "RPFEmbedding(2, affinity='paper', beta1=0.0, n_estimators=2000, min_samples_split=2000).fit(X)",
    "RPForestKernel(500, min_samples_split=2000).fit(X).transform(X[:5000])",
    "RPFNeighbors(5, metric='euclidean', n_candidates_exact=500, min_samples_split=1000).fit(X).kneighbors()",
    "sweep(X, 5)",
    "NJW(5).fit(np.tile(X, 20))",
    "NJW(5, bandwidth='search').fit(X[:5900])",
    "ClusterForests(5, n_estimators=5000).fit(X[:5000])",
]
# Results of 10^8 numbers and late stages. The setup does the work before them, so that the delay ends within them.
LARGE = "forest = RPForest(100, min_samples_split=500, random_state=0).fit(X)"
KERNEL = "kernel = RPForestKernel(200, min_samples_split=1000, random_state=0).fit(X)"
LINEAR = "model = RPFCluster(3, affinity='linear', min_samples_split=1000, tune=False, random_state=0).fit(X)"
MATRIX = "S = np.random.default_rng(0).uniform(size=(8_000, 8_000)); S = S + S.T"
WIDE = "W = np.random.default_rng(0).normal(size=(4_000, 3_000))"
# A model file of 800 MB. The pickle has 240 MB, since copies inside pickle cannot be interrupted.
FILE = "model = RPForest(10_000, min_samples_split=10_000, random_state=0).fit(X)"
READ = FILE + "; save(model, PATH)"
PICKLED = "model = RPForest(3_000, min_samples_split=10_000, random_state=0).fit(X)"
PAPER = "affinity='paper', beta1=0.0, beta2=0.3, min_samples_split=1000"
LATE = [
    (LARGE, "forest.kneighbors(n_neighbors=2_000)", 4.0),
    (LARGE, "forest.kneighbors(n_neighbors=2_000)", 6.0),
    (KERNEL, "kernel(X, X)", 2.0),
    (LINEAR, "model.affinity_matrix_; model._affinity_matrix = None", 4.0),
    (LINEAR, "model.affinity_matrix_; model._affinity_matrix = None", 7.0),
    (MATRIX, "RPFCluster(5, affinity='precomputed').fit(S)", 1.0),
    (FILE, "save(model, PATH)", 0.5),
    (FILE, "save(model, PATH)", 1.5),
    (READ, "load(PATH)", 0.3),
    (READ, "load(PATH)", 1.0),
    (PICKLED, "pickle.loads(pickle.dumps(model))", 0.5),
    (PICKLED, "pickle.loads(pickle.dumps(model))", 1.5),
    ("", "sweep(X, 5, min_samples_split=2_000)", 5.0),
    ("", "sweep(X, 5, min_samples_split=2_000)", 9.0),
    ("", f"RPFCluster(5, {PAPER}, method='ncut').fit(X)", 5.0),
    ("", f"RPFCluster(5, {PAPER}, method='ncut').fit(X)", 9.0),
    ("", "RPFCluster(5, solver='dense', tune=False).fit(X[:4_000])", 4.0),
    ("", "RPFCluster(5, solver='nystrom', n_landmarks=3_000, affinity='linear', tune=False).fit(X)", 4.0),
    ("", "NJW(5, method='ncut').fit(X)", 5.0),
    # With many eigenvectors, orthogonalisation takes longer than the products with the graph.
    ("", "RPFCluster(300, tune=False, random_state=0).fit(X)", 4.0),
    (WIDE, "RPFCluster('auto', n_estimators=20).fit(W)", 2.0),
    (WIDE, "RPFCluster('auto', n_estimators=20).fit(W)", 3.0),
]


# Several delays, so that every stage is interrupted in some run.
@pytest.mark.parametrize("delay", [0.6, 1.6])
@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_stops_within_a_second(call, delay, tmp_path):
    assert_stops("", call, delay, tmp_path)


@pytest.mark.parametrize(("setup", "call", "delay"), LATE)
def test_ctrl_c_stops_large_results_and_late_stages_within_a_second(setup, call, delay, tmp_path):
    assert_stops(setup, call, delay, tmp_path)


def assert_stops(setup, call, delay, tmp_path):
    child = subprocess.Popen(
        [sys.executable, "-c", LONG.format(setup=setup, call=call), str(tmp_path / "model.rpf")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(delay)
        assert child.poll() is None, child.stderr.read()
        begun = time.monotonic()
        os.kill(child.pid, signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n", child.stderr.read()
        assert time.monotonic() - begun < 1.0
        assert child.stdout.readline() == "(1, 5)\n"
        assert child.wait(timeout=20) == 0
        assert not list(tmp_path.glob("*.tmp"))
    finally:
        child.kill()
        child.communicate()


def test_gil_is_released_during_a_fit():
    X = np.random.default_rng(0).normal(size=(30_000, 8))
    ticks = 0
    done = threading.Event()

    def work():
        RPForest(150, random_state=0, n_jobs=1).fit(X)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.wait(0.001):
        ticks += 1
    thread.join()
    assert ticks > 20


def test_exception_in_the_progress_callback_stops_the_fit():
    from rpfcluster import _rpfcluster

    def fails(event, stage, units):
        raise RuntimeError("no display")

    X = np.random.default_rng(0).normal(size=(20_000, 8))
    params = '{"trees": 60000, "min_node": 30, "split": "uniform", "direction": "gaussian", "candidates": 1, "seed": 0}'
    begun = time.monotonic()
    with pytest.raises(RuntimeError, match="no display"):
        _rpfcluster.Forest.grow(X, params, 1, fails)
    assert time.monotonic() - begun < 5
