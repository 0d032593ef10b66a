"""The examples run, and what they claim holds."""

import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "python"


def run(name, *arguments, **more):
    return runpy.run_path(str(FOLDER / f"{name}.py"))["main"](*arguments, **more)


def test_every_example_is_tested():
    here = Path(__file__).read_text()
    for path in FOLDER.glob("*.py"):
        assert f'run("{path.stem}"' in here, path.stem


def test_svc_on_the_kernel():
    for ours, gaussian in run("svc_on_the_kernel").values():
        assert ours > gaussian - 0.03


def test_linear_svc_on_features():
    mapped, plain = run("linear_svc_on_features")
    assert mapped > plain


def test_label_spreading():
    ours, _ = run("label_spreading")
    assert ours > 0.9


def test_outliers():
    ours, isolation = run("outliers")
    assert ours > isolation


def test_swiss_roll(tmp_path):
    known, new = run("swiss_roll", str(tmp_path / "roll.png"))
    assert min(known, new) > 0.98
    assert (tmp_path / "roll.png").stat().st_size > 10_000


def test_compare_clusterers(tmp_path):
    found = run("compare_clusterers", str(tmp_path / "grid.png"), n_samples=400)
    for name, scores in found.items():
        assert name == "noise" or scores["RPFCluster"] > 0.9, name
    assert (tmp_path / "grid.png").stat().st_size > 10_000


def test_embedding_warns_of_pieces():
    from rpfcluster import RPFEmbedding
    from rpfcluster.datasets import make_shape

    X, _ = make_shape("rings", 600, random_state=0)
    with pytest.warns(UserWarning, match="falls into 3 pieces"):
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
