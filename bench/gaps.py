"""Rows with missing values: trees that route them natively against imputation before the fit.

Values are removed from tables with known classes, at random or by value, with a probability that grows with the rank of
the value in its column. `RPFCluster(missing="native")` clusters what is left; the same estimator clusters the table
after mean, KNN and iterative imputation by scikit-learn with its defaults. The true number of clusters is given.
Results are stored, and a table is printed.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import record
import verdict

SHARES = (0.05, 0.2, 0.4)
KINDS = ("random", "value")
METHODS = ("native", "mean", "knn", "iterative")
KEY = ("name", "kind", "share", "method", "seed")
# Tables of the battery without gaps, two more columns than can be removed, and at most 1,000 rows.
BATTERY = ("balance-scale", "tae", "thy", "vehicle", "wisc", "zoo")
PENDIGITS_ROWS = 1000


def tables(names: list[str] | None) -> Iterator[tuple[str, Any, Any]]:
    """Yield name, standardised values and classes of each table; Iris and PenDigits are not standardised."""
    from rpfcluster.datasets import load_catalogued

    for name in ("iris", "wine", "wdbc"):
        scaling = "raw" if name == "iris" else "standardized"
        X, y = load_catalogued(name, record.data_folder(), scaling=scaling, return_X_y=True)
        yield name, np.asarray(X, float), np.asarray(y)
    for _, name, X, y in verdict.battery():
        if name in BATTERY:
            spread = X.std(axis=0)
            yield name, (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1), y
    data = np.loadtxt(record.data_folder() / "large/pendigits/pendigits.tra", delimiter=",")
    rows = np.random.default_rng(0).choice(len(data), PENDIGITS_ROWS, replace=False)
    yield "pendigits", data[rows, :-1], data[rows, -1].astype(int)


def with_gaps(X: Any, kind: str, share: float, seed: int) -> Any:
    """Return the values with about this share missing; every column keeps some."""
    rng = np.random.default_rng([seed, round(100 * share), KINDS.index(kind)])
    n = len(X)
    weight = np.ones_like(X)
    if kind == "value":
        # Random order among equal values, so that a column of few values is treated like any other.
        weight = 2 * np.lexsort((rng.random(X.shape), X), axis=0).argsort(axis=0) / (n - 1)
    return np.where(rng.random(X.shape) < np.minimum(1, share * weight), np.nan, X)


def measure(X: Any, k: int, method: str, seed: int) -> tuple[Any, float]:
    """Return the labels and the seconds of one method, imputation included."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

    from rpfcluster import RPFCluster

    start = time.perf_counter()
    imputers = {"mean": SimpleImputer, "knn": KNNImputer, "iterative": lambda: IterativeImputer(random_state=seed)}
    if method != "native":
        X = imputers[method]().fit_transform(X)
    model = RPFCluster(k, missing="native" if method == "native" else "error", random_state=seed, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = model.fit(X).labels_
    return labels, time.perf_counter() - start


def table(lines: list[record.Line]) -> str:
    """Return the mean ARI of each method by kind and share, and by table."""
    groups = [(kind, share) for kind in KINDS for share in SHARES]

    def mean(method: str, **which: Any) -> str:
        of = [x["ari"] for x in lines if x["method"] == method and all(x[key] == value for key, value in which.items())]
        return f"{np.mean(of):.3f}" if of else ""

    text = [
        "| mean ARI | "
        + " | ".join(f"{share:.0%} {'at random' if kind == 'random' else 'by value'}" for kind, share in groups)
        + " | all | design | check |",
        "|---" * (len(groups) + 4) + "|",
    ]
    for method in METHODS:
        cells = [mean(method, kind=kind, share=share) for kind, share in groups]
        cells += [mean(method), mean(method, half="design"), mean(method, half="check")]
        text.append(f"| {method} | " + " | ".join(cells) + " |")
    text += ["", "| mean ARI | " + " | ".join(METHODS) + " |", "|---" * (len(METHODS) + 1) + "|"]
    for name in dict.fromkeys(x["name"] for x in lines):
        half = next(x["half"] for x in lines if x["name"] == name)
        text.append(f"| {name} ({half}) | " + " | ".join(mean(method, name=name) for method in METHODS) + " |")
    return "\n".join(text)


def main() -> None:
    """Measure every table, store it and print the table of the latest results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", help="only these, separated by commas")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--print", action="store_true", help="only print the table of the stored results")
    args = parser.parse_args()
    names = args.sets.split(",") if args.sets else None
    if not args.print:
        done = record.kept("gaps", KEY)
        for name, X, y in tables(names):
            if names is not None and name not in names:
                continue
            for kind, share, seed in ((k, s, i) for i in range(args.seeds) for k in KINDS for s in SHARES):
                gaps = with_gaps(X, kind, share, seed)
                for method in args.methods.split(","):
                    if (name, kind, share, method, seed) in done:
                        continue
                    labels, seconds = measure(gaps, len(set(y.tolist())), method, seed)
                    line = {"name": name, "half": verdict.half(name), "kind": kind, "share": share, "method": method}
                    line |= {"seed": seed, "n": len(X), "d": X.shape[1]}
                    record.keep("gaps", line | {"ari": verdict.ari(y, labels), "seconds": seconds})
    print(table(list(record.kept("gaps", KEY, of=record.last_source("gaps")).values())))


if __name__ == "__main__":
    main()
