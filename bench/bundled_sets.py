"""Tables with classes that come with scikit-learn, statsmodels and R's packages, and tables of their generators.

Each part is left out where its package is not installed: statsmodels from PyPI; Debian's r-base-core, r-cran-mlbench,
r-cran-mass, r-cran-mclust, r-cran-kernlab, r-cran-cluster and r-cran-fpc. The tables are read or generated anew, never
stored here. Real tables are standardised, since their columns have units; generated ones are left as they are. The hash
of the name tells design sets from check sets, as in verdict.py.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

Table = tuple[str, str, Any, Any]
FAMILY = "bundled"
# Classes of the statsmodels sets, and columns that are functions of them.
STATSMODELS = {
    "anes96": ("vote", ()),
    "spector": ("GRADE", ()),
    "modechoice": ("mode", ("individual", "choice")),
    "fair": ("affairs", ()),
}


def bundled() -> Iterator[Table]:
    """Yield every table whose package is installed."""
    for name, X, y in (*_sklearn(), *_statsmodels(), *_r()):
        X = np.asarray(X, float)
        if name.startswith("real-"):
            spread = X.std(axis=0)
            X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)
        yield FAMILY, name, X, np.unique(np.asarray(y), return_inverse=True)[1]


def _sklearn() -> Iterator[tuple[str, Any, Any]]:
    from sklearn import datasets

    yield "digits", *datasets.load_digits(return_X_y=True)
    for seed in range(4):
        yield f"made-moons-{seed}", *datasets.make_moons(600, noise=0.06 + 0.04 * seed, random_state=seed)
        yield (
            f"made-circles-{seed}",
            *datasets.make_circles(600, noise=0.05, factor=0.3 + 0.1 * seed, random_state=seed),
        )
        X, y = datasets.make_blobs(600, centers=4, random_state=170 + seed)
        yield f"made-sheared-{seed}", X @ np.array([[0.6, -0.6], [-0.4, 0.8]]), y
        spreads = [1.0, 2.5, 0.5, 1.5]
        yield (
            f"made-varied-{seed}",
            *datasets.make_blobs(600, centers=4, cluster_std=spreads, random_state=70 + seed)[:2],
        )
        yield (
            f"made-classification-{seed}",
            *datasets.make_classification(
                800,
                n_features=6 + 4 * seed,
                n_informative=4 + seed,
                n_redundant=2,
                n_classes=3 + seed,
                n_clusters_per_class=1,
                class_sep=2.0,
                random_state=seed,
            ),
        )
        yield (
            f"made-blobs-{seed}",
            *datasets.make_blobs(1000, n_features=3 + 5 * seed, centers=6, cluster_std=2.5, random_state=seed)[:2],
        )


def _statsmodels() -> Iterator[tuple[str, Any, Any]]:
    try:
        from statsmodels.api import datasets
    except ImportError:
        print("statsmodels is not installed: its sets are left out", file=sys.stderr)
        return
    for name, (of, left_out) in STATSMODELS.items():
        frame = getattr(datasets, name).load_pandas().data
        classes = frame[of] > 0 if name == "fair" else frame[of]
        features = frame.drop(columns=[of, *left_out]).select_dtypes("number")
        yield f"real-{name}", features.fillna(features.mean()).to_numpy(float), classes.to_numpy()


def _r() -> Iterator[tuple[str, Any, Any]]:
    if shutil.which("Rscript") is None:
        print("R is not installed: its sets are left out", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as folder:
        script = Path(__file__).with_suffix(".R")
        subprocess.run(["Rscript", "--vanilla", str(script), folder], check=True, capture_output=True, text=True)
        for path in sorted(Path(folder).glob("*.csv")):
            table = np.loadtxt(path, delimiter=",", skiprows=1)
            yield path.stem, table[:, :-1], table[:, -1].astype(int)
