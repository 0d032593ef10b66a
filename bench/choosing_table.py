"""The tables of bench/choosing.py: means by family, targets, and one row for each set."""

from __future__ import annotations

import statistics
from typing import Any

import record
from choosing_best import BEST, OTHERS, of_other_seeds
from field_methods import PLAIN
from markdown_table import markdown_table

Line = dict[str, Any]
AUTO = "rpf auto"
FIXED = ("rpf linear", "rpf top-k power 1", "rpf top-k power 4", "rpf top-k power 8", "rpf paper")
PEERS = (
    "KMeans",
    "SpectralClustering rbf",
    "SpectralClustering nearest_neighbors",
    "HDBSCAN",
    "GaussianMixture",
    "Ward",
    *PLAIN,
)
# What is run, and what is shown: `OTHERS` is derived from the runs of `BEST`.
METHODS = (AUTO, *FIXED, BEST, *PEERS)
SHOWN = (AUTO, *FIXED, BEST, OTHERS, *PEERS)
KEY = ("family", "set", "scaling", "method", "seed")
# Targets of normalised mutual information on the raw sets; each is above the best published figure.
NMI = {"pendigits": 0.86, "usps": 0.85, "mnist": 0.82}
# A set counts as unsolved when no fixed setting has a mean ARI above this; half of such a score is no meaningful bound.
CHANCE = 0.02

Cell = dict[str, float]
# (family, set, scaling) -> method -> mean scores over the seeds; a method that failed is absent
Found = dict[tuple[str, str, str], dict[str, Cell]]
# (family, set, scaling, method) -> reason
Failed = dict[tuple[str, ...], str]
# lead of auto, mean ARI of auto, name of the other method, number of sets
Lead = tuple[float, float, str, int]


def is_ours(line: Line) -> bool:
    """Tell whether a result depends on the sources of this project."""
    return line["method"].startswith("rpf") or line["method"] == BEST


def half(family: str) -> str:
    """Return whether rules may be chosen on the sets of a family, or are only reported there."""
    return "check" if family.endswith("check") else "design"


def latest() -> list[Line]:
    """Return the latest stored result of each set, method and seed, and those derived from them."""
    lines = list(record.last("choosing", KEY, is_ours).values())
    lines += of_other_seeds(lines)
    return sorted(lines, key=_order)


def _order(line: Line) -> tuple[Any, ...]:
    """Sort real sets by size, and the sizes of a shape one after the other."""
    size = line["n"] if line["family"] == "real" else 0
    return line["family"], size, line["set"].rsplit("-", 1)[0], line["n"], line["scaling"], line["seed"]


def tables(lines: list[Line]) -> str:
    """Return all tables of these results, as markdown."""
    if not lines:
        return "no results"
    parts = [
        run_of(lines),
        means(lines, title="mean ARI"),
        targets(lines, title="targets"),
        *(scores(lines, name, title=f"{name}, mean over seeds") for name in ("ari", "nmi", "rho_c")),
    ]
    return "\n\n".join(parts) + "\n"


def run_of(lines: list[Line]) -> str:
    """Return date, machine, seeds and commits of these results."""
    last = max(lines, key=lambda line: line["at"])
    on = last["machine"]
    auto = sorted({line["commit"] for line in lines if line["method"] == AUTO})
    others = sorted({line["commit"] for line in lines if line["method"] in (*FIXED, BEST)} - set(auto))
    return (
        f"{last['at'][:10]}, {on['cores']} cores of {on['cpu']}, seeds {sorted({line['seed'] for line in lines})}; "
        f"auto at {', '.join(auto) or 'no commit'}, other settings also at {', '.join(others) or 'no other commit'}."
    )


def averaged(lines: list[Line]) -> tuple[Found, Failed]:
    """Return mean scores over the seeds for each set and method, and why methods failed."""
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


def means(lines: list[Line], title: str = "") -> str:
    """Return the mean ARI of each method by family. A run that fails or times out scores 0.

    Methods are compared on the sets that all of them were run on. Where one was run on more, its mean over all of its
    sets is a column of its own.
    """
    found, failed = averaged(lines)
    methods = _there(lines)
    names = ["method"]
    rows = [[method] for method in methods]
    for family in dict.fromkeys(which[0] for which in found):
        common = _run(found, failed, family, *methods)
        own = [_run(found, failed, family, method) for method in methods]
        names += [f"{family}, {len(common)} sets"]
        differ = any(len(cells) > len(common) for cells in own)
        names += [f"{family}, all sets it was run on"] if differ else []
        names += [f"{family}, failed"]
        for row, method, cells in zip(rows, methods, own, strict=True):
            row += [f"{_mean(common, method):.3f}" if common else "-"]
            row += [f"{_mean(cells, method):.3f} ({len(cells)})" if cells else "-"] if differ else []
            row += [str(sum(key[0] == family and key[3] == method for key in failed))]
    return markdown_table(names, rows, title)


def targets(lines: list[Line], title: str = "") -> str:
    """Return each target and whether it is met, on the sets that both methods it compares were run on."""
    found, failed = averaged(lines)
    rows = []
    peers = [m for m in _there(lines) if not m.startswith("rpf") and m not in (BEST, OTHERS)]
    for family in dict.fromkeys(which[0] for which in found):
        leads = [lead for m in peers if (lead := _lead(found, failed, family, m))]
        spectral = [lead for lead in leads if lead[2].startswith("Spectral")]
        nearest = min(spectral, default=None)
        finished = _lead(found, {}, family, nearest[2]) if nearest else None
        best, others = (_lead(found, failed, family, of) for of in (BEST, OTHERS))
        rows += [
            (f"{family}: {target}", _verdict(least[0] >= by), _measured(least))
            for target, by, least in (
                ("ahead of every peer", 0.0, min(leads, default=None)),
                ("0.10 ahead of the best other spectral method", 0.10, nearest),
                ("the same, on the sets that both finish", 0.10, finished),
                ("within 0.03 of best by labels", -0.03, best),
                ("within 0.03 of best by labels of other seeds", -0.03, others),
            )
            if least
        ]
    both = [runs for runs in found.values() if AUTO in runs and BEST in runs]
    if both:
        lead = _mean(both, AUTO) - _mean(both, BEST)
        measured = _measured((lead, _mean(both, AUTO), BEST, len(both)))
        rows.append(("all sets: within 0.03 of best by labels", _verdict(lead >= -0.03), measured))
    for name, least in NMI.items():
        for (_, s, scaling), runs in found.items():
            if s == name and scaling == "raw" and AUTO in runs:
                nmi = runs[AUTO]["nmi"]
                rows.append((f"{name}: NMI at least {least}", _verdict(nmi >= least), f"{nmi:.3f}"))
    worst = []
    for (_, s, scaling), runs in found.items():
        fixed = [runs[m]["ari"] for m in FIXED if m in runs]
        if AUTO in runs and max(fixed, default=0.0) > CHANCE and runs[AUTO]["ari"] < max(fixed) / 2:
            worst.append(f"{s} {scaling} ({runs[AUTO]['ari']:.3f}, {max(fixed):.3f})")
    rows.append(
        (f"at least half of the best fixed setting, where that exceeds {CHANCE}", _verdict(not worst), "; ".join(worst))
    )
    return markdown_table(("target", "result", "measured"), rows, title)


def scores(lines: list[Line], name: str, title: str = "") -> str:
    """Return the mean of one score for every set and method."""
    found, failed = averaged(lines)
    methods = _there(lines)
    digits = 1 if name == "rho_c" else 3
    rows = [
        (
            f"{s} {scaling}",
            half(family),
            *(_cell(runs.get(m), failed.get((family, s, scaling, m)), name, digits) for m in methods),
        )
        for (family, s, scaling), runs in found.items()
    ]
    return markdown_table(("set", "half", *methods), rows, title)


def _there(lines: list[Line]) -> list[str]:
    """Return the methods that have results, in the order they are shown."""
    methods = {line["method"] for line in lines}
    return [m for m in SHOWN if m in methods]


def _verdict(met: bool) -> str:
    return "met" if met else "NOT met"


def _cell(cell: Cell | None, why: str | None, name: str, digits: int) -> str:
    if cell is None:
        return (why or "-").split(":")[0]
    return f"{cell[name]:.{digits}f}" + (" (not all seeds)" if why else "")


def _run(found: Found, failed: Failed, family: str, *methods: str) -> list[dict[str, Cell]]:
    """Return the sets of a family that all these methods were run on, successfully or not."""
    return [
        runs
        for which, runs in found.items()
        if which[0] == family and all(m in runs or (*which, m) in failed for m in methods)
    ]


def _mean(cells: list[dict[str, Cell]], method: str) -> float:
    """Return the mean ARI over sets. A run that fails or times out scores 0."""
    return statistics.mean(runs[method]["ari"] if method in runs else 0.0 for runs in cells)


def _lead(found: Found, failed: Failed, family: str, other: str) -> Lead | None:
    cells = _run(found, failed, family, AUTO, other)
    auto = _mean(cells, AUTO) if cells else 0.0
    return (auto - _mean(cells, other), auto, other, len(cells)) if cells else None


def _measured(lead: Lead) -> str:
    difference, auto, name, sets = lead
    return f"auto {auto:.3f}, {name} {auto - difference:.3f}, {sets} sets"
