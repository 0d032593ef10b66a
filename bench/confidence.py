"""Calibration of the confidence of a row.

`rpf cluster --confidence` runs on the tables of verdict.py that have classes, with the true number of clusters. The
confidence of a row is compared with two shares that need the classes:

- matched: whether the row is in the cluster that its class is matched with (the matching of most rows);
- neighbours: of those of its 10 nearest rows (Euclidean distance, on the table as clustered) that have its class, the
  share in its cluster. Rows without such a neighbour are left out.

For each table the sums within bins of confidence are stored, and the mean squared error of each power of the score of
the verdict by which the share of co-leaf rows could be shrunk towards 1/K. The power of the library was chosen on
design sets; the bins are printed for check sets. The tables of docs/notes/2026-11-verdict.md are printed.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import record
import verdict

Line = dict[str, Any]

# Upper ends of the bins of confidence.
BINS = (0.3, 0.5, 0.7, 0.9, 1.0)
NEIGHBORS = 10
# The power of the score that the library shrinks by, and those it is compared with; 0 shrinks nothing.
POWER = 0.25
POWERS = (1.0, 0.7, 0.5, 0.35, POWER, 0.15, 0.1, 0.0)
# Larger sets were not used to choose the power.
DESIGN_ROWS = 2100
TARGETS = ("matched", "neighbours")


def matched(classes: Any, clusters: Any) -> Any:
    """Return for each row whether it is in the cluster that its class is matched with."""
    from scipy.optimize import linear_sum_assignment

    counts = np.zeros((classes.max() + 1, clusters.max() + 1), int)
    np.add.at(counts, (classes, clusters), 1)
    rows, columns = linear_sum_assignment(-counts)
    cluster_of = np.full(len(counts), -1)
    cluster_of[rows] = columns
    return (clusters == cluster_of[classes]).astype(float)


def agreeing(X: Any, classes: Any, clusters: Any) -> Any:
    """Return the share of near rows of the same class that are in the same cluster; NaN where there is none."""
    from sklearn.neighbors import NearestNeighbors

    near = NearestNeighbors(n_neighbors=min(NEIGHBORS, len(X) - 1)).fit(X).kneighbors(return_distance=False)
    same_class = classes[near] == classes[:, None]
    same = (same_class & (clusters[near] == clusters[:, None])).sum(axis=1)
    count = same_class.sum(axis=1)
    return np.where(count > 0, same / np.maximum(count, 1), np.nan)


def measure(table: verdict.Table) -> Line:
    """Cluster one table and compare the confidence of its rows with both shares."""
    family, name, X, y = table
    k = len(set(y[y >= 0].tolist()))
    with tempfile.TemporaryDirectory() as folder:
        data, labels = f"{folder}/table.npy", f"{folder}/labels.csv"
        np.save(data, X)
        words = ["cluster", data, "-k", str(k), "-o", labels, "--confidence", "--json", "-q", "--threads", "1"]
        run = subprocess.run([record.built("rpf"), *words], capture_output=True, text=True, check=True)
        with open(labels, newline="") as file:
            rows = list(csv.DictReader(file))
    score = json.loads(run.stdout)["verdict"]["score"]
    # Rows of class `noise` belong to no cluster.
    known = y >= 0
    clusters = np.array([int(row["cluster"]) for row in rows])[known]
    confidence = np.array([float(row["confidence"]) for row in rows])[known]
    shares = {"matched": matched(y[known], clusters), "neighbours": agreeing(X[known], y[known], clusters)}
    line = {"family": family, "name": name, "half": "check" if family == "mixtures" else verdict.half(name)}
    line |= {"n": len(X), "d": X.shape[1], "k": k, "score": score}
    co_leaf = 1 / k + (confidence - 1 / k) / score**POWER
    for target, share in shares.items():
        of = ~np.isnan(share)
        errors = {str(p): float(np.mean((1 / k + (co_leaf - 1 / k) * score**p - share)[of] ** 2)) for p in POWERS}
        bins = np.searchsorted(BINS[:-1], confidence[of], side="right")
        of_bins = [bins == b for b in range(len(BINS))]
        sums = [[int(b.sum()), float(confidence[of][b].sum()), float(share[of][b].sum())] for b in of_bins]
        line[target] = {"errors": errors, "bins": sums}
    return line


def tables(lines: list[Line]) -> str:
    """Return the tables of the page: each table of data counts as one."""
    powers = " | ".join(f"{p:g}" for p in POWERS)
    text = [f"| mean squared error, design | {powers} |", "|---" * (len(POWERS) + 1) + "|"]
    design = [x for x in lines if x["half"] == "design" and x["n"] <= DESIGN_ROWS]
    for target in TARGETS:
        means = [np.mean([x[target]["errors"][str(p)] for x in design]) for p in POWERS]
        text.append(f"| {target} | " + " | ".join(f"{mean:.4f}" for mean in means) + " |")
    text += ["", "| confidence, check | rows | mean confidence | matched | neighbours |", "|---|---|---|---|---|"]
    check = [x for x in lines if x["half"] == "check"]
    for b, end in enumerate(BINS):
        parts = {}
        for target in TARGETS:
            sums = np.array([x[target]["bins"] for x in check])
            parts[target] = (sums[:, b] / sums[:, :, 0].sum(axis=1)[:, None]).sum(axis=0)
        rows = sum(x["matched"]["bins"][b][0] for x in check)
        count, confidence, share = parts["matched"]
        near_count, _, near_share = parts["neighbours"]
        means = (confidence / count, share / count, near_share / near_count)
        start = 0.0 if b == 0 else BINS[b - 1]
        text.append(f"| {start:g} to {end:g} | {rows} | " + " | ".join(f"{mean:.2f}" for mean in means) + " |")
    return "\n".join(text)


def main() -> None:
    """Measure every table, store it and print the tables of the latest results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", default="battery,paper,mixtures")
    parser.add_argument("--print", action="store_true", help="only print the tables of the stored results")
    args = parser.parse_args()
    if not args.print:
        makers = {"battery": verdict.battery, "paper": verdict.paper, "mixtures": verdict.mixtures}
        with ThreadPoolExecutor(2) as pool:
            for family in args.families.split(","):
                for line in pool.map(measure, makers[family]()):
                    record.keep("confidence", line)
    latest = record.kept("confidence", ("family", "name"), of=record.last_source("confidence"))
    print(tables(list(latest.values())))


if __name__ == "__main__":
    main()
