"""Tables of numbers and categories: rpfcluster against k-prototypes, Gower distance with k-medoids, and StepMix.

Every method gets the same columns as numbers and as categories and the true number of clusters. Numbers are
standardised. Peers need complete tables, so the gaps of one table are filled with means for them; `RPFCluster` takes
them as they are. Results are stored, and a table is printed.

`--design` compares powers of the graph on generated tables instead: latent classes with categories and numbers, those
with one to three of the categories, and shapes of the battery with a column of categories. The default for tables with
categories was chosen on them.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import record
import verdict

METHODS = ("rpfcluster", "rpfcluster tune=True", "k-prototypes", "Gower + k-medoids", "StepMix")
OURS = METHODS[:2]
KEY = ("name", "method", "seed")
# Nominal and binary columns of Statlog heart, by the documentation of the data set, from 0.
HEART = (1, 2, 5, 6, 8, 12)


def tables() -> Iterator[tuple[str, Any, list[str], Any]]:
    """Yield name, data frame, names of the categorical columns and classes of each table."""
    import pandas as pd

    folder = record.data_folder()
    for name in ("dermatology", "german", "vowel"):
        frame = pd.read_csv(folder / "battery" / "mixed" / f"{name}.csv", na_values="?")
        features = frame.iloc[:, :-1]
        text = [c for c in features if not pd.api.types.is_numeric_dtype(features[c])]
        yield name, features, text + [c for c in ("family_history",) if c in features], frame.iloc[:, -1]
    frame = pd.read_csv(folder / "heart" / "heart.dat", sep=" ", header=None)
    frame.columns = [f"c{at + 1}" for at in range(frame.shape[1])]
    yield "heart", frame.iloc[:, :-1], [f"c{at + 1}" for at in HEART], frame.iloc[:, -1]
    parts = [pd.read_csv(folder / "spect" / f"SPECT.{part}", header=None) for part in ("train", "test")]
    frame = pd.concat(parts, ignore_index=True)
    frame.columns = [f"c{at + 1}" for at in range(frame.shape[1])]
    yield "spect", frame.iloc[:, 1:], list(frame.columns[1:]), frame.iloc[:, 0]
    frame = pd.read_csv(folder / "battery" / "real" / "zoo.csv")
    yield "zoo", frame.iloc[:, :-1], [c for c in frame.columns[:-1] if c != "LEGS"], frame.iloc[:, -1]


def prepared(frame: Any, categorical: list[str]) -> Any:
    """Return the table with standardised numbers and text categories."""
    frame = frame.copy()
    for name in frame:
        if name in categorical:
            frame[name] = frame[name].astype(str)
        else:
            spread = frame[name].std(ddof=0)
            frame[name] = (frame[name] - frame[name].mean()) / (spread if spread > 0 else 1.0)
    return frame


def ours(frame: Any, categorical: list[str], k: int, seed: int, **params: Any) -> Any:
    """Return the labels of RPFCluster."""
    from rpfcluster import RPFCluster

    model = RPFCluster(k, categorical_features=categorical, missing="native", random_state=seed, n_jobs=1, **params)
    return model.fit(frame).labels_


def chosen(frame: Any, categorical: list[str], k: int, seed: int) -> Any:
    """Return the labels of RPFCluster with a choice of the setting."""
    return ours(frame, categorical, k, seed, tune=True)


def prototypes(frame: Any, categorical: list[str], k: int, seed: int) -> Any:
    """Return the labels of k-prototypes, or of k-modes where no column is numeric."""
    from kmodes.kmodes import KModes
    from kmodes.kprototypes import KPrototypes

    if len(categorical) == frame.shape[1]:
        return KModes(k, random_state=seed, n_init=10).fit_predict(frame)
    at = [frame.columns.get_loc(name) for name in categorical]
    return KPrototypes(k, random_state=seed, n_init=10).fit_predict(frame.to_numpy(object), categorical=at)


def medoids(frame: Any, categorical: list[str], k: int, seed: int) -> Any:
    """Return the labels of FasterPAM on Gower distances."""
    import gower
    import kmedoids

    distances = gower.gower_matrix(frame, cat_features=[name in categorical for name in frame])
    return kmedoids.KMedoids(k, method="fasterpam", random_state=seed).fit_predict(distances.astype(float))


def classes(frame: Any, categorical: list[str], k: int, seed: int) -> Any:
    """Return the labels of a latent class model of normal and categorical columns."""
    from stepmix.stepmix import StepMix
    from stepmix.utils import get_mixed_descriptor

    coded = frame.copy()
    for name in categorical:
        coded[name] = coded[name].astype("category").cat.codes
    numeric = [name for name in frame if name not in categorical]
    columns = {"categorical": categorical} | ({"continuous": numeric} if numeric else {})
    data, descriptor = get_mixed_descriptor(coded, **columns)
    model = StepMix(k, measurement=descriptor, random_state=seed, n_init=10, progress_bar=0)
    return model.fit(data).predict(data)


def latent_classes(seed: int, most: int | None = None) -> tuple[Any, list[str], Any]:
    """Generate a table of latent classes: data frame, names of at most `most` categorical columns, and classes."""
    import pandas as pd

    draw = np.random.default_rng(seed)
    k, n, numbers, categories = (int(draw.integers(*ends)) for ends in ((2, 8), (100, 900), (0, 9), (4, 22)))
    y = draw.choice(k, n, p=draw.dirichlet(np.full(k, 3.0)))
    concentration, relevant = draw.choice([0.3, 0.6, 1.2]), draw.uniform(0.4, 1.0)
    columns: dict[str, Any] = {}
    for at in range(categories):
        levels = int(draw.choice([2, 2, 2, 3, 3, 4, 5, 8]))
        common = draw.dirichlet(np.full(levels, 2.0))
        own = [draw.dirichlet(np.full(levels, concentration)) if draw.random() < relevant else common for _ in range(k)]
        columns[f"c{at}"] = [f"level {draw.choice(levels, p=own[c])}" for c in y]
    separation = draw.choice([0.5, 1.0, 1.5])
    for at in range(numbers):
        centers = draw.normal(0, separation, k) if draw.random() < relevant else np.zeros(k)
        x = centers[y] + draw.normal(size=n)
        x = np.exp(0.7 * x) if draw.random() < 0.3 else x
        columns[f"x{at}"] = (x - x.mean()) / x.std()
    frame = pd.DataFrame(columns)
    frame = frame[[c for c in frame if frame[c].nunique() > 1]]
    categorical = [c for c in frame if c.startswith("c")]
    kept = categorical[:most]
    return frame[kept + [c for c in frame if c not in categorical]], kept, y


def shapes_with_categories(related: bool) -> Iterator[tuple[Any, list[str], Any]]:
    """Yield every third shape of the battery beside a column of three levels, which may go with the classes."""
    import pandas as pd

    draw = np.random.default_rng(5)
    for path in sorted((record.data_folder() / "battery" / "shapes").glob("*.csv"))[::3]:
        frame = pd.read_csv(path)
        frame = frame[frame.iloc[:, -1].astype(str) != "noise"].reset_index(drop=True)
        x, y = frame.iloc[:, :-1].astype(float), frame.iloc[:, -1].astype(str).to_numpy()
        if len(x) > 1500:
            continue
        names = sorted(set(y))
        level = dict(zip(names, draw.integers(0, 3, len(names)), strict=True))
        of_class = [level[c] if related and draw.random() < 0.8 else draw.integers(3) for c in y]
        yield ((x - x.mean()) / x.std()).assign(level=["abc"[at] for at in of_class]), ["level"], y


def design() -> None:
    """Print the mean adjusted Rand index of powers of the graph on generated tables."""
    from sklearn.metrics import adjusted_rand_score

    few = (latent_classes(seed, 1 + seed % 3) for seed in range(300, 360))
    families = {
        "latent classes": (latent_classes(seed) for seed in (*range(25), *range(200, 225))),
        "one to three categories": (found for found in few if found[0].shape[1] - len(found[1]) >= 3),
        "shapes, unrelated levels": shapes_with_categories(related=False),
        "shapes, related levels": shapes_with_categories(related=True),
    }
    powers = (2.0, 3.0, 4.0, 8.0)
    print("| tables | " + " | ".join(f"power {power:g}" for power in powers) + " |\n|---|---|---|---|---|")
    for name, of_family in families.items():
        scores = [
            [
                adjusted_rand_score(y, ours(frame, categorical, len(set(y)), 0, affinity="top-k", power=power))
                for power in powers
            ]
            for frame, categorical, y in of_family
        ]
        print(f"| {name} ({len(scores)}) | " + " | ".join(f"{x:.3f}" for x in np.mean(scores, axis=0)) + " |")


def table(lines: list[record.Line]) -> str:
    """Return ARI and NMI of each table and the means."""
    names = list(dict.fromkeys(x["name"] for x in lines))

    def mean(field: str, method: str, name: str | None = None) -> float:
        of = [x[field] for x in lines if x["method"] == method and name in (None, x["name"])]
        return float(np.mean(of)) if of else float("nan")

    text = [
        "| ARI | " + " | ".join(names) + " | mean ARI | mean NMI | seconds, mean |",
        "|---" * (len(names) + 4) + "|",
    ]
    for method in METHODS:
        cells = [f"{mean('ari', method, name):.3f}" for name in names]
        cells += [f"{np.mean([mean(field, method, name) for name in names]):.3f}" for field in ("ari", "nmi")]
        text.append(f"| {method} | " + " | ".join(cells) + f" | {mean('seconds', method):.2f} |")
    return "\n".join(text)


def main() -> None:
    """Measure every table, store it and print the table of the latest results."""
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", help="only these, separated by commas")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--print", action="store_true", help="only print the table of the stored results")
    parser.add_argument("--design", action="store_true", help="compare powers on generated tables instead")
    args = parser.parse_args()
    if args.design:
        design()
        return
    run = dict(zip(METHODS, (ours, chosen, prototypes, medoids, classes), strict=True))
    is_ours = lambda line: line["method"] in OURS  # noqa: E731
    if not args.print:
        done = record.kept("mixed", KEY, ours=is_ours)
        for name, frame, categorical, y in tables():
            if args.sets and name not in args.sets.split(","):
                continue
            frame = prepared(frame, categorical)
            complete = frame.fillna(frame.mean(numeric_only=True))
            for seed, method in ((seed, method) for seed in range(args.seeds) for method in args.methods.split(",")):
                if (name, method, seed) in done:
                    continue
                start = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    labels = run[method](frame if method in OURS else complete, categorical, y.nunique(), seed)
                seconds = time.perf_counter() - start
                scores = {"ari": adjusted_rand_score(y, labels), "nmi": normalized_mutual_info_score(y, labels)}
                line = {"name": name, "half": verdict.half(name), "method": method, "seed": seed, "n": len(frame)}
                record.keep("mixed", line | scores | {"seconds": seconds})
    latest = record.kept("mixed", KEY, of=record.last_source("mixed", is_ours), ours=is_ours)
    print(table(list(latest.values())))


if __name__ == "__main__":
    main()
