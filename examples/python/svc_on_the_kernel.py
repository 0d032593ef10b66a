"""A support vector machine on the rpf-kernel, compared with one on the Gaussian kernel.

Both choose C from the same grid by cross-validation within each training part (nested cross-validation). The
rpf-kernel has no bandwidth: its forest is grown on the training rows alone, without labels, as a step of the
pipeline. The Gaussian kernel is used twice, with scikit-learn's default bandwidth and with one chosen together with
C. Every seed gives other folds and another forest.

Three data sets are part of scikit-learn; two more are read from the folder that RPF_DATA names.
"""

import os
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from rpfcluster import RPForestKernel

SEEDS = range(5)
C = [0.1, 1, 10, 100]
GAMMA = ["scale", 0.001, 0.01, 0.1]


def sets(folder: str | None) -> dict[str, tuple[np.ndarray, np.ndarray] | None]:
    """Return the labelled data sets by name; None where there is no data."""
    found = {
        "wine": load_wine(return_X_y=True),
        "breast cancer": load_breast_cancer(return_X_y=True),
        "digits": load_digits(return_X_y=True),
        "Heart": None,
        "ImgSeg": None,
    }
    heart, segments = (Path(folder or "") / name for name in ("heart/heart.dat", "imgseg/segmentation.test"))
    if folder and heart.exists() and segments.exists():
        table = np.loadtxt(heart)
        found["Heart"] = table[:, :-1], table[:, -1]
        table = np.genfromtxt(segments, delimiter=",", skip_header=5, dtype=str)
        found["ImgSeg"] = table[:, 1:].astype(float), table[:, 0]
    return found


def classifiers(seed: int) -> dict[str, GridSearchCV]:
    """Return the three classifiers by name."""
    inner = StratifiedKFold(3, shuffle=True, random_state=seed + 1)
    gaussian = Pipeline([("scale", StandardScaler()), ("svc", SVC(kernel="rbf"))])
    forest = Pipeline(
        [
            ("scale", StandardScaler()),
            ("kernel", RPForestKernel(random_state=seed)),
            ("svc", SVC(kernel="precomputed")),
        ]
    )
    return {
        "rpf-kernel": GridSearchCV(forest, {"svc__C": C}, cv=inner),
        "RBF": GridSearchCV(gaussian, {"svc__C": C}, cv=inner),
        "RBF, gamma chosen": GridSearchCV(gaussian, {"svc__C": C, "svc__gamma": GAMMA}, cv=inner),
    }


def main(names: tuple[str, ...] | None = None) -> dict[str, dict[str, list[float]]]:
    """Print and return the five-fold accuracy by data set and classifier, one value per seed."""
    found: dict[str, dict[str, list[float]]] = {}
    for name, data in sets(os.environ.get("RPF_DATA")).items():
        if names is not None and name not in names:
            continue
        if data is None:
            print(f"{name:15} skipped: no data")
            continue
        scores: dict[str, list[float]] = {}
        for seed in SEEDS:
            outer = StratifiedKFold(5, shuffle=True, random_state=seed)
            for title, classifier in classifiers(seed).items():
                scores.setdefault(title, []).append(float(cross_val_score(classifier, *data, cv=outer).mean()))
        found[name] = scores
        shown = "   ".join(
            f"{title} {np.mean(means):.3f} ({min(means):.3f} to {max(means):.3f})" for title, means in scores.items()
        )
        print(f"{name:15} {shown}")
    return found


if __name__ == "__main__":
    main()
