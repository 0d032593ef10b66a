"""The picture of bench/peers.py: time and memory against the number of rows, one curve for each method."""

from __future__ import annotations

from pathlib import Path
from typing import Any

# The palette of Okabe and Ito, safe for colour-blind readers. Curves of rpf are solid, those of peers dashed.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")


def draw(lines: list[dict[str, Any]], path: Path) -> None:
    """Draw the results on the Gaussian mixture."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    mixture = [line for line in lines if line["work"] == "mixture" and "seconds" in line]
    methods = list(dict.fromkeys(line["method"] for line in mixture))
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 5), constrained_layout=True)
    for axes, name, unit, label in ((left, "seconds", 1.0, "seconds"), (right, "above", 2**20, "MiB above the data")):
        for number, method in enumerate(methods):
            points = sorted((line["n"], line[name] / unit) for line in mixture if line["method"] == method)
            # A second turn through the colours has dots instead of dashes and other markers.
            turn = number // len(COLOURS)
            style = "-" if method.startswith("rpf") else ("--", ":")[turn % 2]
            marker = ("osD^", "vPX*")[turn % 2][number % 4]
            colour = COLOURS[number % len(COLOURS)]
            axes.plot(*zip(*points, strict=True), style, marker=marker, color=colour, label=method, ms=4)
        axes.set(xscale="log", yscale="log", xlabel="rows", ylabel=label)
        axes.grid(alpha=0.3)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8)
    figure.suptitle("Gaussian mixture, 8 centres, 10 columns; a curve ends where its method fails or times out")
    figure.savefig(path, dpi=150, metadata={"Software": None})
