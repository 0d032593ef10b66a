"""The picture of bench/choosing.py: rpf with its default parameters and the peers on every set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from choosing_table import AUTO, OURS, averaged

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
    rows = {f: [which for which in found if which[0] == f and OURS in found[which]] for f in families}
    height = 1.5 + 0.19 * max(len(r) for r in rows.values())
    figure, panels = pyplot.subplots(1, len(families), figsize=(6 * len(families), height), layout="constrained")
    for axes, family in zip([panels] if len(families) == 1 else panels, families, strict=True):
        for at, which in enumerate(rows[family]):
            runs = {method: cell["ari"] for method, cell in found[which].items()}
            for method, (marker, colour) in PEERS.items():
                if method in runs:
                    axes.plot(runs[method], at, marker, color=colour, ms=5, mfc="none")
            if AUTO in runs:
                axes.plot(runs[AUTO], at, "|", color="black", ms=10, mew=1.5)
            axes.plot(runs[OURS], at, "o", color="#0072B2", ms=6)
        names = [s if family == "shapes" else f"{s} {scaling}" for _, s, scaling in rows[family]]
        axes.set_yticks(range(len(names)), names, fontsize=8)
        axes.invert_yaxis()
        axes.set(xlabel="adjusted Rand index", title={"real": "real sets", "shapes": "shapes"}[family])
        axes.grid(axis="x", alpha=0.3)
    last = panels if len(families) == 1 else panels[-1]
    last.plot([], [], "o", color="#0072B2", label="rpf, default")
    if any(AUTO in of for of in found.values()):
        last.plot([], [], "|", color="black", ms=10, mew=1.5, ls="none", label="rpf, setting chosen (tune=True)")
    for method, (marker, colour) in PEERS.items():
        last.plot([], [], marker, color=colour, mfc="none", ls="none", label=method)
    figure.legend(loc="outside lower center", ncols=3, fontsize=8)
    figure.savefig(path, dpi=110, metadata={"Software": None})
