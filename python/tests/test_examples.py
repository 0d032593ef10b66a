"""The examples run, and what they state holds over several seeds."""

import os
import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest
from needs import require

FOLDER = Path(__file__).parents[2] / "examples" / "python"


def run(name, *arguments, **more):
    return runpy.run_path(str(FOLDER / f"{name}.py"))["main"](*arguments, **more)


def over_seeds(scores):
    """Return the mean of one value per seed; fewer than five seeds are no statement."""
    assert len(scores) >= 5
    return float(np.mean(scores))


def test_every_example_is_tested():
    here = Path(__file__).read_text()
    for path in FOLDER.glob("*.py"):
        assert f'run("{path.stem}"' in here, path.stem


def test_svc_on_the_kernel_is_within_three_points_of_the_best_on_wine(capsys, monkeypatch):
    monkeypatch.delenv("RPF_DATA", raising=False)
    found = run("svc_on_the_kernel", ("wine", "Heart"))
    assert set(found) == {"wine"}
    for scores in found.values():
        means = {name: over_seeds(values) for name, values in scores.items()}
        assert means["rpf-kernel"] > max(means.values()) - 0.03
    assert "Heart           skipped: no data" in capsys.readouterr().out


def test_leaf_features_beat_pixels_for_every_seed():
    found = run("linear_svc_on_features")
    assert over_seeds(found["leaf features"]) > over_seeds(found["pixels"])
    assert min(found["leaf features"]) > max(found["pixels"])


def test_label_spreading_over_the_kernel_finds_nine_tenths():
    found = run("label_spreading")
    assert over_seeds(found["rpf-kernel"]) > 0.9
    assert min(found["rpf-kernel"]) > 0.87


def test_label_spreading_finds_nine_tenths_of_noisy_prototypes(capsys, monkeypatch, tmp_path):
    # Ten prototypes with noise replace the data; the documentation has the figures of the real set.
    for part, count in (("tra", 900), ("tes", 300)):
        random = np.random.default_rng(count)
        digits = np.arange(count) % 10
        centres = np.random.default_rng(0).integers(0, 101, size=(10, 16))
        rows = (centres[digits] + random.normal(scale=8, size=(count, 16))).clip(0, 100).round()
        folder = tmp_path / "large" / "pendigits"
        folder.mkdir(parents=True, exist_ok=True)
        np.savetxt(folder / f"pendigits.{part}", np.column_stack([rows, digits]), fmt="%3d", delimiter=",")
    monkeypatch.setenv("RPF_DATA", str(tmp_path))
    found = run("label_spreading_pendigits")
    assert len(found) == 6
    assert min(over_seeds(scores) for name, scores in found.items() if name.startswith("spreading")) > 0.9
    monkeypatch.setenv("RPF_DATA", str(tmp_path / "nowhere"))
    capsys.readouterr()
    assert run("label_spreading_pendigits") is None
    assert capsys.readouterr().out == "skipped: no data\n"


def test_co_leaf_neighbours_beat_the_isolation_forest():
    found = run("outliers")
    ours, isolation = found["co-leaf neighbours"], found["isolation forest"]
    assert over_seeds(ours) > over_seeds(isolation)
    assert sum(a > b for a, b in zip(ours, isolation, strict=True)) >= 4


def test_the_embedding_unrolls_the_sheet(tmp_path):
    found = run("swiss_roll", str(tmp_path / "roll.png"))
    for scores in found.values():
        assert over_seeds(scores) > 0.98
        assert min(scores) > 0.95
    assert (tmp_path / "roll.png").stat().st_size > 10_000


def test_the_label_free_choice_finds_four_fifths_of_iris(tmp_path):
    found = run("pictures_of_a_fit", str(tmp_path / "fit.png"))
    assert over_seeds(found["chosen without labels"]) > 0.8
    assert over_seeds(found["best by labels"]) >= over_seeds(found["chosen without labels"])
    assert (tmp_path / "fit.png").stat().st_size > 10_000


def test_the_default_choice_separates_spirals(tmp_path):
    assert over_seeds(run("what_auto_tries", str(tmp_path / "tries.png"))) > 0.9
    assert (tmp_path / "tries.png").stat().st_size > 10_000


@pytest.mark.timeout(300)  # 20 fits of every algorithm
def test_rpfcluster_finds_rings_spirals_and_chains(tmp_path):
    sets = ("rings", "spirals", "chains", "noise")
    found = run("compare_clusterers", str(tmp_path / "grid.png"), n_samples=300, sets=sets)
    assert set(found) == set(sets)
    for name, scores in found.items():
        assert name == "noise" or over_seeds(scores["RPFCluster"]) > 0.9, (name, scores["RPFCluster"])
    assert (tmp_path / "grid.png").stat().st_size > 10_000


def test_embeddings_of_texts_are_clustered_by_angle():
    found = run("embeddings_of_texts", 800)
    assert over_seeds(found["RPFCluster"]) > 0.75
    assert over_seeds(found["RPFCluster"]) > over_seeds(found["KMeans"]) - 0.03


def test_bertopic_takes_the_clusterer():
    require("bertopic")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other packages
        score, names = run("topics_with_bertopic", 800)
    assert len(names) == 20
    assert not any(name.startswith("-1") for name in names)
    assert score > 0.5


def test_cells_of_scanpy_are_clustered_as_well_as_by_louvain():
    require("scanpy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other packages
        found = run("cells_with_scanpy")
    assert over_seeds(found["RPFCluster"]) > 0.4


def labels_of_engines(*arguments, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other packages
        return run("predict_everywhere", *arguments, **more)


def test_dask_and_polars_predict_in_batches():
    assert labels_of_engines(("dask", "polars")) == {"dask": 1.0, "polars": 1.0}


def test_duckdb_predicts_in_a_query():
    require("duckdb")
    assert labels_of_engines(("duckdb",)) == {"duckdb": 1.0}


@pytest.mark.timeout(240)
def test_ray_data_predicts_in_batches(ray):
    assert labels_of_engines(("ray",)) == {"ray": 1.0}


@pytest.mark.timeout(240)
def test_spark_predicts_in_arrow_batches(spark):
    assert labels_of_engines(("spark",), session=spark) == {"spark": 1.0}


@pytest.mark.timeout(900)  # thousands of small stages of Spark
def test_power_iteration_on_spark_clusters_the_kernel(spark):
    if "RPF" not in os.environ:
        pytest.skip("RPF names no command")
    scores = run("spark_power_iteration", spark, os.environ["RPF"])
    assert over_seeds(scores) > 0.5


def test_embedding_warns_of_components():
    from rpfcluster import RPFEmbedding
    from rpfcluster.datasets import make_shape

    X, _ = make_shape("rings", 600, random_state=0)
    with pytest.warns(UserWarning, match="3 connected components"):
        RPFEmbedding(2, random_state=0).fit(X)


def test_the_quick_start_runs(tmp_path, monkeypatch):
    import re

    monkeypatch.chdir(tmp_path)
    page = (FOLDER.parents[1] / "docs" / "index.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert len(blocks) == 3
    exec("\n".join(blocks), {})
    assert (tmp_path / "iris.rpf").exists()
    from matplotlib import pyplot

    pyplot.close("all")
