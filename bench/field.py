"""rpf beside the methods that users of high-dimensional tables take today: quality and seconds on four labelled sets.

MNIST, USPS, PenDigits and Letter, as they are. Every method runs in a process of its own. Rows that a method leaves
without a cluster (label -1) count as one more cluster in ARI and NMI; beside them stand the scores of the other rows
and the share left out. Results are stored as they are measured. Seconds of a busy machine are no result: with
`--busy` they are stored under another name and neither tabulated nor drawn.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path
from typing import Any

import isolate
import record
from field_methods import FIELD, SEEDLESS
from markdown_table import markdown_table

SETS = ("usps", "pendigits", "letter", "mnist")
OURS = ("rpf auto", "rpf sharp")
METHODS = (*OURS, "KMeans", "Ward", *FIELD)
KEY = ("set", "method", "seed")
# Seconds for one run of a peer; UMAP and exact neighbours of MNIST take minutes.
LIMIT = 1200.0
# Above this many rows Ward needs more memory than a machine has.
WARD_ROWS = 20_000
Line = dict[str, Any]


def is_ours(line: Line) -> bool:
    """Tell whether a result depends on the sources of this project."""
    return line["method"].startswith("rpf")


def measure(name: str, methods: list[str], seeds: list[int], limit: float, busy: bool, known: Any) -> None:
    """Measure what is missing for one set."""
    from rpfcluster.datasets import load_catalogued

    X, y = load_catalogued(name, record.data_folder(), return_X_y=True)
    k = len(set(y.tolist()))
    with isolate.stored(X, y) as (X, folder):
        for method in methods:
            asked = seeds[:1] if method in SEEDLESS or method == "Ward" else seeds
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
        timed = [run["seconds"] for run in done if "seconds" in run]
        found[method] = mean | {"seeds": len(done)} | ({"seconds": statistics.median(timed)} if timed else {})
    return found


def tables(lines: list[Line]) -> str:
    """Return one table for each set, the best method first."""
    parts = []
    for name in (name for name in SETS if any(line["set"] == name for line in lines)):
        found = summary(lines, name)
        rows = []
        for method, of in sorted(found.items(), key=lambda item: -item[1].get("ari", -1.0)):
            if "failed" in of:
                rows.append((method, of["failed"], *[""] * 6))
                continue
            spread = f"{of['least']:.2f} to {of['most']:.2f}" if of["seeds"] > 1 else ""
            left = [f"{of['noise']:.0%}", f"{of['ari_assigned']:.3f} / {of['nmi_assigned']:.3f}"]
            noise = left if of["noise"] else ["", ""]
            seconds = f"{of['seconds']:.1f}" if "seconds" in of else ""
            rows.append(
                (method, f"{of['ari']:.3f}", f"{of['nmi']:.3f}", spread, f"{of['clusters']:.0f}", *noise, seconds)
            )
        head = ("method", "ARI", "NMI", "ARI by seed", "clusters", "left out", "ARI / NMI of the others", "s")
        parts.append(markdown_table(head, rows, name))
    return "\n\n".join(parts) + "\n" if parts else "no results"


def draw(lines: list[Line], path: Path) -> None:
    """Draw ARI over seconds, one panel for each set. Only times of an idle machine are drawn."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    names = [name for name in SETS if any("seconds" in line for line in lines if line["set"] == name)]
    if not names:
        print("no seconds of an idle machine are stored: no picture")
        return
    figure, panels = pyplot.subplots(
        1, len(names), figsize=(4.5 * len(names), 4.5), layout="constrained", squeeze=False
    )
    for axes, name in zip(panels[0], names, strict=True):
        for method, of in summary(lines, name).items():
            if "seconds" not in of:
                continue
            ours = method.startswith("rpf")
            axes.plot(of["seconds"], of["ari"], "o" if ours else "s", color="#0072B2" if ours else "#999999", ms=6)
            axes.annotate(method, (of["seconds"], of["ari"]), fontsize=6, xytext=(4, 2), textcoords="offset points")
        axes.set(xscale="log", xlabel="seconds, two cores", ylabel="adjusted Rand index", title=name)
        axes.grid(alpha=0.3)
    figure.savefig(path, dpi=130, metadata={"Software": None})


def main() -> None:
    """Run the benchmark, then print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = {"nargs": "+", "metavar": "NAME"}
    parser.add_argument("--sets", choices=SETS, default=SETS, help=f"among {', '.join(SETS)}", **words)
    parser.add_argument("--methods", choices=METHODS, default=METHODS, help=f"among {'; '.join(METHODS)}", **words)
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds (5)")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds a method may take for a run (1200)")
    parser.add_argument("--busy", action="store_true", help="other programs run on this machine: seconds do not count")
    parser.add_argument("--again", action="store_true", help="repeat what is already measured at these sources")
    parser.add_argument("--table", action="store_true", help="print the stored results without running anything")
    parser.add_argument("--picture", type=Path, help="file for the picture of ARI over seconds")
    asked = parser.parse_args()
    if not asked.table:
        known = {} if asked.again else record.kept("field", KEY, ours=is_ours)
        for name in asked.sets:
            measure(name, list(asked.methods), list(range(asked.seeds)), asked.limit, asked.busy, known)
    lines = list(record.last("field", KEY, is_ours).values())
    print(tables(lines))
    if asked.picture:
        draw(lines, asked.picture)


if __name__ == "__main__":
    main()
