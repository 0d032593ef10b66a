"""Threads on one object, and processes forked after a fit."""

import multiprocessing
import os
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from joblib import Parallel, delayed

from rpfcluster import (
    NJW,
    ClusterForests,
    RPFCluster,
    RPFEmbedding,
    RPFNeighbors,
    RPForest,
    RPForestKernel,
    datasets,
    load,
    save,
    sweep,
)

X = np.random.default_rng(0).normal(size=(600, 4)) + np.repeat([0, 4, 8], 200)[:, None]
THREADS = 8
DATA = Path(os.environ.get("RPF_DATA", "../shared/data"))


def in_threads(work):
    """Run `work(i)` in threads at once and return what each returned; an exception of one is raised."""
    results, errors = [None] * THREADS, []
    begin = threading.Barrier(THREADS)

    def run(i):
        try:
            begin.wait()
            results[i] = work(i)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    if errors:
        raise errors[0]
    return results


def test_threads_predict_with_one_model():
    model = RPFCluster(3, n_estimators=50, random_state=0).fit(X)
    expected = model.predict(X[::3])
    for answer in in_threads(lambda i: [model.predict(X[::3]) for _ in range(5)]):
        assert all((labels == expected).all() for labels in answer)


def test_threads_share_lazy_attributes():
    expected = RPFCluster(3, n_estimators=50, random_state=0).fit(X).affinity_matrix_
    model = RPFCluster(3, n_estimators=50, random_state=0).fit(X)
    for matrix in in_threads(lambda i: model.affinity_matrix_):
        assert (matrix != expected).nnz == 0


def test_threads_fit_and_predict_one_object():
    model = RPFCluster(3, n_estimators=50, random_state=0).fit(X)
    labels, predicted = model.labels_.copy(), model.predict(X[::3])
    for fitted, new in in_threads(lambda i: (model.fit(X).labels_, model.predict(X[::3]))):
        assert (fitted == labels).all()
        assert (new == predicted).all()


def test_threads_query_one_forest():
    forest = RPForest(50, random_state=0).fit(X)
    expected = forest.apply(X), forest.kneighbors(n_neighbors=7)

    def work(i):
        return (forest.apply(X), forest.kneighbors(n_neighbors=7))[:: 1 if i % 2 else -1]

    for i, answer in enumerate(in_threads(work)):
        leaves, (distances, indices) = answer[:: 1 if i % 2 else -1]
        assert (leaves == expected[0]).all()
        assert (distances == expected[1][0]).all()
        assert (indices == expected[1][1]).all()


def test_joblib_processes_after_a_fit():
    model = RPFCluster(3, n_estimators=50, random_state=0).fit(X)
    expected = model.predict(X[::3])
    for labels in Parallel(n_jobs=2, timeout=120)(delayed(model.predict)(X[::3]) for _ in range(4)):
        assert (labels == expected).all()


MODEL = RPFCluster(3, n_estimators=50, random_state=0)
LINEAR = RPFCluster(3, affinity="linear", n_estimators=50, random_state=0)
FOREST = RPForest(50, random_state=0)
KERNEL = RPForestKernel(50, random_state=0)
FITTED = (MODEL, LINEAR, FOREST, KERNEL)
# Every call that computes in threads.
CALLS = {
    "fit": lambda path: RPFCluster(3, n_estimators=50, random_state=0).fit(X).labels_,
    "choose": lambda path: RPFCluster("auto", n_estimators=50, random_state=0).fit(X).labels_,
    "predict": lambda path: MODEL.predict(X[:50]),
    "transform": lambda path: MODEL.transform(X[:50]),
    "affinity": lambda path: MODEL._cluster.affinity()[1][2],
    "linear affinity": lambda path: LINEAR._cluster.affinity()[1][2],
    "leaves": lambda path: FOREST.apply(X),
    "feature map": lambda path: FOREST.transform(X).indices,
    "neighbours": lambda path: FOREST.kneighbors(n_neighbors=5)[1],
    "kernel": lambda path: KERNEL(X[:50], X[:40]),
    "nearest": lambda path: RPFNeighbors(5, metric="euclidean", random_state=0).fit(X).kneighbors()[1],
    "embedding": lambda path: RPFEmbedding(2, n_estimators=50, random_state=0).fit_transform(X),
    "sweep": lambda path: sweep(X[::6], 3, n_estimators=20, random_state=0).labels(),
    "NJW": lambda path: NJW(3, random_state=0).fit(X[::2]).labels_,
    "cluster forests": lambda path: ClusterForests(3, n_estimators=10, random_state=0).fit(X[::2]).labels_,
    "load": lambda path: load(path).predict(X[:50]),
    "Iris": lambda path: datasets.load_iris().data,
    # A text file of several blocks, which are read in threads.
    "data set": lambda path: datasets.load_catalogued("magic", DATA).data if DATA.is_dir() else np.ones(1),
    "report": lambda path: (MODEL.report(path.with_suffix(".html"), X), np.ones(1))[1],
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Fit the shared models and save one; every call has then been made in this process, too."""
    for model in FITTED:
        model.fit(X)
    path = tmp_path_factory.mktemp("fork") / "model.rpf"
    save(MODEL, path)
    return path, {name: call(path) for name, call in CALLS.items()}


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="no fork, or not a safe one")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("name", CALLS)
def test_forked_process_computes_the_same(name, saved):
    path, expected = saved
    fork = multiprocessing.get_context("fork")
    receive, send = fork.Pipe(duplex=False)
    child = fork.Process(target=lambda: send.send(CALLS[name](path)))
    child.start()
    # A pool of threads that was started before the fork has no threads in the child, and would wait for ever.
    arrived = receive.poll(60)
    answer = receive.recv() if arrived else None
    child.kill()
    child.join()
    assert arrived, f"{name} hangs after a fork"
    np.testing.assert_array_equal(answer, expected[name])
