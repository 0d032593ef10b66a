"""The tables of bench/r_rivals.py: our K-means and NJW beside R's, one row for each data set and rule."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import Any

import record
from markdown_table import markdown_table

Line = dict[str, Any]
KEY = ("set", "by", "method", "rule", "seed")

# The letters that the tables show; written as escapes, since they look like others.
SIGMA = "\u03c3"


def latest() -> list[Line]:
    """Return the latest result of each set, program, rule and seed, in the order of the sets by rows."""
    found = record.last("rivals", KEY, lambda line: line["by"] == "rpf").values()
    return sorted(found, key=lambda line: (line["n"], line["set"]))


def run_of() -> str:
    """Return date, commit, machine and versions of these results."""
    last = max(latest(), key=lambda line: line["at"])
    on = last["machine"]
    return (
        f"{last['at'][:10]}, commit {last['commit']}, {on['cores']} cores of {on['cpu']}. "
        f"{last['r']}; kernlab {last['versions'].get('kernlab', 'not installed')}."
    )


def _of(lines: Iterable[Line], by: str, method: str, rule: str, name: str) -> list[float]:
    wanted = (by, method, rule)
    same = (line for line in lines if (line["by"], line["method"], line["rule"]) == wanted)
    return [line[name] for line in same if line.get(name) is not None]


def _mean(values: list[float], digits: int, spread: bool = True) -> str:
    if not values:
        return "\u2013"
    mean = statistics.fmean(values)
    within = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{mean:.{digits}f} ± {within:.{digits}f}" if spread else f"{mean:.{digits}f}"


def _sets(lines: list[Line], method: str) -> list[str]:
    return list(dict.fromkeys(line["set"] for line in lines if line["method"] == method))


def kmeans() -> str:
    """Return the best sums of squares as ratios to R's, and the accuracies."""
    lines, rows = latest(), []
    for set_ in _sets(lines, "K-means"):
        here = [line for line in lines if line["set"] == set_]
        theirs = _of(here, "R", "K-means", "random rows", "inertia")
        cells = [set_, f"{here[0]['n']}", f"{here[0]['k']}", f"{statistics.fmean(theirs):.6g}"]
        accuracy = [_mean(_of(here, "R", "K-means", "random rows", "rho_c"), 2)]
        for rule in ("random rows", "k-means++ and Lloyd"):
            ours = _of(here, "rpf", "K-means", rule, "inertia")
            cells.append(f"{statistics.fmean(ours) / statistics.fmean(theirs):.6f}")
            accuracy.append(_mean(_of(here, "rpf", "K-means", rule, "rho_c"), 2))
        rows.append(cells + accuracy)
    names = ("set", "rows", "K", "sum of squares, R", "ratio, random rows", "ratio, Lloyd first")
    scores = ("accuracy, R", "accuracy, random rows", "accuracy, Lloyd first")
    return markdown_table((*names, *scores), rows)


def njw() -> str:
    """Return accuracy, adjusted Rand index and bandwidth of ours and of kernlab's, by rule."""
    lines, rows = latest(), []
    for set_ in _sets(lines, "NJW"):
        here = [line for line in lines if line["set"] == set_]
        for rule in ("automatic", "local", "seventh neighbour"):
            cells = [set_, rule]
            for by in ("rpf", "R"):
                failed = sum("error" in line for line in here if (line["by"], line["rule"]) == (by, rule))
                note = f" ({failed} of {len(_seeds(here))} failed)" if failed else ""
                cells += [
                    _mean(_of(here, by, "NJW", rule, "rho_c"), 1) + note,
                    _mean(_of(here, by, "NJW", rule, "ari"), 3),
                    _mean(_of(here, by, "NJW", rule, "sigma"), 3),
                ]
            rows.append(cells)
    names = ("set", "bandwidth", "accuracy", "ARI", SIGMA, "accuracy, kernlab", "ARI, kernlab", f"{SIGMA}, kernlab")
    return markdown_table(names, rows)


def _seeds(lines: list[Line]) -> set[int]:
    return {line["seed"] for line in lines}
