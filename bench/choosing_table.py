"""The tables of bench/choosing.py: means a family first, then the aims, then every set."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

Line = dict[str, Any]
AUTO, BEST = "rpf auto", "best by labels"
FIXED = ("rpf linear", "rpf top-k power 1", "rpf top-k power 4", "rpf top-k power 8", "rpf paper")
# Best published figures are below these: NMI of raw PenDigits, USPS, MNIST.
NMI = {"pendigits": 0.86, "usps": 0.85, "mnist": 0.82}

Cell = dict[str, float]
# family, set, scaling -> method -> mean scores over the seeds; a method that failed is missing
Found = dict[tuple[str, str, str], dict[str, Cell]]


def tables(lines: list[Line], methods: Sequence[str]) -> str:
    """Return everything there is to say about these results, as markdown."""
    if not lines:
        return "nothing was measured"
    found, failed = averaged(lines)
    there = [m for m in methods if any(line["method"] == m for line in lines)]
    last = max(lines, key=lambda line: line["at"])
    on = last["machine"]
    parts = [
        f"{last['at'][:10]}, commit {last['commit']}, {on['cores']} cores of {on['cpu']}, seeds "
        f"{sorted({line['seed'] for line in lines})}.",
        _families(found, failed, there),
        _aims(found, there),
    ]
    for name, digits in (("ari", 3), ("nmi", 3), ("rho_c", 1)):
        rows = [
            (f"{s} {scaling}", *(_cell(runs.get(m), failed.get((family, s, scaling, m)), name, digits) for m in there))
            for (family, s, scaling), runs in found.items()
        ]
        parts.append(_markdown(f"{name}, mean over seeds", ("set", *there), rows))
    return "\n\n".join(parts) + "\n"


def averaged(lines: list[Line]) -> tuple[Found, dict[tuple[str, ...], str]]:
    """Return mean scores over the seeds of each set and method, and why methods failed."""
    runs: dict[tuple[str, str, str], dict[str, list[Line]]] = {}
    failed = {}
    for line in lines:
        which = (line["family"], line["set"], line["scaling"])
        of_set = runs.setdefault(which, {})
        if "failed" in line:
            failed[(*which, line["method"])] = line["failed"]
        else:
            of_set.setdefault(line["method"], []).append(line)
    means = {
        which: {
            m: {name: statistics.mean(run[name] for run in found) for name in ("ari", "nmi", "rho_c", "seconds")}
            for m, found in of_set.items()
        }
        for which, of_set in runs.items()
    }
    return means, failed


def _cell(cell: Cell | None, why: str | None, name: str, digits: int) -> str:
    if cell is None:
        return (why or "-").split(":")[0]
    return f"{cell[name]:.{digits}f}" + (" (not all seeds)" if why else "")


def _markdown(title: str, names: Sequence[str], rows: list[tuple[str, ...]]) -> str:
    lines = [f"### {title}", "", "| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def _of_family(found: Found, family: str) -> list[dict[str, Cell]]:
    return [runs for which, runs in found.items() if which[0] == family]


def _mean(cells: list[dict[str, Cell]], method: str, name: str = "ari") -> float:
    """Return the mean over sets; a set the method has no answer for counts 0."""
    return statistics.mean(runs.get(method, {}).get(name, 0.0) for runs in cells)


def _families(found: Found, failed: dict[tuple[str, ...], str], methods: Sequence[str]) -> str:
    rows = []
    families = list(dict.fromkeys(which[0] for which in found))
    for method in methods:
        row = [method]
        for family in families:
            cells = _of_family(found, family)
            common = [runs for runs in cells if all(m in runs for m in methods)]
            row.append(f"{_mean(common, method):.3f}" if common else "-")
            row += [f"{_mean(cells, method):.3f}", str(sum(key[0] == family and key[3] == method for key in failed))]
        rows.append(tuple(row))
    names = [f"{family}: {what}" for family in families for what in ("sets all finished", "all, failed as 0", "failed")]
    return _markdown("mean ARI", ("method", *names), rows)


def _aims(found: Found, methods: Sequence[str]) -> str:
    """Judge the aims, as far as what they compare is there."""
    rows = []
    peers = [m for m in methods if not m.startswith("rpf") and m != BEST]
    for family in dict.fromkeys(which[0] for which in found):
        cells = [runs for runs in _of_family(found, family) if AUTO in runs]
        if not cells:
            continue
        auto = _mean(cells, AUTO)
        ranked = sorted(((_mean(cells, m), m) for m in peers), reverse=True)
        if ranked:
            rows.append((f"{family}: ahead of every peer", _verdict(auto > ranked[0][0]), _seen(auto, *ranked[0])))
        if spectral := [r for r in ranked if r[1].startswith("Spectral")]:
            reached = auto >= spectral[0][0] + 0.10
            rows.append((f"{family}: 0.10 over the next spectral method", _verdict(reached), _seen(auto, *spectral[0])))
        if both := [runs for runs in cells if BEST in runs]:
            ours, best = _mean(both, AUTO), _mean(both, BEST)
            rows.append(
                (f"{family}: within 0.03 of best by labels", _verdict(best - ours <= 0.03), _seen(ours, best, BEST))
            )
    for name, least in NMI.items():
        for (_, s, scaling), runs in found.items():
            if s == name and scaling == "raw" and AUTO in runs:
                nmi = runs[AUTO]["nmi"]
                rows.append((f"{name}: NMI at least {least}", _verdict(nmi >= least), f"{nmi:.3f}"))
    worst = []
    for (_, s, scaling), runs in found.items():
        fixed = [runs[m]["ari"] for m in FIXED if m in runs]
        if fixed and AUTO in runs and runs[AUTO]["ari"] < max(fixed) / 2:
            worst.append(f"{s} {scaling} ({runs[AUTO]['ari']:.3f}, {max(fixed):.3f})")
    rows.append(("never below half of the best fixed default", _verdict(not worst), "; ".join(worst)))
    return _markdown("aims", ("aim", "verdict", "seen"), rows)


def _verdict(reached: bool) -> str:
    return "reached" if reached else "NOT reached"


def _seen(auto: float, other: float, name: str) -> str:
    return f"auto {auto:.3f}, {name} {other:.3f}"
