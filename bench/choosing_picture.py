"""The picture of bench/choosing.py: auto on every set, with the range of the fixed settings and the peers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from choosing_best import BEST
from choosing_table import AUTO, FIXED, averaged

PEERS = {
    "KMeans": ("s", "#E69F00"),
    "SpectralClustering nearest_neighbors": ("^", "#009E73"),
    "GaussianMixture": ("v", "#CC79A7"),
}


def draw(lines: list[dict[str, Any]], path: Path) -> None:
    """Draw one row for each set and one panel for each family."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    found, _ = averaged(lines)
    families = [f for f in ("real", "shapes") if any(which[0] == f for which in found)]
    rows = {f: [which for which in found if which[0] == f and AUTO in found[which]] for f in families}
    height = 1.5 + 0.19 * max(len(r) for r in rows.values())
    figure, panels = pyplot.subplots(1, len(families), figsize=(6 * len(families), height), layout="constrained")
    for axes, family in zip([panels] if len(families) == 1 else panels, families, strict=True):
        for at, which in enumerate(rows[family]):
            runs = {method: cell["ari"] for method, cell in found[which].items()}
            fixed = [runs[m] for m in FIXED if m in runs]
            if fixed:
                axes.plot([min(fixed), max(fixed)], [at, at], color="#bbbbbb", lw=4, solid_capstyle="round")
            for method, (marker, colour) in PEERS.items():
                if method in runs:
                    axes.plot(runs[method], at, marker, color=colour, ms=5, mfc="none")
            if BEST in runs:
                axes.plot(runs[BEST], at, "|", color="black", ms=10, mew=1.5)
            axes.plot(runs[AUTO], at, "o", color="#0072B2", ms=6)
        names = [s if family == "shapes" else f"{s} {scaling}" for _, s, scaling in rows[family]]
        axes.set_yticks(range(len(names)), names, fontsize=8)
        axes.invert_yaxis()
        axes.set(xlabel="adjusted Rand index", title={"real": "real sets", "shapes": "shapes"}[family])
        axes.grid(axis="x", alpha=0.3)
    last = panels if len(families) == 1 else panels[-1]
    last.plot([], [], "o", color="#0072B2", label="auto")
    last.plot([], [], color="#bbbbbb", lw=4, label="range of the fixed settings")
    last.plot([], [], "|", color="black", ms=10, mew=1.5, ls="none", label="best candidate of auto, chosen by labels")
    for method, (marker, colour) in PEERS.items():
        last.plot([], [], marker, color=colour, mfc="none", ls="none", label=method)
    figure.legend(loc="outside lower center", ncols=3, fontsize=8)
    figure.savefig(path, dpi=110, metadata={"Software": None})
