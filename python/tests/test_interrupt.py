"""Ctrl-C during a long call: KeyboardInterrupt within a second, and the interpreter goes on."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from rpfcluster import RPForest

LONG = """
import sys, time
import numpy as np
from rpfcluster import NJW, ClusterForests, RPFCluster, RPFEmbedding, RPFNeighbors, RPForest, RPForestKernel, sweep
X = np.random.default_rng(0).normal(size=(20_000, 8))
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(RPForest(5, random_state=0).fit(X[:100]).apply(X[:1]).shape, flush=True)
"""
CALLS = [
    "RPForest(60_000).fit(X)",
    "RPForest(60_000, n_jobs=1).fit(X)",
    "RPFCluster(5, n_estimators=60_000, min_samples_split=2_000).fit(X)",
    # Settings are tried: the pairs of one alone take longer than a second.
    "while True: RPFCluster(5, random_state=0).fit(X)",
    "while True: RPFCluster('auto', random_state=0).fit(X)",
    "RPFEmbedding(2, affinity='paper', beta1=0.0, n_estimators=2000, min_samples_split=2000).fit(X)",
    "RPForestKernel(500, min_samples_split=2000).fit(X).transform(X[:5000])",
    "RPFNeighbors(5, metric='euclidean', n_candidates_exact=500, min_samples_split=1000).fit(X).kneighbors()",
    "while True: sweep(X, 5)",
    "NJW(5).fit(np.tile(X, 20))",
    "NJW(5, bandwidth='search').fit(X[:5900])",
    "ClusterForests(5, n_estimators=5000).fit(X[:5000])",
]


# At several moments: a stage that does not listen must not hide behind one that does.
@pytest.mark.parametrize("delay", [0.6, 1.6])
@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_stops_within_a_second(call, delay):
    child = subprocess.Popen(
        [sys.executable, "-c", LONG.format(call=call)],
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
    finally:
        child.kill()
        child.communicate()


def test_other_threads_run_meanwhile():
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


def test_an_error_in_a_progress_display_stops_the_work():
    from rpfcluster import _rpfcluster

    def fails(event, stage, units):
        raise RuntimeError("no screen")

    X = np.random.default_rng(0).normal(size=(20_000, 8))
    params = '{"trees": 60000, "min_node": 30, "split": "uniform", "direction": "gaussian", "candidates": 1, "seed": 0}'
    begun = time.monotonic()
    with pytest.raises(RuntimeError, match="no screen"):
        _rpfcluster.Forest.grow(X, params, 1, fails)
    assert time.monotonic() - begun < 5
