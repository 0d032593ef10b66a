"""The tables of bench/choosing.py: means by family, targets, and one row for each set."""

from __future__ import annotations

import statistics
from typing import Any

import record
from field_methods import PLAIN
from markdown_table import markdown_table

Line = dict[str, Any]
OURS = "rpf default"
AUTO = "rpf auto"
PEERS = (
    "KMeans",
    "SpectralClustering rbf",
    "SpectralClustering nearest_neighbors",
    "HDBSCAN",
    "GaussianMixture",
    "Ward",
    *PLAIN,
)
METHODS = (OURS, AUTO, *PEERS)
KEY = ("family", "set", "scaling", "method", "seed")
# Targets of normalised mutual information on the raw sets; each is above the best published figure.
NMI = {"pendigits": 0.86, "usps": 0.85, "mnist": 0.82}

Cell = dict[str, float]
# (family, set, scaling) -> method -> mean scores over the seeds; a method that failed is absent
Found = dict[tuple[str, str, str], dict[str, Cell]]
# (family, set, scaling, method) -> reason
Failed = dict[tuple[str, ...], str]
# lead of the default, its mean ARI, name of the other method, number of sets
Lead = tuple[float, float, str, int]


def is_ours(line: Line) -> bool:
    """Tell whether a result depends on the sources of this project."""
    return line["method"].startswith("rpf")


def half(family: str) -> str:
    """Return whether rules may be chosen on the sets of a family, or are only reported there."""
    return "check" if family.endswith("check") else "design"


def latest() -> list[Line]:
    """Return the latest stored result of each set, method and seed; results of ours are those of one source."""
    source = record.last_source("choosing", lambda line: line["method"] == OURS)
    lines = record.kept("choosing", KEY, of=source, ours=is_ours).values()
    return sorted((line for line in lines if line["method"] in METHODS), key=_order)


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
    commits = sorted({line["commit"] for line in lines if is_ours(line)})
    return (
        f"{last['at'][:10]}, {on['cores']} cores of {on['cpu']}, seeds {sorted({line['seed'] for line in lines})}; "
        f"rpf at {', '.join(commits) or 'no commit'}."
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
    peers = [m for m in _there(lines) if not m.startswith("rpf")]
    for family in dict.fromkeys(which[0] for which in found):
        leads = [lead for m in peers if (lead := _lead(found, failed, family, m))]
        spectral = [lead for lead in leads if lead[2].startswith("Spectral")]
        nearest = min(spectral, default=None)
        finished = _lead(found, {}, family, nearest[2]) if nearest else None
        rows += [
            (f"{family}: {target}", _verdict(least[0] >= by), _measured(least))
            for target, by, least in (
                ("ahead of every peer", 0.0, min(leads, default=None)),
                ("0.10 ahead of the best other spectral method", 0.10, nearest),
                ("the same, on the sets that both finish", 0.10, finished),
            )
            if least
        ]
    for name, least in NMI.items():
        for (_, s, scaling), runs in found.items():
            if s == name and scaling == "raw" and OURS in runs:
                nmi = runs[OURS]["nmi"]
                rows.append((f"{name}: NMI at least {least}", _verdict(nmi >= least), f"{nmi:.3f}"))
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
    return [m for m in METHODS if m in methods]


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
    cells = _run(found, failed, family, OURS, other)
    ours = _mean(cells, OURS) if cells else 0.0
    return (ours - _mean(cells, other), ours, other, len(cells)) if cells else None


def _measured(lead: Lead) -> str:
    difference, ours, name, sets = lead
    return f"rpf {ours:.3f}, {name} {ours - difference:.3f}, {sets} sets"
