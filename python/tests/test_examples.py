"""The examples run, and what they claim holds."""

import runpy
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "python"


def run(name, *arguments, **more):
    return runpy.run_path(str(FOLDER / f"{name}.py"))["main"](*arguments, **more)


def test_every_example_is_tested():
    here = Path(__file__).read_text()
    for path in FOLDER.glob("*.py"):
        assert f'run("{path.stem}"' in here, path.stem


def test_svc_on_the_kernel(capsys, monkeypatch):
    monkeypatch.delenv("RPF_DATA", raising=False)
    found = run("svc_on_the_kernel", ("wine", "breast cancer", "Heart"))
    assert set(found) == {"wine", "breast cancer"}
    for ours, gaussian, tuned in found.values():
        assert ours > max(gaussian, tuned) - 0.03
    assert "Heart           skipped: no data" in capsys.readouterr().out


def test_linear_svc_on_features():
    mapped, plain = run("linear_svc_on_features")
    assert mapped > plain


def test_label_spreading():
    ours, _ = run("label_spreading")
    assert ours > 0.9


def test_label_spreading_pendigits(capsys, monkeypatch, tmp_path):
    # Ten prototypes and noise stand in for the data; the figures of the real set are in the documentation.
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
    assert min(share for name, share in found.items() if name.startswith("spreading")) > 0.9
    monkeypatch.setenv("RPF_DATA", str(tmp_path / "nowhere"))
    capsys.readouterr()
    assert run("label_spreading_pendigits") is None
    assert capsys.readouterr().out == "skipped: no data\n"


def test_outliers():
    ours, isolation = run("outliers")
    assert ours > isolation


def test_swiss_roll(tmp_path):
    known, new = run("swiss_roll", str(tmp_path / "roll.png"))
    assert min(known, new) > 0.98
    assert (tmp_path / "roll.png").stat().st_size > 10_000


def test_pictures_of_a_fit(tmp_path):
    assert run("pictures_of_a_fit", str(tmp_path / "fit.png")) > 0.8
    assert (tmp_path / "fit.png").stat().st_size > 10_000


def test_what_auto_tries(tmp_path):
    assert run("what_auto_tries", str(tmp_path / "tries.png")) > 0.9
    assert (tmp_path / "tries.png").stat().st_size > 10_000


def test_compare_clusterers(tmp_path):
    found = run("compare_clusterers", str(tmp_path / "grid.png"), n_samples=400)
    for name, scores in found.items():
        assert name == "noise" or scores["RPFCluster"] > 0.9, name
    assert (tmp_path / "grid.png").stat().st_size > 10_000


def test_embedding_warns_of_pieces():
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
