"""What is tried when nothing is given, and what is taken: every setting's partition, and how far the others agree.

``python what_auto_tries.py FILE.png`` draws them.
"""

import sys

import numpy as np

from rpfcluster import RPFCluster
from rpfcluster.datasets import make_shape
from rpfcluster.metrics import scores

COLOURS = np.array(["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"])


def in_words(affinity: dict) -> str:
    """Name a setting as a person would."""
    if affinity["kind"] == "top-k":
        return f"top {affinity['top']}, power {affinity['power']:g}"
    if affinity["kind"] == "paper":
        return f"paper, beta {affinity['beta1']:g} and {affinity['beta2']:g}"
    return str(affinity["kind"])


def main(picture: str | None = None, shape: str = "spirals", n: int = 300) -> float:
    """Draw, and print and return the adjusted Rand index of what was taken."""
    from matplotlib import pyplot

    X, y = make_shape(shape, n, random_state=1)
    k = len(set(y))
    auto = RPFCluster(k, random_state=0).fit(X)
    tried = auto.chosen_["evidence"]["settings"]["candidates"]
    best = max(range(len(tried)), key=lambda i: tried[i]["agreement"])
    columns = 4
    rows = -(-len(tried) // columns)
    figure, axes = pyplot.subplots(rows, columns, figsize=(2.6 * columns, 2.7 * rows), layout="constrained")
    for at, (setting, place) in enumerate(zip(tried, axes.flat, strict=False)):
        numbers = dict(setting["affinity"])
        given = {"affinity": numbers.pop("kind"), "min_samples_split": setting["min_node"]}
        given |= {"n_neighbors" if name == "top" else name: value for name, value in numbers.items()}
        labels = RPFCluster(k, random_state=0, tune=False, **given).fit_predict(X)
        place.scatter(*X.T, c=COLOURS[labels], s=3, linewidths=0)
        taken = " · taken" if at == best else ""
        title = f"{in_words(setting['affinity'])}, leaves {setting['min_node']}"
        title += f"\nagreement {setting['agreement']:.2f}{taken}"
        place.set_title(title, fontsize=8, fontweight="bold" if taken else None)
        place.set(xticks=[], yticks=[], aspect="equal")
        for side in place.spines.values():
            side.set(color="#0072B2" if taken else "#cccccc", linewidth=2.5 if taken else 1)
    for place in axes.flat[len(tried) :]:
        place.set_axis_off()
    score = scores(auto.labels_, y)["ari"]
    print(f"{len(tried)} settings tried; adjusted Rand index of what was taken {score:.3f}")
    if picture is not None:
        figure.savefig(picture, dpi=90)
    pyplot.close(figure)
    return float(score)


if __name__ == "__main__":
    main(*sys.argv[1:2])
