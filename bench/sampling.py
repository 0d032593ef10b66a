"""What a sample costs in quality and saves in time: trees of a sample, and a fit of a sample that labels all rows.

`max_samples` grows the trees on m rows and routes all of them, so that every row enters the similarities and the
eigenvectors. `max_rows`, as `rpfcluster.dask` does, clusters m rows and labels the others by predict. Both are compared
with the fit of all rows, which is m = n. Each run has a process of its own; seconds of the processor are those of that
process, and other work on the machine does not disturb them. Results are stored, and tables are printed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import isolate
import numpy as np
import record

KEY = ("name", "kind", "affinity", "m", "seed")
KINDS = ("max_samples", "max_rows")
AFFINITIES = ("linear", "top-k")
SIZES = (10_000, 30_000, 100_000, 300_000)
SHAPE_ROWS = 200_000

Table = tuple[Any, Any, int]


def mixture(n: int) -> Table:
    """Return eight Gaussian clusters in ten dimensions, those of bench/peers.py."""
    from sklearn.datasets import make_blobs

    X, y = make_blobs(n, 10, centers=8, cluster_std=3.0, random_state=0)
    return X, y, 8


def uneven(n: int) -> Table:
    """Return eight Gaussian clusters of which each has half as many rows as the one before; the last has 0.4 %."""
    from sklearn.datasets import make_blobs

    shares = 0.5 ** np.arange(8)
    sizes = np.round(n * shares / shares.sum()).astype(int)
    X, y = make_blobs(sizes.tolist(), 10, cluster_std=3.0, random_state=0)
    return X, y, 8


def shape(name: str) -> Table:
    """Return a generated shape."""
    from rpfcluster.datasets import make_shape

    X, y = make_shape(name, SHAPE_ROWS, random_state=0)
    return X, y, len(np.unique(y[y >= 0]))


def catalogued(name: str, scaling: str = "raw") -> Table:
    """Return a data set of the catalogue."""
    from rpfcluster.datasets import load_catalogued

    X, y = load_catalogued(name, record.data_folder(), scaling=scaling, return_X_y=True)
    return np.asarray(X), np.asarray(y), len(np.unique(y))


SETS: dict[str, Callable[[], Table]] = {
    "pendigits": lambda: catalogued("pendigits"),
    "rings": lambda: shape("rings"),
    "spirals": lambda: shape("spirals"),
    "moons": lambda: shape("moons"),
    "mnist": lambda: catalogued("mnist"),
    "uneven": lambda: uneven(1_000_000),
    "mixture": lambda: mixture(1_000_000),
    "covertype": lambda: catalogued("covertype", "standardized"),
    "mixture, 10 million": lambda: mixture(10_000_000),
}


def measure(name: str, asked: argparse.Namespace) -> None:
    """Measure what is asked for on one set, and store it."""
    done = {} if asked.again else record.kept("sampling", KEY)
    X, y, k = SETS[name]()
    n = len(X)
    with isolate.stored(X, y) as (X, folder):
        for m in (*(m for m in asked.sizes if m < n), n):
            for kind in asked.kinds if m < n else KINDS[:1]:
                for affinity in asked.affinities:
                    key = (name, kind, affinity, m)
                    seeds = [seed for seed in range(asked.seeds) if (*key, seed) not in done]
                    if not seeds:
                        continue
                    job = {"folder": folder, "task": "sampled", "k": k, "seeds": seeds}
                    job |= {"kind": kind, "affinity": affinity, "m": m}
                    for found in isolate.run(job, asked.limit):
                        line = dict(zip(KEY, key, strict=False)) | {"n": n, "d": X.shape[1], "k": k}
                        record.keep("sampling", line | found)
                        said = found.get("failed") or f"ARI {found['ari']:.3f}, {found['cpu_seconds']:.1f} CPU s"
                        print(f"{name}, {kind} {m:,}, {affinity}, seed {found['seed']}: {said}", flush=True)


def tables(lines: list[record.Line]) -> str:
    """Return quality and time by set, affinity, kind and m."""
    text = ["| set | affinity | sample | rows | ARI | rho_c | CPU s | wall s | seeds |", "|---" * 9 + "|"]
    names = {"max_samples": "of trees (`max_samples`)", "max_rows": "of the fit (`max_rows`)"}
    groups: dict[tuple[Any, ...], list[record.Line]] = {}
    for x in lines:
        groups.setdefault((list(SETS).index(x["name"]), x["affinity"], x["kind"], x["m"]), []).append(x)
    for (place, affinity, kind, m), group in sorted(groups.items(), key=lambda item: (*item[0][:2], -item[0][3])):
        cells = [list(SETS)[place], affinity, "none" if m == group[0]["n"] else names[kind], f"{m:,}"]
        if any("failed" in x for x in group):
            cells += [group[0].get("failed", ""), "", "", "", ""]
        else:
            ari = [x["ari"] for x in group]
            spread = f" ({min(ari):.3f} to {max(ari):.3f})" if len(ari) > 1 else ""
            means = {key: np.mean([x[key] for x in group]) for key in ("rho_c", "cpu_seconds", "seconds")}
            cells += [f"{np.mean(ari):.3f}{spread}", f"{means['rho_c']:.1f}"]
            cells += [f"{means['cpu_seconds']:.1f}", f"{means['seconds']:.1f}", str(len(ari))]
        text.append("| " + " | ".join(cells) + " |")
    return "\n".join(text)


def main() -> None:
    """Measure, store and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words = {"nargs": "+", "metavar": "NAME"}
    parser.add_argument("--sets", choices=SETS, default=[name for name in SETS if "million" not in name], **words)
    parser.add_argument("--kinds", choices=KINDS, default=KINDS, **words)
    parser.add_argument("--affinities", choices=AFFINITIES, default=AFFINITIES, **words)
    parser.add_argument("--sizes", type=int, default=SIZES, nargs="+", help="rows of a sample")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for one run")
    parser.add_argument("--again", action="store_true", help="repeat what is already measured at these sources")
    parser.add_argument("--print", action="store_true", help="only print the tables of the stored results")
    asked = parser.parse_args()
    if not asked.print:
        for name in asked.sets:
            measure(name, asked)
    print(tables(list(record.last("sampling", KEY, lambda _: True).values())))


if __name__ == "__main__":
    main()
