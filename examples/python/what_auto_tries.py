"""The settings that RPFCluster compares by default: the partition of each, its prediction strength, and the choice.

``python what_auto_tries.py FILE.png`` draws them.
"""

import sys

import numpy as np

from rpfcluster import RPFCluster
from rpfcluster.datasets import make_shape
from rpfcluster.metrics import scores

SEEDS = range(5)
COLOURS = np.array(["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"])


def in_words(affinity: dict) -> str:
    """Return a short name of a setting."""
    if affinity["kind"] == "top-k":
        return f"top {affinity['top']}, power {affinity['power']:g}"
    if affinity["kind"] == "paper":
        return f"paper, beta {affinity['beta1']:g} and {affinity['beta2']:g}"
    return str(affinity["kind"])


def main(picture: str | None = None, shape: str = "spirals", n: int = 300) -> list[float]:
    """Print and return the adjusted Rand index of the choice, one value per seed of data and forest."""
    found = []
    for seed in SEEDS:
        X, y = make_shape(shape, n, random_state=seed)
        auto = RPFCluster(len(set(y)), random_state=seed).fit(X)
        found.append(float(scores(auto.labels_, y)["ari"]))
        if picture is not None and seed == SEEDS[0]:
            draw(X, auto, picture)
    print(f"adjusted Rand index of the choice {np.mean(found):.3f} ({min(found):.3f} to {max(found):.3f})")
    return found


def draw(X: np.ndarray, auto: RPFCluster, picture: str) -> None:
    """Draw the partition of every setting and mark the one that was chosen."""
    from matplotlib import pyplot

    k = auto.n_clusters_
    tried = auto.chosen_["evidence"]["settings"]["candidates"]
    chosen_affinity = auto.chosen_["evidence"]["settings"]["affinity"]
    columns = len(tried)
    figure, axes = pyplot.subplots(1, columns, figsize=(2.9 * columns, 3.1), layout="constrained", squeeze=False)
    for setting, place in zip(tried, axes.flat, strict=False):
        numbers = dict(setting["affinity"])
        given = {"affinity": numbers.pop("kind"), "min_samples_split": setting["min_node"]}
        given |= {"n_neighbors" if name == "top" else name: value for name, value in numbers.items()}
        labels = RPFCluster(k, random_state=0, tune=False, **given).fit_predict(X)
        place.scatter(*X.T, c=COLOURS[labels], s=3, linewidths=0)
        chosen = " · chosen" if setting["affinity"] == chosen_affinity else ""
        title = f"{in_words(setting['affinity'])}, leaves {setting['min_node']}"
        strength = "not measured" if setting["strength"] is None else f"{setting['strength']:.2f}"
        title += f"\nprediction strength {strength}{chosen}"
        place.set_title(title, fontsize=8, fontweight="bold" if chosen else None)
        place.set(xticks=[], yticks=[], aspect="equal")
        for side in place.spines.values():
            side.set(color="#0072B2" if chosen else "#cccccc", linewidth=2.5 if chosen else 1)
    figure.savefig(picture, dpi=90)
    pyplot.close(figure)


if __name__ == "__main__":
    main(*sys.argv[1:2])
