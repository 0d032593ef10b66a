"""The choice of a setting against each fixed setting, on tables that are split into design and check sets.

`rpf` clusters every numeric table of the battery, the paper's small sets, the sets of bundled_sets.py and made-up
mixtures with the true number of clusters: with a choice of the setting, with each setting that it chooses from, and by
the Leiden algorithm. The name of a set decides by its hash whether it is a design set, on which families and margins
were chosen, or a check set, on which they are only reported (see verdict.py). The table of
docs/notes/2026-11-families.md is printed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import record
import verdict
from bundled_sets import bundled

Line = dict[str, Any]

METHODS = {
    "auto": "--affinity auto",
    "sharp: top 20, power 8": "--affinity top-k --top 20 --power 8",
    "top 10, power 4": "--affinity top-k --top 10 --power 4",
    "soft: top 10, power 2": "--affinity top-k --top 10 --power 2",
    "leiden at K": "--method leiden --affinity top-k",
}
KEY = ("family", "name", "method")


def measure(table: verdict.Table) -> Iterator[Line]:
    """Cluster one table with the choice and with each fixed setting."""
    family, name, X, y = table
    known = y >= 0
    k = len(set(y[known].tolist()))
    half = "check" if family == "mixtures" else verdict.half(name)
    line = {"family": family, "name": name, "half": half, "n": len(X), "d": X.shape[1], "k": k}
    with tempfile.TemporaryDirectory() as folder:
        data, labels = f"{folder}/table.npy", f"{folder}/labels.csv"
        np.save(data, X)
        for method, options in METHODS.items():
            words = ["cluster", data, "-k", str(k), "-o", labels, "--json", "-q", "--threads", "1", *options.split()]
            run = subprocess.run([record.built("rpf"), *words], capture_output=True, text=True, check=True)
            found = json.loads(run.stdout)
            clusters = np.loadtxt(labels, delimiter=",", skiprows=1, dtype=int)[:, 1]
            of = {"method": method, "ari": verdict.ari(y[known], clusters[known])}
            yield line | of | {"affinity": found["params"]["affinity"], "seconds": found["seconds"]["total"]}


def tables(lines: list[Line]) -> str:
    """Return the mean ARI of each method by family and half."""
    groups = sorted({(x["half"], x["family"]) for x in lines}, reverse=True)
    names = [
        f"{family}, {half} ({len({x['name'] for x in lines if (x['half'], x['family']) == (half, family)})})"
        for half, family in groups
    ]
    text = ["| mean ARI | " + " | ".join(names) + " | seconds of all |", "|---" * (len(groups) + 2) + "|"]
    for method in METHODS:
        of = [x for x in lines if x["method"] == method]
        cells = [np.mean([x["ari"] for x in of if (x["half"], x["family"]) == group] or [0]) for group in groups]
        seconds = sum(x["seconds"] for x in of)
        text.append(f"| {method} | " + " | ".join(f"{cell:.3f}" for cell in cells) + f" | {seconds:.0f} |")
    return "\n".join(text)


def main() -> None:
    """Measure every table, store it and print the table of the latest results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", default="battery,paper,bundled,mixtures")
    parser.add_argument("--half", choices=("design", "check"), help="only these sets")
    parser.add_argument("--print", action="store_true", help="only print the table of the stored results")
    args = parser.parse_args()
    if not args.print:
        makers = {"battery": verdict.battery, "paper": verdict.paper, "bundled": bundled, "mixtures": verdict.mixtures}
        with ThreadPoolExecutor(2) as pool:
            for family in args.families.split(","):
                chosen = (t for t in makers[family]() if args.half is None or verdict.half(t[1]) == args.half)
                for lines in pool.map(lambda table: list(measure(table)), chosen):
                    for line in lines:
                        record.keep("families", line)
    latest = record.kept("families", KEY, of=record.last_source("families"))
    print(tables(list(latest.values())))


if __name__ == "__main__":
    main()
