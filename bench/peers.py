"""rpf against its peers: time, peak memory and accuracy on the same data.

`make bench` runs everything (some hours). The peers of `make field` (field_methods.py) run beside the others, `PCA +`
on MNIST only, since the mixture has ten columns. `--only`, `--methods` and `--max-n` run a part; results add up as
long as the sources stay the same. `--table` prints the stored results. Each method runs in a process of its own with a
limit of five minutes; on MNIST, the rings and predict, rpf has an hour. The rings, predict and the sweep on Wine
(without a limit) measure rpf alone. A method that exceeds the time or memory limit is recorded as failed and not run
on larger sizes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from pathlib import Path
from typing import Any

import isolate
import record
from field_methods import FIELD, PLAIN
from methods import METHODS
from peers_picture import draw
from peers_table import KEY, measured, tables

SIZES = (1_000, 3_000, 10_000, 20_000, 80_000, 300_000, 1_000_000)
MIXTURE = (
    "rpf default",
    "rpf linear, 100 trees",
    "rpf top-k, 100 trees",
    "KMeans",
    "SpectralClustering rbf",
    "SpectralClustering rbf, scaled gamma",
    "SpectralClustering nearest_neighbors",
    "RandomTreesEmbedding + SVD + KMeans",
    "HDBSCAN",
    "dask-ml SpectralClustering",
    "kernlab specc",
    *PLAIN,
)
MNIST = ("rpf default", "SpectralClustering nearest_neighbors", *FIELD)
WORKS = ("mixture", "mnist", "rings", "predict", "wine")


class Bench:
    """The options, and the results that exist already."""

    def __init__(self, asked: argparse.Namespace) -> None:
        """Read the stored results."""
        self.asked = asked
        self.known = {} if asked.again else record.kept("peers", KEY)

    def fit(self, work: str, method: str, X: Any, folder: str, k: int, limit: float, **more: Any) -> bool:
        """Measure one method on the data in the folder, unless it is stored; return whether it succeeded."""
        line = {"work": work, "method": method, "n": len(X), "d": X.shape[1], "dtype": str(X.dtype), "k": k}
        line["seed"] = self.asked.seed
        done = self.known.get(tuple(line[name] for name in KEY))
        if done is None:
            job = {"folder": folder, "task": "fit", "method": method, "k": k, "seeds": [line["seed"]], **more}
            for found in isolate.run(job, limit):
                done = record.keep("peers", line | found)
                seconds = f"{found['seconds']:.2f} s, rho_c {found['rho_c']:.2f}" if "seconds" in found else ""
                print(f"{work}, {len(X):,} rows, {method}: {seconds or found['failed']}", flush=True)
        return done is not None and "failed" not in done

    def mixture(self) -> None:
        """Measure the Gaussian mixture at increasing n; a method that fails is dropped."""
        from sklearn.datasets import make_blobs

        failed: set[str] = set()
        for n in (n for n in SIZES if n <= self.asked.max_n):
            X, y = make_blobs(n, 10, centers=8, cluster_std=3.0, random_state=self.asked.seed)
            with isolate.stored(X.astype(self.asked.dtype), y) as (X, folder):
                for method in (m for m in MIXTURE if self.wants(m) and m not in failed):
                    if not self.fit("mixture", method, X, folder, 8, self.asked.limit, repeat=True):
                        failed.add(method)

    def mnist(self) -> None:
        """Measure raw MNIST."""
        from rpfcluster.datasets import load_catalogued

        X, y = load_catalogued("mnist", record.data_folder(), return_X_y=True)
        rows = slice(0, self.asked.max_n)
        with isolate.stored(X[rows], y[rows]) as (X, folder):
            for method in filter(self.wants, MNIST):
                limit = isolate.PATIENT if method.startswith("rpf") else self.asked.limit
                self.fit("mnist", method, X, folder, 10, limit)

    def rings(self) -> None:
        """Measure three rings in two dimensions, ten million rows."""
        from rpfcluster.datasets import make_rings

        X, y = make_rings(min(10_000_000, 10 * self.asked.max_n), random_state=self.asked.seed)
        with isolate.stored(X.astype(self.asked.dtype), y) as (X, folder):
            for method in filter(self.wants, ("rpf top-k, 50 trees",)):
                self.fit("rings", method, X, folder, 3, isolate.PATIENT)

    def predict(self) -> None:
        """Measure predict, with a model fitted on a tenth as many rows."""
        from sklearn.datasets import make_blobs

        n = self.asked.max_n
        X, y = make_blobs(n + n // 10, 10, centers=8, cluster_std=3.0, random_state=self.asked.seed)
        with isolate.stored(X.astype(self.asked.dtype), y) as (X, folder):
            for affinity in ("top-k", "linear"):
                more = {"task": "predict", "affinity": affinity, "fit_rows": n // 10}
                if self.wants(method := f"rpf {affinity}, predict"):
                    self.fit("predict", method, X, folder, 8, isolate.PATIENT, **more)

    def wine(self) -> None:
        """Measure the paper's grid of beta1 and beta2 on Wine, scaled as in the paper, with the command."""
        file = record.data_folder() / "wine" / "wine.data"
        for cut in ("ncut", "kway"):
            line = {"work": "wine", "method": f"rpf sweep {cut}", "n": 178, "dtype": "float64", "seed": self.asked.seed}
            if tuple(line[name] for name in KEY) in self.known or not self.wants(line["method"]):
                continue
            words = ["sweep", str(file), "-k", "3", "--label", "1", "--standardize", "6,14", "--grid", "paper"]
            words += ["--method", cut, "--seed", str(self.asked.seed), "--json", "--quiet"]
            clock = time.perf_counter()
            done = subprocess.run([str(record.built("rpf")), *words], capture_output=True, text=True)
            seconds = time.perf_counter() - clock
            if done.returncode:
                line["failed"] = f"failed: {' '.join(done.stderr.split())[:200]}"
            else:
                printed = json.loads(done.stdout)
                line |= {"seconds": seconds, "settings": len(printed["grid"]), "peak": printed["peak_bytes"]}
                line |= {name: printed["best_by_labels"]["scores"][name] for name in ("ari", "nmi", "rho_c")}
            record.keep("peers", line)
            print(f"wine, {line['method']}: {line.get('failed', f'{seconds:.2f} s')}", flush=True)

    def wants(self, method: str) -> bool:
        """Return whether the method is selected."""
        return not self.asked.methods or method in self.asked.methods


def main() -> None:
    """Run the benchmark, then print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = {"nargs": "+", "metavar": "NAME"}
    parser.add_argument("--only", choices=WORKS, default=WORKS, help=f"among {', '.join(WORKS)}", **words)
    parser.add_argument("--methods", help=f"among {'; '.join(METHODS)}", **words)
    parser.add_argument("--max-n", type=int, default=1_000_000, help="most rows; ten times as many for the rings")
    parser.add_argument("--quick", action="store_true", help="same as --max-n 10000, to check that everything runs")
    parser.add_argument("--dtype", choices=("float64", "float32"), default="float64", help="type of generated data")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=isolate.LIMIT, help="time limit for a method, in seconds (300)")
    parser.add_argument("--again", action="store_true", help="repeat what is already measured at these sources")
    parser.add_argument("--table", action="store_true", help="print the stored results without running anything")
    parser.add_argument("--picture", type=Path, help="file for the curves (after a full run docs/pictures/peers.png)")
    asked = parser.parse_args()
    if asked.quick:
        asked.max_n = 10_000
    if not asked.table:
        bench = Bench(asked)
        for work in asked.only:
            getattr(bench, work)()
    source = record.last_source("peers") if asked.table else record.source()
    lines = measured(source, asked.dtype, asked.seed)
    print(tables(lines))
    whole = any((line["work"], line["n"]) == ("mixture", SIZES[-1]) for line in lines)
    if picture := asked.picture or (record.ROOT / "docs" / "pictures" / "peers.png" if whole else None):
        draw(lines, picture)


if __name__ == "__main__":
    main()
