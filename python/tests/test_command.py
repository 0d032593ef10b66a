"""The package and the command `rpf` give the same labels and read each other's model files."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from test_same_labels import LINES, fnv

from rpfcluster import NJW, ClusterForests, RPFCluster, RPForest, load, save, sweep
from rpfcluster.datasets import load_iris, make_shape
from rpfcluster.metrics import scores

ROOT = Path(__file__).parents[2]
X, Y = load_iris(return_X_y=True)
NEW = X[::3] + 0.07


@pytest.fixture(scope="session")
def rpf():
    """Run the command `rpf`: the executable in the variable RPF, or the one of this workspace, built if needed."""
    program = os.environ.get("RPF") or built()

    def run(*arguments):
        done = subprocess.run([program, *map(os.fspath, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def built():
    build = ["cargo", "build", "--release", "--locked", "--quiet", "--bin", "rpf", "--message-format=json"]
    made = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=True)
    programs = [json.loads(line).get("executable") for line in made.stdout.splitlines()]
    return next(p for p in programs if p)


def labels_in(path):
    return pd.read_csv(path)["cluster"].to_numpy()


@pytest.mark.parametrize("line", LINES)
def test_command_gives_the_recorded_labels(rpf, tmp_path, line):
    shape, n, k, seed, affinity, recorded = line.split()
    np.save(tmp_path / "rows.npy", make_shape(shape, int(n), random_state=0)[0])
    where = tmp_path / "labels.csv"
    rpf("cluster", tmp_path / "rows.npy", "-k", k, "--seed", seed, "--affinity", affinity, "-o", where)
    assert fnv(labels_in(where)) == recorded


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("options", [[], ["--affinity", "linear"], ["--affinity", "paper", "--method", "ncut"]])
def test_python_reads_models_of_the_command(rpf, tmp_path, dtype, options):
    rows, new, model, out = (tmp_path / name for name in ("rows.npy", "new.npy", "model.rpf", "labels.csv"))
    np.save(rows, X.astype(dtype))
    np.save(new, NEW.astype(dtype))
    rpf("cluster", rows, "-k", "3", "--model", model, "-o", out, "--seed", "4", *options)
    loaded = load(model)
    assert isinstance(loaded, RPFCluster)
    assert (loaded.labels_ == labels_in(out)).all()
    rpf("predict", model, new, "-o", out)
    assert (loaded.predict(NEW.astype(dtype)) == labels_in(out)).all()
    # The file holds the parameters, so a new fit gives the same labels.
    assert (loaded.fit(X.astype(dtype)).labels_ == load(model).labels_).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_command_reads_models_of_python(rpf, tmp_path, dtype):
    new, model, out = (tmp_path / name for name in ("new.npy", "model.rpf", "labels.csv"))
    np.save(new, NEW.astype(dtype))
    fitted = RPFCluster(3, random_state=4).fit(X.astype(dtype))
    save(fitted, model)
    rpf("predict", model, new, "-o", out)
    assert (fitted.predict(NEW.astype(dtype)) == labels_in(out)).all()
    assert "150" in rpf("inspect", model)


def test_column_names_and_scales_survive_both_directions(rpf, tmp_path):
    rows, new, model, out = (tmp_path / name for name in ("rows.csv", "new.csv", "model.rpf", "labels.csv"))
    names = ["a", "b", "c", "d"]
    pd.DataFrame(X, columns=names).assign(species=Y).to_csv(rows, index=False)
    # Reordered and with an extra column: the command finds columns by name, scikit-learn requires the original order.
    pd.DataFrame(NEW, columns=names)[["d", "b", "a", "c"]].assign(more=1).to_csv(new, index=False)
    rpf("cluster", rows, "-k", "3", "--label", "species", "--standardize", "all", "--model", model, "-o", out)
    loaded = load(model)
    assert loaded.feature_names_in_.tolist() == names
    assert (loaded.predict(pd.DataFrame(X, columns=names)) == labels_in(out)).all()
    rpf("predict", model, new, "-o", out)
    assert (loaded.predict(pd.DataFrame(NEW, columns=names)) == labels_in(out)).all()
    # Python writes the scales into its model file.
    save(loaded, model)
    there = labels_in(out)
    rpf("predict", model, new, "-o", out)
    assert (there == labels_in(out)).all()


def test_command_reads_forests_of_python(rpf, tmp_path):
    new, model, out = (tmp_path / name for name in ("new.npy", "model.rpf", "near.csv"))
    np.save(new, NEW)
    forest = RPForest(50, random_state=2).fit(X)
    save(forest, model)
    rpf("neighbors", new, "-n", "4", "--against", model, "-o", out)
    distances, indices = forest.kneighbors(NEW, 4)
    near = pd.read_csv(out)
    assert (near["neighbor"].to_numpy().reshape(-1, 4) - 1 == indices).all()
    np.testing.assert_allclose(near["similarity"].to_numpy().reshape(-1, 4), 1 - distances, atol=1e-6)


def test_rivals_score_as_in_the_command(rpf, tmp_path):
    table = tmp_path / "iris.csv"
    pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(species=Y).to_csv(table, index=False)
    methods = json.loads(rpf("compare", table, "-k", "3", "--label", "species", "--seed", "3", "--json"))["methods"]
    for name, model in (("njw", NJW(3, random_state=3)), ("cf", ClusterForests(3, random_state=3))):
        ours = scores(model.fit_predict(X), Y)
        theirs = methods[name]["scores"]
        assert ours["ari"] == pytest.approx(theirs["ari"], abs=1e-12)
        assert ours["rho_c"] == pytest.approx(theirs["rho_c"] / 100, abs=1e-12)


def test_sweep_equals_that_of_the_command(rpf, tmp_path):
    table = tmp_path / "iris.csv"
    pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(species=Y).to_csv(table, index=False)
    theirs = json.loads(rpf("sweep", table, "-k", "3", "--label", "species", "--seed", "3", "--json"))
    ours = sweep(X, 3, Y, random_state=3)
    assert len(theirs["grid"]) == len(ours.results["beta1"])
    for name in ("beta1", "beta2", "method", "ncut", "eigengap", "converged", "reused", "partition"):
        assert [entry[name] for entry in theirs["grid"]] == ours.results[name].tolist(), name
    picked = ours.results
    assert theirs["label_free"]["beta2"] == picked["beta2"][ours.label_free]
    assert theirs["best_by_labels"]["scores"]["rho_c"] / 100 == picked["rho_c"][ours.best_by_labels]


def test_model_of_standardised_columns_refuses_sparse_rows(rpf, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    rpf(
        "cluster",
        tmp_path / "rows.npy",
        "-k",
        "3",
        "--standardize",
        "all",
        "--seed",
        "0",
        "--model",
        tmp_path / "model.rpf",
    )
    model = load(tmp_path / "model.rpf")
    with pytest.raises(ValueError, match=r"scaling need a dense table, but X is sparse$"):
        model.predict(csr_matrix(NEW))


def test_model_of_categorical_columns_is_read(rpf, tmp_path):
    table = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.where(Y == 1, "new", "old"))
    table.to_csv(tmp_path / "rows.csv", index=False)
    fit = ["cluster", tmp_path / "rows.csv", "-k", "3", "--categorical", "kind", "--model", tmp_path / "model.rpf"]
    rpf(*fit, "-o", tmp_path / "labels.csv")
    labels = pd.read_csv(tmp_path / "labels.csv")["cluster"]
    assert (load(tmp_path / "model.rpf").predict(table) == labels).all()


def test_model_whose_number_of_trees_was_chosen_is_read_as_auto(rpf, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    rpf("cluster", tmp_path / "rows.npy", "-k", "3", "--trees", "auto", "--model", tmp_path / "model.rpf")
    assert load(tmp_path / "model.rpf").n_estimators == "auto"
