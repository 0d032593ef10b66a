"""The picture of bench/field.py: adjusted Rand index over processor seconds, one panel for each set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

Line = dict[str, Any]

# One marker for each family of methods.
FAMILIES = (
    ("rpf, default", ("rpf default",), "*", "#D55E00"),
    ("rpf, setting chosen", ("rpf auto",), "P", "#E69F00"),
    ("Leiden on nearest neighbours, K given", ("Leiden",), "s", "#0072B2"),
    ("EVoC", ("EVoC",), "^", "#009E73"),
    ("UMAP + HDBSCAN or KMeans", ("UMAP",), "D", "#CC79A7"),
    ("Genie, Lumbermark, fast-hdbscan", ("Genie", "Lumbermark", "fast-hdbscan"), "v", "#8C6D31"),
    ("KMeans, Ward", ("KMeans", "faiss KMeans", "Ward"), "o", "#888888"),
)
TITLES = {
    "digits": "digits, 1,797 x 64",
    "usps": "USPS, 9,298 x 256",
    "pendigits": "PenDigits, 10,992 x 16",
    "letter": "Letter, 20,000 x 16",
    "mnist": "MNIST, 70,000 x 784",
}


def draw(of_sets: dict[str, dict[str, Line]], path: Path) -> None:
    """Draw the means of each set; hollow marks are methods on 50 principal components."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot
    from matplotlib.lines import Line2D

    names = [name for name in TITLES if any("cpu_seconds" in of for of in of_sets.get(name, {}).values())]
    if not names:
        print("no processor seconds are stored: no picture")
        return
    rows = 1 if len(names) < 4 else 2
    columns = -(-(len(names) + (rows > 1 and len(names) % 2)) // rows)
    figure, grid = pyplot.subplots(
        rows, columns, figsize=(3.7 * columns, 3.3 * rows), layout="constrained", squeeze=False
    )
    panels = list(grid.flat)
    for axes, name in zip(panels, names, strict=False):
        _panel(axes, of_sets[name])
        axes.set_title(TITLES[name], fontsize=10)
    panels[0].set_ylabel("adjusted Rand index")
    panels[columns * (rows - 1)].set_ylabel("adjusted Rand index")
    marks = [
        Line2D([], [], ls="", marker=marker, color=color, ms=11 if marker == "*" else 6, label=label)
        for label, _, marker, color in FAMILIES
    ]
    marks.append(
        Line2D([], [], ls="", marker="o", mfc="none", color="#444444", ms=6, label="hollow: on 50 principal components")
    )
    spare = panels[len(names) :]
    for axes in spare:
        axes.axis("off")
    if spare:
        spare[0].legend(handles=marks, loc="center", frameon=False, fontsize=9)
    else:
        figure.legend(handles=marks, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    figure.savefig(path, dpi=130, metadata={"Software": None})


def _panel(axes: Any, found: dict[str, Line]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for _, methods, marker, color in FAMILIES:
        for method, of in found.items():
            plain = method.removeprefix("PCA + ")
            if "cpu_seconds" not in of or not plain.startswith(methods):
                continue
            hollow = method.startswith("PCA")
            size = 16 if marker == "*" else 6.5
            axes.plot(
                of["cpu_seconds"],
                of["ari"],
                marker,
                color=color,
                ms=size,
                mew=1.4,
                mfc="white" if hollow else color,
                mec="white" if marker == "*" else color,
                zorder=4 if marker == "*" else 3,
            )
            if of.get("seeds", 1) > 1:
                axes.plot([of["cpu_seconds"]] * 2, [of["least"], of["most"]], color=color, lw=1, alpha=0.5, zorder=2)
    axes.set(xscale="log", xlabel="processor seconds")
    # Plain numbers; matplotlib's powers of ten with factors overlap on a short axis.
    low, high = axes.get_xlim()
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 100.0 * low else (1.0,), numticks=12))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.25, which="both", lw=0.5)
    axes.spines[["top", "right"]].set_visible(False)
