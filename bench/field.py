"""rpf beside the methods that users of high-dimensional tables take today: quality and cost on six labelled sets.

MNIST, USPS, PenDigits, Letter, Covertype and scikit-learn's digits, as they are. Every method runs in a process of its
own. Rows that a method leaves without a cluster (label -1) count as one more cluster in ARI and NMI; beside them stand
the scores of the other rows and the share left out. Results are stored as they are measured. Seconds of a busy machine
are no result: with `--busy` they are stored under another name and not tabulated. Processor seconds, summed over the
cores, hardly depend on what else runs; they are tabulated and drawn.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import isolate
import record
from field_methods import FIELD
from field_picture import draw
from markdown_table import markdown_table
from methods import SEEDLESS

SETS = ("digits", "usps", "pendigits", "letter", "mnist", "covertype")
OURS = ("rpf default", "rpf auto")
METHODS = (*OURS, "KMeans", "Ward", *FIELD)
KEY = ("set", "method", "seed")
# Seconds for one run of a peer; UMAP and exact neighbours of MNIST take minutes.
LIMIT = 1200.0
# Above this many rows Ward needs more memory than a machine has.
WARD_ROWS = 20_000
# Above this many rows only these run unasked.
MANY_ROWS = 100_000
FOR_MANY_ROWS = ("rpf default", "KMeans", "faiss KMeans")
Line = dict[str, Any]


def is_ours(line: Line) -> bool:
    """Tell whether a result depends on the sources of this project."""
    return line["method"].startswith("rpf")


def load(name: str) -> tuple[Any, Any]:
    """Return the rows and classes of a set."""
    if name == "digits":
        from sklearn.datasets import load_digits

        return load_digits(return_X_y=True)
    from rpfcluster.datasets import load_catalogued

    return load_catalogued(name, record.data_folder(), return_X_y=True)


def measure(
    name: str, methods: Sequence[str] | None, seeds: list[int], limit: float, busy: bool, known: dict[Any, Any]
) -> None:
    """Measure what is missing for one set; without names, every method that suits its size."""
    X, y = load(name)
    k = len(set(y.tolist()))
    with isolate.stored(X, y) as (X, folder):
        for method in methods or (FOR_MANY_ROWS if len(X) > MANY_ROWS else METHODS):
            asked = seeds[:1] if method in SEEDLESS else seeds
            missing = [seed for seed in asked if (name, method, seed) not in known]
            narrow = method.startswith("PCA") and X.shape[1] <= 50
            if not missing or narrow or (method == "Ward" and len(X) > WARD_ROWS):
                continue
            job = {"folder": folder, "task": "fit", "method": method, "k": k, "seeds": missing}
            for run in isolate.run(job, limit):
                if busy and "seconds" in run:
                    run["busy_seconds"] = run.pop("seconds")
                record.keep("field", {"set": name, "method": method, "n": len(X), "d": X.shape[1], "k": k} | run)
                scored = f"ARI {run['ari']:.3f}, NMI {run['nmi']:.3f}" if "ari" in run else run["failed"]
                print(f"{name}, {method}, seed {run['seed']}: {scored}", flush=True)


def summary(lines: list[Line], name: str) -> dict[str, Line]:
    """Return the mean scores of each method on a set, and their spread over the seeds."""
    found: dict[str, Line] = {}
    for method in dict.fromkeys(line["method"] for line in lines if line["set"] == name):
        runs = [line for line in lines if (line["set"], line["method"]) == (name, method)]
        done = [run for run in runs if "ari" in run]
        if not done:
            found[method] = {"failed": runs[-1]["failed"]}
            continue
        mean = {of: statistics.mean(run[of] for run in done) for of in ("ari", "nmi", "noise", "clusters")}
        for of in ("ari_assigned", "nmi_assigned"):
            mean[of] = statistics.mean(run[of] for run in done)
        mean |= {"least": min(run["ari"] for run in done), "most": max(run["ari"] for run in done)}
        found[method] = mean | {"seeds": len(done)}
        for of in ("seconds", "cpu_seconds"):
            if timed := [run[of] for run in done if of in run]:
                found[method][of] = statistics.median(timed)
    return found


def tables(lines: list[Line]) -> str:
    """Return one table for each set, the best method first."""
    parts = []
    for name in (name for name in SETS if any(line["set"] == name for line in lines)):
        found = summary(lines, name)
        rows = []
        for method, of in sorted(found.items(), key=lambda item: -item[1].get("ari", -1.0)):
            if "failed" in of:
                rows.append((method, of["failed"], *[""] * 7))
                continue
            spread = f"{of['least']:.2f} to {of['most']:.2f}" if of["seeds"] > 1 else ""
            left = [f"{of['noise']:.0%}", f"{of['ari_assigned']:.3f} / {of['nmi_assigned']:.3f}"]
            noise = left if of["noise"] else ["", ""]
            seconds = [f"{of[name]:.1f}" if name in of else "" for name in ("seconds", "cpu_seconds")]
            rows.append(
                (method, f"{of['ari']:.3f}", f"{of['nmi']:.3f}", spread, f"{of['clusters']:.0f}", *noise, *seconds)
            )
        head = ("method", "ARI", "NMI", "ARI by seed", "clusters", "left out", "ARI / NMI of the others", "s", "CPU s")
        parts.append(markdown_table(head, rows, name))
    return "\n\n".join(parts) + "\n" if parts else "no results"


def main() -> None:
    """Run the benchmark, then print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = {"nargs": "+", "metavar": "NAME"}
    parser.add_argument("--sets", choices=SETS, default=SETS, help=f"among {', '.join(SETS)}", **words)
    parser.add_argument("--methods", choices=METHODS, help=f"among {'; '.join(METHODS)}", **words)
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds (5)")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds a method may take for a run (1200)")
    parser.add_argument("--busy", action="store_true", help="other programs run on this machine: seconds do not count")
    parser.add_argument("--again", action="store_true", help="repeat what is already measured at these sources")
    parser.add_argument("--table", action="store_true", help="print the stored results without running anything")
    parser.add_argument("--picture", type=Path, help="file for the picture of ARI over processor seconds")
    asked = parser.parse_args()
    if not asked.table:
        known = {} if asked.again else record.kept("field", KEY, ours=is_ours)
        for name in asked.sets:
            measure(name, asked.methods, list(range(asked.seeds)), asked.limit, asked.busy, known)
    lines = list(record.last("field", KEY, is_ours).values())
    print(tables(lines))
    if asked.picture:
        draw({name: summary(lines, name) for name in SETS}, asked.picture)


if __name__ == "__main__":
    main()
