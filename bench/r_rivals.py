"""K-means and NJW of rpfcluster-paper beside R's `kmeans()` and kernlab's `specc()`, on the data sets of the paper.

`make rivals` runs both on tables prepared as in the paper, five seeds each, and keeps accuracy, Rand index and adjusted
Rand index of every run in bench/results/rivals-DATE.jsonl. R needs the Debian packages r-base-core and r-cran-kernlab.
`specc()` runs on the sets of at most 600 rows. The classes are used to score alone.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import record
import rivals_table

Line = dict[str, Any]
SETS = ("iris", "soybean", "spect", "imgseg", "heart", "wine", "wdbc", "robot", "madelon", "musk", "naval", "magic")
SPECC_ROWS = 600


def scores(labels: list[int], classes: list[int]) -> Line:
    """Return accuracy and Rand index in percent, and the adjusted Rand index."""
    n = len(classes)
    cells = Counter(zip(labels, classes, strict=True))
    names = sorted(set(classes))
    clusters = sorted(set(labels)) + [-1] * (len(names) - len(set(labels)))
    matched = max(sum(cells[pair] for pair in zip(clusters, order, strict=False)) for order in permutations(names))
    pairs = math.comb(n, 2)
    both = sum(math.comb(count, 2) for count in cells.values())
    ours, theirs = (sum(math.comb(count, 2) for count in Counter(of).values()) for of in (labels, classes))
    expected = ours * theirs / pairs
    return {
        "rho_c": 100 * matched / n,
        "rho_r": 100 * (pairs + 2 * both - ours - theirs) / pairs,
        "ari": (both - expected) / ((ours + theirs) / 2 - expected),
    }


def of_rpf(folder: Path, seeds: int, sets: list[str]) -> list[Line]:
    """Write the tables for R, and return the results of rpfcluster-paper."""
    example = ["cargo", "run", "--release", "--locked", "-q", "-p", "rpfcluster-paper", "--example", "rivals", "--"]
    words = [*example, str(record.data_folder()), str(folder), str(seeds), *sets]
    done = subprocess.run(words, cwd=record.ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def of_r(table: Path, seeds: int, like: Line) -> Iterator[Line]:
    """Yield the results of R on one table; `like` has its name and size."""
    specc = "specc" if like["n"] <= SPECC_ROWS else "kmeans"
    words = ["Rscript", str(record.ROOT / "bench/r_rivals.R"), str(table), str(like["k"]), str(seeds), specc]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    for text in done.stdout.splitlines():
        method, rule, seed, seconds, value, kind, words_ = text.split("\t")
        line = {key: like[key] for key in ("set", "n", "d", "k")}
        line |= {"by": "R", "method": method, "rule": rule, "seed": int(seed), "seconds": float(seconds)}
        line["inertia" if method == "K-means" else "sigma"] = None if value == "NA" else float(value)
        line[kind] = words_ if kind == "error" else [int(label) for label in words_.split()]
        yield line


def main() -> None:
    """Run both, and keep the scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS, metavar="SET", help="data sets")
    parser.add_argument("--seeds", type=int, default=5, help="runs of each rule")
    parser.add_argument("--table", action="store_true", help="print the tables of the latest results, run nothing")
    args = parser.parse_args()
    if args.table:
        print(rivals_table.kmeans(), rivals_table.njw(), sep="\n\n")
        return
    if shutil.which("Rscript") is None:
        sys.exit("Rscript is missing; install the Debian packages r-base-core and r-cran-kernlab")
    version = subprocess.run(["Rscript", "--version"], capture_output=True, text=True)
    r_version = (version.stdout + version.stderr).strip()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours = of_rpf(folder, args.seeds, args.sets)
        for set_ in args.sets:
            table = folder / f"{set_}.csv"
            classes = [int(row.rsplit(",", 1)[1]) for row in table.read_text().splitlines()]
            lines = [line for line in ours if line["set"] == set_]
            for line in [*lines, *of_r(table, args.seeds, lines[0])]:
                labels = line.pop("labels", None)
                line |= scores(labels, classes) if labels else {}
                record.keep("rivals", line | {"r": r_version})
            print(f"{set_}: done", file=sys.stderr)


if __name__ == "__main__":
    main()
