"""`rpfcluster.dask` on a cluster of two processes: equal labels, killed workers, bad partitions and clients."""

import asyncio
import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from needs import require
from sklearn.base import clone

from rpfcluster import RPFCluster, RPForest, load, save
from rpfcluster.datasets import make_shape

X, Y = make_shape("rings", 1500, random_state=0)
X = X.astype(np.float32)
PARAMS = {"n_estimators": 40, "random_state": 3}
CHUNKS = {1: (1500,), 2: (750, 750), 7: (1, 0, 499, 0, 500, 499, 1)}


@contextlib.contextmanager
def two_workers():
    require("distributed")
    from distributed import Client, LocalCluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other packages
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
            Client(cluster) as client,
        ):
            yield client


@pytest.fixture(scope="module")
def client():
    with two_workers() as client:
        yield client


def estimator(**more):
    from rpfcluster.dask import DaskRPFCluster

    return DaskRPFCluster(3, max_rows=400, **PARAMS, **more)


def chunked(table, rows):
    import dask.array as da

    return da.from_array(table, chunks=(rows, (2,)))


def alone(table=X, **more):
    from rpfcluster.dask import sample_rows

    return RPFCluster(3, **PARAMS | more).fit(table[sample_rows(len(table), 400, 3)])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", CHUNKS.values(), ids=CHUNKS)
def test_labels_are_those_of_one_machine_for_any_partitions(client, rows, dtype):
    table = X.astype(dtype)
    expected = alone(table)
    data = chunked(table, rows)
    model = estimator().fit(data)
    assert model.labels_.chunks[0] == data.chunks[0] == rows
    assert (model.labels_.compute() == expected.predict(table)).all()
    assert (model.to_local().labels_ == expected.labels_).all()
    assert model.n_samples_ == 1500
    assert len(model.sample_rows_) == 400
    assert {**model.chosen_, "seconds": None} == {**expected.chosen_, "seconds": None}
    assert model.verdict_ == expected.verdict_


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", CHUNKS.values(), ids=CHUNKS)
def test_a_forest_is_that_of_one_machine_for_any_partitions(client, rows, dtype):
    from rpfcluster.dask import DaskRPForest, sample_rows

    table = X.astype(dtype)
    expected = RPForest(**PARAMS).fit(table[sample_rows(1500, 400, 3)])
    data = chunked(table, rows)
    forest = DaskRPForest(max_rows=400, **PARAMS).fit(data)
    leaves, features = forest.apply(data), forest.transform(data)
    assert leaves.chunks[0] == features.chunks[0] == rows
    assert leaves.shape == (1500, 40)
    assert features.shape == (1500, expected.n_leaves_)
    assert forest.n_leaves_ == expected.n_leaves_
    assert (leaves.compute() == expected.apply(table)).all()
    found = features.compute()
    assert found.dtype == features.dtype == dtype
    assert (found != expected.transform(table)).nnz == 0


def test_a_forest_goes_to_files_and_other_processes(client, tmp_path):
    from rpfcluster.dask import DaskRPForest

    data = chunked(X, CHUNKS[7])
    forest = DaskRPForest(max_rows=400, sparse_output=False, client=client, **PARAMS).fit(data)
    local = forest.to_local()
    assert isinstance(local, RPForest)
    save(local, tmp_path / "forest.rpf")
    dense = forest.transform(data).compute()
    assert (dense == local.transform(X)).all()
    for other in (
        DaskRPForest.from_local(load(tmp_path / "forest.rpf"), client=client),
        pickle.loads(pickle.dumps(forest)),
    ):
        assert (other.apply(data).compute() == local.apply(X)).all()
    assert forest.n_samples_ == 1500
    assert forest.n_features_in_ == 2
    assert clone(forest).get_params() == {"max_rows": 400, "sparse_output": False, **PARAMS}
    with pytest.raises(ValueError, match="partition 1: column 0 has a missing value"):
        forest.apply(chunked(np.where(X[-1] == X, np.nan, X), CHUNKS[2])).compute()


def test_a_checkpoint_is_resumed_on_another_cluster(client, tmp_path, monkeypatch):
    from rpfcluster import _distributed

    data = chunked(X, CHUNKS[7])
    expected = estimator().fit(data, checkpoint=tmp_path / "fit").labels_.compute()

    def refuse(*arguments):
        raise AssertionError("the sample is fitted again")

    monkeypatch.setattr(_distributed, "fit_sample", refuse)
    with two_workers() as other:
        again = estimator(client=other).fit(data, checkpoint=str(tmp_path / "fit"))
        assert (again.labels_.compute(scheduler=other) == expected).all()
    with pytest.raises(ValueError, match="its n_clusters is 3, not 4; name another folder, or delete it"):
        estimator(client=client).set_params(n_clusters=4).fit(data, checkpoint=tmp_path / "fit")


def test_methods_agree_with_the_local_model(client, tmp_path):
    data = chunked(X, CHUNKS[7])
    model = estimator(client=client).fit(data)
    local = model.to_local()
    assert isinstance(local, RPFCluster)
    save(local, tmp_path / "model.rpf")
    read = load(tmp_path / "model.rpf")
    assert (read.predict(X) == model.labels_.compute()).all()
    transformed = model.transform(data)
    assert transformed.shape == (1500, 3)
    assert (transformed.compute() == local.transform(X)).all()
    for found, expected in zip(model.predict_with_confidence(data), local.predict_with_confidence(X), strict=True):
        assert (found.compute() == expected).all()
    # Columns in several chunks are put together, and rows of unknown number are labelled.
    wide = data.rechunk((500, 1))
    assert (model.predict(wide).compute() == local.predict(X)).all()
    some = data[data[:, 0] > 0]
    assert (model.predict(some).compute() == local.predict(X[X[:, 0] > 0])).all()
    again = type(model).from_local(read)
    assert (again.predict(data).compute() == local.predict(X)).all()
    assert (pickle.loads(pickle.dumps(model)).predict(data).compute() == local.predict(X)).all()


def test_the_command_reads_the_model(client, tmp_path):
    if "RPF" not in os.environ:
        pytest.skip("RPF names no command")
    model = estimator().fit(chunked(X, CHUNKS[2]))
    save(model.to_local(), tmp_path / "model.rpf")
    np.save(tmp_path / "x.npy", X)
    line = [os.environ["RPF"], "predict", tmp_path / "model.rpf", tmp_path / "x.npy", "-o", tmp_path / "y.npy", "-q"]
    subprocess.run(line, check=True)
    assert (np.load(tmp_path / "y.npy") == model.labels_.compute()).all()


def test_parquet_files_and_frames_are_read_by_name(client, tmp_path):
    import dask.dataframe as dd

    frame = pd.DataFrame(X, columns=["x", "y"])
    paths = [tmp_path / f"{number}.parquet" for number in range(3)]
    for path, part in zip(paths, np.split(np.arange(1500), [200, 201]), strict=True):
        frame.iloc[part].to_parquet(path)
    expected = alone().predict(X)
    for source in (paths, str(tmp_path / "*.parquet"), dd.from_pandas(frame, npartitions=4)):
        model = estimator().fit(source)
        assert (model.labels_.compute() == expected).all()
        assert model.feature_names_in_.tolist() == ["x", "y"]
    assert (model.predict(paths[0]).compute() == expected[:200]).all()


def test_two_fits_at_once_do_not_disturb_each_other(client):
    data, found = chunked(X, CHUNKS[2]), {}

    def run(trees):
        found[trees] = estimator(client=client).set_params(n_estimators=trees).fit(data).labels_.compute()

    threads = [threading.Thread(target=run, args=(trees,)) for trees in (20, 30)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for trees in (20, 30):
        expected = estimator().set_params(n_estimators=trees).fit(data)
        assert (found[trees] == expected.to_local().predict(X)).all()


def kill_worker_of(client, word, killed):
    """Kill the process of the first worker that runs a task whose name holds the word."""
    pids = client.run(os.getpid)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for address, tasks in client.processing().items():
            if address in pids and any(word in str(task) for task in tasks):
                os.kill(pids[address], signal.SIGKILL)
                killed.append(address)
                return
        time.sleep(0.005)


@pytest.mark.parametrize("phase", ["read", "fit", "predict"])
def test_a_killed_worker_changes_nothing(phase):
    require("distributed")
    import dask.array as da
    from dask import delayed

    def slow(part):
        time.sleep(0.3)
        return part

    parts = [delayed(slow)(part) for part in np.split(X, 6)]
    data = da.concatenate([da.from_delayed(part, (250, 2), dtype=X.dtype) for part in parts])
    killed = []
    with two_workers() as client:
        word = "fit_sample" if phase == "fit" else ""
        thread = threading.Thread(target=kill_worker_of, args=(client, word, killed))
        # Enough trees that the fit outlasts the search for its worker.
        trees = 3000 if phase == "fit" else 40
        model = estimator(client=client).set_params(n_estimators=trees)
        if phase == "predict":
            model.fit(data)
            thread.start()
        else:
            thread.start()
            model.fit(data)
        labels = model.labels_.compute(scheduler=client)
        thread.join()
    assert len(killed) == 1
    assert (labels == alone(n_estimators=trees).predict(X)).all()


def test_a_model_whose_workers_all_died_is_sent_again():
    data = chunked(X, CHUNKS[7])
    with two_workers() as client:
        model = estimator(client=client).fit(data)
        for pid in client.run(os.getpid).values():
            os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + 60
        while model._sent[1].status == "finished" and time.monotonic() < deadline:
            time.sleep(0.02)
        client.wait_for_workers(2, timeout=60)
        assert (model.predict(data).compute(scheduler=client) == alone().predict(X)).all()


def test_a_gap_in_the_last_partition_is_one_error_and_leaves_nothing(client):
    table = X.copy()
    table[-3, 1] = np.nan
    with pytest.raises(ValueError, match=r"^partition 6: column 1 has a missing value .NaN. in row 0"):
        estimator().fit(chunked(table, (500, 0, 400, 1, 499, 97, 3)))
    deadline = time.monotonic() + 20
    while any("describe" in str(key) for key in client.who_has()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(client.processing().values())
    assert not any("describe" in str(key) for key in client.who_has())
    labels = estimator(missing="native").fit(chunked(table, CHUNKS[2])).labels_.compute()
    assert labels.shape == (1500,)
    # Predictions are lazy, and so are their errors.
    lazy = estimator().fit(chunked(X, CHUNKS[2])).predict(chunked(table, CHUNKS[2]))
    with pytest.raises(ValueError, match="partition 1: column 1 has a missing value"):
        lazy.compute()


def test_a_worker_of_another_build_is_refused():
    def change():
        from rpfcluster import _partition

        _partition.build_id = lambda: "0.0.1 (abc)"

    with two_workers() as client:
        other = sorted(client.run(os.getpid))[0]
        client.run(change, workers=[other])
        with pytest.raises(RuntimeError, match=f"worker {other} runs rpfcluster 0.0.1 .abc., but this process runs"):
            estimator(client=client).fit(chunked(X, CHUNKS[7]))


def test_clients_that_cannot_be_used_are_clear_errors(client):
    from distributed import Client

    other = Client(client.scheduler.address, set_as_default=False)
    other.close()
    with pytest.raises(RuntimeError, match="the Dask client is closed; start a new one"):
        estimator(client=other).fit(chunked(X, CHUNKS[2]))

    async def inside():
        async with Client(client.scheduler.address, asynchronous=True, set_as_default=False) as waiting:
            with pytest.raises(RuntimeError, match="the Dask client is asynchronous"):
                estimator(client=waiting).fit(chunked(X, CHUNKS[2]))

    asyncio.run(inside())


def test_a_client_that_is_not_the_default_computes_its_results(client):
    from distributed import Client

    with Client(client.scheduler.address, set_as_default=False) as other:
        model = estimator(client=other).fit(chunked(X, CHUNKS[2]))
        assert (other.compute(model.labels_).result() == alone().predict(X)).all()


def test_without_a_client_there_is_a_clear_error():
    require("distributed")
    code = (
        "import dask.array as da\nfrom rpfcluster.dask import DaskRPFCluster\nDaskRPFCluster(3).fit(da.zeros((9, 2)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (
        "ValueError: there is no Dask client; start one with dask.distributed.Client(), or pass client=" in done.stderr
    )


def test_parameters_are_those_of_the_clusterer():
    require("distributed")
    from rpfcluster.dask import DaskRPFCluster

    model = DaskRPFCluster(4, max_rows=50, affinity="linear", client=object())
    assert model.get_params() == {"n_clusters": 4, "max_rows": 50, "affinity": "linear"}
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(power=2.0, max_rows=60).get_params()["power"] == 2.0
    with pytest.raises(TypeError, match="colour"):
        DaskRPFCluster(4, colour="red")
    with pytest.raises(TypeError, match="colour"):
        model.set_params(colour="red")


def test_other_input_is_refused(client):
    import dask.array as da

    with pytest.raises(TypeError, match="X is ndarray, but must be a dask Array or DataFrame"):
        estimator().fit(X)
    with pytest.raises(ValueError, match="Expected 2D array, got 1D"):
        estimator().fit(da.zeros(9))
    with pytest.raises(ValueError, match="max_rows == 1, must be >= 2"):
        estimator().set_params(max_rows=1).fit(chunked(X, CHUNKS[1]))
