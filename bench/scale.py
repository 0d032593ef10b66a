"""Can the scaling of the columns be chosen without labels?

`rpf` clusters every table with the true number of clusters on the columns as they are, standardised (mean and
standard deviation) and robustly standardised (median and quartiles), and the score of the verdict of each is kept.
Tables: the battery; the paper's sets; those of the battery with a column in other units (multiplied by 100 or 1/100);
and with columns of noise, a tenth as wide as the others, which standardising makes as wide. The name of a set decides
by its hash whether it is a design set, on which the rule was chosen, or a check set, on which it is only reported
(see verdict.py). The tables of docs/notes/2026-11-scale.md are printed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import record
import verdict

Line = dict[str, Any]

# The paper's sets besides the small ones of verdict.py; the largest are left out.
PAPER = (*verdict.PAPER, "robot", "madelon", "musk", "pendigits")
# Rows of the largest table of each family.
MOST_ROWS = {"battery": 1_100, "paper": 12_000, "units": 900, "noise": 900}
# The interquartile range of a normal column of standard deviation 1.
NORMAL_RANGE = 1.3489795003921634
FAMILIES = ("battery", "paper", "units", "noise")
SCALINGS = ("raw", "all", "robust")


def scaled(X: Any, scaling: str) -> Any:
    """Return the columns as `--standardize none`, `all` or `robust` makes them."""
    if scaling == "raw":
        return X
    spread = X.std(0)
    center = X.mean(0)
    if scaling == "robust":
        low, center, high = np.quantile(X, (0.25, 0.5, 0.75), axis=0)
        spread = np.where(high > low, (high - low) / NORMAL_RANGE, spread)
    return (X - center) / np.where(spread > 0, spread, 1)


def paper() -> Iterator[verdict.Table]:
    """Yield sets of the paper, raw."""
    from rpfcluster.datasets import load_catalogued

    for name in PAPER:
        X, y = load_catalogued(name, record.data_folder(), scaling="raw", return_X_y=True)
        yield "paper", name, np.asarray(X, float), np.asarray(y)


def _generator(name: str) -> np.random.Generator:
    return np.random.default_rng(int(hashlib.sha256(name.encode()).hexdigest()[:8], 16))


def units() -> Iterator[verdict.Table]:
    """Yield tables of the battery with one column in other units."""
    for _, name, X, y in verdict.battery():
        rng = _generator(name)
        X = X.copy()
        X[:, rng.integers(X.shape[1])] *= rng.choice((0.01, 100.0))
        yield "units", name, X, y


def noise() -> Iterator[verdict.Table]:
    """Yield tables of the battery with three more columns of narrow noise."""
    for _, name, X, y in verdict.battery():
        width = 0.1 * np.median(X.std(0))
        yield "noise", name, np.hstack([X, _generator(name).normal(size=(len(X), 3)) * width]), y


MAKERS: dict[str, Callable[[], Iterator[verdict.Table]]] = {
    "battery": verdict.battery,
    "paper": paper,
    "units": units,
    "noise": noise,
}


def measure(table: verdict.Table) -> Line:
    """Cluster one table in each scaling."""
    family, name, X, y = table
    known = y >= 0
    k = len(set(y[known].tolist()))
    spreads = X.std(0)
    ratio = float(spreads.max() / spreads[spreads > 0].min())
    line = {"family": family, "name": name, "half": verdict.half(name), "n": len(X), "d": X.shape[1], "k": k}
    line |= {"ratio": ratio}
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        data, labels = f"{folder}/table.npy", f"{folder}/labels.csv"
        for scaling in SCALINGS:
            np.save(data, scaled(X, scaling))
            words = ["cluster", data, "-k", str(k), "-o", labels, "--json", "-q", "--threads", "1"]
            run = subprocess.run([record.built("rpf"), *words], capture_output=True, text=True, check=True)
            said = json.loads(run.stdout)
            found[scaling] = np.loadtxt(labels, delimiter=",", skiprows=1, dtype=int)[:, 1]
            line[scaling] = {
                "ari": verdict.ari(y[known], found[scaling][known]),
                "score": said["verdict"]["score"],
                "word": said["verdict"]["word"],
                "seconds": said["seconds"]["total"],
            }
    line["agreement"] = {scaling: verdict.ari(found["raw"], found[scaling]) for scaling in SCALINGS[1:]}
    return line


def _by_score(*scalings: str, margin: float = 0.0) -> Callable[[Line], str]:
    """Return the rule: the scaling with the highest score; another than the first needs `margin` more."""

    def rule(x: Line) -> str:
        first, *others = scalings
        best = max(others, key=lambda s: x[s]["score"])
        return best if x[best]["score"] > x[first]["score"] + margin else first

    return rule


def _by_ratio(limit: float) -> Callable[[Line], str]:
    return lambda x: "all" if x["ratio"] > limit else "raw"


RULES: dict[str, Callable[[Line], str]] = {
    "raw": lambda _: "raw",
    "all": lambda _: "all",
    "robust": lambda _: "robust",
    "score, raw first": _by_score("raw", "all"),
    "score, raw first, margin .05": _by_score("raw", "all", margin=0.05),
    "score, raw first, margin .1": _by_score("raw", "all", margin=0.1),
    "score, raw first, margin .2": _by_score("raw", "all", margin=0.2),
    "score, all first": _by_score("all", "raw"),
    "score, all first, margin .05": _by_score("all", "raw", margin=0.05),
    "score, all first, margin .1": _by_score("all", "raw", margin=0.1),
    "score of all three": _by_score("raw", "all", "robust"),
    "spreads differ 3 times": _by_ratio(3),
    "spreads differ 10 times": _by_ratio(10),
    "spreads differ 100 times": _by_ratio(100),
    "best of raw and all, by the classes": lambda x: max(("raw", "all"), key=lambda s: x[s]["ari"]),
}


def tables(lines: list[Line], which: str) -> str:
    """Return the mean ARI of each rule by family."""
    of = [x for x in lines if x["half"] == which]
    groups = {family: [x for x in of if x["family"] == family] for family in FAMILIES}
    real = {path.stem for path in (record.data_folder() / "battery").glob("[mr]*/*.csv")}
    groups = {"battery, real": [x for x in groups["battery"] if x["name"] in real], **groups}
    groups = {name: xs for name, xs in groups.items() if xs}
    heads = [f"{name} ({len(xs)})" for name, xs in groups.items()]
    text = [f"| mean ARI, {which} | " + " | ".join(heads) + " | families |", "|---" * (len(groups) + 2) + "|"]
    for name, rule in RULES.items():
        means = [np.mean([x[rule(x)]["ari"] for x in xs]) for xs in groups.values()]
        of_families = np.mean(means[1:])
        text.append(f"| {name} | " + " | ".join(f"{mean:.3f}" for mean in means) + f" | {of_families:.3f} |")
    return "\n".join(text)


def each(lines: list[Line]) -> str:
    """Return one line for each real table: ARI and score in each scaling."""
    real = {path.stem for path in (record.data_folder() / "battery").glob("[mr]*/*.csv")}
    heads = ["| table | half | spreads | raw | all | robust | agreement |", "|---" * 7 + "|"]
    rows = []
    for x in sorted(lines, key=lambda x: (x["family"], x["name"])):
        if x["family"] == "paper" or (x["family"] == "battery" and x["name"] in real):
            cells = " | ".join(f"{x[s]['ari']:.2f} (score {x[s]['score']:.2f})" for s in SCALINGS)
            rows.append(f"| {x['name']} | {x['half']} | {x['ratio']:.0f} | {cells} | {x['agreement']['all']:.2f} |")
    return "\n".join([*heads, *rows])


def main() -> None:
    """Measure what is asked for, store it and print the tables of the latest results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--jobs", type=int, default=2, help="tables at once (2)")
    parser.add_argument("--print", action="store_true", help="only print the tables of the stored results")
    args = parser.parse_args()
    if not args.print:
        with ThreadPoolExecutor(args.jobs) as pool:
            for family in args.families.split(","):
                small = (table for table in MAKERS[family]() if len(table[2]) <= MOST_ROWS[family])
                for line in pool.map(measure, small):
                    record.keep("scale", line)
    latest = list(record.kept("scale", ("family", "name"), of=record.last_source("scale")).values())
    for which in ("design", "check"):
        print(tables(latest, which), end="\n\n")
    print(each(latest))


if __name__ == "__main__":
    main()
