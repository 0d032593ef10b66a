"""Quality by known classes: rpf with its default parameters, with a choice of the setting, and the peers.

There are families of data, since methods that win on one lose on another: the real sets of the data folder, raw and
standardised, synthetic shapes at three sizes, and the battery with the sets of bundled_sets.py. Every line says
whether its set is a design set, on which rules and constants may be chosen, or a check set, on which they are only
reported: real sets and shapes are design sets, the others are split by the hash of their name (see verdict.py). Every
method that takes a number of clusters gets the true one. Each result is stored as soon as it is measured, so an
interrupted run continues where it stopped. At the end the tables of all stored results are printed. The peers
are those of scikit-learn and, from field_methods.py, those of `make field` on the columns as they are.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import isolate
import record
import verdict
from bundled_sets import bundled
from choosing_picture import draw
from choosing_table import KEY, METHODS, half, is_ours, latest, tables
from methods import SEEDLESS

SHAPE_SIZES = (300, 1_000, 3_000)
# Above this many rows the dense kernel exceeds the memory limit before the time limit.
RBF_ROWS = 10_000

Set = tuple[str, str, str]
# Rows and classes of the battery and of the bundled sets, which are read together.
SPLIT: dict[str, tuple[Any, Any]] = {}


def sets() -> list[Set]:
    """Return family, name and scaling of every set. Noise has no clusters; Covertype is not part of the benchmark."""
    from rpfcluster.datasets import CATALOG, SHAPES

    scalings = ("raw", "standardized")
    real = [("real", name, scaling) for name in CATALOG if name != "covertype" for scaling in scalings]
    shapes = [("shapes", f"{name}-{n}", "raw") for name in SHAPES if name != "noise" for n in SHAPE_SIZES]
    return real + shapes


def split_sets() -> list[Set]:
    """Return the sets that are split into design and check sets; their family says which half they belong to."""
    for _, name, X, y in (*verdict.battery(), *bundled()):
        SPLIT[name] = (X[y >= 0], y[y >= 0])
    return [(f"split {verdict.half(name)}", name, "raw") for name in SPLIT]


def load(which: Set) -> tuple[Any, Any]:
    """Return the rows and classes of a set."""
    from rpfcluster.datasets import load_catalogued, make_shape

    family, name, scaling = which
    if name in SPLIT:
        return SPLIT[name]
    if family == "real":
        return load_catalogued(name, record.data_folder(), scaling=scaling, return_X_y=True)
    shape, n = name.rsplit("-", 1)
    return make_shape(shape, int(n), random_state=1)


def measure(which: Set, methods: list[str], seeds: list[int], limit: float, known: dict[Any, Any]) -> None:
    """Measure what is missing for one set."""
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
                print(f"{' '.join(which)} ({half(which[0])}), {method}: {_summary(found)}", flush=True)


def _seeds(method: str, seeds: list[int]) -> list[int]:
    return seeds[:1] if method in SEEDLESS else seeds


def _runs(method: str, folder: str, k: int, seeds: list[int], limit: float, n: int) -> Iterator[dict[str, Any]]:
    job = {"folder": folder, "task": "fit", "method": method, "k": k, "seeds": seeds}
    if method == "SpectralClustering rbf" and n > RBF_ROWS:
        yield {"seed": seeds[0], "failed": f"not run: over {RBF_ROWS:,} rows"}
    else:
        yield from isolate.run(job, isolate.PATIENT if method.startswith("rpf") else limit)


def _summary(runs: list[dict[str, Any]]) -> str:
    aris = [run["ari"] for run in runs if "ari" in run]
    seconds = sum(run.get("seconds", 0.0) for run in runs)
    failed = [run["failed"] for run in runs if "failed" in run]
    scored = [f"ARI {statistics.mean(aris):.3f} in {seconds:.1f} s"] if aris else []
    return ", ".join(scored + failed)


def main() -> None:
    """Run the benchmark, then print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = {"nargs": "+", "metavar": "NAME"}
    parser.add_argument(
        "--sets", help="sets such as iris or rings-1000, or the families real, shapes and split", **words
    )
    parser.add_argument("--methods", choices=METHODS, default=METHODS, help=f"among {'; '.join(METHODS)}", **words)
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds (5)")
    parser.add_argument("--limit", type=float, default=isolate.LIMIT, help="seconds a peer may take for a run (300)")
    parser.add_argument("--again", action="store_true", help="repeat what is already measured at these sources")
    parser.add_argument("--table", action="store_true", help="print the stored results without running anything")
    parser.add_argument("--picture", type=Path, help="file for a picture of the stored results")
    asked = parser.parse_args()
    known_sets = sets() if asked.table else sets() + split_sets()
    chosen = [s for s in known_sets if not asked.sets or {*s[0].split(), s[1]} & set(asked.sets)]
    if not chosen:
        parser.error(f"unknown set; known sets are {', '.join(dict.fromkeys(s[1] for s in known_sets))}")
    if not asked.table:
        known = {} if asked.again else record.kept("choosing", KEY, ours=is_ours)
        # One failure stands for all seeds.
        stopped = {key[:-1] for key, line in known.items() if "failed" in line}
        known |= {(*key, seed): {} for key in stopped for seed in range(asked.seeds)}
        for which in chosen:
            measure(which, list(asked.methods), list(range(asked.seeds)), asked.limit, known)
    lines = [line for line in latest() if not asked.sets or (line["family"], line["set"], line["scaling"]) in chosen]
    print(tables(lines))
    if asked.picture and lines:
        draw(lines, asked.picture)


if __name__ == "__main__":
    main()
