"""How good the choice without labels is: auto beside every fixed setting, the best by labels, and the peers.

Two families, since methods that win on one lose on the other: the real sets of the data folder, as they are and
standardised, and made-up shapes in the plane at three sizes. The true number of clusters is given to all. Results are
kept line by line, so a run that was stopped goes on where it was; a table is printed of all there are.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import isolate
import record
from choosing_best import BEST, OTHERS, of_other_seeds
from choosing_picture import draw
from choosing_table import tables
from methods import SEEDLESS

METHODS = (
    "rpf auto",
    "rpf linear",
    "rpf top-k power 1",
    "rpf top-k power 4",
    "rpf top-k power 8",
    "rpf paper",
    BEST,
    "KMeans",
    "SpectralClustering rbf",
    "SpectralClustering nearest_neighbors",
    "HDBSCAN",
    "GaussianMixture",
    "Ward",
)
KEY = ("family", "set", "scaling", "method", "seed")
SHAPE_SIZES = (300, 1_000, 3_000)
# The dense kernel of more rows takes the machine's memory before it takes its time.
RBF_ROWS = 10_000
# Some thirty runs, each as long as one of auto at most.
GRID_LIMIT = 6 * isolate.PATIENT

Set = tuple[str, str, str]


def sets() -> list[Set]:
    """Name every set: family, name, scaling. Noise has no clusters, Covertype is not on the list."""
    from rpfcluster.datasets import CATALOG, SHAPES

    scalings = ("raw", "standardized")
    real = [("real", name, scaling) for name in CATALOG if name != "covertype" for scaling in scalings]
    return real + [("shapes", f"{name}-{n}", "raw") for name in SHAPES if name != "noise" for n in SHAPE_SIZES]


def load(which: Set) -> tuple[Any, Any]:
    """Return rows and classes of a set."""
    from rpfcluster.datasets import load_catalogued, make_shape

    family, name, scaling = which
    if family == "real":
        return load_catalogued(name, record.data_folder(), scaling=scaling, return_X_y=True)
    shape, n = name.rsplit("-", 1)
    return make_shape(shape, int(n), random_state=1)


def measure(which: Set, methods: list[str], seeds: list[int], limit: float, known: dict[Any, Any]) -> None:
    """Run what is not known yet of one set."""
    seeds_of = {m: [s for s in _seeds(m, seeds) if (*which, m, s) not in known] for m in methods}
    if not any(seeds_of.values()):
        return
    X, y = load(which)
    k = len(set(y.tolist()))
    with isolate.stored(X, y) as (X, folder):
        for method, missing in seeds_of.items():
            line = dict(zip(KEY, (*which, method), strict=False)) | {"n": len(X), "d": X.shape[1], "k": k}
            found = []
            for run in _runs(method, folder, k, missing, limit, len(X)) if missing else ():
                record.keep("choosing", line | run)
                found.append(run)
            if found:
                print(f"{' '.join(which)}, {method}: {_told(found)}", flush=True)


def _ours(line: dict[str, Any]) -> bool:
    return line["method"].startswith("rpf") or line["method"] == BEST


def _seeds(method: str, seeds: list[int]) -> list[int]:
    return seeds[:1] if method in SEEDLESS else seeds


def _runs(method: str, folder: str, k: int, seeds: list[int], limit: float, n: int) -> Iterator[dict[str, Any]]:
    job = {"folder": folder, "task": "fit", "method": method, "k": k, "seeds": seeds}
    if method == "SpectralClustering rbf" and n > RBF_ROWS:
        yield {"seed": seeds[0], "failed": f"not run: over {RBF_ROWS:,} rows"}
    elif method == BEST:
        yield from isolate.run(job | {"task": "best"}, GRID_LIMIT)
    else:
        yield from isolate.run(job, isolate.PATIENT if method.startswith("rpf") else limit)


def _told(runs: list[dict[str, Any]]) -> str:
    aris = [run["ari"] for run in runs if "ari" in run]
    seconds = sum(run.get("seconds", 0.0) for run in runs)
    failed = [run["failed"] for run in runs if "failed" in run]
    told = [f"ARI {statistics.mean(aris):.3f} in {seconds:.1f} s"] if aris else []
    return ", ".join(told + failed)


def main() -> None:
    """Run what was asked for, then print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = {"nargs": "+", "metavar": "NAME"}
    parser.add_argument("--sets", help="names such as iris or rings-1000, or the families real and shapes", **words)
    parser.add_argument("--methods", choices=METHODS, default=METHODS, help=f"of {'; '.join(METHODS)}", **words)
    parser.add_argument("--seeds", type=int, default=5, help="how many (5)")
    parser.add_argument("--limit", type=float, default=isolate.LIMIT, help="seconds a run of a peer may take (300)")
    parser.add_argument("--again", action="store_true", help="measure anew what was measured on these sources")
    parser.add_argument("--table", action="store_true", help="run nothing, print what was last measured")
    parser.add_argument("--picture", type=Path, help="where to draw what was last measured")
    asked = parser.parse_args()
    chosen = [s for s in sets() if not asked.sets or {s[0], s[1]} & set(asked.sets)]
    if not chosen:
        parser.error(f"no such set; there are {', '.join(dict.fromkeys(s[1] for s in sets()))}")
    if not asked.table:
        known = {} if asked.again else record.kept("choosing", KEY, ours=_ours)
        # A failure stands for all seeds.
        stopped = {key[:-1] for key, line in known.items() if "failed" in line}
        known |= {(*key, seed): {} for key in stopped for seed in range(asked.seeds)}
        for which in chosen:
            measure(which, list(asked.methods), list(range(asked.seeds)), asked.limit, known)
    last = record.last("choosing", KEY, _ours)
    lines = [line for which in chosen for key, line in last.items() if key[:3] == which]
    at = METHODS.index(BEST) + 1
    print(tables(lines + of_other_seeds(lines), (*METHODS[:at], OTHERS, *METHODS[at:])))
    if asked.picture and lines:
        draw(lines, asked.picture)


if __name__ == "__main__":
    main()
