"""Calibration of the verdict and of the automatic number of clusters.

Tables: the battery of the data folder, the paper's sets, made-up mixtures, and samples without structure. The name of a
set decides by its hash whether it is a design set, on which rules and constants were chosen, or a check set, on which
they are only reported; made-up tables are all check sets. `rpf` clusters each with the true number of clusters and with
`-k auto`; scikit-learn's HDBSCAN, which is not given the number either, runs beside it. Results are stored, and the
tables of docs/notes/2026-11-verdict.md are printed.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import record

Line = dict[str, Any]
Table = tuple[str, str, Any, Any]

# Columns of the samples without structure, and samples for each.
DIMENSIONS = (1, 2, 3, 5, 10, 20, 50)
SAMPLES = 200
# The clusters that structureless samples are cut into when K is given.
NULL_K = 4
# The paper's sets that are small enough to run in seconds.
PAPER = ("iris", "soybean", "spect", "imgseg", "heart", "wine", "wdbc")
HDBSCAN_SIZES = (5, 15, 30)
WORDS = ("clear", "plausible", "weak", "none")


def half(name: str) -> str:
    """Return whether a set is a design set or a check set."""
    return ("design", "check")[int(hashlib.sha256(name.encode()).hexdigest(), 16) % 2]


def battery() -> Iterator[Table]:
    """Yield the numeric tables of the battery; missing values are column means, class `noise` is -1."""
    import pandas as pd

    for path in sorted((record.data_folder() / "battery").glob("*/*.csv")):
        frame = pd.read_csv(path)
        features = frame.iloc[:, :-1]
        if len(features.select_dtypes("number").columns) == features.shape[1]:
            yield "battery", path.stem, features.fillna(features.mean()).to_numpy(float), _codes(frame.iloc[:, -1])


def _codes(classes: Any) -> Any:
    classes = np.asarray(classes).astype(str)
    names = sorted(set(classes) - {"noise"})
    return np.array([names.index(c) if c != "noise" else -1 for c in classes])


def paper() -> Iterator[Table]:
    """Yield the small sets of the paper, raw and standardised."""
    from rpfcluster.datasets import load_catalogued

    for name in PAPER:
        for scaling in ("raw", "standardized"):
            X, y = load_catalogued(name, record.data_folder(), scaling=scaling, return_X_y=True)
            yield f"paper {scaling}", name, np.asarray(X, float), np.asarray(y)


def mixtures() -> Iterator[Table]:
    """Yield 60 mixtures of normal clusters, from far apart to one cloud."""
    for number in range(60):
        rng = np.random.default_rng(1000 + number)
        k, d = int(rng.integers(2, 9)), int(rng.integers(2, 21))
        n, apart = int(rng.integers(100, 1001)), rng.uniform(0.3, 6.0)
        y = rng.integers(0, k, n)
        centers = rng.normal(size=(k, d)) * apart / np.sqrt(2)
        X = centers[y] + rng.normal(size=(n, d)) * rng.uniform(0.5, 1.5, size=k)[y][:, None]
        yield "mixtures", f"mixture-{number:02}", X, y


def structureless(samples: int) -> Iterator[Table]:
    """Yield uniform, normal and Student t samples."""
    for d in DIMENSIONS:
        for number in range(samples):
            rng = np.random.default_rng([77, d, number])
            n = (60, 200, 500)[number % 3]
            size = (n, d)
            draws = (rng.random, rng.standard_normal, functools.partial(rng.standard_t, 5))
            X = draws[number // 3 % 3](size)
            yield "structureless", f"{d}-{number:03}", X, np.zeros(n, int)


def measure(table: Table) -> Iterator[Line]:
    """Cluster one table with the true K, with K chosen, and with HDBSCAN."""
    family, name, X, y = table
    known = y >= 0
    k = len(set(y[known].tolist()))
    line = {"family": family, "name": name, "half": "check" if family in ("mixtures", "structureless") else half(name)}
    line |= {"n": len(X), "d": X.shape[1], "k_true": k}
    with tempfile.TemporaryDirectory() as folder:
        data, labels = f"{folder}/table.npy", f"{folder}/labels.csv"
        np.save(data, X)
        for method, asked in (("given", str(k if k > 1 else NULL_K)), ("auto", "auto")):
            words = ["cluster", data, "-k", asked, "-o", labels, "--json", "-q", "--threads", "1"]
            run = subprocess.run([record.built("rpf"), *words], capture_output=True, text=True, check=True)
            found = json.loads(run.stdout)
            clusters = np.loadtxt(labels, delimiter=",", skiprows=1, dtype=int)[:, 1]
            verdict = {part: found["verdict"][part] for part in ("word", "score")}
            score = ari(y[known], clusters[known])
            yield (
                line | verdict | {"method": method, "k": found["k"], "ari": score, "seconds": found["seconds"]["total"]}
            )
    if family == "battery":
        from sklearn.cluster import HDBSCAN

        for size in HDBSCAN_SIZES:
            clusters = HDBSCAN(min_cluster_size=size, copy=True).fit_predict(X)
            found = len(set(clusters[clusters >= 0].tolist()))
            yield line | {"method": f"HDBSCAN({size})", "k": found, "ari": ari(y[known], clusters[known])}


def ari(truth: Any, clusters: Any) -> float:
    """Return the adjusted Rand index; 0 for one class."""
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(truth, clusters)) if len(set(truth.tolist())) > 1 else 0.0


def _ranks(values: list[float]) -> Any:
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(count)
    return (ends - (count - 1) / 2)[place]


def spearman(a: list[float], b: list[float]) -> float:
    """Return the rank correlation."""
    return float(np.corrcoef(_ranks(a), _ranks(b))[0, 1])


def tables(lines: list[Line]) -> str:
    """Return the tables of the page."""
    text = [
        "| K chosen, sets of up to 2,100 rows and K up to 10 | sets | K found | within one | mean ARI |",
        "|---|---|---|---|---|",
    ]
    for which in ("design", "check"):
        small = [
            x
            for x in lines
            if x["family"] == "battery" and x["n"] <= 2100 and 2 <= x["k_true"] <= 10 and x["half"] == which
        ]
        for method in ("given", "auto", *(f"HDBSCAN({size})" for size in HDBSCAN_SIZES)):
            of = [x for x in small if x["method"] == method]
            if of:
                exact = sum(x["k"] == x["k_true"] for x in of)
                near = sum(abs(x["k"] - x["k_true"]) <= 1 for x in of)
                mean = np.mean([x["ari"] for x in of])
                text.append(f"| {method}, {which} | {len(of)} | {exact} | {near} | {mean:.3f} |")
    text += [
        "",
        "| verdict, true K | tables | rank correlation | clear | of them ARI below 0.5 |",
        "|---|---|---|---|---|",
    ]
    for which, chosen in (
        ("design: battery and paper", lambda x: x["half"] == "design"),
        ("check: battery and paper", lambda x: x["half"] == "check" and x["family"] != "mixtures"),
        ("check: mixtures", lambda x: x["family"] == "mixtures"),
    ):
        of = [x for x in lines if x["method"] == "given" and x["family"] != "structureless" and chosen(x)]
        if len(of) > 2:
            clear = [x for x in of if x["word"] == "clear"]
            rank = spearman([x["score"] for x in of], [x["ari"] for x in of])
            wrong = sum(x["ari"] < 0.5 for x in clear)
            text.append(f"| {which} | {len(of)} | {rank:.2f} | {len(clear)} | {wrong} |")
    text += [
        "",
        f"| without structure, columns | samples | split by auto | {' | '.join(WORDS)} (K = {NULL_K}) |",
        "|---" * 7 + "|",
    ]
    for d in DIMENSIONS:
        of = [x for x in lines if x["family"] == "structureless" and x["d"] == d]
        given = [x for x in of if x["method"] == "given"]
        if given:
            split = sum(x["k"] > 1 for x in of if x["method"] == "auto")
            counts = " | ".join(str(sum(x["word"] == word for x in given)) for word in WORDS)
            text.append(f"| {d} | {len(given)} | {split} | {counts} |")
    return "\n".join(text)


def picture(lines: list[Line], path: Path) -> None:
    """Draw the score over the adjusted Rand index of the check tables."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4.8))
    colours = dict(zip(WORDS, ("#0b6e4f", "#4a90c2", "#c98a1b", "#999999"), strict=True))
    check = [x for x in lines if x["method"] == "given" and x["half"] == "check" and x["family"] != "structureless"]
    for word in WORDS:
        of = [x for x in check if x["word"] == word]
        axes.scatter(
            [x["score"] for x in of], [x["ari"] for x in of], s=22, color=colours[word], label=f"{word} ({len(of)})"
        )
    axes.plot([0, 1], [0, 1], color="#cccccc", zorder=0)
    axes.set(
        xlabel="score of the verdict",
        ylabel="adjusted Rand index with the classes",
        title="Tables not used to set the limits",
    )
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> None:
    """Measure what is asked for, store it and print the tables of the latest results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", default="battery,paper,mixtures,structureless")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="structureless samples for each number of columns")
    parser.add_argument("--print", action="store_true", help="only print the tables of the stored results")
    parser.add_argument("--picture", type=Path, help="also draw the calibration plot")
    args = parser.parse_args()
    families = args.families.split(",")
    makers = {
        "battery": battery,
        "paper": paper,
        "mixtures": mixtures,
        "structureless": lambda: structureless(args.samples),
    }
    if not args.print:
        with ThreadPoolExecutor(2) as pool:
            for name in families:
                for lines in pool.map(lambda table: list(measure(table)), makers[name]()):
                    for line in lines:
                        record.keep("verdict", line)
    latest = list(record.kept("verdict", ("family", "name", "method"), of=record.last_source("verdict")).values())
    print(tables(latest))
    if args.picture:
        picture(latest, args.picture)


if __name__ == "__main__":
    main()
