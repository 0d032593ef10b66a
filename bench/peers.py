"""rpf beside what people use now: time, peak memory and accuracy on the same data, in one run.

`make bench` runs all of it (some hours); `--only`, `--methods` and `--max-n` run parts, which are added to those of
the same sources, and `--table` prints what there is without running anything. Every method has a process of its own
and five minutes; where one passes them or its memory, that is recorded and larger sizes are not tried.
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
from methods import METHODS
from peers_picture import draw
from peers_table import tables

SIZES = (1_000, 3_000, 10_000, 20_000, 80_000, 300_000, 1_000_000)
MIXTURE = (
    "rpf fixed",
    "rpf linear, 100 trees",
    "rpf top-k, 100 trees",
    "rpf auto",
    "KMeans",
    "SpectralClustering rbf",
    "SpectralClustering rbf, scaled gamma",
    "SpectralClustering nearest_neighbors",
    "RandomTreesEmbedding + SVD + KMeans",
    "HDBSCAN",
    "dask-ml SpectralClustering",
    "kernlab specc",
)
WORKS = ("mixture", "mnist", "rings", "predict", "wine")
KEY = ("work", "method", "n", "dtype", "seed")


class Bench:
    """What was asked for, and what is already known."""

    def __init__(self, asked: argparse.Namespace) -> None:
        """Read what there is."""
        self.asked = asked
        self.known = {} if asked.again else record.kept("peers", KEY)

    def fit(self, work: str, method: str, X: Any, folder: str, k: int, limit: float, **more: Any) -> bool:
        """Measure one method on the data in the folder, unless that was done; tell whether it came to an end."""
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
        """Measure the Gaussian mixture at growing n; who fails is not asked for more."""
        from sklearn.datasets import make_blobs

        failed: set[str] = set()
        for n in (n for n in SIZES if n <= self.asked.max_n):
            X, y = make_blobs(n, 10, centers=8, cluster_std=3.0, random_state=self.asked.seed)
            with isolate.stored(X.astype(self.asked.dtype), y) as (X, folder):
                for method in (m for m in MIXTURE if self.wants(m) and m not in failed):
                    if not self.fit("mixture", method, X, folder, 8, self.asked.limit, repeat=True):
                        failed.add(method)

    def mnist(self) -> None:
        """Measure MNIST as it is."""
        from rpfcluster.datasets import load_catalogued

        X, y = load_catalogued("mnist", record.data_folder(), return_X_y=True)
        rows = slice(0, self.asked.max_n)
        with isolate.stored(X[rows], y[rows]) as (X, folder):
            for method in filter(self.wants, ("rpf fixed", "SpectralClustering nearest_neighbors")):
                limit = isolate.PATIENT if method.startswith("rpf") else self.asked.limit
                self.fit("mnist", method, X, folder, 10, limit)

    def rings(self) -> None:
        """Measure three rings in the plane, ten million points."""
        from rpfcluster.datasets import make_rings

        X, y = make_rings(min(10_000_000, 10 * self.asked.max_n), random_state=self.asked.seed)
        with isolate.stored(X.astype(self.asked.dtype), y) as (X, folder):
            for method in filter(self.wants, ("rpf top-k, 50 trees",)):
                self.fit("rings", method, X, folder, 3, isolate.PATIENT)

    def predict(self) -> None:
        """Measure the placing of new rows by a model of a tenth as many."""
        from sklearn.datasets import make_blobs

        n = self.asked.max_n
        X, y = make_blobs(n + n // 10, 10, centers=8, cluster_std=3.0, random_state=self.asked.seed)
        with isolate.stored(X.astype(self.asked.dtype), y) as (X, folder):
            for affinity in ("top-k", "linear"):
                more = {"task": "predict", "affinity": affinity, "fit_rows": n // 10}
                if self.wants(method := f"rpf {affinity}, predict"):
                    self.fit("predict", method, X, folder, 8, isolate.PATIENT, **more)

    def wine(self) -> None:
        """Measure the paper's grid of beta1 and beta2 on Wine, by the command; its scaling is the paper's."""
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
                told = json.loads(done.stdout)
                line |= {"seconds": seconds, "settings": len(told["grid"]), "peak": told["peak_bytes"]}
                line |= {name: told["best_by_labels"]["scores"][name] for name in ("ari", "nmi", "rho_c")}
            record.keep("peers", line)
            print(f"wine, {line['method']}: {line.get('failed', f'{seconds:.2f} s')}", flush=True)

    def wants(self, method: str) -> bool:
        """Tell whether the method was asked for."""
        return not self.asked.methods or method in self.asked.methods


def main() -> None:
    """Run what was asked for, then print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = {"nargs": "+", "metavar": "NAME"}
    parser.add_argument("--only", choices=WORKS, default=WORKS, help=f"of {', '.join(WORKS)}", **words)
    parser.add_argument("--methods", help=f"of {'; '.join(METHODS)}", **words)
    parser.add_argument("--max-n", type=int, default=1_000_000, help="largest size; ten times as many rings")
    parser.add_argument("--quick", action="store_true", help="--max-n 10000: to see that all of it works")
    parser.add_argument("--dtype", choices=("float64", "float32"), default="float64", help="of all made-up data")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=isolate.LIMIT, help="seconds a method may take (300)")
    parser.add_argument("--again", action="store_true", help="measure anew what was measured on these sources")
    parser.add_argument("--table", action="store_true", help="run nothing, print what was last measured")
    parser.add_argument(
        "--picture", type=Path, help="where to draw the curves (docs/pictures/peers.png, of a whole run)"
    )
    asked = parser.parse_args()
    if asked.quick:
        asked.max_n = 10_000
    if not asked.table:
        bench = Bench(asked)
        for work in asked.only:
            getattr(bench, work)()
    source = record.last_source("peers") if asked.table else record.source()
    found = record.kept("peers", KEY, source)
    # The sets that are not made up come in a width of their own.
    lines = [line for line in found.values() if line["work"] in ("mnist", "wine") or line["dtype"] == asked.dtype]
    lines = [line for line in lines if line["seed"] == asked.seed]
    print(tables(lines))
    whole = any((line["work"], line["n"]) == ("mixture", SIZES[-1]) for line in lines)
    if picture := asked.picture or (record.ROOT / "docs" / "pictures" / "peers.png" if whole else None):
        draw(lines, picture)


if __name__ == "__main__":
    main()
