"""Principal components chosen by default against the columns themselves, on every table that they apply to.

`rpf` clusters each table of more than 50 columns, raw and standardised, with the true number of clusters, the same
number of trees and the default otherwise, for some seeds: by `--components auto` and by `--components none`. The name
of a set decides by its hash whether it is a design set or a check set (see verdict.py). Results are stored, and the
table of docs/notes/2026-11-components.md is printed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import record
import verdict
from markdown_table import markdown_table

Line = dict[str, Any]

# Tables of no more columns stay as they are.
NARROW = 50
# The sets of the data folder with more columns; of the battery, arrhythmia.
CATALOGUED = ("robot", "madelon", "musk", "usps", "mnist", "covertype")
# Above this many rows a set is measured only when it is asked for by name.
MANY_ROWS = 50_000
METHODS = {"auto": "--components auto", "none": "--components none"}
TREES = 400
KEY = ("name", "scaling", "method", "seed")
# A loss that counts.
LOSS = 0.02


def sets(asked: list[str] | None) -> Iterator[verdict.Table]:
    """Yield scaling, name, rows and classes."""
    from sklearn.datasets import load_digits

    from rpfcluster.datasets import load_catalogued

    digits = load_digits()
    tables = [(name, X, y) for _, name, X, y in verdict.battery() if X.shape[1] > NARROW]
    tables.append(("digits", digits.data, digits.target))
    for name, X, y in tables:
        if asked is None or name in asked:
            yield "raw", name, X, y
            spread = X.std(axis=0)
            yield "standardized", name, (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), y
    for name in CATALOGUED:
        if asked is not None and name not in asked:
            continue
        for scaling in ("raw", "standardized"):
            X, y = load_catalogued(name, record.data_folder(), scaling=scaling, return_X_y=True)
            if asked is not None or len(X) <= MANY_ROWS:
                yield scaling, name, np.asarray(X), np.asarray(y)


def measure(table: verdict.Table, seeds: int, known: dict[Any, Any]) -> Iterator[Line]:
    """Cluster one table with and without components."""
    scaling, name, X, y = table
    kept = y >= 0
    k = len(set(y[kept].tolist()))
    line = {"name": name, "scaling": scaling, "half": verdict.half(name), "n": len(X), "d": X.shape[1], "k": k}
    with tempfile.TemporaryDirectory() as folder:
        data, labels = f"{folder}/table.npy", f"{folder}/labels.npy"
        np.save(data, X)
        for method, options in METHODS.items():
            for seed in range(seeds):
                if (name, scaling, method, seed) in known:
                    continue
                words = ["cluster", data, "-k", str(k), "-o", labels, "--json", "-q", "--seed", str(seed)]
                words += ["--trees", str(TREES), *options.split()]
                run = subprocess.run([record.built("rpf"), *words], capture_output=True, text=True, check=True)
                params = json.loads(run.stdout)["params"]
                of = {"components": params["components"], "affinity": params["affinity"], "power": params["power"]}
                found = verdict.ari(y[kept], np.load(labels)[kept])
                yield line | {"method": method, "seed": seed, "ari": found} | of


def tables(lines: list[Line]) -> str:
    """Return the mean ARI of each table and the difference, the largest loss first."""
    rows = []
    for name, scaling in dict.fromkeys((line["name"], line["scaling"]) for line in lines):
        of = [line for line in lines if (line["name"], line["scaling"]) == (name, scaling)]
        aris = {m: [line["ari"] for line in of if line["method"] == m] for m in METHODS}
        if not all(aris.values()):
            continue
        mean = {m: statistics.mean(found) for m, found in aris.items()}
        gain = mean["auto"] - mean["none"]
        counts = sorted({str(line["components"]) for line in of if line["method"] == "auto"})
        spread = {m: f"{mean[m]:.3f} ({min(found):.2f} to {max(found):.2f})" for m, found in aris.items()}
        cells = (f"{name}, {scaling}", of[0]["half"], f"{of[0]['n']:,} x {of[0]['d']}", "/".join(counts))
        loses = " (loses)" if gain < -LOSS else ""
        rows.append((gain, (*cells, spread["none"], spread["auto"], f"{gain:+.3f}{loses}")))
    head = ("table", "half", "size", "components", "columns", "components, ARI", "difference")
    return markdown_table(head, [row for _, row in sorted(rows, key=lambda of: of[0])])


def main() -> None:
    """Measure what is asked for, store it and print the table of the latest results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="default: all of up to 50,000 rows")
    parser.add_argument("--seeds", type=int, default=3, help="number of seeds (3)")
    parser.add_argument("--table", action="store_true", help="print the stored results without running anything")
    args = parser.parse_args()
    if not args.table:
        known = record.kept("components", KEY)
        for table in sets(args.sets):
            for line in measure(table, args.seeds, known):
                record.keep("components", line)
                print(
                    f"{line['name']} {line['scaling']} {line['method']} {line['seed']}: {line['ari']:.3f}", flush=True
                )
    print(tables(list(record.last("components", KEY, lambda _: True).values())))


if __name__ == "__main__":
    main()
