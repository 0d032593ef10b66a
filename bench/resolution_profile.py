"""Whether the resolution profile adds evidence for the number of clusters, on design tables.

The share of (logarithmic) resolutions at which the Leiden algorithm finds K communities is added to the score of
`-k auto` with a weight. Tables: the design half of the battery up to 2,100 rows and K up to 10, 40 mixtures and 108
samples without structure of other seeds than those of bench/verdict.py.

    cargo build --release --workspace --example resolution_profile
    python bench/resolution_profile.py
"""

from __future__ import annotations

import functools
import json
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import record
import verdict

WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.8)
GRAPHS = ("10 neighbours, power 2", "20, power 8", "20, power 1")
# Smallest score of more than one cluster, as in select/clusters.rs.
MIN_SCORE = 0.25


def design_tables() -> Iterator[verdict.Table]:
    """Yield the design tables."""
    for family, name, X, y in verdict.battery():
        if verdict.half(name) == "design" and len(X) <= 2100 and 2 <= len(set(y[y >= 0].tolist())) <= 10:
            yield family, name, X, y
    for number in range(40):
        rng = np.random.default_rng(5000 + number)
        k, d, n = int(rng.integers(2, 9)), int(rng.integers(2, 16)), int(rng.integers(100, 801))
        centers = rng.normal(size=(k, d)) * rng.uniform(0.8, 5) / np.sqrt(2)
        y = rng.integers(0, k, n)
        X = centers[y] + rng.normal(size=(n, d)) * rng.uniform(0.5, 1.5, size=k)[y][:, None]
        yield "mixtures", f"{number}", X, y
    for d in (1, 2, 3, 5, 10, 20):
        for number in range(18):
            rng = np.random.default_rng([99, d, number])
            n = (60, 200, 500)[number % 3]
            draws = (rng.random, rng.standard_normal, functools.partial(rng.standard_t, 5))
            yield "structureless", f"{d}-{number}", draws[number // 3 % 3]((n, d)), np.zeros(n, int)


def measure(table: verdict.Table) -> dict[str, Any]:
    """Return the evidence, the profiles and the adjusted Rand index for each K."""
    family, name, X, y = table
    with tempfile.NamedTemporaryFile() as file:
        np.ascontiguousarray(X, "<f8").tofile(file.name)
        words = [record.built("examples/resolution_profile"), file.name, str(len(X)), str(X.shape[1])]
        found = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    known = y >= 0
    scores = {k: verdict.ari(y[known], np.array(labels)[known]) for k, labels in found.pop("labels")}
    return found | {"family": family, "name": name, "k": len(set(y[known].tolist())), "ari": scores}


def chosen(table: dict[str, Any], graph: int, weight: float) -> int:
    """Return the K with the highest score, or 1."""
    profile = np.array(table["profiles"][graph])
    rated = [
        (c["separated"], c["score"] + weight * float(np.mean(profile == c["k"])), -c["k"]) for c in table["evidence"]
    ]
    separated, score, k = max(rated, default=(False, 0.0, -1))
    return -k if separated and score >= MIN_SCORE else 1


def main() -> None:
    """Print one line for each graph and weight."""
    with ThreadPoolExecutor(2) as pool:
        measured = list(pool.map(measure, design_tables()))
    print("| graph | weight | K found | mean ARI | mixtures: K found | mean ARI | structureless split |")
    print("|---|---|---|---|---|---|---|")
    for graph, words in enumerate(GRAPHS):
        for weight in WEIGHTS[0 if graph == 0 else 1 :]:
            cells = []
            for family in ("battery", "mixtures"):
                of = [table for table in measured if table["family"] == family]
                ks = [chosen(table, graph, weight) for table in of]
                exact = sum(k == table["k"] for k, table in zip(ks, of, strict=True))
                mean = np.mean([table["ari"].get(k, 0.0) for k, table in zip(ks, of, strict=True)])
                cells += [f"{exact} of {len(of)}", f"{mean:.3f}"]
            split = sum(chosen(t, graph, weight) > 1 for t in measured if t["family"] == "structureless")
            print(f"| {words} | {weight} | {' | '.join(cells)} | {split} |")


if __name__ == "__main__":
    main()
